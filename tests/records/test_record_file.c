// The file that records go to: its first line, memory and disk that run out, lines that are added.
#define _GNU_SOURCE // F_OFD_SETLK
#include "records.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static struct device cpu;
static struct bench_device list[2] = {{.id = "cpu",
                                       .roof = {.memory_gb_s = 110,
                                                .memory_low_gb_s = 90,
                                                .busy = true,
                                                .copy_gb_s = 100,
                                                .fma_gflops = {300, 150},
                                                .measured = 1767225600,
                                                .step_count = 1,
                                                .steps = {{4096, 500}},
                                                .gather_count = 1,
                                                .gathers = {{8192, {10, 20, 30, 40, 50}}}}},
                                      {.id = "other:0", .missing = "no such device"}};
static const struct bench_devices devices = {list, 2};
static char *argv[] = {"spbench", "-k", "64", "x \"y\".mtx"};

static int write_environment(const struct op *op)
{
    struct record_file out;
    int err = record_open(&out, path, false, 1);
    if (!err) err = record_environment(&out, &devices, "cpu", op, 4, argv);
    record_close(&out);
    return err;
}

static void test_environment(void)
{
    CHECK(!write_environment(&own_op), "%s", fail_text());
    cJSON *record = cJSON_Parse(read_file());
    CHECK_NAMES(NULL,
                "schema kind run seed threads version revision date host os command compiler flags "
                "cuda cusparse openmp variables device roof devices operation algorithms ");
    CHECK_STRING(NULL, "kind", "environment");
    CHECK_STRING(NULL, "device", cpu.name);
    CHECK_NUMBER("roof", "copy_gb_s", 100);
    CHECK_NUMBER("roof", "memory_gb_s", 110);
    CHECK_NUMBER("roof", "memory_low_gb_s", 90);
    CHECK(cJSON_IsTrue(at(record, "roof", "busy")), "not busy");
    CHECK_NULL("roof", "cache_gb_s"); // not known
    CHECK_NULL("roof", "cache_seen_bytes");
    CHECK_STRING("roof", "measured", "2026-01-01T00:00:00Z");
    CHECK_NAMES("roof", "measured memory_gb_s memory_low_gb_s busy copy_gb_s read_gb_s cache_gb_s "
                        "cache_seen_bytes near_gb_s fma_gflops ladder gathers ");
    const cJSON *gathers = at(record, "roof", "gathers"), *row = cJSON_GetArrayItem(gathers, 3);
    CHECK(cJSON_GetArraySize(gathers) == ROOF_ROWS && at(row, NULL, "bytes")->valuedouble == 8192 &&
              at(row, NULL, "row_bytes")->valuedouble == 256 &&
              at(row, NULL, "gb_s")->valuedouble == 40,
          "%d gathers", cJSON_GetArraySize(gathers));
    const cJSON *ladder = at(record, "roof", "ladder"), *step = cJSON_GetArrayItem(ladder, 0);
    CHECK(cJSON_GetArraySize(ladder) == 1 && at(step, NULL, "bytes")->valuedouble == 4096 &&
              at(step, NULL, "gb_s")->valuedouble == 500,
          "%d steps", cJSON_GetArraySize(ladder));
    CHECK_TEXT(cJSON_GetStringValue(cJSON_GetArrayItem(at(record, NULL, "command"), 3)), argv[3]);
    const cJSON *listed = at(record, NULL, "devices"), *first = cJSON_GetArrayItem(listed, 0);
    CHECK(cJSON_GetArraySize(listed) == 2, "%d devices", cJSON_GetArraySize(listed));
    CHECK_TEXT(names_of(first), "id kind name detail units_of units memory_bytes cache_bytes "
                                "clock_mhz clock_max_mhz roof ");
    CHECK_TEXT(text_at(first, "id"), "cpu");
    CHECK_TEXT(text_at(first, "units_of"), "threads");
    CHECK_TEXT(names_of(cJSON_GetArrayItem(listed, 1)), "id missing ");
    CHECK_TEXT(text_at(cJSON_GetArrayItem(listed, 1), "missing"), "no such device");
    cJSON_Delete(record);
}

