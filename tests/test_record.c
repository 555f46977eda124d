// Records: their names, their numbers, what becomes of NaN, of a full disk and of lost memory.
// Long, because it pins every name and number that other programs read.
#include "run/record.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char path[] = P_tmpdir "/test_record.XXXXXX";

static const struct algo_option options[] = {{.name = "threshold", .value = 9.35}, {.name = NULL}};
static const struct algo algo = {.name = "merge", .op = OP_SPMM, .options = options};
static const struct algo_entry entry = {"merge", OP_SPMM, DEVICE_CPU, &algo, NULL};
static const struct algo_entry absent = {"cusparse", OP_SPMM, DEVICE_CUDA, NULL, "no CUDA here"};

static double samples[] = {0.25, 0.5, 0.75};
static struct matrix matrix = {.name = "web",
                               .path = "dir/web.mtx",
                               .A = {.m = 3, .n = 4, .nnz = 5},
                               .field = "pattern",
                               .symmetry = "general",
                               .values_drawn = true,
                               .duplicates = 2,
                               .stats = {.row_mean = 1.5, .row_max = 3, .row_cv = 0.125},
                               .load_ms = 10,
                               .load_mb_s = 480};

static struct result good_result(void)
{
    struct result r = {.status = STATUS_OK,
                       .entry = &entry,
                       .device = "cpu",
                       .prec = F64,
                       .k = 64,
                       .layout = LAYOUT_COL,
                       .opt = {9.5},
                       .matrix = &matrix,
                       .checked = true,
                       .timed = true,
                       .check = {.method = "full", .elements = 12, .error_ratio = 0.5, .ok = true},
                       .timing = {.samples = samples,
                                  .count = 3,
                                  .batch = 7,
                                  .warmup = 4,
                                  .stop = "noise",
                                  .cold = true,
                                  .throttled = true,
                                  .clock_mhz = {1980, 0},
                                  .median = 0.5,
                                  .min = 0.25,
                                  .mean = 0.5,
                                  .p5 = 0.275,
                                  .p95 = 0.725,
                                  .ci_lo = 0.25,
                                  .ci_hi = 0.75},
                       .setup = {.convert_ms = 1, .upload_ms = 2, .analyse_ms = 4},
                       .flops = ((int64_t)1 << 40) + 1,
                       .compulsory_bytes = (int64_t)5000000000,
                       .gflops = 2199.02,
                       .bound_ms = 0.125,
                       .efficiency = 0.25,
                       .cache_resident = true,
                       .peak_bytes = 1000,
                       .format_bytes = 900,
                       .figure_count = 2};
    r.figures[0] = (struct figure){.name = "picked", .text = "rowsplit"};
    r.figures[1] = (struct figure){.name = "padding", .number = 1.25};
    return r;
}

static int write_one(const struct result *r)
{
    struct record_file out;
    int err = record_open(&out, path, false);
    if (!err) err = record_result(&out, r);
    int close_err = record_close(&out);
    return err ? err : close_err;
}

static char *read_file(void)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "r");
    size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[size] = 0;
    return text;
}

static int64_t file_size(void)
{
    struct stat s;
    return stat(path, &s) ? -1 : (int64_t)s.st_size;
}

// Writes r and parses it back: one line, and strict JSON.
static cJSON *round_trip(const struct result *r)
{
    int err = write_one(r);
    CHECK(!err, "error %d: %s", err, fail_text());
    char *text = read_file();
    CHECK(strchr(text, '\n') == text + strlen(text) - 1, "not one line: %s", text);
    cJSON *record = cJSON_Parse(text);
    CHECK(record != NULL, "no JSON: %s", text);
    return record;
}

// The names of an object in their order: "a b c ".
static const char *names_of(const cJSON *object)
{
    static char names[1024];
    names[0] = 0;
    for (const cJSON *o = object ? object->child : NULL; o; o = o->next)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", o->string);
    return names;
}

static cJSON *at(cJSON *record, const char *outer, const char *inner)
{
    cJSON *o = outer ? cJSON_GetObjectItemCaseSensitive(record, outer) : record;
    return cJSON_GetObjectItemCaseSensitive(o, inner);
}

#define CHECK_NAMES(outer, want)                                                                   \
    CHECK_TEXT(names_of(outer ? at(record, NULL, outer) : record), want)
