#include "run/case.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

bool case_same_inputs(const struct bench_case *a, const struct bench_case *b)
{
    return a->entry->op == b->entry->op && a->prec == b->prec &&
           !memcmp(a->axis, b->axis, sizeof a->axis);
}

const char *case_library(const struct bench_case *c)
{
    const struct algo *algo = c->entry->algo;
    return algo && algo->library ? algo->library() : NULL;
}

bool case_has_own_values(const struct bench_case *c)
{
    const struct algo *algo = c->entry->algo;
    for (int i = 0; algo && algo_param(algo, i); i++)
        if (c->opt[i] != algo_param(algo, i)->value) return true;
    return false;
}

// What does not fit is cut off, as a matrix may have any name; it comes last.
static void add(char text[CASE_KEY_MAX], const char *format, ...) PRINTF_LIKE(2, 3);
static void add(char text[CASE_KEY_MAX], const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, CASE_KEY_MAX - used, format, args);
    va_end(args);
}

static int by_name(const void *x, const void *y)
{
    return strcmp((*(const struct param *const *)x)->name, (*(const struct param *const *)y)->name);
}

static void add_options(char text[CASE_KEY_MAX], const struct bench_case *c)
{
    const struct param *list[PARAMS_MAX];
    const struct algo *algo = c->entry->algo;
    int count = 0;
    while (algo && algo_param(algo, count)) list[count] = algo_param(algo, count), count++;
    qsort(list, (size_t)count, sizeof *list, by_name);
    for (int i = 0; i < count; i++)
        add(text, " %s=%.10g", list[i]->name, c->opt[algo_param_find(algo, list[i]->name)]);
}

static void add_library(char text[CASE_KEY_MAX], const struct bench_case *c)
{
    const char *library = case_library(c);
    if (library) add(text, " ");
    for (; library && *library; library++) add(text, "%c", *library == ' ' ? '-' : *library);
}

const char *case_prefix(const struct bench_case *c, char text[CASE_KEY_MAX])
{
    const struct op *op = c->entry->op;
    char value[32];
    text[0] = 0;
    add(text, "%s %s %s %s", op->name, c->entry->name, c->device, prec_name(c->prec));
    for (int i = 0; op->axes[i]; i++)
        add(text, " %s=%s", op->axes[i]->name, axis_text(op->axes[i], c->axis[i], value));
    add(text, " cache=%s", c->cold ? "cold" : "warm");
    if (c->stream) add(text, " launch=stream");
    add_options(text, c);
    add_library(text, c);
    return text;
}

int64_t case_key_prefix(const char *key, const char *name)
{
    size_t length = strlen(key), tail = strlen(name) + 1;
    if (length <= tail || key[length - tail] != ' ' || strcmp(key + length - tail + 1, name))
        return 0;
    size_t end = length - tail; // of the size
    while (end && key[end - 1] != ' ') end--;
    return end ? (int64_t)end - 1 : 0;
}

void case_key_shorten(char *key, const char *name, const struct algo *algo)
{
    const struct param *p;
    char word[CASE_KEY_MAX];
    for (int i = 0; (p = algo_param(algo, i)); i++) {
        int length = snprintf(word, sizeof word, " %s=%.10g ", p->name, p->value);
        char *at = strstr(key, word);
        if (at && at - key < case_key_prefix(key, name))
            memmove(at, at + length - 1, strlen(at + length - 1) + 1);
    }
}

bool case_key_unread(const char *key, const char *name)
{
    int64_t prefix = case_key_prefix(key, name);
    return prefix && !strncmp(key + prefix, " -:- ", 5);
}

const char *case_key(const struct bench_case *c, const struct matrix *M, char text[CASE_KEY_MAX])
{
    case_prefix(c, text);
    if (M->field)
        add(text, " %dx%d:%lld", M->A.m, M->A.n, (long long)M->A.nnz);
    else
        add(text, " -:-");
    add(text, " %s", M->name);
    utf8_clean(text); // as records have it, also where it was cut
    return text;
}
