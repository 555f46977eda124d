// What a file of records has already: which cases are finished, and of which matrix; a file that is
// cut off, or no file of records, or another sweep's.
#include <sys/wait.h>

#include "records.h"

#include "sweep/resume.h"

static void put(const char *text, const char *mode)
{
    FILE *f = fopen(path, mode);
    CHECK(f && fputs(text, f) >= 0 && !fclose(f), "%s", path);
}

// Hash and file of the matrix in the next result; none if the matrix was not read.
static const char *content_now = "";
static struct file_mark file_now;

// A result of this algorithm's k on a matrix of this name, added to the file.
static void add_result(int64_t k, enum status status, const char *name, const char *file)
{
    struct matrix M = web;
    struct result r = good_result();
    struct record_file out;
    M.name = (char *)name;
    M.path = (char *)file;
    snprintf(M.content, sizeof M.content, "%s", content_now);
    M.file = file_now;
    r.matrix = &M;
    r.c.axis[0] = k;
    r.status = status;
    if (status != STATUS_OK) r.timed = false, snprintf(r.reason, sizeof r.reason, "why");
    int err = record_open(&out, path, true, 1);
    snprintf(out.run, sizeof out.run, "00000000000000aa");
    if (!err) err = record_result(&out, &r);
    if (!err) err = record_close(&out);
    CHECK(!err, "%s", fail_text());
}

static struct texts prefix_of(int64_t k)
{
    static char text[2][CASE_KEY_MAX];
    static const char *list[2];
    struct bench_case c = good_result().c;
    c.axis[0] = k;
    list[0] = case_prefix(&c, text[0]);
    c.axis[0] = 8;
    list[1] = case_prefix(&c, text[1]);
    return (struct texts){list, 2};
}

#define MADE 1767225600 // as the environment below says it
static const char environment[] = "{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\""
                                  "00000000000000aa\",\"date\":\"2026-01-01T00:00:00Z\"}\n";

// What counts as finished, of which matrix, by which record.
static void test_resume(void)
{
    struct resume r;
    struct texts prefixes = prefix_of(4);
    struct resume_list found;
    put(environment, "w");
    add_result(4, STATUS_OK, "web", "web.mtx");
    add_result(4, STATUS_CRASHED, "web", "web.mtx"); // again: this one counts
    add_result(8, STATUS_OK, "web", "web.mtx");
    add_result(16, STATUS_OK, "web", "web.mtx"); // not of this sweep
    add_result(4, STATUS_OK, "wet", "wet.mtx");
    int err = resume_read(&r, path);
    CHECK(!err && r.count == 5 && r.lines == 6 && r.exists, "%lld of %lld: %s", (long long)r.count,
          (long long)r.lines, err ? fail_text() : "");
    struct resume_ask ask = {"web", "web.mtx", MADE, {0}, false, false, 1};
    CHECK(!resume_done(&r, &ask, &prefixes, &found) && found.count == 2, "%lld are done",
          (long long)found.count);
    CHECK(found.list[0].status == STATUS_CRASHED && found.list[1].status == STATUS_OK, "endings");
    CHECK(!found.list[0].content && !found.list[1].content, "nothing is known of the matrix");
    mem_free(found.list);
    CHECK(resume_has_all(&r, &ask, &prefixes), "all is there");
    ask.retry = true;
    CHECK(!resume_has_all(&r, &ask, &prefixes), "one has crashed, and is to be tried again");
    ask = (struct resume_ask){"web", "web.mtx", MADE, {0}, false, false, 2};
    CHECK(!resume_has_all(&r, &ask, &prefixes), "one is there once alone");
    CHECK(!resume_done(&r, &ask, &prefixes, &found) && found.count == 1,
          "in the second round %lld are done", (long long)found.count);
    mem_free(found.list);
    ask = (struct resume_ask){"web", "elsewhere/web.mtx", MADE, {0}, false, false, 1};
    CHECK(!resume_has_all(&r, &ask, &prefixes), "of another file nothing is known");
    CHECK(!resume_done(&r, &ask, &prefixes, &found) && found.count == 2, "but it may be the same");
    mem_free(found.list);
    ask = (struct resume_ask){"web", "web.mtx", MADE + 1, {0}, false, false, 1};
    CHECK(!resume_has_all(&r, &ask, &prefixes), "the file was written afterwards");
    ask = (struct resume_ask){"wet", "wet.mtx", INT64_MIN, {0}, false, false, 1};
    CHECK(!resume_has_all(&r, &ask, &prefixes), "only one of two is there");
    resume_free(&r);

    // A part of a record at the end is as if it were not there, and is cut off by who writes; a
    // whole line that is no record is an error, and so is what is no part of one.
    int64_t whole = file_size();
    put("{\"schema\":\"spbe", "a");
    CHECK(!resume_read(&r, path) && r.lines == 6 && r.count == 5, "torn: %lld lines",
          (long long)r.lines);
    resume_free(&r);
    add_result(4, STATUS_OK, "last", "last.mtx");
    CHECK(!resume_read(&r, path) && r.lines == 7 && r.count == 6, "%s", fail_text());
    resume_free(&r);
    CHECK(!truncate(path, file_size() - 1) && !resume_read(&r, path) && r.lines == 7 &&
              r.count == 6,
          "a record that lacks its newline alone does not count");
    resume_free(&r);
    CHECK(!truncate(path, whole), "%s", path);
    put("{\"schema\":\"spbe\n", "a");
    err = resume_read(&r, path);
    CHECK(err == ERR_USAGE && strstr(fail_text(), ":7: no record"), "error %d: %s", err,
          fail_text());
    put("{\"mine\":1}", "w");
    CHECK(resume_read(&r, path) == ERR_USAGE && strstr(fail_text(), ":1: no record"), "%s",
          fail_text());
    put("x\n", "w");
    CHECK(resume_read(&r, path) == ERR_USAGE, "that is no file of records");
    CHECK(!resume_read(&r, "/no/such/file") && !r.exists && !r.count, "no file is an empty one");

    // A sweep that is interrupted while it reads, and no memory.
    put(environment, "w");
    add_result(4, STATUS_OK, "web", "web.mtx");
    interrupted = 1;
    CHECK(resume_read(&r, path) == ERR_INTERRUPTED, "it is not seen");
    interrupted = 0;
    for (int n = 1; n < 400; n++) {
        mem_fail_at(n);
        err = resume_read(&r, path);
        mem_fail_at(0);
        if (!err) break;
        CHECK(err == ERR_MEMORY, "allocation %d: error %d", n, err);
    }
    CHECK(!err && r.count == 1, "it is never read");
    resume_free(&r);
}

