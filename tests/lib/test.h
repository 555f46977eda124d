// The test harness: CHECK() lines, one program per file, a closing line that tests/run.sh adds up.
#ifndef TEST_H
#define TEST_H

#include <stdio.h>
#include <string.h>

static int test_passed, test_failed, test_skipped;

// Counts one check; a failure names the place and says what was expected.
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
    } while (0)

#define CHECK_TEXT(got, want)                                                                      \
    CHECK(strcmp((got), (want)) == 0, "got \"%s\", want \"%s\"", (got), (want))

#define SKIP(...)                                                                                  \
    do {                                                                                           \
        test_skipped++;                                                                            \
        printf("skipped: " __VA_ARGS__);                                                           \
        printf("\n");                                                                              \
    } while (0)

// The last line of main(): return TEST_END();
#define TEST_END()                                                                                 \
    (printf("%d passed, %d failed, %d skipped\n", test_passed, test_failed, test_skipped),         \
     fflush(stdout), test_failed != 0)

#endif
