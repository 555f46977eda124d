// Records of results: their names, their numbers, what becomes of NaN and of what was not reached.
#include "records.h"

// The names that other programs rely on: change them only with the schema's version. An operation's
// axes stand behind the precision, its stats behind the phases.
static void test_names(void)
{
    struct result r = good_result();
    cJSON *record = round_trip(&r);
    CHECK_NAMES(
        NULL,
        "schema kind status reason case op alg device prec width sign cache launch options "
        "library run seed threads matrix check time_ms setup_ms formats phases_ms entries density "
        "flops gflops bytes bound_ms efficiency gather_ms gather_efficiency cache_resident "
        "counters memory stats ");
    CHECK_NAMES("options", "threshold ");
    CHECK_NAMES("matrix", "name path rows cols nnz field symmetry values duplicates row_mean "
                          "row_max row_cv load_ms load_mb_s cached content file_bytes "
                          "file_changed_ns ");
    CHECK_NAMES(
        "check",
        "method elements seen_share error_ratio tolerance_share input_error in_order same_as timed ");
    CHECK_TEXT(names_of(at(record, "check", "timed")), "looked varied rechecked ");
    CHECK_NAMES("time_ms",
                "median min mean p5 p95 ci_lo ci_hi samples batch launch separator "
                "back_to_back back_to_back_ci_lo back_to_back_ci_hi back_to_back_samples "
                "warmup stop busy machine throttled clock_mhz ");
    CHECK_TEXT(names_of(at(record, "time_ms", "machine")), "switches steal others delay ");
    CHECK_NAMES("setup_ms", "convert convert_warm upload analyse total ");
    CHECK_TEXT(names_of(cJSON_GetArrayItem(at(record, NULL, "formats"), 1)),
               "of format bytes csr_bytes convert_ms convert_warm_ms upload_ms ");
    CHECK_NAMES("phases_ms", "");
    CHECK_NAMES("bytes", "compulsory gather ");
    CHECK_NAMES("memory", "peak_bytes format_bytes ");
    CHECK_NAMES("stats", "picked padding ");
    cJSON_Delete(record);
}

static void test_case(void)
{
    struct result r = good_result();
    char key[CASE_KEY_MAX];
    cJSON *record = round_trip(&r);
    CHECK_STRING(NULL, "case",
                 "own made-up cpu f64 width=64 sign=minus cache=cold threshold=9.5 "
                 "Made-up-1.2 3x4:5 web");
    CHECK_STRING(NULL, "case", case_key(&r.c, &web, key));
    CHECK_STRING(NULL, "schema", "spbench/1");
    CHECK_STRING(NULL, "status", "ok");
    CHECK_NULL(NULL, "reason");
    CHECK_STRING(NULL, "op", "own");
    CHECK_STRING(NULL, "alg", "made-up");
    CHECK_STRING(NULL, "device", "cpu");
    CHECK_STRING(NULL, "prec", "f64");
    CHECK_NUMBER(NULL, "width", 64);
    CHECK_STRING(NULL, "sign", "minus");
    CHECK_STRING(NULL, "cache", "cold");
    CHECK_NULL(NULL, "launch");
    CHECK_NUMBER("options", "threshold", 9.5);
    CHECK_STRING(NULL, "library", "Made-up 1.2");
    CHECK_STRING("matrix", "name", "web");
    CHECK_STRING("matrix", "values", "drawn");
    CHECK_NUMBER("matrix", "rows", 3);
    CHECK_NUMBER("matrix", "load_mb_s", 480);
    CHECK_STRING("matrix", "content", "0123456789abcdef0123456789abcdef");
    CHECK_NUMBER("matrix", "file_bytes", 77);
    CHECK(strstr(read_file(), "\"file_changed_ns\":1767225600123456789"), "%s", read_file());
    cJSON_Delete(record);
    r.c.cold = false;
    r.c.stream = true;
    record = round_trip(&r);
    CHECK_STRING(NULL, "cache", "warm");
    CHECK_STRING(NULL, "launch", "stream");
    CHECK_STRING(NULL, "case",
                 "own made-up cpu f64 width=64 sign=minus cache=warm launch=stream threshold=9.5 "
                 "Made-up-1.2 3x4:5 web");
    cJSON_Delete(record);
}

