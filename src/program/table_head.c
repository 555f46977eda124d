// The lines above the first table: version, devices and their ceilings.
#include "program/table.h"

#include <stdio.h>
#include <string.h>

#include "program/cell.h"
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
        fprintf(stderr, " %s GB/s from memory,", cell_number(roof->memory_gb_s, rate));
    if (roof->cache_seen_bytes)
        fprintf(stderr, " %s GB/s from %s of cache,", cell_number(roof->cache_gb_s, rate),
                size_text(roof->cache_seen_bytes, size));
    fprintf(stderr, " %s GFLOPS in f32,", cell_number(roof->fma_gflops[F32], rate));
    fprintf(stderr, " %s in f64\n", cell_number(roof->fma_gflops[F64], rate));
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
