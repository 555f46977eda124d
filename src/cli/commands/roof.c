// spbench roof: measures the ceilings of a device again and replaces the stored ones.
#include "cli/commands/request.h"

#include <stdio.h>
#include <time.h>

#include "device/roof.h"

static void print_ceiling(const char *what, double x, double before, const char *unit)
{
    if (x > 0)
        printf("  %-26s %10.1f %s", what, x, unit);
    else
        printf("  %-26s %10s", what, "not known");
    if (before > 0) printf(" (before: %.1f)", before);
    printf("\n");
}

static void print_cache(const struct roof *roof, const struct roof *before)
{
    char size[32], what[64];
    if (!roof->cache_seen_bytes) {
        printf("  %-26s %10s\n", "read from the cache", "no cache is faster than memory");
        return;
    }
    snprintf(what, sizeof what, "read from %s of cache", size_text(roof->cache_seen_bytes, size));
    print_ceiling(what, roof->cache_gb_s, before->cache_gb_s, "GB/s");
}

static void print_block_sizes(const struct roof *roof)
{
    printf("  block sizes:\n");
    for (int i = 0; i < roof->step_count; i++) {
        char size[32];
        printf("  %26s %10.1f GB/s\n", size_text(roof->steps[i].bytes, size), roof->steps[i].gb_s);
    }
}

static void print_gathers(const struct roof *roof)
{
    char what[32], size[32];
    printf("  random rows, GB/s:        ");
    for (int w = 0; w < ROOF_ROWS; w++) {
        snprintf(what, sizeof what, "%d bytes", roof_row_bytes[w]);
        printf(" %10s", what);
    }
    printf("\n");
    for (int i = 0; i < roof->gather_count; i++) {
        snprintf(what, sizeof what, "out of %s", size_text(roof->gathers[i].bytes, size));
        printf("  %26s", what);
        for (int w = 0; w < ROOF_ROWS; w++) printf(" %10.1f", roof->gathers[i].gb_s[w]);
        printf("\n");
    }
}

static void print_roof(const struct device *d, const struct roof *roof, const struct roof *before,
                       bool verbose)
{
    char date[32];
    time_t measured = (time_t)roof->measured;
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M", gmtime_r(&measured, &utc));
    printf("%s: %s (%s), measured %s UTC\n", d->id, d->name, d->detail, date);
    print_ceiling("memory", roof->memory_gb_s, before->memory_gb_s, "GB/s");
    print_ceiling("memory, slowest tries", roof->memory_low_gb_s, 0, "GB/s");
    print_ceiling("copy, read and written", roof->copy_gb_s, before->copy_gb_s, "GB/s");
    print_ceiling("read", roof->read_gb_s, before->read_gb_s, "GB/s");
    print_cache(roof, before);
    print_ceiling("read next to the cores", roof->near_gb_s, before->near_gb_s, "GB/s");
    for (int prec = F32; prec <= F64; prec++) {
        char what[32];
        snprintf(what, sizeof what, "multiply-add, %s", prec_name((enum prec)prec));
        print_ceiling(what, roof->fma_gflops[prec], before->fma_gflops[prec], "GFLOPS");
    }
    if (roof_is_unsteady(roof))
        printf("  %s: the ceilings may be too low\n",
               roof->busy ? "busy machine" : "memory varied between tries");
    if (!verbose) return;
    print_block_sizes(roof);
    print_gathers(roof);
}

int cli_roof(const struct request *q)
{
    struct bench_setup c;
    struct roof before = {0};
    int err = bench_setup_make_device(&c, q->o);
    if (err) goto done;
    cli_print_device(&c, q->o);
    const struct bench_device *bd = bench_device_find(&c.devices, c.device);
    if (!bound_kept(bd->dev, &before)) before = (struct roof){0};
    err = bench_setup_measure_roofs(&c, true);
    if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
    if (!err) print_roof(bd->dev, &bd->roof, &before, q->o->verbose);
done:
    bench_setup_free(&c);
    return err;
}