// What all records of a run say; no two runs say the same.
static void test_run(void)
{
    struct result r = good_result();
    char first[32];
    cJSON *record = round_trip(&r);
    snprintf(first, sizeof first, "%s", text_at(record, "run"));
    CHECK(strlen(first) == 16 && strspn(first, "0123456789abcdef") == 16, "run %s", first);
    CHECK_NUMBER(NULL, "threads", omp_get_max_threads());
    CHECK(strstr(read_file(), "\"seed\":9223372036854775807,"), "%s", read_file());
    cJSON_Delete(record);
    record = round_trip(&r);
    CHECK(strcmp(text_at(record, "run"), first) != 0, "two runs are called %s", first);
    cJSON_Delete(record);
}

static void test_values(void)
{
    struct result r = good_result();
    cJSON *record = round_trip(&r);
    CHECK_NUMBER("check", "seen_share", 0.875);
    CHECK_NUMBER("check", "error_ratio", 0.5);
    CHECK_NUMBER("check", "tolerance_share", 1e-5);
    CHECK(cJSON_IsFalse(at(record, "check", "in_order")), "in_order is not false");
    CHECK_NUMBER("time_ms", "median", 0.5);
    CHECK_NUMBER("time_ms", "batch", 7);
    CHECK_STRING("time_ms", "stop", "noise");
    CHECK_STRING("time_ms", "launch", "graph");
    CHECK_NUMBER("time_ms", "separator", 0.001);
    CHECK_NUMBER("time_ms", "back_to_back", 0.375);
    CHECK_NUMBER("time_ms", "back_to_back_ci_lo", 0.25);
    CHECK_NUMBER("time_ms", "back_to_back_ci_hi", 0.625);
    const cJSON *back = at(record, "time_ms", "back_to_back_samples");
    CHECK(cJSON_GetArraySize(back) == 3 && cJSON_GetArrayItem(back, 2)->valuedouble == 0.625,
          "%d samples back to back", cJSON_GetArraySize(back));
    CHECK(cJSON_IsTrue(at(record, "time_ms", "busy")), "busy is not true");
    const cJSON *machine = at(record, "time_ms", "machine");
    CHECK(at(machine, NULL, "switches")->valuedouble == 5, "switches");
    CHECK(at(machine, NULL, "steal")->valuedouble == 0.25, "steal");
    CHECK(cJSON_IsNull(at(machine, NULL, "others")), "what is not known is not null");
    CHECK(at(machine, NULL, "delay")->valuedouble == 0.5, "delay");
    CHECK(cJSON_IsTrue(at(record, "time_ms", "throttled")), "throttled is not true");
    const cJSON *clocks = at(record, "time_ms", "clock_mhz");
    CHECK(cJSON_GetArraySize(clocks) == 2, "%d clocks", cJSON_GetArraySize(clocks));
    CHECK(cJSON_IsNull(cJSON_GetArrayItem(clocks, 1)), "an unknown clock is not null");
    const cJSON *s = at(record, "time_ms", "samples");
    CHECK(cJSON_GetArraySize(s) == 3 && cJSON_GetArrayItem(s, 2)->valuedouble == 0.75, "samples");
    CHECK_NUMBER("setup_ms", "convert", 3);
    CHECK_NUMBER("setup_ms", "convert_warm", 0.75);
    CHECK_NUMBER("setup_ms", "upload", 3.625);
    CHECK_NUMBER("setup_ms", "analyse", 4);
    CHECK_NUMBER("setup_ms", "total", 10.625);
    const cJSON *S = cJSON_GetArrayItem(at(record, NULL, "formats"), 1);
    CHECK(!strcmp(text_at(S, "of"), "S") && !strcmp(text_at(S, "format"), "coo"), "formats");
    CHECK(at(S, NULL, "bytes")->valuedouble == 300 && at(S, NULL, "csr_bytes")->valuedouble == 400,
          "bytes of a format");
    CHECK(at(S, NULL, "convert_warm_ms")->valuedouble == 0.25, "convert_warm_ms");
    CHECK_NUMBER("memory", "peak_bytes", 1000);
    CHECK_NUMBER("memory", "format_bytes", 900);
    CHECK_NUMBER(NULL, "entries", 6000000001);
    CHECK_NUMBER(NULL, "density", 1.5);
    CHECK_NUMBER(NULL, "flops", 0x1p40 + 1); // every digit: 41 bits
    CHECK_NUMBER("bytes", "compulsory", 5e9);
    CHECK_NUMBER(NULL, "gflops", 2199.02);
    CHECK_NUMBER(NULL, "bound_ms", 0.125);
    CHECK_NUMBER(NULL, "efficiency", 0.25);
    CHECK_NUMBER("bytes", "gather", 7e10);
    CHECK_NUMBER(NULL, "gather_ms", 0.375);
    CHECK_NUMBER(NULL, "gather_efficiency", 0.75);
    CHECK(cJSON_IsTrue(at(record, NULL, "cache_resident")), "cache_resident is not true");
    CHECK_STRING("stats", "picked", "rowsplit");
    CHECK_NUMBER("stats", "padding", 1.25);
    cJSON_Delete(record);
}

