#include "algos/axis.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/words.h"

const char *axis_text(const struct axis *axis, int64_t value, char text[32])
{
    if (axis->words)
        snprintf(text, 32, "%s", axis->words[value]);
    else
        snprintf(text, 32, "%lld", (long long)value);
    return text;
}

int64_t axis_word(const struct axis *axis, const char *word)
{
    for (int i = 0; axis->words && axis->words[i]; i++)
        if (!strcmp(axis->words[i], word)) return i;
    return -1;
}

int64_t axis_product(const struct axis *axis, int64_t value)
{
    return axis->products ? axis->products[value] : value;
}

const char *axis_product_text(const struct axis *axis, int64_t value, char text[AXIS_PRODUCT_TEXT])
{
    char word[32];
    text[0] = 0;
    for (int64_t v = 0; axis->products && axis->words[v]; v++)
        if (axis_product(axis, v) == axis_product(axis, value))
            words_add(text, AXIS_PRODUCT_TEXT, ",", axis->words[v]);
    if (!axis->products) words_add(text, AXIS_PRODUCT_TEXT, ",", axis_text(axis, value, word));
    return text;
}

bool axis_has_ways(const struct axis *axis, int64_t value)
{
    for (int64_t v = 0; axis->products && axis->words[v]; v++)
        if (v != value && axis_product(axis, v) == axis_product(axis, value)) return true;
    return false;
}

bool axis_is_written(const struct axis *axis, int64_t value)
{
    return !axis->optional || value != axis->standard;
}

bool axis_try(const struct axis *axis, int done, int64_t *value)
{
    if (!axis->words && !axis->tried) bug("-%s: no numbers to try", axis->name);
    *value = axis->words ? done : axis->tried[done];
    return axis->words ? axis->words[done] != NULL : *value >= 0;
}

static int no_such_word(const struct axis *axis, const char *item)
{
    struct suggestion s;
    char guess[64], all[128] = "";
    suggest_start(&s, item);
    for (int i = 0; axis->words[i]; i++) {
        suggest_offer(&s, axis->words[i]);
        words_add(all, sizeof all, ", ", axis->words[i]);
    }
    return fail(ERR_USAGE, "-%s %s: no such value; %sit is one of %s", axis->name, item,
                suggest_text(&s, guess), all);
}

// "; write 65536" for 64K, "; for several values write 32,64" for "32 64"; else "".
static const char *number_hint(const struct axis *axis, const char *item, char text[WORD_MAX + 32])
{
    size_t digits = strspn(item, "0123456789");
    const char *unit = digits && digits < 7 && item[digits] ? strchr("KkMm", item[digits]) : NULL;
    text[0] = 0;
    if (unit && !item[digits + 1]) {
        int64_t factor = *unit == 'K' || *unit == 'k' ? 1 << 10 : 1 << 20;
        snprintf(text, WORD_MAX + 32, "; write %lld", (long long)(factor * atoi(item)));
    } else if (axis->values && digits && isdigit((unsigned char)item[strlen(item) - 1]) &&
               !item[strspn(item, "0123456789 ")]) {
        snprintf(text, WORD_MAX + 32, "; for several values write %s", item);
        for (char *blank = text + strlen(text) - strlen(item); (blank = strchr(blank, ' '));)
            *blank = ',';
    }
    return text;
}

// "32-128", "32..128", and all with a colon, in a list.
static bool is_range(const struct axis *axis, const char *item)
{
    const char *link = item + strspn(item, "0123456789");
    if (!axis->values) return false;
    return strchr(item, ':') || (link > item && (*link == '-' || !strncmp(link, "..", 2)));
}

// The values of an item: first, first + step ... to last; or first, first * step ... to last.
struct range {
    int64_t first, last, step;
    bool times;
};

// Parses a whole number followed by `end`. Returns the text after `end`, or NULL without such a
// number.
static const char *parse_number(const char *text, char end, int64_t *value)
{
    char *rest;
    if (isspace((unsigned char)*text)) return NULL;
    *value = strtoll(text, &rest, 10);
    return rest == text || *rest != end ? NULL : end ? rest + 1 : rest;
}

static int parse_range(const struct axis *axis, const char *item, struct range *r)
{
    const char *p = parse_number(item, ':', &r->first);
    if (p) p = parse_number(p, ':', &r->last);
    r->times = p && *p == '*';
    if (p) p = parse_number(p + r->times, 0, &r->step);
    if (!p || r->first > r->last || r->step < 1 + r->times || (r->times && r->first < 1))
        return fail(ERR_USAGE, "-%s %s: a range is FIRST:LAST:STEP or FIRST:LAST:*FACTOR",
                    axis->name, item);
    return OK;
}

static int parse_item(const struct axis *axis, const char *item, struct range *r)
{
    char hint[WORD_MAX + 32];
    int err = OK;
    *r = (struct range){.step = 1};
    errno = 0;
    if (axis->words) {
        r->first = r->last = axis_word(axis, item);
        return r->first >= 0 ? OK : no_such_word(axis, item);
    }
    if (is_range(axis, item))
        err = parse_range(axis, item, r);
    else if (parse_number(item, 0, &r->first))
        r->last = r->first;
    else
        err = fail(ERR_USAGE, "-%s %s: not a whole number%s", axis->name, item,
                   number_hint(axis, item, hint));
    if (!err && (errno || r->first < axis->min || r->last > axis->max))
        err = fail(ERR_USAGE, "-%s %s: must be from %lld to %lld", axis->name, item,
                   (long long)axis->min, (long long)axis->max);
    return err;
}

int axis_values_add(struct axis_values *v, const struct axis *axis, int64_t value)
{
    for (int i = 0; i < v->count; i++)
        if (v->value[i] == value) return OK;
    if (v->count == AXIS_VALUES_MAX)
        return fail(ERR_USAGE, "-%s: more than %d values", axis->name, AXIS_VALUES_MAX);
    v->value[v->count++] = value;
    return OK;
}

static int add_range(struct axis_values *v, const struct axis *axis, const struct range *r)
{
    int64_t value = r->first;
    for (;;) {
        int err = axis_values_add(v, axis, value);
        bool more = r->times ? value <= r->last / r->step : value <= r->last - r->step;
        if (err || !more) return err;
        value = r->times ? value * r->step : value + r->step;
    }
}

int axis_parse(const struct axis *axis, const char *text, struct axis_values *out)
{
    const char *rest = text;
    char item[WORD_MAX];
    struct range range;
    int more, err = OK;
    *out = (struct axis_values){.text = text};
    while (!err && (more = words_next(&rest, item)) > 0) {
        err = parse_item(axis, item, &range);
        if (!err) err = add_range(out, axis, &range);
    }
    return err ? err : more < 0 ? words_bad(axis->name, text) : OK;
}
