// The parts of a sweep that need no process: orders, places, the record of
// a case that never ended, keys taken apart, lists of matrices.
#include "records.h"

#include "cli/matrices/matrix_folder.h"
#include "cli/matrices/matrix_list.h"
#include "sweep/worker_devices.h"
#include "sweep/protocol.h"
#include "sweep/crash_record.h"
#include "sweep/worker_request.h"

static const char *const two[] = {"a \"b\"\n\\c\xff\x80\xc2", "d\xc3\xa9"};

static struct worker_request good_request(void)
{
    return (struct worker_request){.parent = 4711,
                                   .matrix = "m\xff\xc3\xa9\xed\xa0\x80\xc3.mtx",
                                   .device = "auto",
                                   .expected = "cuda:0",
                                   .library = "/a/b.so",
                                   .cpus = "0-3,8",
                                   .run = "0123456789abcdef",
                                   .command = {(const char **)two, 2},
                                   .done = {(const char **)two, 1},
                                   .unverified = {(const char **)two + 1, 1},
                                   .memory_bytes = (int64_t)1 << 40,
                                   .lost = "a reason",
                                   .lost_as = STATUS_TIMEOUT};
}

static void test_request(void)
{
    struct worker_request o = good_request(), back;
    char *line = worker_request_text(&o);
    CHECK(line && !worker_request_read(line, &back), "%s", fail_text());
    CHECK(strchr(line, '\n') == line + strlen(line) - 1, "not one line: %s", line);
    CHECK(back.parent == 4711 && back.memory_bytes == (int64_t)1 << 40 && !back.survey, "numbers");
    CHECK(!back.standby, "it stands by");
    CHECK_TEXT(back.matrix, o.matrix);
    CHECK_TEXT(back.device, "auto");
    CHECK_TEXT(back.expected, "cuda:0");
    CHECK_TEXT(back.library, "/a/b.so");
    CHECK_TEXT(back.cpus, "0-3,8");
    CHECK_TEXT(back.lost, "a reason");
    CHECK(back.lost_as == STATUS_TIMEOUT, "status %d", back.lost_as);
    CHECK(back.command.count == 2 && back.done.count == 1 && back.unverified.count == 1 &&
              !back.without.count,
          "texts");
    CHECK_TEXT(back.command.list[0], two[0]);
    CHECK_TEXT(back.unverified.list[0], two[1]);
    worker_request_free(&back);
    static const char *const bad[] = {"", "{}", "[]", "{\"parent\":1}", "x"};
    for (int i = 0; i < COUNT(bad); i++) {
        int err = worker_request_read(bad[i], &back);
        CHECK(err == ERR_INPUT, "\"%s\": error %d", bad[i], err);
    }
    int err = ERR_MEMORY;
    for (int n = 1; err == ERR_MEMORY && n < 200; n++) {
        mem_fail_at(n);
        err = worker_request_read(line, &back);
        mem_fail_at(0);
    }
    CHECK(!err, "a request is never read: %d", err);
    worker_request_free(&back);
    mem_free(line);
    // One that stands by has no matrix yet; who is to work has one.
    o.matrix = NULL;
    for (int standby = 0; standby < 2; standby++) {
        o.standby = standby;
        line = worker_request_text(&o);
        err = worker_request_read(line, &back);
        CHECK(err == (standby ? OK : ERR_INPUT), "without a matrix: error %d", err);
        CHECK(err || (back.standby && !back.matrix), "it does not stand by");
        worker_request_free(&back);
        mem_free(line);
    }
}

// A standby may read its first request when the second is there already.
static void test_requests(void)
{
    struct worker_request o = good_request(), back;
    FILE *f = fopen(path, "w+");
    int old = dup(STDIN_FILENO);
    o.standby = true, o.matrix = NULL;
    for (int i = 0; i < 2; i++) {
        char *line = worker_request_text(&o);
        CHECK(f && line && fputs(line, f) >= 0, "%s", path);
        mem_free(line);
        o.standby = false, o.matrix = "later.mtx";
    }
    CHECK(!fflush(f) && dup2(fileno(f), STDIN_FILENO) == STDIN_FILENO &&
              !lseek(STDIN_FILENO, 0, SEEK_SET),
          "%s", path);
    CHECK(!protocol_read_request(&back) && back.standby && !back.matrix, "the first one");
    worker_request_free(&back);
    CHECK(!protocol_read_request(&back) && !back.standby, "the second one");
    CHECK_TEXT(back.matrix, "later.mtx");
    worker_request_free(&back);
    CHECK(protocol_read_request(&back) == ERR_INPUT, "a third one");
    dup2(old, STDIN_FILENO);
    close(old);
    fclose(f);
}