// Null unless they were asked for; then numbers, or why there are none.
static void test_counters(void)
{
    struct result r = good_result();
    cJSON *record = round_trip(&r);
    CHECK_NULL(NULL, "counters");
    cJSON_Delete(record);
    r.counters = (struct counters){.asked = true,
                                   .known = true,
                                   .memory_bytes = 6e9,
                                   .l2_bytes = 0,
                                   .l1_bytes = 7,
                                   .kernels = 2,
                                   .tool = "ncu 1.2"};
    record = round_trip(&r);
    CHECK_NAMES("counters", "memory_bytes l2_bytes l1_bytes kernels tool reason ");
    CHECK_NUMBER("counters", "memory_bytes", 6e9);
    CHECK_NUMBER("counters", "l2_bytes", 0);
    CHECK_NUMBER("counters", "l1_bytes", 7);
    CHECK_NUMBER("counters", "kernels", 2);
    CHECK_STRING("counters", "tool", "ncu 1.2");
    CHECK_NULL("counters", "reason");
    cJSON_Delete(record);
    r.counters = (struct counters){.asked = true, .memory_bytes = 5, .reason = "no right"};
    record = round_trip(&r);
    CHECK_NULL("counters", "memory_bytes");
    CHECK_NULL("counters", "l2_bytes");
    CHECK_NULL("counters", "l1_bytes");
    CHECK_NULL("counters", "kernels");
    CHECK_NULL("counters", "tool");
    CHECK_STRING("counters", "reason", "no right");
    cJSON_Delete(record);
}

static void check_unreached(const cJSON *record)
{
    static const char *const nulls[] = {
        "library",    "check",     "time_ms",          "setup_ms", "flops",
        "gflops",     "entries",   "density",          "bound_ms", "cache_resident",
        "efficiency", "gather_ms", "gather_efficiency"};
    for (int i = 0; i < COUNT(nulls); i++) CHECK_NULL(NULL, nulls[i]);
    CHECK_NULL("bytes", "compulsory");
    CHECK_NULL("bytes", "gather");
    CHECK_NULL("memory", "peak_bytes");
    CHECK_NULL("memory", "format_bytes");
    CHECK_NAMES("options", "");
    CHECK_NAMES("memory", "peak_bytes format_bytes ");
    CHECK(cJSON_GetArraySize(at(record, NULL, "formats")) == 0, "formats");
}

// What a case did not reach is null, whatever the fields hold.
static void test_statuses(void)
{
    for (enum status status = STATUS_WRONG; status < STATUS_COUNT; status++) {
        struct result r = {.status = status,
                           .reason = "told \"why\"\n",
                           .c = {.entry = &absent, .device = "cuda", .axis = {1}},
                           .matrix = &web,
                           .flops = -1,
                           .compulsory_bytes = -1,
                           .gather_bytes = -1,
                           .numbers = {NAN, NAN}};
        cJSON *record = round_trip(&r);
        CHECK_STRING(NULL, "status", status_name(status));
        CHECK_STRING(NULL, "reason", "told \"why\"\n");
        CHECK_STRING(NULL, "alg", "absent");
        CHECK_STRING(NULL, "case", "own absent cuda f32 width=1 sign=plus cache=warm 3x4:5 web");
        check_unreached(record);
        cJSON_Delete(record);
    }
}