#define CHECK_NUMBER(outer, inner, want)                                                           \
    do {                                                                                           \
        const cJSON *o_ = at(record, outer, inner);                                                \
        CHECK(cJSON_IsNumber(o_) && o_->valuedouble == (want), "%s is %.17g, not %.17g", inner,    \
              o_ ? o_->valuedouble : NAN, (double)(want));                                         \
    } while (0)
#define CHECK_STRING(outer, inner, want)                                                           \
    do {                                                                                           \
        const char *text_ = cJSON_GetStringValue(at(record, outer, inner));                        \
        CHECK(text_ && !strcmp(text_, want), "%s is %s, not %s", inner, text_ ? text_ : "none",    \
              want);                                                                               \
    } while (0)
#define CHECK_NULL(outer, inner)                                                                   \
    CHECK(cJSON_IsNull(at(record, outer, inner)), "%s is not null", inner)

// The names that other programs rely on: change them only with the schema's version.
static void test_names(void)
{
    struct result r = good_result();
    cJSON *record = round_trip(&r);
    CHECK_NAMES(NULL, "schema kind status reason op alg device prec k layout options matrix check "
                      "time_ms setup_ms phases_ms flops gflops bytes bound_ms efficiency "
                      "cache_resident memory stats ");
    CHECK_NAMES("options", "threshold ");
    CHECK_NAMES("matrix", "name path rows cols nnz field symmetry values duplicates row_mean "
                          "row_max row_cv load_ms load_mb_s ");
    CHECK_NAMES("check", "method elements error_ratio ");
    CHECK_NAMES("time_ms", "median min mean p5 p95 ci_lo ci_hi samples batch warmup stop cache "
                           "throttled clock_mhz ");
    CHECK_NAMES("setup_ms", "convert upload analyse total ");
    CHECK_NAMES("bytes", "compulsory ");
    CHECK_NAMES("memory", "peak_bytes format_bytes ");
    CHECK_NAMES("stats", "picked padding ");
    cJSON_Delete(record);
}

static void test_values(void)
{
    struct result r = good_result();
    cJSON *record = round_trip(&r);
    CHECK_STRING(NULL, "schema", "spbench/1");
    CHECK_STRING(NULL, "status", "ok");
    CHECK_NULL(NULL, "reason");
    CHECK_STRING(NULL, "op", "spmm");
    CHECK_STRING(NULL, "alg", "merge");
    CHECK_STRING(NULL, "device", "cpu");
    CHECK_STRING(NULL, "prec", "f64");
    CHECK_NUMBER(NULL, "k", 64);
    CHECK_NUMBER("options", "threshold", 9.5);
    CHECK_STRING("matrix", "name", "web");
    CHECK_STRING("matrix", "values", "drawn");
    CHECK_NUMBER("matrix", "rows", 3);
    CHECK_NUMBER("matrix", "load_mb_s", 480);
    CHECK_NUMBER("check", "error_ratio", 0.5);
    CHECK_NUMBER("time_ms", "median", 0.5);
    CHECK_NUMBER("time_ms", "batch", 7);
    CHECK_STRING("time_ms", "stop", "noise");
    CHECK_STRING("time_ms", "cache", "cold");
    CHECK(cJSON_IsTrue(at(record, "time_ms", "throttled")), "throttled is not true");
    const cJSON *clocks = at(record, "time_ms", "clock_mhz");
    CHECK(cJSON_GetArraySize(clocks) == 2, "%d clocks", cJSON_GetArraySize(clocks));
    CHECK(cJSON_IsNull(cJSON_GetArrayItem(clocks, 1)), "an unknown clock is not null");
    const cJSON *s = at(record, "time_ms", "samples");
    CHECK(cJSON_GetArraySize(s) == 3 && cJSON_GetArrayItem(s, 2)->valuedouble == 0.75, "samples");
    CHECK_NUMBER("setup_ms", "total", 7);
    CHECK_NUMBER(NULL, "flops", 0x1p40 + 1); // every digit: 41 bits
    CHECK_NUMBER("bytes", "compulsory", 5e9);
    CHECK_NUMBER(NULL, "gflops", 2199.02);
    CHECK_NUMBER(NULL, "bound_ms", 0.125);
    CHECK_NUMBER(NULL, "efficiency", 0.25);
    CHECK(cJSON_IsTrue(at(record, NULL, "cache_resident")), "cache_resident is not true");
    CHECK_STRING("stats", "picked", "rowsplit");
    CHECK_NUMBER("stats", "padding", 1.25);
    cJSON_Delete(record);
}

