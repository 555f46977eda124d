// The error text of a thread: the first one is kept until it is taken or dropped. Functions that go
// on after an error leave none open.
#include "base/base.h"
#include "cli/options/options.h"
#include "compare/compare.h"
#include "data/cache.h"
#include "data/mtx.h"
#include "device/device.h"
#include "records/record_read.h"
#include "records/record_tail.h"
#include "report/collect.h"
#include "test.h"

#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

static int clean_up(void) { return fail(ERR_OUTPUT, "the file cannot be closed"); }

static void test_first_is_kept(void)
{
    int err = fail(ERR_INPUT, "line %d is wrong", 3);
    if (clean_up() != ERR_OUTPUT) err = OK;
    bool open = fail_is_open();
    CHECK(err == ERR_INPUT && open, "error %d, %d", err, open);
    CHECK_TEXT(fail_text(), "line 3 is wrong");
}

static void test_ends(void)
{
    fail(ERR_INPUT, "one");
    fail(ERR_USAGE, "-o x: %s", fail_text());
    fail(ERR_MEMORY, "two");
    const char *text = fail_text();
    bool open = fail_is_open();
    CHECK(!strcmp(text, "-o x: one") && !open, "%s", text);
    fail(ERR_INPUT, "three");
    int err = fail_drop();
    open = fail_is_open();
    CHECK(!err && !open, "error %d, %d", err, open);
    CHECK_TEXT(fail_text(), "three"); // until the next error
    fail(ERR_INPUT, "four");
    CHECK_TEXT(fail_text(), "four");
    fail(ERR_INPUT, "forgotten");
    fail_check_ended();
    open = fail_is_open();
    CHECK(!open, "an error that was not handled is still open");
}

static void test_threads(void)
{
    fail(ERR_INPUT, "of the first thread");
    bool other = false;
#pragma omp parallel num_threads(2) reduction(|| : other)
    if (omp_get_thread_num()) other = fail_is_open();
    CHECK(!other, "an error of another thread is open");
    CHECK_TEXT(fail_text(), "of the first thread");
}

static char path[] = P_tmpdir "/test_fail.XXXXXX"; // a file with a line that is no record
static struct collected collected;

static bool reads_no_date(void)
{
    int64_t when;
    return !observations_date(path, &when) && !when;
}

static bool collects_no_case(void)
{
    return collect_file(&collected, path) == ERR_INPUT && strstr(fail_text(), "has no results") &&
           collected.bad_lines == 2;
}

static bool judges_a_part(void)
{
    bool part;
    return !record_tail_judge("{\"schema\":\"spbench/1\",\"ki", 25, &part) && part;
}

static bool finds_no_entry(void)
{
    struct csr A;
    struct mtx_info info;
    cache_use(&cache_standard);
    const struct cache_key key = cache_key(path, 1);
    bool found = cache_read(&key, &A, &info);
    cache_use(NULL);
    return !found;
}

// Takes the word after an option's value for a matrix, since it is no further value.
static bool takes_a_matrix(void)
{
    struct options o;
    char *words[] = {(char *)"-k", (char *)"64", (char *)"web"};
    int err = options_parse(&o, COMMAND_RUN, "run", COUNT(words), words);
    options_free(&o);
    return !err;
}

static bool loses_a_moment(void)
{
    struct device d;
    struct device_trace t = {.start = 0};
    void *p;
    if (device_open("cpu", &d)) return false;
    int err = device_alloc(&d, 1, 1, &p);
    d.trace = &t;
    mem_fail_at(1);
    device_free(&d, p);
    mem_fail_at(0);
    device_close(&d);
    return !err && t.lost;
}

static void test_recovery(void)
{
    static const struct {
        const char *about;
        bool (*goes_on)(void);
    } rows[] = {{"a date of no record", reads_no_date},
                {"a file with bad lines only", collects_no_case},
                {"a record that is cut off", judges_a_part},
                {"a file that is not cached", finds_no_entry},
                {"a word behind a value", takes_a_matrix},
                {"no memory for the timeline", loses_a_moment}};
    for (int i = 0; i < COUNT(rows); i++) {
        bool done = rows[i].goes_on(), open = fail_is_open();
        CHECK(done, "%s: %s", rows[i].about, fail_text());
        CHECK(!open, "%s: left open: %s", rows[i].about, fail_text());
    }
}

int main(void)
{
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    CHECK(f && fputs("{\"schema\":\"other\"}\n{\"schema\":\n", f) >= 0 && !fclose(f), "%s", path);
    RUN_ALL(test_first_is_kept, test_ends, test_threads, test_recovery);
    collect_free(&collected);
    unlink(path);
    return TEST_END();
}