static void test_partly(void)
{
    struct result r = good_result();
    r.checked = false;
    r.check = (struct check){.method = "off", .ok = true};
    r.in_order = ORDER_NOT_LOOKED;
    cJSON *record = round_trip(&r);
    CHECK_NULL("check", "in_order");
    CHECK_NULL("check", "same_as");
    CHECK_STRING("check", "method", "off");
    CHECK_NULL("check", "error_ratio");
    CHECK_NULL("check", "seen_share");
    CHECK_NULL("check", "tolerance_share");
    cJSON_Delete(record);

    r = good_result();
    r.in_order = ORDER_KEPT;
    r.same_as = "other";
    record = round_trip(&r);
    CHECK_STRING("check", "same_as", "other");
    CHECK(cJSON_IsTrue(at(record, "check", "in_order")), "in_order is not true");
    cJSON_Delete(record);

    r = good_result(); // too few samples, on the CPU, and nothing is known of the machine
    r.timing.ci_lo = r.timing.ci_hi = r.timing.separator_ms = r.timing.back_to_back = NAN;
    r.timing.back_ci_lo = r.timing.back_ci_hi = NAN;
    r.timing.back_samples = NULL;
    r.timing.machine.switches = -1;
    record = round_trip(&r);
    CHECK_NULL("time_ms", "ci_lo");
    CHECK_NULL("time_ms", "ci_hi");
    CHECK_NULL("time_ms", "separator");
    CHECK_NULL("time_ms", "back_to_back");
    CHECK_NULL("time_ms", "back_to_back_ci_lo");
    CHECK_NULL("time_ms", "back_to_back_ci_hi");
    CHECK_NULL("time_ms", "back_to_back_samples");
    CHECK(cJSON_IsNull(at(at(record, "time_ms", "machine"), NULL, "switches")), "switches");
    cJSON_Delete(record);

    r = good_result();
    r.bound_ms = r.efficiency = r.gather_ms = r.gather_efficiency = 0; // the roof is not known
    record = round_trip(&r);
    CHECK_NULL(NULL, "bound_ms");
    CHECK_NULL(NULL, "cache_resident");
    CHECK_NULL(NULL, "gather_ms");
    CHECK_NULL(NULL, "gather_efficiency");
    CHECK_NUMBER("bytes", "gather", 7e10);
    CHECK_NUMBER(NULL, "gflops", 2199.02);
    cJSON_Delete(record);

    r = good_result();
    r.flops = r.compulsory_bytes = 0; // an empty matrix: numbers, not something missing
    r.gflops = r.numbers[OWN_ENTRIES] = 0;
    r.numbers[OWN_DENSITY] = NAN;
    r.setup.format_bytes = 0;
    record = round_trip(&r);
    CHECK_NUMBER(NULL, "flops", 0);
    CHECK_NUMBER(NULL, "gflops", 0);
    CHECK_NUMBER(NULL, "entries", 0);
    CHECK_NULL(NULL, "density");
    CHECK_NUMBER("bytes", "compulsory", 0);
    CHECK_NUMBER("memory", "format_bytes", 0);
    cJSON_Delete(record);

    r = good_product();
    r.status = STATUS_OOM; // after the flops were counted, before there was a result
    snprintf(r.reason, sizeof r.reason, "too large");
    r.timed = r.checked = r.prepared = false;
    r.check = (struct check){0};
    r.numbers[OWN_DENSITY] = NAN;
    r.compulsory_bytes = -1;
    r.trace.count = r.phases.count = 0;
    record = round_trip(&r);
    CHECK_NUMBER(NULL, "entries", 6000000001);
    CHECK_NUMBER(NULL, "flops", 0x1p40 + 1);
    CHECK_NULL(NULL, "density");
    CHECK_NULL(NULL, "check");
    CHECK_NULL("bytes", "compulsory");
    CHECK_NULL("memory", "format_bytes");
    CHECK_NAMES("memory", "peak_bytes format_bytes ");
    cJSON_Delete(record);
}

// A matrix of which there is only the name: nothing else is made up.
static void test_unread(void)
{
    struct matrix lost = {.name = (char *)"web", .path = (char *)"dir/web.mtx"};
    struct result r = {.status = STATUS_FAILED,
                       .reason = "dir/web.mtx:1: the file is empty",
                       .c = {.entry = &made_up_entry, .device = "cpu", .axis = {1}},
                       .matrix = &lost,
                       .flops = -1};
    cJSON *record = round_trip(&r);
    CHECK_STRING(NULL, "case",
                 "own made-up cpu f32 width=1 sign=plus cache=warm threshold=0 "
                 "Made-up-1.2 -:- web");
    CHECK_STRING("matrix", "name", "web");
    CHECK_STRING("matrix", "path", "dir/web.mtx");
    static const char *const nulls[] = {"rows",     "cols",       "nnz",        "field",
                                        "symmetry", "values",     "row_mean",   "row_max",
                                        "row_cv",   "duplicates", "load_ms",    "load_mb_s",
                                        "cached",   "content",    "file_bytes", "file_changed_ns"};
    for (int i = 0; i < COUNT(nulls); i++) CHECK_NULL("matrix", nulls[i]);
    cJSON_Delete(record);
}