// Variables that are set and change times, and no others.
static void test_variables(void)
{
    CHECK(!setenv("LD_PRELOAD", "/no/such/clock.so", 1) && !setenv("OMP_PLACES", "", 1) &&
              !setenv("NCU", "/no/such/ncu", 1) && !setenv("MKL_RT", "caf\xff", 1),
          "no variables");
    CHECK(!write_environment(&own_op), "%s", fail_text());
    cJSON *record = cJSON_Parse(read_file());
    CHECK_STRING("variables", "LD_PRELOAD", "/no/such/clock.so");
    CHECK_STRING("variables", "MKL_RT", "caf?");
    const cJSON *set = at(record, NULL, "variables");
    CHECK(!cJSON_GetObjectItem(set, "OMP_PLACES") && !cJSON_GetObjectItem(set, "NCU"), "%s",
          names_of(set));
    cJSON_Delete(record);
    unsetenv("LD_PRELOAD");
    unsetenv("MKL_RT");
}

// A result names the run of the environment before it, with its seed and its threads.
static void test_run(void)
{
    struct record_file out;
    struct result r = good_result();
    int err = record_open(&out, path, false, 17);
    if (!err) err = record_environment(&out, &devices, "cpu", &own_op, 4, argv);
    if (!err) err = record_result(&out, &r);
    record_close(&out);
    CHECK(!err, "%s", fail_text());
    char *text = read_file(), *second = strchr(text, '\n');
    const char *end;
    cJSON *environment = cJSON_ParseWithOpts(text, &end, false);
    cJSON *record = second ? cJSON_Parse(second) : NULL;
    CHECK_TEXT(text_at(environment, "run"), text_at(record, "run"));
    CHECK_TEXT(text_at(environment, "run"), out.run);
    CHECK_NUMBER(NULL, "seed", 17);
    CHECK_NUMBER(NULL, "threads", out.threads);
    CHECK(cJSON_Compare(at(environment, NULL, "seed"), at(record, NULL, "seed"), true) &&
              cJSON_Compare(at(environment, NULL, "threads"), at(record, NULL, "threads"), true),
          "seed and threads are not those of the environment");
    cJSON_Delete(environment);
    cJSON_Delete(record);
}

static void test_operation(void)
{
    CHECK(!write_environment(&own_op), "%s", fail_text());
    cJSON *record = cJSON_Parse(read_file());
    CHECK_NAMES("operation", "name formula result axes figures ");
    CHECK_STRING("operation", "name", "own");
    CHECK_STRING("operation", "formula", "C = A . sum(X)");
    CHECK_STRING("operation", "result", "pattern");
    const cJSON *axes = at(record, "operation", "axes"), *sign = cJSON_GetArrayItem(axes, 1);
    CHECK(cJSON_GetArraySize(axes) == 2, "%d axes", cJSON_GetArraySize(axes));
    CHECK_TEXT(names_of(cJSON_GetArrayItem(axes, 0)), "name about ");
    CHECK_TEXT(text_at(cJSON_GetArrayItem(axes, 0), "name"), "width");
    CHECK_TEXT(names_of(sign), "name about words ");
    CHECK_TEXT(cJSON_GetStringValue(cJSON_GetArrayItem(at(sign, NULL, "words"), 1)), "minus");
    CHECK(cJSON_GetArraySize(at(sign, NULL, "words")) == 2, "words");
    const cJSON *stats = at(record, "operation", "figures");
    CHECK(cJSON_GetArraySize(stats) == 2, "%d stats", cJSON_GetArraySize(stats));
    CHECK_TEXT(names_of(cJSON_GetArrayItem(stats, 0)), "name about ");
    CHECK_TEXT(text_at(cJSON_GetArrayItem(stats, 1), "name"), "density");
    CHECK_TEXT(text_at(cJSON_GetArrayItem(stats, 0), "about"), "nonzeros of A");
    cJSON_Delete(record);
}

// A text of a record that has to be there where there is one, and only then.
static bool same(const cJSON *o, const char *name, const char *want)
{
    return want ? !strcmp(text_at(o, name), want) : !at(o, NULL, name);
}