// What a case did not reach is null, whatever the fields hold.
static void test_statuses(void)
{
    for (enum status status = STATUS_WRONG; status <= STATUS_SKIPPED; status++) {
        struct result r = {.status = status,
                           .reason = "told \"why\"\n",
                           .entry = &absent,
                           .device = "cuda",
                           .k = 1,
                           .matrix = &matrix};
        cJSON *record = round_trip(&r);
        CHECK_STRING(NULL, "status", status_name(status));
        CHECK_STRING(NULL, "reason", "told \"why\"\n");
        CHECK_STRING(NULL, "alg", "cusparse");
        static const char *const nulls[] = {"check",  "time_ms",  "setup_ms",   "flops",
                                            "gflops", "bound_ms", "efficiency", "cache_resident"};
        for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++) CHECK_NULL(NULL, nulls[i]);
        CHECK_NULL("bytes", "compulsory");
        CHECK_NULL("memory", "peak_bytes");
        CHECK_NAMES("options", "");
        cJSON_Delete(record);
    }
    struct result r = good_result();
    r.checked = false;
    r.check = (struct check){.method = "off", .ok = true};
    cJSON *record = round_trip(&r);
    CHECK_STRING("check", "method", "off");
    CHECK_NULL("check", "error_ratio");
    cJSON_Delete(record);

    r = good_result();
    r.bound_ms = r.efficiency = 0; // the roof is not known
    record = round_trip(&r);
    CHECK_NULL(NULL, "bound_ms");
    CHECK_NULL(NULL, "cache_resident");
    CHECK_NUMBER(NULL, "gflops", 2199.02);
    cJSON_Delete(record);

    r = good_result();
    r.flops = 0; // an empty matrix: a number, not something missing
    r.gflops = 0;
    record = round_trip(&r);
    CHECK_NUMBER(NULL, "flops", 0);
    CHECK_NUMBER(NULL, "gflops", 0);
    cJSON_Delete(record);
}

static const struct algo hash = {.name = "hash", .op = OP_SPGEMM};
static const struct algo_entry hash_entry = {"hash", OP_SPGEMM, DEVICE_CPU, &hash, NULL};

static struct result good_product(void)
{
    struct result r = good_result();
    r.entry = &hash_entry;
    r.k = 0;
    r.layout = LAYOUT_ROW;
    r.mul = MUL_AAT;
    r.products = (int64_t)6000000001;
    r.result_nnz = (int64_t)4000000000;
    r.phases = (struct phases){.list = {{"symbolic", 1.5}, {"numeric", 0.25}}, .count = 2};
    r.trace = (struct device_trace){
        .count = 3, .ms = {0.0004, 0.12345678, 2.5}, .bytes = {100, (int64_t)5000000000, 0}};
    return r;
}

// A matrix of which there is only the name: nothing else is made up.
static void test_unread(void)
{
    struct matrix lost = {.name = (char *)"web", .path = (char *)"dir/web.mtx"};
    struct result r = {.status = STATUS_FAILED,
                       .reason = "dir/web.mtx:1: the file is empty",
                       .entry = &entry,
                       .device = "cpu",
                       .k = 1,
                       .matrix = &lost};
    cJSON *record = round_trip(&r);
    CHECK_STRING("matrix", "name", "web");
    CHECK_STRING("matrix", "path", "dir/web.mtx");
    static const char *const nulls[] = {"rows",     "cols",       "nnz",      "field",
                                        "symmetry", "values",     "row_mean", "row_max",
                                        "row_cv",   "duplicates", "load_ms",  "load_mb_s"};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++) CHECK_NULL("matrix", nulls[i]);
    cJSON_Delete(record);
}

