#include "measure/bound.h"

#include <math.h>
#include <time.h>

#include "measure/busy.h"
#include "measure/roof_file.h"

#define KEPT_FOR    (7 * 86400) // seconds
#define PROBE_GAIN  1.1         // a probe that is so much better tells of a measurement held down
#define FRESH_FOR   60          // seconds; to measure again would tell nothing new
#define FROM_MEMORY 4           // times what may be cached: then most of it comes from memory

// Measures and keeps the better of the new and the kept ceilings. `anew`: keeps the new ones.
static int measure(struct device *d, bool anew, struct roof *roof)
{
    *roof = (struct roof){0};
    const struct machine_clock from = machine_now();
    int err = d->ops->measure_roof(d, roof);
    if (err) return err;
    const struct machine_clock to = machine_now();
    roof->busy = machine_busy(&from, &to, d, false);
    roof->measured = (int64_t)time(NULL);
    if (anew)
        roof_file_replace(d, roof);
    else
        roof_file_keep(d, roof);
    return OK;
}

// Sets the size that a flush of the caches covers: that of the cache seen, else the ladder's top.
static void tell_cache(struct device *d, const struct roof *roof)
{
    int64_t top = roof->step_count ? roof->steps[roof->step_count - 1].bytes : 0;
    d->cache_seen_bytes = roof->cache_seen_bytes;
    if (!d->cache_seen_bytes) d->cache_seen_bytes = min64(d->cache_bytes, top / 2);
}

// Returns true if the kept ceilings are old, have no probe, or are beaten by a new probe. Other
// work or a tool such as compute-sanitizer can have slowed down the measurement that was kept. A
// probe that is slowed down itself, by low clocks of an idle GPU for example, only misses this.
// Sets `probe` to the present rate of the device; 0: unknown.
static bool is_stale(struct device *d, const struct roof *kept, double *probe)
{
    *probe = 0;
    if ((int64_t)time(NULL) - kept->measured > KEPT_FOR) return true;
    if (d->ops->probe_roof(d, probe)) return fail_drop(), *probe = 0, false;
    return *probe > PROBE_GAIN * kept->probe_gb_s;
}

int bound_roof(struct device *d, bool fresh, struct roof *roof)
{
    struct roof kept;
    double probe = 0;
    int err = OK;
    bool known = roof_file_read(d, &kept);
    if (known && !fresh && !is_stale(d, &kept, &probe)) {
        *roof = kept;
    } else {
        err = measure(d, fresh, roof);
        // Kept ceilings serve if the measurement fails; the next run tries again.
        if (err && err != ERR_INTERRUPTED && known && !fresh)
            *roof = kept, probe = 0, err = fail_drop();
    }
    if (err) *roof = (struct roof){0};
    // A better probe is kept, or the next run would measure again.
    if (!err && probe > roof->probe_gb_s) {
        roof->probe_gb_s = probe;
        roof_file_keep(d, roof);
    }
    tell_cache(d, roof);
    return err;
}

bool bound_kept(struct device *d, struct roof *roof) { return roof_file_read(d, roof); }

double bound_roofline_ms(const struct roof *roof, enum prec prec, int64_t flops, int64_t bytes)
{
    double memory = roof->memory_gb_s > 0 ? (double)bytes / roof->memory_gb_s * 1e-6 : 0;
    double rate = roof->fma_gflops[prec_sum(prec)];
    double arithmetic = rate > 0 ? (double)flops / rate * 1e-6 : 0;
    return memory > arithmetic ? memory : arithmetic;
}

double bound_gather_ms(const struct roof *roof, const struct op_gather *g, double bound_ms)
{
    double row_bytes = fmax((double)g->row_bytes, roof_row_bytes[0]); // less is not fetched
    double rate = roof_gather_gb_s(roof, row_bytes, (double)g->block_bytes);
    return rate > 0 ? fmax(bound_ms, (double)g->rows * row_bytes / rate * 1e-6) : 0;
}

// Measures the ceilings again, since other work may have held them down. Returns false if that
// fails.
static bool measured_again(struct device *d, struct roof *roof)
{
    struct roof now;
    if ((int64_t)time(NULL) - roof->measured < FRESH_FOR) return false;
    if (measure(d, false, &now)) return fail_drop(), false;
    roof_merge(&now, roof); // the file may not be there
    *roof = now;
    tell_cache(d, roof);
    return true;
}

static void raise_to(struct device *d, struct roof *roof, double *ceiling, double rate)
{
    *ceiling = rate;
    roof_derive(roof);
    roof_file_keep(d, roof);
    tell_cache(d, roof);
}

bool bound_learn(struct device *d, struct roof *roof, enum prec prec, double gflops)
{
    const double *measured = &roof->fma_measured[prec_sum(prec)];
    if (!(*measured > 0)) return true; // there is no roof
    if (!(gflops <= ROOF_GAIN * *measured) &&
        !(measured_again(d, roof) && gflops <= ROOF_GAIN * *measured))
        return false;
    double *ceiling = &roof->fma_gflops[prec_sum(prec)];
    if (gflops > *ceiling) raise_to(d, roof, ceiling, gflops);
    return true;
}

bool bound_learn_bytes(struct device *d, struct roof *roof, int64_t bytes, double ms)
{
    double gb_s = (double)bytes / ms * 1e-6;
    if (!(roof->near_gb_s > 0)) return true; // there is no roof
    if (!(gb_s <= roof->near_gb_s) && !(measured_again(d, roof) && gb_s <= roof->near_gb_s))
        return false;
    int64_t cached = device_cached_bytes(d);
    double surely = (double)(bytes - cached) / ms * 1e-6; // this came from memory
    double most = ROOF_GAIN * fmax(roof->read_gb_s, roof->copy_gb_s);
    if (bytes / FROM_MEMORY >= cached && surely > roof->memory_gb_s && surely <= most)
        raise_to(d, roof, &roof->memory_gb_s, surely);
    return true;
}