// All algorithms of an operation in the order of the list, with what their descriptors say.
static void test_algorithms(const struct op *op)
{
    int count = 0;
    CHECK(!write_environment(op), "%s", fail_text());
    cJSON *record = cJSON_Parse(read_file());
    const cJSON *all = at(record, NULL, "algorithms");
    for (int e = 0; e < algo_count; e++) {
        const struct algo_entry *entry = &algos[e];
        const struct algo *a = entry->algo;
        if (entry->op != op) continue;
        const cJSON *o = cJSON_GetArrayItem(all, count++), *picks = at(o, NULL, "picks");
        CHECK(same(o, "name", entry->name) && same(o, "device", device_list[entry->device].name) &&
                  same(o, "missing", algo_missing(entry)),
              "%s: %s on %s", entry->name, text_at(o, "name"), text_at(o, "device"));
        CHECK(same(o, "vendor", a->vendor) && same(o, "call", a->call) &&
                  same(o, "partial", a->partial) && same(o, "tuned_of", a->tuned_of) &&
                  same(o, "library", a->library && !algo_missing(entry) ? a->library() : NULL) &&
                  same(o, "computes", a->variant ? op->variants[a->variant] : NULL),
              "%s: %s", entry->name, names_of(o));
        CHECK(a->reference ? cJSON_IsTrue(at(o, NULL, "reference")) : !at(o, NULL, "reference"),
              "%s: a reference, or none", entry->name);
        CHECK(a->dense ? cJSON_IsTrue(at(o, NULL, "dense")) : !at(o, NULL, "dense"),
              "%s: dense, or not", entry->name);
        CHECK(a->drops_zeros ? cJSON_IsTrue(at(o, NULL, "drops_zeros"))
                             : !at(o, NULL, "drops_zeros"),
              "%s: drops zeros, or not", entry->name);
        CHECK(!a->picks[0] == !picks, "%s: picks", entry->name);
        for (int i = 0; i < COUNT(a->picks) && a->picks[i]; i++)
            CHECK_TEXT(cJSON_GetStringValue(cJSON_GetArrayItem(picks, i)), a->picks[i]);
    }
    CHECK(cJSON_GetArraySize(all) == count, "%d algorithms of %d", cJSON_GetArraySize(all), count);
    cJSON_Delete(record);
}

static int write_dense(void)
{
    struct result r = good_result();
    return write_one(&r);
}
static int write_sparse(void)
{
    struct result r = good_product();
    return write_one(&r);
}
static int write_first(void) { return write_environment(ops[0]); }
static int write_behind(void)
{
    struct record_file out;
    int err = record_open(&out, path, true, 1);
    record_close(&out);
    return err;
}

// The n-th allocation fails: there is no part of a line.
static void test_lost_memory(int (*write_it)(void))
{
    int n = 0, err;
    do {
        mem_fail_at(++n);
        err = write_it();
        mem_fail_at(0);
        if (err)
            CHECK(err == ERR_MEMORY && file_size() == 0, "allocation %d: error %d, %lld bytes", n,
                  err, (long long)file_size());
    } while (err && n < 10000);
    CHECK(!err && n > 50, "error %d after %d allocations", err, n);
}

static void test_cannot_write(void)
{
    struct record_file out;
    struct result r = good_result();
    int err = record_open(&out, "/no/such/folder/x.jsonl", false, 1);
    CHECK(err == ERR_OUTPUT && strstr(fail_text(), "/no/such/folder/x.jsonl: "), "%d %s", err,
          fail_text());
    err = record_open(&out, ".", false, 1);
    CHECK(err == ERR_OUTPUT, "a directory was opened: %d", err);
    if (access("/dev/full", W_OK) == 0) {
        err = record_open(&out, "/dev/full", false, 1);
        CHECK(!err, "%s", fail_text());
        err = record_result(&out, &r);
        CHECK(err == ERR_OUTPUT && strstr(fail_text(), "/dev/full: "), "%d %s", err, fail_text());
        record_close(&out);
    } else {
        SKIP("no /dev/full");
    }
}

