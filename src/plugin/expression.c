#include "plugin/expression.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 // parentheses and signs within each other

struct parser {
    const char *text, *at;
    const struct expression_name *names;
    int depth;
};

static int parse_sum(struct parser *p, int64_t *value);

static int refuse(const struct parser *p, const char *why)
{
    return fail(ERR_USAGE, "'%s': %s at '%s'", p->text, why, p->at);
}

// Skips blanks, and returns the next letter.
static char next(struct parser *p)
{
    while (*p->at == ' ') p->at++;
    return *p->at;
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_') length++;
    return length;
}

static int parse_name(struct parser *p, int64_t *value)
{
    const size_t length = name_length(p->at);
    for (const struct expression_name *n = p->names; n->name; n++)
        if (strlen(n->name) == length && !strncmp(n->name, p->at, length)) {
            *value = n->value;
            p->at += length;
            return OK;
        }
    return refuse(p, "an unknown name");
}

static int parse_number(struct parser *p, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(p->at, &end, 10);
    if (errno) return refuse(p, "a number too large");
    p->at = end;
    return OK;
}

static int parse_factor(struct parser *p, int64_t *value)
{
    char c = next(p);
    if (p->depth == DEPTH_MAX) return refuse(p, "too many parentheses");
    if (c == '(' || c == '-') {
        p->at++;
        p->depth++;
        int err = c == '(' ? parse_sum(p, value) : parse_factor(p, value);
        p->depth--;
        if (err) return err;
        if (c == '(' && next(p) != ')') return refuse(p, "no ')'");
        p->at += c == '(';
        return c == '-' && __builtin_sub_overflow(0, *value, value) ? refuse(p, "an overflow") : OK;
    }
    if (isdigit((unsigned char)c)) return parse_number(p, value);
    if (isalpha((unsigned char)c)) return parse_name(p, value);
    return refuse(p, "no number and no name");
}

static int parse_product(struct parser *p, int64_t *value)
{
    int err = parse_factor(p, value);
    for (char c; !err && (c = next(p)) && strchr("*/%", c);) {
        int64_t other;
        p->at++;
        err = parse_factor(p, &other);
        if (err) break;
        if (c == '*' && __builtin_mul_overflow(*value, other, value))
            return refuse(p, "an overflow");
        if (c != '*' && (!other || other == -1)) return refuse(p, "a division by 0 or -1");
        if (c == '/') *value /= other;
        if (c == '%') *value %= other;
    }
    return err;
}

static int parse_sum(struct parser *p, int64_t *value)
{
    int err = parse_product(p, value);
    for (char c; !err && (c = next(p)) && strchr("+-", c);) {
        int64_t other;
        p->at++;
        err = parse_product(p, &other);
        if (!err && (c == '+' ? __builtin_add_overflow(*value, other, value)
                              : __builtin_sub_overflow(*value, other, value)))
            err = refuse(p, "an overflow");
    }
    return err;
}

bool expression_is_name(const char *text)
{
    return isalpha((unsigned char)text[0]) && !text[name_length(text)];
}

int expression_value(const char *text, const struct expression_name *names, int64_t *value)
{
    struct parser p = {.text = text, .at = text, .names = names};
    int err = parse_sum(&p, value);
    if (!err && next(&p)) err = refuse(&p, "no operator");
    return err;
}
