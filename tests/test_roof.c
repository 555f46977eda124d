// What follows from a ladder of reads: memory, the last cache and its size; how two measurements
// become one; which ceilings can be true.
#include "device/roof.h"

#include <math.h>
#include <time.h>

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

// One value after the other becomes nonsense.
static void test_sane(void)
{
    const struct roof good = LADDER(2, 90, 64, 60, 60, 16, 16, 16);
    CHECK(roof_is_sane(&good), "good ceilings are refused");
    static const double nonsense[] = {NAN, INFINITY, -INFINITY, -5, 1e-300, 1e300, 2e8, 0};
#define PLACE(field) offsetof(struct roof, field)
    static const size_t places[] = {
        PLACE(memory_gb_s), PLACE(copy_gb_s),     PLACE(read_gb_s),       PLACE(near_gb_s),
        PLACE(cache_gb_s),  PLACE(fma_gflops[1]), PLACE(fma_measured[0]), PLACE(steps[3].gb_s)};
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
    r = good, r.step_count = 2;
    CHECK(!roof_is_sane(&r), "two steps");
}

int main(void)
{
    test_plan();
    test_cache();
    test_held_up();
    test_no_cache();
    test_merge();
    test_sane();
    return TEST_END();
}
