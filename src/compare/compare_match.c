// Matches observations of OLD and NEW by key. The last record of a case in a process counts: a
// resumed sweep may have two.
#include "compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

static int by_order(const void *x, const void *y)
{
    const struct observation *a = x, *b = y;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_run(const void *x, const void *y)
{
    const struct observation *a = x, *b = y;
    int key = strcmp(a->key, b->key);
    if (!key) key = strcmp(a->run, b->run);
    return key ? key : by_order(x, y);
}

static int by_time(const void *x, const void *y)
{
    const struct observation *a = x, *b = y;
    int key = strcmp(a->key, b->key);
    if (!key) key = (a->when > b->when) - (a->when < b->when);
    return key ? key : by_order(x, y);
}

// Superseded records move to the end of the list. observations_free() frees them there.
int64_t observations_last(struct observations *s)
{
    int64_t kept = 0;
    qsort(s->list, (size_t)s->count, sizeof *s->list, by_run);
    for (int64_t i = 0; i < s->count; i++) {
        const struct observation *x = &s->list[i], *next = x + 1;
        if (i + 1 < s->count && !strcmp(x->key, next->key) && !strcmp(x->run, next->run)) continue;
        struct observation swap = s->list[kept];
        s->list[kept++] = s->list[i];
        s->list[i] = swap;
    }
    qsort(s->list, (size_t)kept, sizeof *s->list, by_time);
    return kept;
}

static int64_t first_seen(const struct compared *x)
{
    int64_t order = INT64_MAX;
    enum side side = x->count[SIDE_OLD] ? SIDE_OLD : SIDE_NEW;
    for (int i = 0; i < x->count[side]; i++) order = min64(order, x->seen[side][i].order);
    return order;
}

// Orders cases of OLD as in OLD, followed by cases that only NEW has.
static int by_appearance(const void *x, const void *y)
{
    const struct compared *a = x, *b = y;
    bool only_a = !a->count[SIDE_OLD], only_b = !b->count[SIDE_OLD];
    if (only_a != only_b) return only_a - only_b;
    int64_t i = first_seen(a), j = first_seen(b);
    return (i > j) - (i < j);
}

// Moves *i behind the observations of a case. Returns their number.
static int take_case(const struct observations *s, int64_t kept, int64_t *i)
{
    const char *key = s->list[*i].key;
    int count = 0;
    while (*i < kept && !strcmp(s->list[*i].key, key)) ++*i, count++;
    return count;
}

int comparison_match(struct comparison *c)
{
    const struct observations *s = c->read;
    int64_t kept[SIDES], at[SIDES] = {0};
    for (int side = 0; side < SIDES; side++) kept[side] = observations_last(&c->read[side]);
    c->cases = mem_zero_alloc(kept[SIDE_OLD] + kept[SIDE_NEW], sizeof *c->cases);
    if (!c->cases) return ERR_MEMORY;
    while (at[SIDE_OLD] < kept[SIDE_OLD] || at[SIDE_NEW] < kept[SIDE_NEW]) {
        struct compared *x = &c->cases[c->count++];
        int order = at[SIDE_OLD] == kept[SIDE_OLD]   ? 1
                    : at[SIDE_NEW] == kept[SIDE_NEW] ? -1
                                                     : strcmp(s[SIDE_OLD].list[at[SIDE_OLD]].key,
                                                              s[SIDE_NEW].list[at[SIDE_NEW]].key);
        for (int side = 0; side < SIDES; side++) {
            if (side == SIDE_OLD ? order > 0 : order < 0) continue;
            x->seen[side] = &s[side].list[at[side]];
            x->count[side] = take_case(&s[side], kept[side], &at[side]);
        }
    }
    qsort(c->cases, (size_t)c->count, sizeof *c->cases, by_appearance);
    return OK;
}

void comparison_free(struct comparison *c)
{
    for (int64_t i = 0; i < c->count; i++)
        for (int side = 0; side < SIDES; side++) {
            mem_free(c->cases[i].y[side]);
            mem_free(c->cases[i].process[side]);
        }
    mem_free(c->cases);
    for (int side = 0; side < SIDES; side++) observations_free(&c->read[side]);
    *c = (struct comparison){0};
}

int comparison_files(struct comparison *c, const char *old_path, const char *new_path,
                     const struct compare_rule *rule)
{
    const char *const paths[SIDES] = {old_path, new_path};
    int err = OK;
    *c = (struct comparison){0};
    for (int side = 0; side < SIDES && !err; side++) {
        utf8_visible(paths[side], c->name[side], sizeof c->name[side]);
        c->read[side].kind = rule->kind;
        err = observations_read(&c->read[side], paths[side]);
    }
    if (!err) err = comparison_match(c);
    return err ? err : comparison_judge(c, rule);
}
