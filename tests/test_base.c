// Errors, sizes, memory, random numbers.
#include "base/base.h"

#include "test.h"

static void test_sizes(void)
{
    int64_t x = -1;
    CHECK(size_mul(3, 4, &x) == OK && x == 12, "3 * 4 gives %lld", (long long)x);
    CHECK(size_mul(INT64_MAX, 2, &x) == ERR_MEMORY, "an overflow was accepted");
    CHECK(size_mul(-1, 2, &x) == ERR_MEMORY, "a negative size was accepted");
    CHECK(size_add(INT64_MAX, 1, &x) == ERR_MEMORY, "an overflow was accepted");
    CHECK(size_add(5, 6, &x) == OK && x == 11, "5 + 6 gives %lld", (long long)x);

    char text[32];
    CHECK_TEXT(size_text(0, text), "0 bytes");
    CHECK_TEXT(size_text(999, text), "999 bytes");
    CHECK_TEXT(size_text(1500, text), "1.5 kB");
    CHECK_TEXT(size_text(999999, text), "1.0 MB");
    CHECK_TEXT(size_text((int64_t)141 * 1000 * 1000 * 1000, text), "141 GB");
}

static void test_memory(void)
{
    char *p = mem_alloc(0, 8);
    CHECK(p, "an allocation of nothing failed");
    mem_free(p);
    mem_free(NULL);

    p = mem_zero_alloc(100, 1);
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += p[i];
    CHECK(sum == 0 && (uintptr_t)p % 64 == 0, "sum %d, address %p", sum, (void *)p);
    p[99] = 7;
    p = mem_resize(p, 100, 1000, 1);
    CHECK(p && p[99] == 7, "the contents were not kept");
    mem_free(p);

    CHECK(!mem_alloc(INT64_MAX, 8) && strstr(fail_text(), "out of range"), "%s", fail_text());
    CHECK(!mem_alloc((int64_t)1 << 50, 1) && strstr(fail_text(), "out of host memory"), "%s",
          fail_text());

    mem_fail_at(2);
    p = mem_alloc(1, 1);
    void *q = mem_alloc(1, 1), *r = mem_alloc(1, 1);
    CHECK(p && !q && r, "the second allocation should fail: %p %p %p", (void *)p, q, r);
    mem_fail_at(0);
    mem_free(p);
    mem_free(r);
}

static void test_random(void)
{
    // Pinned: recorded runs are repeated with these numbers.
    CHECK(random_at(0, 0) == 0xa706dd2f4d197e6fu, "the stream has changed: %llx",
          (unsigned long long)random_at(0, 0));
    CHECK(random_at(1, 5) != random_at(2, 5), "the seed does not matter");
    double low = 1, high = -1, sum = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        double x = random_value(42, i);
        if (x < low) low = x;
        if (x > high) high = x;
        sum += x;
        if ((double)(float)x != x) CHECK(false, "%.17g is not exact in f32", x);
    }
    CHECK(low >= -1 && low < -0.999 && high < 1 && high > 0.999, "range %g .. %g", low, high);
    CHECK(sum / 100000 < 0.01 && sum / 100000 > -0.01, "mean %g", sum / 100000);
}

int main(void)
{
    CHECK(fail(ERR_INPUT, "%s:%d", "file", 3) == ERR_INPUT, "the code was lost");
    CHECK_TEXT(fail_text(), "file:3");
    test_sizes();
    test_memory();
    test_random();
    return TEST_END();
}
