#include "device/roof.h"

#include <math.h>
#include <string.h>
#include <time.h>

// Beyond these, and ROOF_BYTES_MOST, is no machine that this program runs on.
#define GB_S_MOST  1e6
#define FLOPS_MOST 1e8        // GFLOPS
#define FIRST_DATE 1577836800 // 2020-01-01: no ceiling of this program is older
#define DAY        86400

#define CACHE_GAIN 1.25 // a cache is seen where it is so much faster than memory

void roof_plan_ladder(struct roof *roof, int64_t first, int64_t last)
{
    double octaves = log2((double)last / (double)first);
    int steps = 1 + (int)ceil(2 * octaves);
    roof->step_count = steps < 3 ? 3 : steps > ROOF_STEPS_MAX ? ROOF_STEPS_MAX : steps;
    for (int i = 0; i < roof->step_count; i++) {
        double bytes = (double)first * exp2(octaves * i / (roof->step_count - 1));
        roof->steps[i] = (struct roof_step){(int64_t)bytes & ~(int64_t)4095, 0};
    }
}

// What a larger block reached, a smaller one can: what is below that was held up by something else.
static void smooth(const struct roof *r, double gb_s[ROOF_STEPS_MAX])
{
    double best = 0;
    for (int i = r->step_count - 1; i >= 0; i--) gb_s[i] = best = fmax(best, r->steps[i].gb_s);
}

// Where the rate is as near to the cache's as to memory's, on a scale of ratios, as the sizes
// between the steps are.
static int64_t fall(const struct roof *r, const double *gb_s)
{
    double half = sqrt(r->cache_gb_s * r->read_gb_s);
    int i = 1;
    while (gb_s[i] >= half) i++; // it ends: the last step is memory
    double part = log(gb_s[i - 1] / half) / log(gb_s[i - 1] / gb_s[i]);
    double from = (double)r->steps[i - 1].bytes, to = (double)r->steps[i].bytes;
    return (int64_t)(from * pow(to / from, part));
}

void roof_derive(struct roof *r)
{
    double gb_s[ROOF_STEPS_MAX];
    const int n = r->step_count;
    smooth(r, gb_s);
    // The last two steps are both memory; the first may in part be out of the cores' own caches.
    r->read_gb_s = gb_s[n - 2];
    r->memory_gb_s = fmax(r->memory_gb_s, fmax(r->read_gb_s, r->copy_gb_s));
    r->near_gb_s = fmax(r->near_gb_s, fmax(r->memory_gb_s, gb_s[0]));
    for (int b = 0; b < r->gather_count; b++)
        for (int w = 0; w < ROOF_ROWS; w++)
            r->near_gb_s = fmax(r->near_gb_s, r->gathers[b].gb_s[w]);
    for (int prec = 0; prec < 2; prec++)
        r->fma_gflops[prec] = fmax(r->fma_gflops[prec], r->fma_measured[prec]);
    bool seen = gb_s[1] > CACHE_GAIN * r->memory_gb_s;
    r->cache_gb_s = seen ? gb_s[1] : 0;
    r->cache_seen_bytes = seen ? fall(r, gb_s) : 0;
}

static bool same_ladder(const struct roof *a, const struct roof *b)
{
    bool same = a->step_count == b->step_count;
    for (int i = 0; same && i < a->step_count; i++) same = a->steps[i].bytes == b->steps[i].bytes;
    return same;
}

static int64_t ladder_end(const struct roof *r)
{
    return r->step_count ? r->steps[r->step_count - 1].bytes : 0;
}

void roof_merge(struct roof *r, const struct roof *earlier)
{
    if (same_ladder(r, earlier)) {
        for (int i = 0; i < r->step_count; i++)
            r->steps[i].gb_s = fmax(r->steps[i].gb_s, earlier->steps[i].gb_s);
    } else if (ladder_end(earlier) > ladder_end(r)) { // it was shorter now, for lack of memory
        r->step_count = earlier->step_count;
        memcpy(r->steps, earlier->steps, sizeof r->steps);
    }
    roof_merge_gathers(r, earlier);
    r->memory_gb_s = fmax(r->memory_gb_s, earlier->memory_gb_s);
    r->copy_gb_s = fmax(r->copy_gb_s, earlier->copy_gb_s);
    r->near_gb_s = fmax(r->near_gb_s, earlier->near_gb_s);
    r->probe_gb_s = fmax(r->probe_gb_s, earlier->probe_gb_s);
    for (int prec = 0; prec < 2; prec++) {
        r->fma_gflops[prec] = fmax(r->fma_gflops[prec], earlier->fma_gflops[prec]);
        r->fma_measured[prec] = fmax(r->fma_measured[prec], earlier->fma_measured[prec]);
    }
    roof_derive(r);
}

static bool within(double x, double least, double most) { return x >= least && x <= most; }

static bool is_ladder(const struct roof *r)
{
    if (r->step_count < 3 || r->step_count > ROOF_STEPS_MAX) return false;
    for (int i = 0; i < r->step_count; i++)
        if (!within(r->steps[i].gb_s, ROOF_LEAST, GB_S_MOST) ||
            r->steps[i].bytes > ROOF_BYTES_MOST ||
            r->steps[i].bytes <= (i ? r->steps[i - 1].bytes : 0))
            return false;
    return true;
}

bool roof_is_sane(const struct roof *r)
{
    double gain = ROOF_GAIN * (1 + 1e-5); // numbers in a file are rounded
    double memory_most = fmin(GB_S_MOST, gain * fmax(r->read_gb_s, r->copy_gb_s));
    bool sane = is_ladder(r) && roof_gathers_are_sane(r) &&
                within(r->memory_gb_s, ROOF_LEAST, memory_most) &&
                within(r->copy_gb_s, ROOF_LEAST, r->memory_gb_s) &&
                within(r->read_gb_s, ROOF_LEAST, r->memory_gb_s) &&
                within(r->near_gb_s, r->memory_gb_s, GB_S_MOST) &&
                within(r->probe_gb_s, 0, GB_S_MOST) && !r->cache_gb_s == !r->cache_seen_bytes &&
                r->measured >= FIRST_DATE && r->measured <= (int64_t)time(NULL) + DAY;
    if (sane && r->cache_gb_s)
        sane = within(r->cache_gb_s, r->memory_gb_s, r->near_gb_s) && r->cache_seen_bytes > 0 &&
               r->cache_seen_bytes <= ladder_end(r);
    for (int prec = 0; prec < 2; prec++)
        sane = sane && within(r->fma_measured[prec], ROOF_LEAST, FLOPS_MOST) &&
               within(r->fma_gflops[prec], r->fma_measured[prec],
                      fmin(FLOPS_MOST, gain * r->fma_measured[prec]));
    return sane;
}
