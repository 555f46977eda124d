// What follows from a ladder of reads: memory, the last cache and its size; the rate of rows at
// random; how two measurements become one; which ceilings can be true.
#include "device/roof.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/cpu_kind.h"
#include "device/roof_fma.h"
#include "test.h"

#define MIB ((int64_t)1 << 20)

// A roof whose ladder goes from `first` MiB upwards by factors of 2, with these rates.
static struct roof with_ladder(int first, const double *gb_s, int count)
{
    struct roof r = {.copy_gb_s = gb_s[count - 1],
                     .fma_measured = {60, 30},
                     .measured = (int64_t)time(NULL),
                     .step_count = count};
    for (int i = 0; i < count; i++) r.steps[i] = (struct roof_step){first * MIB << i, gb_s[i]};
    r.gather_count = 2;
    r.gathers[0] = (struct roof_gather){8 * MIB, {2, 4, 8, 10, 12}};
    r.gathers[1] = (struct roof_gather){32 * MIB, {1, 2, 4, 5, 6}};
    roof_derive(&r);
    return r;
}
#define LADDER(first, ...)                                                                         \
    with_ladder(first, (const double[]){__VA_ARGS__},                                              \
                (int)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

static void test_plan(void)
{
    static const struct {
        int64_t first, last;
        int steps;
    } table[] = {{2 * MIB, 256 * MIB, 15}, {MIB, 2 * MIB, 3}, {MIB, 4096 * MIB, ROOF_STEPS_MAX}};
    for (int t = 0; t < COUNT(table); t++) {
        struct roof r = {0};
        roof_plan_ladder(&r, table[t].first, table[t].last);
        CHECK(r.step_count == table[t].steps && r.steps[0].bytes == table[t].first,
              "%d steps from %lld", r.step_count, (long long)r.steps[0].bytes);
        int64_t last = r.steps[r.step_count - 1].bytes;
        CHECK(last <= table[t].last && last >= table[t].last - 4096, "to %lld", (long long)last);
        for (int i = 1; i < r.step_count; i++)
            CHECK(r.steps[i].bytes > r.steps[i - 1].bytes &&
                      (double)r.steps[i].bytes < 2.01 * (double)r.steps[i - 1].bytes,
                  "step %d: %lld", i, (long long)r.steps[i].bytes);
    }
}

// A cache of 32 MiB above memory.
static void test_cache(void)
{
    struct roof r = LADDER(2, 90, 64, 60, 62, 58, 16, 14, 16);
    CHECK(r.cache_gb_s == 64, "the first step alone counts: %g", r.cache_gb_s);
    CHECK(r.read_gb_s == 16 && r.memory_gb_s == 16, "%g, %g", r.read_gb_s, r.memory_gb_s);
    // Half-way from 64 to 16 is 32, between 32 MiB (58) and 64 MiB (16).
    double want = 32.0 * (double)MIB * pow(2, log(58.0 / 32) / log(58.0 / 16));
    CHECK(fabs((double)r.cache_seen_bytes - want) < 2, "%lld, not %g",
          (long long)r.cache_seen_bytes, want);
    CHECK(r.near_gb_s == 90, "no bytes come faster than those of the ladder: %g", r.near_gb_s);
    CHECK(r.fma_gflops[0] == 60 && r.fma_gflops[1] == 30, "%g, %g", r.fma_gflops[0],
          r.fma_gflops[1]);
    CHECK(roof_is_sane(&r), "a good one is refused");
}

// Steps that other work held up change nothing, wherever they are.
static void test_held_up(void)
{
    struct roof clean = LADDER(2, 90, 64, 60, 60, 60, 16, 16, 16);
    static const double held_up[][8] = {
        {90, 64, 5, 60, 60, 16, 16, 16}, {90, 64, 60, 9, 60, 16, 16, 16},
        {90, 64, 60, 60, 60, 16, 3, 16}, {90, 64, 60, 60, 60, 16, 16, 4},
        {90, 64, 60, 60, 60, 2, 16, 16}, {7, 64, 60, 60, 60, 16, 16, 16}};
    for (int i = 0; i < COUNT(held_up); i++) {
        struct roof r = with_ladder(2, held_up[i], 8);
        CHECK(r.cache_gb_s == 64 && r.cache_seen_bytes == clean.cache_seen_bytes &&
                  r.read_gb_s == 16 && r.memory_gb_s == 16,
              "row %d: cache %g up to %lld, memory %g", i, r.cache_gb_s,
              (long long)r.cache_seen_bytes, r.memory_gb_s);
    }
}

// A host's cache that this machine gets nothing of: none, and never one slower than memory.
static void test_no_cache(void)
{
    struct roof flat = LADDER(2, 20, 19, 18, 17, 18, 17, 16.5, 17);
    CHECK(!flat.cache_gb_s && !flat.cache_seen_bytes && flat.read_gb_s == 17, "%g up to %lld",
          flat.cache_gb_s, (long long)flat.cache_seen_bytes);
    CHECK(roof_is_sane(&flat), "without a cache it is refused");
    struct roof copies = LADDER(2, 40, 30, 20, 10, 10);
    copies.copy_gb_s = 45;
    roof_derive(&copies);
    CHECK(!copies.cache_gb_s && copies.memory_gb_s == 45 && copies.near_gb_s == 45,
          "cache %g, memory %g", copies.cache_gb_s, copies.memory_gb_s);
}

// Two measurements, each held up elsewhere, make the whole; what a case has shown stays.
static void test_merge(void)
{
    struct roof a = LADDER(2, 90, 64, 60, 60, 16, 8, 8), b = LADDER(2, 20, 20, 20, 20, 16, 16, 16);
    struct roof whole = LADDER(2, 90, 64, 60, 60, 16, 16, 16);
    a.copy_gb_s = 12, b.copy_gb_s = 18, whole.copy_gb_s = 18;
    a.fma_measured[0] = 50, a.fma_gflops[1] = 40, whole.fma_gflops[1] = 40;
    a.probe_gb_s = 5, b.probe_gb_s = 7, a.near_gb_s = 300;
    roof_derive(&whole);
    struct roof ab = a, ba = b;
    roof_merge(&ab, &b);
    roof_merge(&ba, &a);
    for (int i = 0; i < 2; i++) {
        struct roof *r = i ? &ba : &ab;
        CHECK(r->cache_gb_s == 64 && r->cache_seen_bytes == whole.cache_seen_bytes &&
                  r->read_gb_s == 16 && r->copy_gb_s == 18 && r->memory_gb_s == 18,
              "cache %g up to %lld, memory %g", r->cache_gb_s, (long long)r->cache_seen_bytes,
              r->memory_gb_s);
        CHECK(r->fma_measured[0] == 60 && r->fma_gflops[0] == 60 && r->fma_measured[1] == 30 &&
                  r->fma_gflops[1] == 40 && r->probe_gb_s == 7 && r->near_gb_s == 300,
              "%g, %g of measured %g; probe %g", r->fma_gflops[0], r->fma_gflops[1],
              r->fma_measured[1], r->probe_gb_s);
    }
    // A ladder that lack of memory made shorter does not take the place of the longer one.
    struct roof brief = LADDER(2, 90, 64, 60, 16, 16);
    roof_merge(&brief, &whole);
    CHECK(brief.step_count == whole.step_count, "%d steps", brief.step_count);
    brief = LADDER(2, 90, 64, 60, 16, 16);
    roof_merge(&whole, &brief);
    CHECK(whole.step_count == 7, "%d steps", whole.step_count);
}

// Rounds of tries: memory is the copy and the last two steps. The merged roof has the lowest round
// and the load of the measurement with the better memory.
static void test_rounds(void)
{
    struct roof r = LADDER(2, 90, 64, 60, 16, 16), quiet = r;
    r.copy_gb_s = 0;
    struct {
        double *best, rate, memory;
    } tries[] = {{&r.steps[2].gb_s, 99, 0}, {&r.steps[3].gb_s, 15, 15}, {&r.steps[4].gb_s, 9, 15},
                 {&r.copy_gb_s, 17, 17},    {&r.copy_gb_s, 12, 17},     {&r.near_gb_s, 300, 17}};
    double memory = 0;
    for (int i = 0; i < COUNT(tries); i++) {
        roof_add_try(&r, tries[i].best, tries[i].rate, &memory);
        CHECK(memory == tries[i].memory && *tries[i].best >= tries[i].rate, "try %d: %g", i,
              memory);
    }
    CHECK(r.copy_gb_s == 17 && r.steps[4].gb_s == 16, "%g, %g", r.copy_gb_s, r.steps[4].gb_s);
    roof_end_round(&r, memory);
    CHECK(r.memory_low_gb_s == 17, "%g", r.memory_low_gb_s);
    roof_end_round(&r, 12);
    roof_end_round(&r, 16);
    roof_derive(&r);
    CHECK(r.memory_low_gb_s == 12 && r.memory_gb_s == 17 && roof_is_unsteady(&r), "%g of %g",
          r.memory_low_gb_s, r.memory_gb_s);
    quiet.memory_low_gb_s = 15;
    CHECK(!roof_is_unsteady(&quiet), "15 of 16 GB/s are unsteady");
    quiet.busy = true;
    CHECK(roof_is_unsteady(&quiet), "a busy machine is steady");
    struct roof a = r, b = quiet;
    roof_merge(&a, &quiet);
    roof_merge(&b, &r);
    CHECK(a.memory_low_gb_s == 12 && !a.busy && b.memory_low_gb_s == 12 && !b.busy,
          "%g, %g GB/s; busy %d, %d", a.memory_low_gb_s, b.memory_low_gb_s, a.busy, b.busy);
}

static void test_gather_plan(void)
{
    static const struct {
        int64_t first, last;
        int blocks;
    } table[] = {{8 * MIB, 4096 * MIB, 6}, {MIB, 256 * MIB, 5},
                 {MIB, 64 * MIB, 4},       {8 * MIB, 8 * MIB, 1},
                 {8 * MIB, 4 * MIB, 1},    {MIB, (int64_t)1 << 44, ROOF_GATHERS_MAX}};
    for (int t = 0; t < COUNT(table); t++) {
        struct roof r = {0};
        roof_plan_gathers(&r, table[t].first, table[t].last);
        int64_t last = r.gathers[r.gather_count - 1].bytes;
        CHECK(r.gather_count == table[t].blocks && r.gathers[0].bytes == table[t].first,
              "row %d: %d blocks from %lld", t, r.gather_count, (long long)r.gathers[0].bytes);
        CHECK(r.gather_count == 1 || llabs(last - table[t].last) <= 4096, "row %d: to %lld", t,
              (long long)last);
        for (int i = 1; i < r.gather_count && t < 3; i++)
            CHECK(r.gathers[i].bytes > 2 * r.gathers[i - 1].bytes &&
                      r.gathers[i].bytes <= 4 * r.gathers[i - 1].bytes + 4096,
                  "row %d: block %d of %lld", t, i, (long long)r.gathers[i].bytes);
    }
}

// As measured at the sizes that were measured, half-way between them on scales of ratios, and at
// the ends as at the end.
static void test_gather_rate(void)
{
    struct roof r = LADDER(2, 90, 64, 60, 16, 16), none = {0};
    const struct {
        double row, mib, gb_s;
    } table[] = {
        {32, 8, 2},    {128, 8, 8},         {512, 8, 12},
        {128, 32, 4},  {128, 16, sqrt(32)}, {sqrt(32.0 * 64), 8, sqrt(8)},
        {4, 8, 2},     {1e6, 8, 12},        {128, 0.01, 8},
        {128, 1e6, 4}, {128, 0, 8},         {sqrt(128.0 * 256), 16, sqrt(sqrt(80) * sqrt(20))}};
    for (int i = 0; i < COUNT(table); i++) {
        double rate = roof_gather_gb_s(&r, table[i].row, table[i].mib * (double)MIB);
        CHECK(fabs(rate / table[i].gb_s - 1) < 1e-9, "row %d: %g, not %g", i, rate, table[i].gb_s);
    }
    CHECK(roof_gather_gb_s(&none, 128, MIB) == 0, "a rate out of nothing");
    // What other work held up: a smaller block or a longer row is no slower.
    r.gathers[0].gb_s[2] = 0.5;
    CHECK(roof_gather_gb_s(&r, 128, 8 * MIB) == 4, "%g", roof_gather_gb_s(&r, 128, 8 * MIB));
    r.gathers[1].gb_s[4] = 0.5;
    CHECK(roof_gather_gb_s(&r, 512, 32 * MIB) == 5, "%g", roof_gather_gb_s(&r, 512, 32 * MIB));
    // Faster than what was read next to the cores: that was held up, too.
    r.gathers[0].gb_s[3] = 100;
    roof_derive(&r);
    CHECK(r.near_gb_s == 100, "%g", r.near_gb_s);
}

static void test_gather_merge(void)
{
    struct roof a = LADDER(2, 90, 64, 60, 16, 16), b = a;
    a.gathers[0].gb_s[1] = 1, b.gathers[1].gb_s[4] = 1;
    roof_merge(&a, &b);
    CHECK(a.gathers[0].gb_s[1] == 4 && a.gathers[1].gb_s[4] == 6, "%g, %g", a.gathers[0].gb_s[1],
          a.gathers[1].gb_s[4]);
    // Of other blocks those that go further stay.
    struct roof brief = b;
    brief.gather_count = 1;
    roof_merge(&brief, &b);
    CHECK(brief.gather_count == 2 && brief.gathers[1].bytes == 32 * MIB, "%d blocks",
          brief.gather_count);
    brief.gather_count = 1;
    roof_merge(&b, &brief);
    CHECK(b.gather_count == 2, "%d blocks", b.gather_count);
}

// Each row is as likely, also right after any other one: no run of them is near.
static void test_gather_rows(void)
{
    enum { ROWS = 100, DRAWN = 100000 };
    int seen[ROWS] = {0}, same = 0, next = 0, beyond = 0;
    uint64_t x = mix(MIX_STEP);
    uint32_t last = ROWS;
    for (int i = 0; i < DRAWN; i++, x = roof_random_next(x)) {
        uint32_t row = roof_random_row(x, ROWS);
        beyond += row >= ROWS;
        seen[row % ROWS]++;
        same += row == last, next += row == last + 1;
        last = row;
    }
    CHECK(!beyond, "%d rows beyond the last one", beyond);
    for (int i = 0; i < ROWS; i++)
        CHECK(abs(seen[i] - DRAWN / ROWS) < 200, "row %d: %d times", i, seen[i]);
    CHECK(abs(same - DRAWN / ROWS) < 200 && abs(next - DRAWN / ROWS) < 200, "%d, %d", same, next);
    CHECK(roof_random_row(UINT64_MAX, UINT32_MAX) == UINT32_MAX - 1, "beyond the last row");
}

// One value after the other becomes nonsense.
static void test_sane(void)
{
    const struct roof good = LADDER(2, 90, 64, 60, 60, 16, 16, 16);
    CHECK(roof_is_sane(&good), "good ceilings are refused");
    static const double nonsense[] = {NAN, INFINITY, -INFINITY, -5, 1e-300, 1e300, 2e8, 0};
#define PLACE(field) offsetof(struct roof, field)
    static const size_t places[] = {PLACE(memory_gb_s),        PLACE(copy_gb_s),
                                    PLACE(read_gb_s),          PLACE(near_gb_s),
                                    PLACE(cache_gb_s),         PLACE(fma_gflops[1]),
                                    PLACE(fma_measured[0]),    PLACE(steps[3].gb_s),
                                    PLACE(gathers[0].gb_s[0]), PLACE(gathers[1].gb_s[4])};
    for (int p = 0; p < COUNT(places); p++)
        for (int i = 0; i < COUNT(nonsense); i++) {
            struct roof r = good;
            *(double *)((char *)&r + places[p]) = nonsense[i];
            CHECK(!roof_is_sane(&r), "place %d: %g is believed", p, nonsense[i]);
        }
    struct roof r = good;
    r.cache_gb_s = 10; // below memory
    CHECK(!roof_is_sane(&r), "a cache below memory");
    r = good, r.memory_gb_s = 25, r.near_gb_s = 100; // 1.5 x what was measured is 24
    CHECK(!roof_is_sane(&r), "more than a case can show of memory");
    r = good, r.fma_gflops[0] = 91;
    CHECK(!roof_is_sane(&r), "more than a case can show of multiply-adds");
    r = good, r.measured = 0;
    CHECK(!roof_is_sane(&r), "never measured");
    r = good, r.measured = (int64_t)time(NULL) + 10 * 86400;
    CHECK(!roof_is_sane(&r), "measured in ten days");
    r = good, r.steps[2].bytes = r.steps[1].bytes;
    CHECK(!roof_is_sane(&r), "a ladder that does not rise");
    r = good, r.gathers[1].gb_s[2] = 91; // next to the cores it is 90
    CHECK(!roof_is_sane(&r), "rows that come faster than anything");
    r = good, r.gathers[1].bytes = r.gathers[0].bytes;
    CHECK(!roof_is_sane(&r), "blocks that do not grow");
    r = good, r.gathers[0].bytes = 0;
    CHECK(!roof_is_sane(&r), "a block of nothing");
    r = good, r.gather_count = 0;
    CHECK(!roof_is_sane(&r), "nothing was gathered");
    r = good, r.gather_count = ROOF_GATHERS_MAX + 1;
    CHECK(!roof_is_sane(&r), "too many blocks");
    r = good, r.step_count = 2;
    CHECK(!roof_is_sane(&r), "two steps");
}

// With x = x + 1 an element has the number of its multiply-adds. Their sum is all that is counted.
static void test_multiply_adds(void)
{
    static const enum cpu_kind kinds[] = {CPU_AVX512, CPU_AVX2, CPU_PLAIN};
    for (int i = 0; i < COUNT(kinds) * 2 * ROOF_FMA_SHAPES; i++) {
        _Alignas(64) double x[ROOF_FMA_LANES], sum = 0;
        float *f = (float *)x;
        const enum prec prec = (enum prec)(i / ROOF_FMA_SHAPES % 2);
        const int shape = i % ROOF_FMA_SHAPES;
        for (int l = 0; l < ROOF_FMA_LANES; l++) prec == F32 ? (f[l] = (float)l) : (x[l] = l);
        cpu_kind_limit(kinds[i / ROOF_FMA_SHAPES / 2]);
        const double flops = roof_multiply_add(prec, shape, x, 1, 1);
        for (int l = 0; l < ROOF_FMA_LANES; l++) sum += (prec == F32 ? f[l] : x[l]) - l;
        CHECK(sum > 0 && 2 * sum == flops, "%s, shape %d, kind %d: %g flops, not %g",
              prec_name(prec), shape, (int)cpu_kind(), 2 * sum, flops);
    }
    cpu_kind_limit(CPU_AVX512);
}

TESTS(test_multiply_adds, test_plan, test_cache, test_held_up, test_no_cache, test_merge,
      test_rounds, test_gather_plan, test_gather_rate, test_gather_merge, test_gather_rows,
      test_sane)