// A record as a worker makes it beforehand, with another end; all else stays as it was, letter by
// letter.
static void test_lost(void)
{
    struct result r =
        result_start(&(struct bench_case){.entry = &made_up_entry, .device = "cpu"}, &web);
    r.status = STATUS_CRASHED;
    CHECK(!write_one(&r), "%s", fail_text());
    static char before[1 << 17];
    const char *text = read_file();
    memcpy(before, text, strlen(text)); // without its end, as it comes from a worker
    before[strlen(text) - 1] = 0;
    char *line = crash_record_make(before, STATUS_TIMEOUT, "a \"reason\"\n");
    CHECK(line != NULL, "%s", fail_text());
    cJSON *record = line ? cJSON_Parse(line) : NULL;
    CHECK(record != NULL, "no JSON: %s", line ? line : "none");
    CHECK_STRING(NULL, "status", "timeout");
    CHECK_STRING(NULL, "reason", "a \"reason\"\n");
    cJSON_Delete(record);
    const char *tail = strstr(before, ",\"case\":"),
               *same = line ? strstr(line, ",\"case\":") : NULL;
    CHECK(tail && same && !strncmp(tail, same, strlen(tail)) && !strcmp(same + strlen(tail), "\n"),
          "something else has changed: %s", same ? same : "none");
    CHECK(strstr(before, "\"seed\":9223372036854775807"), "the test has a seed of 63 bits");
    mem_free(line);
    char *key = crash_record_key(before);
    CHECK(key && strstr(before, key), "key %s", key ? key : "none");
    mem_free(key);
    CHECK(!crash_record_make("{\"schema\":1}", STATUS_OOM, "x"), "that is no record of a case");
    CHECK(!crash_record_key("{}") && !crash_record_key("x"), "there is no key");
}

static void test_prefix(void)
{
    static const struct {
        const char *key, *name;
        int64_t length;
        bool unread;
    } table[] = {{"spmm a cpu f32 5x5:9 web", "web", 14, false},
                 {"spmm a cpu -:- web", "web", 10, true},
                 {"spmm a 5x5:9 a b", "a b", 6, false},
                 {"spmm a 5x5:9 web", "eb", 0, false},
                 {"web", "web", 0, false},
                 {" web", "web", 0, false},
                 {"5x5:9 web", "web", 0, false},
                 {"", "", 0, false}};
    for (int i = 0; i < COUNT(table); i++) {
        int64_t length = case_key_prefix(table[i].key, table[i].name);
        CHECK(length == table[i].length, "%s: %lld", table[i].key, (long long)length);
        CHECK(case_key_unread(table[i].key, table[i].name) == table[i].unread, "%s", table[i].key);
    }
    char key[CASE_KEY_MAX], prefix[CASE_KEY_MAX];
    struct bench_case c = {.entry = &made_up_entry, .device = "cpu"};
    case_key(&c, &web, key);
    case_prefix(&c, prefix);
    CHECK((int64_t)strlen(prefix) == case_key_prefix(key, web.name), "%s and %s", prefix, key);
}