// SpGEMM has names of its own, and no k or layout.
static void test_product(void)
{
    struct result r = good_product();
    cJSON *record = round_trip(&r);
    CHECK_NAMES(NULL, "schema kind status reason op alg device prec k layout mul options matrix "
                      "check time_ms setup_ms phases_ms products nnz_c compression flops gflops "
                      "bytes bound_ms efficiency cache_resident memory stats ");
    CHECK_NAMES("phases_ms", "symbolic numeric ");
    CHECK_NAMES("memory", "peak_bytes format_bytes timeline ");
    CHECK_STRING(NULL, "op", "spgemm");
    CHECK_STRING(NULL, "mul", "aat");
    CHECK_NULL(NULL, "k");
    CHECK_NULL(NULL, "layout");
    CHECK_NUMBER(NULL, "products", 6000000001);
    CHECK_NUMBER(NULL, "nnz_c", 4e9);
    CHECK_NUMBER(NULL, "compression", 1.5); // of seven digits
    CHECK_NUMBER("phases_ms", "numeric", 0.25);
    CHECK(strstr(read_file(), "\"timeline\":[[0,100],[0.123,5000000000],[2.5,0]]"), "%s",
          read_file());
    cJSON_Delete(record);

    r.status = STATUS_OOM; // after the products were counted, before there was a C
    snprintf(r.reason, sizeof r.reason, "too large");
    r.timed = r.checked = false;
    r.result_nnz = r.compulsory_bytes = 0;
    record = round_trip(&r);
    CHECK_NUMBER(NULL, "products", 6000000001);
    CHECK_NUMBER(NULL, "flops", 0x1p40 + 1);
    CHECK_NULL(NULL, "nnz_c");
    CHECK_NULL(NULL, "compression");
    CHECK_NULL("bytes", "compulsory");
    CHECK_NAMES("memory", "peak_bytes format_bytes ");
    cJSON_Delete(record);

    r = good_product();
    r.status = STATUS_WRONG; // its C is not to be believed
    r.timed = false;
    record = round_trip(&r);
    CHECK_NULL(NULL, "nnz_c");
    CHECK_NULL(NULL, "compression");
    cJSON_Delete(record);

    r = good_product();
    r.status = STATUS_UNSUPPORTED; // not square: nothing was counted
    r.timed = r.checked = false;
    r.products = r.result_nnz = r.flops = r.compulsory_bytes = r.format_bytes = 0;
    record = round_trip(&r);
    CHECK_NULL(NULL, "products");
    CHECK_NULL(NULL, "nnz_c");
    CHECK_NULL(NULL, "flops");
    cJSON_Delete(record);

    r = good_product();
    r.products = r.result_nnz = r.flops = 0; // an empty matrix: counts, not something missing
    record = round_trip(&r);
    CHECK_NUMBER(NULL, "products", 0);
    CHECK_NUMBER(NULL, "nnz_c", 0);
    CHECK_NULL(NULL, "compression");
    cJSON_Delete(record);
}

static void test_not_finite(void)
{
    struct result r = good_result();
    r.gflops = r.timing.median = INFINITY;
    r.check.error_ratio = r.efficiency = NAN;
    r.figures[1].number = -INFINITY;
    cJSON *record = round_trip(&r);
    CHECK_NULL(NULL, "gflops");
    CHECK_NULL("check", "error_ratio");
    CHECK_NULL("stats", "padding");
    const char *text = read_file();
    CHECK(!strstr(text, "nan") && !strstr(text, "inf") && !strstr(text, "NaN"), "%s", text);
    cJSON_Delete(record);
}

// Names of files are bytes; JSON is UTF-8.
static void test_text(void)
{
    struct matrix odd = matrix;
    odd.name = "\xc3\xa9 \xff \xc3 \xed\xa0\x80 \t\"";
    struct result r = good_result();
    r.matrix = &odd;
    cJSON *record = round_trip(&r);
    CHECK_STRING("matrix", "name", "\xc3\xa9 ? ? ??? \t\"");
    cJSON_Delete(record);
}