// Another process is in the middle of a line: who comes to append waits for its end, and adds none.
static void test_append_beside(void)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = RECORD_LOCK_END};
    static const char first[] = "{\"schema\":", rest[] = "\"spbench/1\"}\n";
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    bool good = fd >= 0 && !fcntl(fd, F_OFD_SETLK, &all) && write(fd, first, strlen(first)) > 0;
    CHECK(good, "cannot prepare the file");
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct record_file out;
        close(fd);
        _exit(record_open(&out, path, true, 1) != OK);
    }
    usleep(100000);
    int state = -1;
    good = write(fd, rest, strlen(rest)) > 0 && !close(fd); // which also unlocks it
    CHECK(good && waitpid(child, &state, 0) == child && !state, "state %d", state);
    char *text = read_file();
    CHECK(strlen(text) == strlen(first) + strlen(rest), "%s", text);
}

// Some disks say only at the end that they had no room.
static void test_close(void)
{
    struct record_file out;
    CHECK(!record_open(&out, path, false, 1) && !close(out.fd), "%s", fail_text());
    int err = record_close(&out);
    CHECK(err == ERR_OUTPUT && strstr(fail_text(), path), "error %d, %s", err, fail_text());
}

// The disk is full in the middle of the second record: the first one stays, alone.
static void test_full_disk(void)
{
    struct record_file out;
    struct result r = good_result();
    int err = write_one(&r);
    int64_t one = file_size();
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)(one + one / 2);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (!err) err = record_open(&out, path, true, 1);
    if (!err) err = record_result(&out, &r);
    CHECK(err == ERR_OUTPUT && file_size() == one, "error %d, %lld bytes, not %lld", err,
          (long long)file_size(), (long long)one);
    record_close(&out);
    setrlimit(RLIMIT_FSIZE, &before);
}

// What a file ends with, as a record is added to it: what becomes of that end.
static void test_append(void)
{
    static const char record[] = "{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"0a\"}";
    static const struct {
        const char *end;
        bool refused, kept;
    } table[] = {{"", false, true},
                 {"{", false, false}, // parts of records
                 {"{\"sch", false, false},
                 {"{\"schema\":\"spbench/1\",\"kind\":\"resu", false, false},
                 {"{\"schema\": \"spbench/1\", \"kind\": ", false, false},
                 {record, false, true}, // it lacks only its end
                 {"{\"schema\":\"spbench/1\",\"kind\":\"of later\"}", true, true},
                 {"{\"schema\":\"another/1\",", true, true},
                 {"}", true, true},
                 {"{\"mine\": 1}", true, true}};
    struct result r = good_result();
    for (int i = 0; i < 2 * COUNT(table); i++) {
        const char *end = table[i / 2].end;
        struct record_file out;
        FILE *f = fopen(path, "w");
        bool alone = i % 2 == 0 && *end == '{';
        int64_t before = alone ? 0 : (int64_t)fprintf(f, "%s\n", record), whole = before;
        CHECK(f && fputs(end, f) >= 0 && fclose(f) == 0, "cannot prepare the file");
        int64_t length = (int64_t)strlen(end);
        if (table[i / 2].kept && length) whole += length + 1;
        int err = record_open(&out, path, true, 1);
        CHECK(err == (table[i / 2].refused ? ERR_USAGE : OK), "'%s': error %d", end, err);
        if (err) {
            CHECK(strstr(fail_text(), "no end and is no part of a record") && out.fd < 0, "%s",
                  fail_text());
            CHECK(file_size() == before + length, "'%s' has changed", end);
            continue;
        }
        CHECK(file_size() == whole, "'%s': %lld bytes, not %lld", end, (long long)file_size(),
              (long long)whole);
        CHECK(out.cut == (table[i / 2].kept ? 0 : length), "'%s': %lld cut off", end,
              (long long)out.cut);
        CHECK(!record_result(&out, &r) && !record_close(&out), "%s", fail_text());
        cJSON *added = cJSON_Parse(read_file() + whole);
        CHECK(added != NULL, "'%s': the record behind it is lost", end);
        cJSON_Delete(added);
    }
}