// A record that says what its matrix was: of the same file, by path, size and time, it counts, and
// else if the matrix has that content; when it was made does not matter.
static void test_content(void)
{
    static const char one[] = "00000000000000000000000000000001",
                      another[] = "00000000000000000000000000000002";
    static const struct {
        const char *path;
        struct file_mark file;
        bool same;
    } asks[] = {{"web.mtx", {9, 1767225600123456789}, true},
                {"web.mtx", {9, 1767225600123999999}, false}, // written again
                {"web.mtx", {8, 1767225600123456789}, false}, // another, with its time
                {"elsewhere/web.mtx", {9, 1767225600123456789}, false},
                {"elsewhere/web.mtx", {0, 0}, false}};
    struct texts prefixes = prefix_of(4);
    struct resume_list found;
    struct resume r;
    put(environment, "w");
    file_now = asks[0].file;
    content_now = one;
    add_result(4, STATUS_OK, "web", "web.mtx");
    add_result(8, STATUS_OK, "web", "web.mtx");
    CHECK(!resume_read(&r, path), "%s", fail_text());
    for (int i = 0; i < 2 * COUNT(asks); i++) {
        int64_t changed = i % 2 ? MADE + 1 : MADE - 1;
        struct resume_ask ask = {"web", asks[i / 2].path, changed, asks[i / 2].file, false, false,
                                 1};
        CHECK(resume_has_all(&r, &ask, &prefixes) == asks[i / 2].same, "%d: need not be read", i);
        CHECK(!resume_done(&r, &ask, &prefixes, &found) && found.count == 2, "%d: %lld", i,
              (long long)found.count);
        CHECK_TEXT(found.list[0].content ? found.list[0].content : "", asks[i / 2].same ? "" : one);
        CHECK_TEXT(found.list[0].path, "web.mtx");
        mem_free(found.list);
    }
    resume_free(&r);
    // Of the records of a case those count that are of the matrix that the last one is of.
    content_now = another;
    add_result(4, STATUS_OK, "web", "web.mtx");
    content_now = one;
    add_result(4, STATUS_OK, "web", "web.mtx");
    CHECK(!resume_read(&r, path), "%s", fail_text());
    for (int rounds = 2; rounds <= 3; rounds++) {
        struct resume_ask ask = {"web", "web.mtx", MADE, asks[0].file, false, false, rounds};
        CHECK(!resume_done(&r, &ask, &prefixes, &found) && found.count == 3 - rounds,
              "%d rounds: %lld", rounds, (long long)found.count);
        mem_free(found.list);
    }
    resume_free(&r);
    content_now = "";
    file_now = (struct file_mark){0};
}

// Two sweeps and one file.
static void test_lock(void)
{
    int first, second;
    put("", "w");
    CHECK(!resume_lock(path, &first) && first >= 0, "%s", fail_text());
    CHECK(resume_lock(path, &second) == ERR_OUTPUT, "two have it");
    // A run may add to it meanwhile.
    add_result(4, STATUS_OK, "web", "web.mtx");
    CHECK(file_size() > 0, "a run could not write");
    // A process that has it from one that is gone, and that will not have it for long.
    pid_t child = fork();
    if (!child) {
        usleep(400000);
        _exit(0);
    }
    close(first);
    CHECK(!resume_lock(path, &second) && second >= 0, "%s", fail_text());
    close(second);
    CHECK(waitpid(child, NULL, 0) == child, "no child");
}

int main(void)
{
    path_make();
    RUN_ALL(test_resume, test_content, test_lock);
    unlink(path);
    return TEST_END();
}
