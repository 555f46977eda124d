#include "device/roof.h"

#include <math.h>
#include <string.h>
#include <time.h>

// Largest plausible values.
#define GB_S_MOST  1e6
#define FLOPS_MOST 1e8        // GFLOPS
#define FIRST_DATE 1577836800 // 2020-01-01: no measurement is older
#define DAY        86400

#define CACHE_GAIN 1.25 // a cache is seen if reads are faster than memory by this factor

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

const int roof_row_bytes[ROOF_ROWS] = {32, 64, 128, 256, 512};

void roof_plan_gathers(struct roof *roof, int64_t first, int64_t last)
{
    double octaves = last > first ? log2((double)last / (double)first) : 0;
    int count = (int)min64(1 + (int64_t)ceil(octaves / 2), ROOF_GATHERS_MAX);
    roof->gather_count = count;
    for (int i = 0; i < count; i++) {
        double bytes = (double)first * exp2(count > 1 ? octaves * i / (count - 1) : 0);
        roof->gathers[i] = (struct roof_gather){.bytes = (int64_t)bytes & ~(int64_t)4095};
    }
}

// Sets gb_s[i] to the best rate of block i and all larger blocks. A smaller block with a lower rate
// was slowed down by other work.
static void smooth_steps(const struct roof *r, double gb_s[ROOF_STEPS_MAX])
{
    double best = 0;
    for (int i = r->step_count - 1; i >= 0; i--) gb_s[i] = best = fmax(best, r->steps[i].gb_s);
}

// Returns the block size at which the rate is the geometric mean of the cache's and memory's rate,
// interpolated on logarithmic scales.
static int64_t cache_end(const struct roof *r, const double *gb_s)
{
    double half = sqrt(r->cache_gb_s * r->read_gb_s);
    int i = 1;
    while (gb_s[i] >= half) i++; // ends at the last step, which is memory
    double part = log(gb_s[i - 1] / half) / log(gb_s[i - 1] / gb_s[i]);
    double from = (double)r->steps[i - 1].bytes, to = (double)r->steps[i].bytes;
    return (int64_t)(from * pow(to / from, part));
}

void roof_add_try(const struct roof *r, double *best, double rate, double *memory)
{
    const struct roof_step *last = &r->steps[r->step_count - 1];
    if (best == &r->copy_gb_s || best == &last[0].gb_s || best == &last[-1].gb_s)
        *memory = fmax(*memory, rate);
    *best = fmax(*best, rate);
}

void roof_end_round(struct roof *r, double memory)
{
    if (!r->memory_low_gb_s || memory < r->memory_low_gb_s) r->memory_low_gb_s = memory;
}

