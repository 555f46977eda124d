// What tells where the numbers of a table come from: the line above the first one, and the names of
// rows.
#include "program/table.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "run/record.h"

static bool runs_on(const struct plan *plan, const char *id)
{
    for (int64_t i = 0; i < plan->count; i++)
        if (!strcmp(plan->cases[i].device, id)) return true;
    return false;
}

static void print_roof(const struct roof *roof)
{
    char rate[32], size[32];
    fprintf(stderr, "  at most");
    if (roof->memory_gb_s > 0)
        fprintf(stderr, " %s GB/s from memory,", table_number(roof->memory_gb_s, rate));
    if (roof->cache_seen_bytes)
        fprintf(stderr, " %s GB/s from %s of cache,", table_number(roof->cache_gb_s, rate),
                size_text(roof->cache_seen_bytes, size));
    fprintf(stderr, " %s GFLOPS in f32,", table_number(roof->fma_gflops[F32], rate));
    fprintf(stderr, " %s in f64\n", table_number(roof->fma_gflops[F64], rate));
}

void table_head(const struct table *t, const struct bench_devices *devices)
{
    bool any = false;
    char prec[16] = "";
    if (t->quiet) return;
    if (!t->precs_vary && t->plan->count)
        snprintf(prec, sizeof prec, ", %s", prec_name(t->plan->cases[0].prec));
    table_clear(t);
    for (int i = 0; i < devices->count; i++) {
        const struct bench_device *bd = &devices->list[i];
        if (!bd->dev || !runs_on(t->plan, bd->id)) continue;
        fprintf(stderr, "spbench %s on %s%s: %s; %s\n", record_version(), bd->id, prec,
                bd->dev->name, bd->dev->detail);
        if (bd->roof.fma_gflops[F32] > 0) print_roof(&bd->roof);
        any = true;
    }
    if (!any) fprintf(stderr, "spbench %s\n", record_version());
}

// Whether cases with the same inputs differ in the a-th option of this one's algorithm. They follow
// each other in the plan.
static bool varies(const struct plan *plan, const struct bench_case *c, int a)
{
    const struct bench_case *first = c, *end = plan->cases + plan->count;
    while (first > plan->cases && first[-1].entry == c->entry && case_same_inputs(first - 1, c))
        first--;
    for (; first < end && first->entry == c->entry && case_same_inputs(first, c); first++)
        if (first->opt[a] != c->opt[a]) return true;
    return false;
}

const char *table_name(const struct table *t, const struct bench_case *c, char text[TABLE_NAME_MAX])
{
    const struct algo *algo = c->entry->algo;
    char option[TABLE_NAME_MAX];
    snprintf(text, TABLE_NAME_MAX, "%s", c->entry->name);
    for (int a = 0; algo && algo_param(algo, a); a++) {
        if (!varies(t->plan, c, a)) continue;
        snprintf(option, sizeof option, "%s=%.10g", algo_param(algo, a)->name, c->opt[a]);
        words_add(text, TABLE_NAME_MAX, " ", option);
    }
    return text;
}
