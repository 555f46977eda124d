#include "bench/case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "base/words.h"

bool case_same_inputs(const struct bench_case *a, const struct bench_case *b)
{
    return a->entry->op == b->entry->op && a->prec == b->prec &&
           !memcmp(a->axis, b->axis, sizeof a->axis);
}

bool case_same_product(const struct bench_case *a, const struct bench_case *b)
{
    const struct op *op = a->entry->op;
    bool same = op == b->entry->op && a->prec == b->prec;
    for (int i = 0; op->axes[i] && same; i++)
        same = axis_product(op->axes[i], a->axis[i]) == axis_product(op->axes[i], b->axis[i]);
    return same;
}

const char *case_library(const struct bench_case *c)
{
    const struct algo *algo = c->entry->algo;
    if (algo->plugin) return algo->plugin->text;
    return algo->library ? algo->library() : NULL;
}

bool case_has_own_values(const struct bench_case *c)
{
    const struct algo *algo = c->entry->algo;
    for (int i = 0; algo_option_at(algo, i); i++)
        if (c->opt[i] != algo_option_at(algo, i)->value) return true;
    return false;
}

static int by_name(const void *x, const void *y)
{
    return strcmp((*(const struct algo_option *const *)x)->name,
                  (*(const struct algo_option *const *)y)->name);
}

static void add_options(char text[CASE_KEY_MAX], const struct bench_case *c)
{
    const struct algo_option *list[ALGO_OPTIONS_MAX];
    const struct algo *algo = c->entry->algo;
    int count = 0;
    while (algo_option_at(algo, count)) list[count] = algo_option_at(algo, count), count++;
    qsort(list, (size_t)count, sizeof *list, by_name);
    for (int i = 0; i < count; i++)
        words_print(text, CASE_KEY_MAX, " %s=%.10g", list[i]->name,
                    c->opt[algo_option_find(algo, list[i]->name)]);
}

static void add_library(char text[CASE_KEY_MAX], const struct bench_case *c)
{
    const char *library = case_library(c);
    if (library) words_print(text, CASE_KEY_MAX, " ");
    for (; library && *library; library++)
        words_print(text, CASE_KEY_MAX, "%c", *library == ' ' ? '-' : *library);
}

// Adds the axes that are optional, or the others.
static void add_axes(char text[CASE_KEY_MAX], const struct bench_case *c, bool optional)
{
    const struct op *op = c->entry->op;
    char value[32];
    for (int i = 0; op->axes[i]; i++)
        if (op->axes[i]->optional == optional && axis_is_written(op->axes[i], c->axis[i]))
            words_print(text, CASE_KEY_MAX, " %s=%s", op->axes[i]->name,
                        axis_text(op->axes[i], c->axis[i], value));
}

const char *case_prefix(const struct bench_case *c, char text[CASE_KEY_MAX])
{
    const struct op *op = c->entry->op;
    text[0] = 0;
    words_print(text, CASE_KEY_MAX, "%s %s %s %s", op->name, c->entry->name, c->device,
                prec_name(c->prec));
    add_axes(text, c, false);
    words_print(text, CASE_KEY_MAX, " cache=%s", c->cold ? "cold" : "warm");
    if (c->stream) words_print(text, CASE_KEY_MAX, " launch=stream");
    add_axes(text, c, true);
    add_options(text, c);
    add_library(text, c);
    return text;
}

int64_t case_key_prefix(const char *key, const char *name)
{
    size_t length = strlen(key), tail = strlen(name) + 1;
    if (length <= tail || key[length - tail] != ' ' || strcmp(key + length - tail + 1, name))
        return 0;
    size_t end = length - tail; // end of the size
    while (end && key[end - 1] != ' ') end--;
    return end ? (int64_t)end - 1 : 0;
}

void case_key_shorten(char *key, const char *name, const struct algo *algo)
{
    const struct algo_option *p;
    char word[CASE_KEY_MAX];
    for (int i = 0; (p = algo_option_at(algo, i)); i++) {
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
        words_print(text, CASE_KEY_MAX, " %dx%d:%lld", M->A.m, M->A.n, (long long)M->A.nnz);
    else
        words_print(text, CASE_KEY_MAX, " -:-");
    words_print(text, CASE_KEY_MAX, " %s", M->name);
    utf8_clean(text); // as in records, also if the text was cut
    return text;
}