// A part that is longer than what is read at a time, with zero bytes at its end; and no memory.
static void test_append_long(void)
{
    enum { LONG = 20000 };
    static const char head[] = "{}\n{\"schema\":\"spbench/1\"";
    static char text[LONG];
    memset(text, ' ', LONG);
    memcpy(text, head, sizeof head - 1);
    for (int zeros = 0; zeros < 2; zeros++) {
        if (zeros) memset(text + LONG / 2, 0, LONG / 2);
        int n = 0, err;
        do {
            FILE *f = fopen(path, "w");
            CHECK(f && fwrite(text, 1, LONG, f) == LONG && !fclose(f), "cannot prepare the file");
            mem_fail_at(++n);
            err = write_behind();
            mem_fail_at(0);
            CHECK(!err || (err == ERR_MEMORY && file_size() == LONG), "allocation %d: error %d", n,
                  err);
        } while (err && n < 1000);
        CHECK(!err && n > zeros && file_size() == 3, "%lld bytes are left, error %d after %d",
              (long long)file_size(), err, n);
    }
}

// What is no file of records is neither replaced nor added to, and an empty one is.
static void test_kept(void)
{
    static const struct {
        const char *text;
        bool kept;
    } files[] = {{"%%MatrixMarket matrix", true},
                 {"\x1f\x8b", true},
                 {" {}", true},
                 {"\n", true},
                 {"", false},
                 {"{\"sch", false}};
    for (int i = 0; i < 2 * COUNT(files); i++) {
        const char *text = files[i / 2].text;
        bool kept = files[i / 2].kept;
        struct record_file out;
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0, "cannot prepare the file");
        int err = record_open(&out, path, i % 2, 1);
        CHECK(err == (kept ? ERR_USAGE : OK), "'%s': error %d", text, err);
        CHECK(!kept || (strstr(fail_text(), "is not a record file") && out.fd < 0), "%s",
              fail_text());
        CHECK(!kept || !strcmp(read_file(), text), "'%s' became '%s'", text, read_file());
        record_close(&out);
    }
}

// The file loses its name, or some of its bytes, between two records: the second is refused.
static void test_place(void)
{
    static const char *const ways[] = {"removed", "renamed", "replaced", "emptied", "cut"};
    struct result r = good_result();
    char other[PATH_MAX];
    snprintf(other, sizeof other, "%s.other", path);
    for (int i = 0; i < 2 * COUNT(ways); i++) {
        const char *way = ways[i / 2];
        struct record_file out;
        CHECK(!record_open(&out, path, i % 2, 1) && !record_result(&out, &r), "%s", fail_text());
        bool done = i / 2 == 0   ? !unlink(path)
                    : i / 2 == 1 ? !rename(path, other)
                    : i / 2 == 2
                        ? !rename(path, other) && !close(open(path, O_CREAT | O_WRONLY, 0600))
                    : i / 2 == 3 ? !truncate(path, 0)
                                 : !truncate(path, file_size() - 1);
        CHECK(done, "%s: cannot be done", way);
        int err = record_result(&out, &r);
        CHECK(err == ERR_OUTPUT && strstr(fail_text(), i / 2 < 3 ? "replaced" : "was cut from"),
              "%s: error %d, %s", way, err, fail_text());
        CHECK(record_close(&out) == ERR_OUTPUT && out.fd < 0, "%s: it ends well", way);
        unlink(path);
        unlink(other);
    }
    // Records of other processes are no error, nor is a file that is renamed and renamed back.
    struct record_file out, more;
    CHECK(!record_open(&out, path, true, 1) && !record_open(&more, path, true, 1) &&
              !record_result(&out, &r) && !record_result(&more, &r) && !record_result(&out, &r) &&
              !rename(path, other) && !rename(other, path) && !record_result(&out, &r) &&
              !record_close(&out) && !record_close(&more),
          "%s", fail_text());
}

int main(void)
{
    path_make();
    int err = device_open("cpu", &cpu);
    CHECK(!err, "%s", fail_text());
    list[0].dev = &cpu;
    RUN_ALL(test_environment, test_variables, test_run, test_operation);
    for (int x = 0; x < op_count; x++) test_algorithms(ops[x]);
    test_lost_memory(write_dense);
    test_lost_memory(write_sparse);
    test_lost_memory(write_first);
    RUN_ALL(test_cannot_write, test_append_beside, test_close, test_full_disk, test_append,
            test_append_long, test_kept, test_place);
    device_close(&cpu);
    unlink(path);
    return TEST_END();
}