// A result that each run makes: where the time went, and the memory when.
static void test_product(void)
{
    struct result r = good_product();
    cJSON *record = round_trip(&r);
    CHECK_NAMES("phases_ms", "symbolic numeric ");
    CHECK_NAMES("memory", "peak_bytes format_bytes timeline ");
    CHECK_NUMBER("phases_ms", "numeric", 0.25);
    CHECK(strstr(read_file(), "\"timeline\":[[0,100],[0.123,5000000000],[2.5,0]]"), "%s",
          read_file());
    cJSON_Delete(record);
}

// Where the algorithm has a model: what it predicts, and by what.
static void test_model(void)
{
    struct result r = good_result();
    r.model = (struct tiled_prediction){.equation = 3,
                                        .mu = 2,
                                        .rho = 1.25,
                                        .Z = 1.5,
                                        .R = 16,
                                        .C = 4,
                                        .L = 1.75,
                                        .delta = 8,
                                        .mu_segment = NAN,
                                        .intensity = {1, 0.5, 0.75},
                                        .gflops = {NAN, 5, 7.5},
                                        .whole_gflops = 6.5};
    cJSON *record = round_trip(&r);
    CHECK_NAMES("model", "equation mu mu_segment rho Z R C L delta intensity gflops whole_gflops ");
    CHECK_NUMBER("model", "equation", 3);
    CHECK_NUMBER("model", "mu", 2);
    CHECK_NULL("model", "mu_segment");
    CHECK_NUMBER("model", "rho", 1.25);
    CHECK_NUMBER("model", "Z", 1.5);
    CHECK_NUMBER("model", "R", 16);
    CHECK_NUMBER("model", "C", 4);
    CHECK_NUMBER("model", "L", 1.75);
    CHECK_NUMBER("model", "delta", 8);
    CHECK_NUMBER("model", "whole_gflops", 6.5);
    const cJSON *intensity = at(record, "model", "intensity"),
                *gflops = at(record, "model", "gflops");
    CHECK_TEXT(names_of(intensity), "algorithmic all_miss cold_miss ");
    CHECK(at(intensity, NULL, "all_miss")->valuedouble == 0.5, "intensity");
    CHECK_TEXT(names_of(gflops), "algorithmic all_miss cold_miss ");
    CHECK(cJSON_IsNull(at(gflops, NULL, "algorithmic")), "a rate without a roof");
    CHECK(at(gflops, NULL, "cold_miss")->valuedouble == 7.5, "gflops");
    cJSON_Delete(record);
}

static void test_not_finite(void)
{
    struct result r = good_result();
    r.gflops = r.timing.median = r.numbers[OWN_ENTRIES] = INFINITY;
    r.check.error_ratio = r.efficiency = NAN;
    r.stats.list[1].number = -INFINITY;
    cJSON *record = round_trip(&r);
    CHECK_NULL(NULL, "gflops");
    CHECK_NULL(NULL, "entries");
    CHECK_NULL("time_ms", "median");
    CHECK_NULL("check", "error_ratio");
    CHECK_NULL("stats", "padding");
    const char *text = read_file();
    CHECK(!strstr(text, "nan") && !strstr(text, "inf") && !strstr(text, "NaN"), "%s", text);
    cJSON_Delete(record);
}

// Names of files are bytes; JSON is UTF-8.
static void test_text(void)
{
    struct matrix odd = web;
    odd.name = (char *)"\xc3\xa9 \xff \xc3 \xed\xa0\x80 \t\"";
    struct result r = good_result();
    r.matrix = &odd;
    cJSON *record = round_trip(&r);
    CHECK_STRING("matrix", "name", "\xc3\xa9 ? ? ??? \t\"");
    cJSON_Delete(record);
    r = good_result();
    r.status = STATUS_FAILED;
    r.timed = false;
    memset(r.reason, 'd', sizeof r.reason); // as long as a message can be
    strcpy(r.reason + sizeof r.reason - 16, "\xc3\xa9: the cause");
    record = round_trip(&r);
    CHECK_STRING(NULL, "reason", r.reason);
    cJSON_Delete(record);
}

int main(void)
{
    path_make();
    RUN_ALL(test_names, test_case, test_run, test_values, test_counters, test_statuses,
            test_partly, test_unread, test_product, test_model, test_not_finite, test_text);
    unlink(path);
    return TEST_END();
}
