// Which two matrices of one name are told, whatever else is there, and that many names take no
// longer than they must.
#include "cli/matrices/matrix_check.h"

#include "base/base.h"
#include "test.h"

#define PATHS_MAX 5

static void test_pairs(void)
{
    static const struct {
        const char *paths[PATHS_MAX];
        const char *first, *second; // NULL: all is well
    } table[] = {
        {{"a/x.mtx", "a/y.mtx", "gen:fem:2", "x"}, "a/x.mtx", "x"},
        {{"a/x.mtx", "a/y.mtx", "a/x.mtx"}, NULL, NULL}, // the same one again
        {{"a/x.mtx"}, NULL, NULL},
        {{"z/b.mtx", "z/a.mtx", "y/b.mtx", "y/a.mtx"}, "z/b.mtx", "y/b.mtx"}, // as they come
        {{"z/a.mtx", "z/b.mtx", "y/b.mtx.gz", "y/a.mtx"}, "z/b.mtx", "y/b.mtx.gz"},
        {{"a/x.mtx", "a/x.mtx", "b/x.mtx", "c/x.mtx"}, "a/x.mtx", "b/x.mtx"},
        {{"a\xfe.mtx", "a\xff.mtx"}, "a\\xfe.mtx", "a\\xff.mtx"}, // the same in a record
        {{"gen:fem:2", "gen:fem:3"}, NULL, NULL}};
    for (int i = 0; i < COUNT(table); i++) {
        int64_t count = 0;
        char want[256];
        while (count < PATHS_MAX && table[i].paths[count]) count++;
        int err = matrix_check_names(table[i].paths, count, "run");
        CHECK(err == (table[i].first ? ERR_USAGE : OK), "%d: error %d", i, err);
        if (!err) continue;
        snprintf(want, sizeof want, "%s and %s: two matrices", table[i].first, table[i].second);
        CHECK(!strncmp(fail_text(), want, strlen(want)), "got \"%s\", want \"%s\"", fail_text(),
              want);
        CHECK(strstr(fail_text(), "use a separate run for each"), "%s", fail_text());
    }
    CHECK(!matrix_check_names(NULL, 0, "run"), "none at all");
}

// Of each name there are a few allocations, not some of each pair. All that fail are reported.
static void test_many(void)
{
    enum { MANY = 3000, LENGTH = 32 };
    static char texts[MANY][LENGTH];
    static const char *paths[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(texts[i], LENGTH, "d/%d.mtx", i);
        paths[i] = texts[i];
    }
    mem_fail_at(4 * MANY);
    int err = matrix_check_names(paths, MANY, "run");
    mem_fail_at(0);
    CHECK(!err, "%d names take 4 allocations each, or more", MANY);
    int n = 0;
    do {
        mem_fail_at(++n);
        err = matrix_check_names(paths, 3, "run");
        mem_fail_at(0);
        CHECK(!err || err == ERR_MEMORY, "allocation %d: error %d", n, err);
    } while (err && n < 100);
    CHECK(!err && n > 3, "error %d after %d allocations", err, n);
}

TESTS(test_pairs, test_many)
