// The test harness: CHECK() lines, one program per file, a closing line that tests/run.sh adds up.
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

static int test_passed, test_failed, test_skipped;

// Counts one check; a failure prints the place and the text. An error that the condition has caused
// ends here; its text is kept until the next error.
#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        if (cond) {                                                                                \
            test_passed++;                                                                         \
        } else {                                                                                   \
            test_failed++;                                                                         \
            printf("%s:%d: FAILED: %s: ", __FILE__, __LINE__, #cond);                              \
            printf(__VA_ARGS__);                                                                   \
            printf("\n");                                                                          \
        }                                                                                          \
        fail_drop();                                                                               \
    } while (0)

#define CHECK_TEXT(got, want)                                                                      \
    CHECK(strcmp((got), (want)) == 0, "got \"%s\", want \"%s\"", (got), (want))

#define SKIP(...)                                                                                  \
    do {                                                                                           \
        test_skipped++;                                                                            \
        printf("skipped: " __VA_ARGS__);                                                           \
        printf("\n");                                                                              \
    } while (0)

// Calls functions without arguments in order.
#define RUN_ALL(...)                                                                               \
    do {                                                                                           \
        void (*const tests_[])(void) = {__VA_ARGS__};                                              \
        for (size_t t_ = 0; t_ < sizeof tests_ / sizeof *tests_; t_++) tests_[t_]();               \
    } while (0)

// The main() of a file whose tests need no preparation.
#define TESTS(...)                                                                                 \
    int main(void)                                                                                 \
    {                                                                                              \
        RUN_ALL(__VA_ARGS__);                                                                      \
        return TEST_END();                                                                         \
    }

// The same for tests on the device `dev`, the CPU. They leave no memory of the device.
#define TESTS_ON_CPU(dev, ...)                                                                     \
    int main(void)                                                                                 \
    {                                                                                              \
        CHECK(!device_open("cpu", &dev), "%s", fail_text());                                       \
        RUN_ALL(__VA_ARGS__);                                                                      \
        CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);                      \
        device_close(&dev);                                                                        \
        return TEST_END();                                                                         \
    }

// The last line of main(): return TEST_END();
#define TEST_END()                                                                                 \
    (printf("%d passed, %d failed, %d skipped\n", test_passed, test_failed, test_skipped),         \
     fflush(stdout), test_failed != 0)

#endif