void roof_derive(struct roof *r)
{
    double gb_s[ROOF_STEPS_MAX];
    const int n = r->step_count;
    smooth_steps(r, gb_s);
    // The last two steps are memory. The first step may come partly from the caches of cores.
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
    r->cache_seen_bytes = seen ? cache_end(r, gb_s) : 0;
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

// Returns the best rate of this and larger blocks, and of this and shorter rows. A lower rate of
// this block and row was caused by other work.
static double smooth_gather(const struct roof *r, int block, int row)
{
    double best = 0;
    for (int b = block; b < r->gather_count; b++)
        for (int w = 0; w <= row; w++) best = fmax(best, r->gathers[b].gb_s[w]);
    return best;
}

// A size between [i] and [next] of an ascending list, at the fraction `part` on a logarithmic
// scale.
struct place {
    int i, next;
    double part;
};

static struct place place_of(const double *sizes, int count, double x)
{
    struct place p = {0, 0, 0};
    while (p.i + 1 < count && sizes[p.i + 1] <= x) p.i++;
    p.next = p.i + 1 < count && x > sizes[p.i] ? p.i + 1 : p.i;
    if (p.next > p.i) p.part = log(x / sizes[p.i]) / log(sizes[p.next] / sizes[p.i]);
    return p;
}

static double between(double a, double b, double part) { return a * pow(b / a, part); }

double roof_gather_gb_s(const struct roof *r, double row_bytes, double block_bytes)
{
    double rows[ROOF_ROWS], blocks[ROOF_GATHERS_MAX], at[2];
    if (!r->gather_count) return 0;
    for (int w = 0; w < ROOF_ROWS; w++) rows[w] = roof_row_bytes[w];
    for (int b = 0; b < r->gather_count; b++) blocks[b] = (double)r->gathers[b].bytes;
    struct place row = place_of(rows, ROOF_ROWS, row_bytes);
    struct place block = place_of(blocks, r->gather_count, block_bytes);
    for (int i = 0; i < 2; i++) {
        int b = i ? block.next : block.i;
        at[i] = between(smooth_gather(r, b, row.i), smooth_gather(r, b, row.next), row.part);
    }
    return between(at[0], at[1], block.part);
}

static bool same_blocks(const struct roof *a, const struct roof *b)
{
    bool same = a->gather_count == b->gather_count;
    for (int i = 0; same && i < a->gather_count; i++)
        same = a->gathers[i].bytes == b->gathers[i].bytes;
    return same;
}

static int64_t largest(const struct roof *r)
{
    return r->gather_count ? r->gathers[r->gather_count - 1].bytes : 0;
}

static void merge_gathers(struct roof *r, const struct roof *earlier)
{
    if (same_blocks(r, earlier)) {
        for (int b = 0; b < r->gather_count; b++)
            for (int w = 0; w < ROOF_ROWS; w++)
                r->gathers[b].gb_s[w] = fmax(r->gathers[b].gb_s[w], earlier->gathers[b].gb_s[w]);
    } else if (largest(earlier) > largest(r)) { // smaller blocks: too little free memory
        r->gather_count = earlier->gather_count;
        memcpy(r->gathers, earlier->gathers, sizeof r->gathers);
    }
}

void roof_merge(struct roof *r, const struct roof *earlier)
{
    if (same_ladder(r, earlier)) {
        for (int i = 0; i < r->step_count; i++)
            r->steps[i].gb_s = fmax(r->steps[i].gb_s, earlier->steps[i].gb_s);
    } else if (ladder_end(earlier) > ladder_end(r)) { // a shorter ladder: too little free memory
        r->step_count = earlier->step_count;
        memcpy(r->steps, earlier->steps, sizeof r->steps);
    }
    merge_gathers(r, earlier);
    if (earlier->memory_gb_s > r->memory_gb_s) {
        r->memory_low_gb_s = earlier->memory_low_gb_s;
        r->busy = earlier->busy;
    }
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

static bool gathers_are_sane(const struct roof *r)
{
    if (r->gather_count < 1 || r->gather_count > ROOF_GATHERS_MAX) return false;
    for (int b = 0; b < r->gather_count; b++) {
        const struct roof_gather *g = &r->gathers[b];
        if (g->bytes <= (b ? r->gathers[b - 1].bytes : 0) || g->bytes > ROOF_BYTES_MOST)
            return false;
        for (int w = 0; w < ROOF_ROWS; w++)
            if (!(g->gb_s[w] >= ROOF_LEAST && g->gb_s[w] <= r->near_gb_s)) return false;
    }
    return true;
}

bool roof_is_sane(const struct roof *r)
{
    double gain = ROOF_GAIN * (1 + 1e-5); // a file has rounded numbers
    double memory_most = fmin(GB_S_MOST, gain * fmax(r->read_gb_s, r->copy_gb_s));
    bool sane = is_ladder(r) && gathers_are_sane(r) &&
                within(r->memory_gb_s, ROOF_LEAST, memory_most) &&
                within(r->memory_low_gb_s, 0, r->memory_gb_s) &&
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

bool roof_is_unsteady(const struct roof *r)
{
    return r->busy || (r->memory_low_gb_s > 0 && r->memory_low_gb_s < ROOF_STEADY * r->memory_gb_s);
}
