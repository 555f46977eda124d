// Results made up by hand, written as records, and looked at again.
#ifndef RECORDS_H
#define RECORDS_H

#include <cjson/cJSON.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/coo.h"
#include "own.h"
#include "records/record.h"
#include "test.h"

static char path[] = P_tmpdir "/test_record.XXXXXX";

static inline void path_make(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && !close(fd), "cannot make %s", path);
}

// An algorithm of the tests' own operation, one of the same with a sparse result, and one that is
// not in this build.
static const struct algo_option made_up_options[] = {
    {"threshold", 9.35, 0, 100, false, "it is in no list"}, {0}};
static const char *made_up_library(void) { return "Made-up 1.2"; }
static const struct algo made_up = {
    .A = {&format_csr}, .options = made_up_options, .library = made_up_library};
static const struct algo_entry made_up_entry = {"made-up", &own_op, DEVICE_CPU, &made_up};
static const struct algo not_built;
static const struct algo_entry absent = {"absent", &own_op, DEVICE_CUDA, &not_built};

static double made_up_samples[] = {0.25, 0.5, 0.75}, made_up_back[] = {0.25, 0.375, 0.625};
static struct matrix web = {.name = (char *)"web",
                            .path = (char *)"dir/web.mtx",
                            .A = {.m = 3, .n = 4, .nnz = 5},
                            .field = "pattern",
                            .symmetry = "general",
                            .values_drawn = true,
                            .duplicates = 2,
                            .facts = {.row_mean = 1.5, .row_max = 3, .row_cv = 0.125},
                            .content = "0123456789abcdef0123456789abcdef",
                            .file = {.bytes = 77, .changed_ns = 1767225600123456789},
                            .load_ms = 10,
                            .load_mb_s = 480};

static inline struct result good_result(void)
{
    struct result r = {
        .status = STATUS_OK,
        .c = {.entry = &made_up_entry,
              .device = "cpu",
              .prec = F64,
              .axis = {64, 1},
              .opt = {9.5},
              .cold = true},
        .matrix = &web,
        .checked = true,
        .timed = true,
        .prepared = true,
        .check = {.method = "full",
                  .elements = 12,
                  .seen_share = 0.875,
                  .error_ratio = 0.5,
                  .tolerance_share = 1e-5,
                  .value_error = 1e-6,
                  .ok = true},
        .in_order = ORDER_BROKEN,
        .timing = {.samples = made_up_samples,
                   .count = 3,
                   .batch = 7,
                   .launch = "graph",
                   .separator_ms = 0.001,
                   .back_samples = made_up_back,
                   .back_to_back = 0.375,
                   .back_ci_lo = 0.25,
                   .back_ci_hi = 0.625,
                   .machine = {.switches = 5, .steal = 0.25, .others = NAN, .delay = 0.5},
                   .busy = true,
                   .warmup = 4,
                   .stop = "noise",
                   .throttled = true,
                   .clock_mhz = {1980, 0},
                   .median = 0.5,
                   .min = 0.25,
                   .mean = 0.5,
                   .p5 = 0.275,
                   .p95 = 0.725,
                   .ci_lo = 0.25,
                   .ci_hi = 0.75},
        .setup = {.count = 2,
                  .formats = {{"A", &format_coo, 600, 500, {1, 0.5, 1.5}},
                              {"S", &format_coo, 300, 400, {2, 0.25, 0.125}}},
                  .format_bytes = 900,
                  .dense_ms = 2,
                  .analyse_ms = 4},
        .flops = ((int64_t)1 << 40) + 1,
        .compulsory_bytes = (int64_t)5000000000,
        .gflops = 2199.02,
        .bound_ms = 0.125,
        .efficiency = 0.25,
        .gather_bytes = (int64_t)70000000000,
        .gather_ms = 0.375,
        .gather_efficiency = 0.75,
        .cache_resident = true,
        .peak_bytes = 1000,
        .numbers = {6000000001, 1.5}};
    algo_stats_text(&r.stats, "picked", "rowsplit");
    algo_stats_number(&r.stats, "padding", 1.25);
    return r;
}

static struct device_moment made_up_moments[] = {
    {0.0004, 100}, {0.12345678, (int64_t)5000000000}, {2.5, 0}};

// Of an operation whose runs make their results.
static inline struct result good_product(void)
{
    struct result r = good_result();
    r.phases = (struct phases){.list = {{"symbolic", 1.5}, {"numeric", 0.25}}, .count = 2};
    r.trace = (struct device_trace){.count = 3, .moments = made_up_moments};
    return r;
}

static inline int write_one(const struct result *r)
{
    struct record_file out;
    int err = record_open(&out, path, false, INT64_MAX);
    if (!err) err = record_result(&out, r);
    int close_err = record_close(&out);
    return err ? err : close_err;
}

static inline char *read_file(void)
{
    static char text[1 << 17];
    FILE *f = fopen(path, "r");
    size_t size = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[size] = 0;
    return text;
}

static inline int64_t file_size(void)
{
    struct stat s;
    return stat(path, &s) ? -1 : (int64_t)s.st_size;
}

// Writes r and parses it back: one line, and strict JSON.
static inline cJSON *round_trip(const struct result *r)
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
static inline const char *names_of(const cJSON *object)
{
    static char names[1024];
    names[0] = 0;
    for (const cJSON *o = object ? object->child : NULL; o; o = o->next)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", o->string);
    return names;
}

static inline cJSON *at(const cJSON *record, const char *outer, const char *inner)
{
    const cJSON *o = outer ? cJSON_GetObjectItemCaseSensitive(record, outer) : record;
    return cJSON_GetObjectItemCaseSensitive(o, inner);
}

static inline const char *text_at(const cJSON *o, const char *name)
{
    const char *text = cJSON_GetStringValue(at(o, NULL, name));
    return text ? text : "(none)";
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

#endif
