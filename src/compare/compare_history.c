// Compares the newest of many files with the older ones.
#include "compare/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct dated {
    const char *path;
    int64_t when;
};

static int by_date(const void *x, const void *y)
{
    const struct dated *a = x, *b = y;
    if (a->when != b->when) return a->when > b->when ? 1 : -1;
    return strcmp(a->path, b->path);
}

static int sort_by_date(const char **paths, int count)
{
    struct dated *list = mem_alloc(count, sizeof *list);
    int err = list ? OK : ERR_MEMORY;
    for (int i = 0; i < count && !err; i++) {
        list[i].path = paths[i];
        err = observations_date(paths[i], &list[i].when);
        if (!err && !list[i].when)
            err = fail(ERR_INPUT, "%s: has no environment record with a date", paths[i]);
    }
    if (!err) qsort(list, (size_t)count, sizeof *list, by_date);
    for (int i = 0; i < count && !err; i++) paths[i] = list[i].path;
    mem_free(list);
    return err;
}

// Returns the rank of a status. The worst status of several processes stands for all.
static int status_rank(enum status status)
{
    return status == STATUS_OK ? 0 : status == STATUS_WRONG ? 2 : 1;
}

// Adds a process to the sums of a case. divide() makes means of the sums.
static void join(struct observation *all, struct observation *one)
{
    if (status_rank(one->status) > status_rank(all->status)) {
        char *reason = all->reason;
        all->status = one->status;
        all->reason = one->reason;
        one->reason = reason;
    }
    all->ms += one->ms;
    all->gflops += one->gflops;
    all->error += one->error;
    all->throttled |= one->throttled;
    all->busy |= one->busy;
    all->overtakes |= one->overtakes;
}

static void begin(struct observation *x)
{
    x->ms = log(x->ms);
    x->gflops = log(x->gflops);
    x->error *= x->error;
}

static void divide(struct observation *x, int n)
{
    x->ms = exp(x->ms / n);
    x->gflops = exp(x->gflops / n);
    x->error = sqrt(x->error) / n;
}

// Adds a file as one measurement. A case gets the mean over the processes of the file.
static int add_file(struct observations *s, const char *path)
{
    struct observations one = {.kind = s->kind};
    int err = observations_read(&one, path);
    int64_t kept = err ? 0 : observations_last(&one), first = 0;
    for (int64_t i = 0; i < kept; i++) begin(&one.list[i]);
    for (int64_t i = 1; i <= kept; i++) {
        struct observation *all = &one.list[first];
        if (i < kept && !strcmp(one.list[i].key, all->key)) {
            join(all, &one.list[i]);
            continue;
        }
        divide(all, (int)(i - first));
        first = i;
    }
    if (!err) err = observations_join(s, &one, kept, path);
    observations_free(&one);
    return err;
}

static int compare_with(struct comparison *c, const char **paths, int before, int newest,
                        const struct compare_rule *rule)
{
    int err = OK;
    *c = (struct comparison){0};
    snprintf(c->name[SIDE_OLD], sizeof c->name[0], "%d file%s before", before,
             before == 1 ? "" : "s");
    utf8_visible(paths[newest], c->name[SIDE_NEW], sizeof c->name[0]);
    for (int side = 0; side < SIDES; side++) c->read[side].kind = rule->kind;
    for (int i = 0; i < before && !err; i++) err = add_file(&c->read[SIDE_OLD], paths[i]);
    if (!err) err = add_file(&c->read[SIDE_NEW], paths[newest]);
    if (!err) err = comparison_match(c);
    struct compare_rule of_files = *rule;
    of_files.sittings = true;
    return err ? err : comparison_judge(c, &of_files);
}

static const struct compared *find_case(const struct comparison *c, const char *key)
{
    for (int64_t i = 0; i < c->count; i++)
        if (!strcmp(compared_any(&c->cases[i])->key, key)) return &c->cases[i];
    return NULL;
}

// Sets "slower" back to "unclear" for cases that were not slower in an earlier file.
static void require_in_a_row(struct comparison *c, const struct comparison *earlier, int in_a_row)
{
    for (int64_t i = 0; i < c->count; i++) {
        struct compared *x = &c->cases[i];
        if (x->verdict != VERDICT_SLOWER) continue;
        const struct compared *y = find_case(earlier, compared_any(x)->key);
        if (y && y->verdict == VERDICT_SLOWER) continue;
        x->verdict = VERDICT_UNCLEAR;
        snprintf(x->why, sizeof x->why, "slower in %d of %d files in a row", in_a_row,
                 c->rule.consecutive);
    }
}

int comparison_history(struct comparison *c, const char **paths, int count,
                       const struct compare_rule *rule)
{
    int before = count - rule->consecutive;
    *c = (struct comparison){0};
    if (before < 1)
        return fail(ERR_INPUT, "-history: %d file%s, and -consecutive %d needs at least %d", count,
                    count == 1 ? "" : "s", rule->consecutive, rule->consecutive + 1);
    int err = sort_by_date(paths, count);
    if (!err) err = compare_with(c, paths, before, count - 1, rule);
    // from the newest file back
    for (int back = 1; back < rule->consecutive && !err; back++) {
        struct comparison earlier;
        err = compare_with(&earlier, paths, before, count - 1 - back, rule);
        if (!err) require_in_a_row(c, &earlier, back);
        comparison_free(&earlier);
    }
    return err ? err : comparison_sum(c);
}