static void test_places(void)
{
    static const struct {
        const char *text;
        int count;
        enum device_kind kind;
        bool automatic, all;
    } table[] = {{"auto", 1, DEVICE_CPU, true, false},
                 {"cpu", 1, DEVICE_CPU, false, false},
                 {"cuda", 1, DEVICE_CUDA, false, false},
                 {"cuda:3", 1, DEVICE_CUDA, false, false},
                 {"cuda:0,1,5", 3, DEVICE_CUDA, false, false},
                 {"cuda:2,cuda:1", 2, DEVICE_CUDA, false, false},
                 {"all", 1, DEVICE_CUDA, false, true},
                 {"cuda:all", 1, DEVICE_CUDA, false, true}};
    struct worker_devices p;
    for (int i = 0; i < COUNT(table); i++) {
        int err = worker_devices_parse(table[i].text, &p);
        CHECK(!err && p.count == table[i].count && p.automatic == table[i].automatic &&
                  p.all == table[i].all && (p.automatic || p.kind == table[i].kind),
              "%s: error %d, %d places", table[i].text, err, p.count);
    }
    static const char *const bad[] = {"",         ",",          "cpu,cpu", "cpu,cuda",
                                      "auto,cpu", "cuda:0,all", "1",       "cuda:0,0",
                                      "cpu:all",  "cuda:0,,1",  "gpu"};
    for (int i = 0; i < COUNT(bad); i++)
        CHECK(worker_devices_parse(bad[i], &p) == ERR_USAGE, "%s is taken", bad[i]);
    char text[WORKER_DEVICES_TEXT];
    CHECK(!worker_devices_parse("auto", &p) && !worker_devices_setting(&p, 0, text),
          "auto needs no variable");
    if (!device_list[DEVICE_CUDA].ops) {
        SKIP("which GPU a worker sees: built without CUDA");
        return;
    }
    CHECK(!worker_devices_parse("cuda:1,3", &p), "%s", fail_text());
    unsetenv("CUDA_VISIBLE_DEVICES");
    CHECK_TEXT(worker_devices_setting(&p, 1, text), "CUDA_VISIBLE_DEVICES=3");
    setenv("CUDA_VISIBLE_DEVICES", "7,GPU-ab,2", 1); // of those that this process sees
    CHECK_TEXT(worker_devices_setting(&p, 0, text), "CUDA_VISIBLE_DEVICES=GPU-ab");
    CHECK_TEXT(worker_devices_setting(&p, 1, text), "CUDA_VISIBLE_DEVICES=-1");
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static void test_list(void)
{
    static char *words[] = {(char *)"gen:stencil:3", (char *)"gen:fem:2", (char *)"gen:stencil:3",
                            (char *)"gen:band:9:1"};
    struct options o = {
        .command = COMMAND_SWEEP, .operands = words, .operand_count = COUNT(words)};
    struct matrix_list m;
    int err = matrix_list_make(&m, &o);
    CHECK(!err && m.count == 3, "%lld matrices, %s", (long long)m.count, err ? fail_text() : "");
    CHECK_TEXT(m.all[0].path, "gen:stencil:3");
    CHECK_TEXT(m.all[2].name, "band:9:1");
    CHECK(m.all[0].bytes > 0 && m.all[0].changed == INT64_MIN, "its size is known");
    // Each is in one part, whatever the order in which they are given.
    matrix_list_free(&m);
    int seen = 0;
    for (int i = 1; i <= 5; i++) {
        CHECK(!matrix_list_make(&m, &o) && !matrix_list_shard(&m, i, 5), "%s", fail_text());
        seen += (int)m.count;
        if (i == 1) CHECK_TEXT(m.all[0].name, "band:9:1"); // the first by name
        matrix_list_free(&m);
    }
    CHECK(seen == 3, "%d matrices in all parts", seen);
    for (int n = 1; n < 100; n++) {
        mem_fail_at(n);
        err = matrix_list_make(&m, &o);
        mem_fail_at(0);
        if (!err) break;
        CHECK(err == ERR_MEMORY, "allocation %d: error %d", n, err);
    }
    CHECK(!err, "it is never made");
    matrix_list_free(&m);
}

// What fetch.lock has as another group's is not taken for one of this name; and no allocation that
// fails spoils that.
static void test_folder(void)
{
    char folder[] = "/tmp/spbench_folder.XXXXXX", file[2][64], path_found[PATH_MAX];
    struct matrix_folder f;
    struct stat facts;
    CHECK(mkdtemp(folder) != NULL, "no folder");
    snprintf(file[0], sizeof file[0], "%s/fetch.lock", folder);
    snprintf(file[1], sizeof file[1], "%s/web.mtx", folder);
    FILE *lock = fopen(file[0], "w"), *matrix = fopen(file[1], "w");
    CHECK(lock && matrix, "cannot write in %s", folder);
    fprintf(lock, "# a comment\n\n%064d 12 G/web web.mtx\n%064d 12 H/web H-web.mtx\n", 0, 0);
    fclose(lock);
    fclose(matrix);
    int err = ERR_MEMORY;
    for (int n = 1; err == ERR_MEMORY && n < 50; n++) {
        mem_fail_at(n);
        err = matrix_folder_open(&f, folder);
        mem_fail_at(0);
    }
    CHECK(!err && f.count == 2, "error %d, %lld lines", err, (long long)f.count);
    CHECK(matrix_folder_find(&f, "G/web", path_found, &facts), "G/web is not found");
    CHECK_TEXT(path_found, file[1]);
    CHECK(!matrix_folder_find(&f, "H/web", path_found, &facts), "another one's: %s", path_found);
    CHECK(!matrix_folder_find(&f, "I/web", path_found, &facts), "another one's: %s", path_found);
    CHECK(matrix_folder_find(&f, "web", path_found, &facts), "whichever is of the name");
    matrix_folder_close(&f);
    static const char *const bad[] = {"x", "sum 3 G/web", "sum 3 G/web .mtx", "sum 3 G/web a.txt",
                                      "sum 3 G/web web.mtx more"};
    for (int i = 0; i < COUNT(bad); i++) {
        lock = fopen(file[0], "w");
        CHECK(lock != NULL, "cannot write in %s", folder);
        fprintf(lock, "%s\n", bad[i]);
        fclose(lock);
        err = matrix_folder_open(&f, folder);
        CHECK(err == ERR_INPUT && !f.owners, "%s: error %d", bad[i], err);
    }
    unlink(file[0]);
    unlink(file[1]);
    rmdir(folder);
}

int main(void)
{
    path_make();
    RUN_ALL(test_request, test_requests, test_lost, test_prefix, test_places, test_list,
            test_folder);
    unlink(path);
    return TEST_END();
}
