// Algorithms of a vendor's library with equal times and equal bits are found, and no others.
#include "bench/same_kernel.h"

#include <math.h>

#include "test.h"

static const struct algo of_vendor = {.vendor = "Lib"}, of_other = {.vendor = "Other"}, own = {0};
static const struct algo_entry first = {.name = "first", .algo = &of_vendor},
                               second = {.name = "second", .algo = &of_vendor},
                               third = {.name = "third", .algo = &of_other},
                               fourth = {.name = "fourth", .algo = &own};

static struct result result_of(const struct algo_entry *entry, double ms, uint64_t bits)
{
    struct result r = {.c = {.entry = entry, .device = "cuda:0"},
                       .status = STATUS_OK,
                       .checked = true,
                       .timed = true,
                       .timing = {.median = ms, .ci_lo = 0.995 * ms, .ci_hi = 1.005 * ms}};
    r.check.digest.bits[0] = bits;
    return r;
}

// Returns what is found for `r` after a case of `first` with time 1 and bits 7.
static const char *found_for(struct result r)
{
    struct same_kernel s = {0};
    struct result before = result_of(&first, 1, 7);
    CHECK(!same_kernel_find(&s, &before), "the first case is like none");
    const char *found = same_kernel_find(&s, &r);
    same_kernel_free(&s);
    return found;
}

static void test_one(void)
{
    struct result r = result_of(&second, 1.02, 7);
    CHECK(found_for(r) == first.name, "equal times, equal bits");
    r.timing.ci_lo = r.timing.ci_hi = NAN;
    CHECK(found_for(r) == first.name, "few samples");
    r = result_of(&second, 1.1, 7);
    CHECK(!found_for(r), "another time");
    r.timing.ci_lo = 1;
    CHECK(found_for(r) == first.name, "an interval that overlaps");
    r.timing.median = 1.2;
    CHECK(!found_for(r), "a wide interval");
    CHECK(!found_for(result_of(&second, 1, 8)), "other bits");
    CHECK(!found_for(result_of(&first, 1, 7)), "the same algorithm with other options");
    CHECK(!found_for(result_of(&third, 1, 7)), "another library");
    CHECK(!found_for(result_of(&fourth, 1, 7)), "no library");
}

static void test_unlike(void)
{
    struct result r[6];
    for (int i = 0; i < COUNT(r); i++) r[i] = result_of(&second, 1, 7);
    r[0].c.cold = true;
    r[1].c.device[5] = '1';
    r[2].timed = false;
    r[3].checked = false;
    r[4].status = STATUS_WRONG;
    r[5].c.stream = true;
    for (int i = 0; i < COUNT(r); i++) CHECK(!found_for(r[i]), "case %d", i);
}

// More cases than there is room at first.
static void test_many(void)
{
    struct same_kernel s = {0};
    for (int i = 0; i < 40; i++) {
        struct result r = result_of(&first, 1, (uint64_t)i);
        CHECK(!same_kernel_find(&s, &r), "case %d", i);
    }
    for (int i = 0; i < 40; i++) {
        struct result r = result_of(&second, 1, (uint64_t)i);
        CHECK(same_kernel_find(&s, &r) == first.name, "case %d", i);
    }
    same_kernel_free(&s);
    CHECK(!s.list && !s.count, "freed");
}

TESTS(test_one, test_unlike, test_many)