static void test_environment(void)
{
    struct device cpu;
    struct record_file out;
    int err = device_open("cpu", &cpu);
    CHECK(!err, "%s", fail_text());
    struct bench_device devices[2] = {
        {.dev = &cpu, .roof = {.copy_gb_s = 100, .fma_gflops = {300, 150}}},
        {.missing = "no CUDA here"}};
    char *argv[] = {"spbench", "-k", "64", "x \"y\".mtx"};
    err = record_open(&out, path, false);
    if (!err) err = record_environment(&out, devices, DEVICE_CPU, 4, argv);
    CHECK(!err, "%s", fail_text());
    record_close(&out);
    cJSON *record = cJSON_Parse(read_file());
    CHECK_NAMES(NULL, "schema kind version revision date host os cpu command compiler flags device "
                      "roof devices ");
    CHECK_STRING(NULL, "device", cpu.name);
    CHECK_NUMBER("roof", "copy_gb_s", 100);
    CHECK_NULL("roof", "cache_gb_s"); // not known
    CHECK_TEXT(cJSON_GetStringValue(cJSON_GetArrayItem(at(record, NULL, "command"), 3)), argv[3]);
    cJSON *listed = at(record, NULL, "devices");
    CHECK_TEXT(names_of(cJSON_GetArrayItem(listed, 0)),
               "kind id name detail units memory_bytes cache_bytes clock_mhz clock_max_mhz roof ");
    CHECK_TEXT(names_of(cJSON_GetArrayItem(listed, 1)), "kind missing ");
    cJSON_Delete(record);

    for (int n = 1;; n++) { // the n-th allocation fails
        err = record_open(&out, path, false);
        mem_fail_at(n);
        if (!err) err = record_environment(&out, devices, DEVICE_CPU, 4, argv);
        mem_fail_at(0);
        record_close(&out);
        if (!err) break;
        CHECK(err == ERR_MEMORY && file_size() == 0, "allocation %d: error %d, %lld bytes", n, err,
              (long long)file_size());
    }
    device_close(&cpu);
}

static void lose_memory(const struct result *r)
{
    int n = 0, err;
    do {
        struct record_file out;
        err = record_open(&out, path, false);
        mem_fail_at(++n);
        if (!err) err = record_result(&out, r);
        mem_fail_at(0);
        record_close(&out);
        if (err)
            CHECK(err == ERR_MEMORY && file_size() == 0, "allocation %d: error %d, %lld bytes", n,
                  err, (long long)file_size());
    } while (err && n < 10000);
    CHECK(!err && n > 50, "error %d after %d allocations", err, n);
}

static void test_lost_memory(void)
{
    struct result dense = good_result(), sparse = good_product();
    lose_memory(&dense);
    lose_memory(&sparse);
}

static void test_cannot_write(void)
{
    struct record_file out;
    struct result r = good_result();
    int err = record_open(&out, "/no/such/folder/x.jsonl", false);
    CHECK(err == ERR_OUTPUT && strstr(fail_text(), "/no/such/folder/x.jsonl: "), "%d %s", err,
          fail_text());
    err = record_open(&out, ".", false);
    CHECK(err == ERR_OUTPUT, "a directory was opened: %d", err);
    if (access("/dev/full", W_OK) == 0) {
        err = record_open(&out, "/dev/full", false);
        CHECK(!err, "%s", fail_text());
        err = record_result(&out, &r);
        CHECK(err == ERR_OUTPUT && strstr(fail_text(), "/dev/full: "), "%d %s", err, fail_text());
        record_close(&out);
    } else {
        SKIP("no /dev/full");
    }

    // The disk is full in the middle of the second record: the first one stays, alone.
    err = write_one(&r);
    int64_t one = file_size();
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = (rlim_t)(one + one / 2);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    if (!err) err = record_open(&out, path, true);
    if (!err) err = record_result(&out, &r);
    CHECK(err == ERR_OUTPUT && file_size() == one, "error %d, %lld bytes, not %lld", err,
          (long long)file_size(), (long long)one);
    record_close(&out);
    setrlimit(RLIMIT_FSIZE, &before);
}

// A line that a crash cut off must not swallow the first record that is added after it.
static void test_append(void)
{
    struct result r = good_result();
    struct record_file out;
    FILE *f = fopen(path, "w");
    CHECK(f && fputs("{\"cut", f) >= 0 && fclose(f) == 0, "cannot prepare the file");
    int err = record_open(&out, path, true);
    if (!err) err = record_result(&out, &r);
    record_close(&out);
    if (!err) err = record_open(&out, path, true);
    if (!err) err = record_result(&out, &r);
    record_close(&out);
    CHECK(!err, "%s", fail_text());
    char *text = read_file(), *line = strchr(text, '\n');
    int lines = 0;
    for (char *p = text; *p; p++) lines += *p == '\n';
    CHECK(lines == 3, "%d lines", lines);
    cJSON *record = line ? cJSON_Parse(line) : NULL;
    CHECK(record != NULL, "the record after the cut line is lost");
    cJSON_Delete(record);
}

int main(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && !close(fd), "cannot make %s", path);
    test_names();
    test_values();
    test_statuses();
    test_unread();
    test_product();
    test_not_finite();
    test_text();
    test_environment();
    test_lost_memory();
    test_cannot_write();
    test_append();
    unlink(path);
    return TEST_END();
}
