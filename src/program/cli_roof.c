// spbench roof: the ceilings of a device, measured afresh and kept for the runs that follow.
#include "program/cli.h"

#include <stdio.h>

static void print_ceiling(const char *what, double x, const char *unit)
{
    if (x > 0)
        printf("  %-22s %10.1f %s\n", what, x, unit);
    else
        printf("  %-22s %10s\n", what, "not known");
}

int cli_roof(const struct request *q)
{
    struct choice c;
    int err = choice_make_device(&c, q->o);
    if (err) goto done;
    cli_tell_device(&c, q->o);
    err = choice_measure_roofs(&c, true);
    if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
    if (!err) {
        const struct bench_device *bd = bench_device_find(&c.devices, c.device);
        const struct device *d = bd->dev;
        const struct roof *roof = &bd->roof;
        printf("%s: %s (%s)\n", d->id, d->name, d->detail);
        print_ceiling("copy, read and written", roof->copy_gb_s, "GB/s");
        print_ceiling("read from the cache", roof->cache_gb_s, "GB/s");
        print_ceiling("multiply-add, f32", roof->fma_gflops[F32], "GFLOPS");
        print_ceiling("multiply-add, f64", roof->fma_gflops[F64], "GFLOPS");
    }
done:
    choice_free(&c);
    return err;
}
