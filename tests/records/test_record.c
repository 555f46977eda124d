// Records of results: their names, their numbers, what becomes of NaN and of what was not reached.
#include "records.h"

// Writes r. The parts are in its record in this order, with a quote where a part has an apostrophe.
static void check_says(const struct result *r, const char *const *parts)
{
    cJSON_Delete(round_trip(r));
    for (const char *at = read_file(); *parts && at; parts++) {
        char want[2048];
        snprintf(want, sizeof want, "%s", *parts);
        for (char *c = want; (c = strchr(c, '\'')); *c++ = '"') {}
        const char *found = strstr(at, want);
        CHECK(found, "%s is not in %s", want, at);
        at = found ? found + strlen(want) : NULL;
    }
}
#define CHECK_SAYS(r, ...) check_says(r, (const char *const[]){__VA_ARGS__, NULL})

// All of a record. Other programs rely on the names: change them only with the schema's version. An
// operation's axes follow the precision, its stats follow the phases.
static void test_whole(void)
{
    struct result r = good_result();
    char key[CASE_KEY_MAX];
    CHECK_SAYS(
        &r,
        "{'schema':'spbench/1','kind':'result','status':'ok','reason':null,'case':'own made-up cpu "
        "f64 width=64 sign=minus cache=cold threshold=9.5 Made-up-1.2 3x4:5 web','op':'own','alg':"
        "'made-up','device':'cpu','prec':'f64','width':64,'sign':'minus','cache':'cold','launch':"
        "null,'options':{'threshold':9.5},'library':'Made-up 1.2','run':'",
        "','seed':9223372036854775807,'threads':",
        ",'matrix':{'name':'web','path':'dir/web.mtx','rows':3,'cols':4,'nnz':5,'field':'pattern',"
        "'symmetry':'general','values':'drawn','duplicates':2,'row_mean':1.5,'row_max':3,'row_cv':"
        "0.125,'load_ms':10,'load_mb_s':480,'cached':false,'content':'0123456789abcdef0123456789ab"
        "cdef','file_bytes':77,'file_changed_ns':1767225600123456789},'check':{'method':'full',"
        "'elements':12,'seen_share':0.875,'error_ratio':0.5,'tolerance_share':1e-05,'value_error':"
        "1e-06,'input_error':0,'in_order':false,'same_as':null,'timed':{'looked':0,'varied':0,'"
        "changed':0}},"
        "'time_ms':{'median':0.5,'min':0.25,'mean':0.5,'p5':0.275,'p95':0.725,'ci_lo':0.25,"
        "'ci_hi':0.75,'samples':[0.25,0.5,0.75],'batch':7,'launch':'graph','separator':0.001,"
        "'back_to_back':0.375,'back_to_back_ci_lo':0.25,'back_to_back_ci_hi':0.625,"
        "'back_to_back_samples':[0.25,0.375,0.625],'warmup':4,'stop':'noise','dropped':false,"
        "'busy':true,"
        "'machine':{'switches':5,'steal':0.25,'others':null,'delay':0.5},'throttled':true,"
        "'clock_mhz':[1980,null]},'setup_ms':{'convert':3,'convert_warm':0.75,'upload':3.625,"
        "'analyse':4,'total':10.625},'formats':[{'of':'A','format':'coo','bytes':600,'csr_bytes':"
        "500,'convert_ms':1,'convert_warm_ms':0.5,'upload_ms':1.5},{'of':'S','format':'coo',"
        "'bytes':300,'csr_bytes':400,'convert_ms':2,'convert_warm_ms':0.25,'upload_ms':0.125}],"
        "'phases_ms':{},'entries':6000000001,'density':1.5,'flops':1099511627777,'gflops':2199.02,"
        "'bytes':{'compulsory':5000000000,'gather':70000000000},'bound_ms':0.125,'efficiency':"
        "0.25,'gather_ms':0.375,'gather_efficiency':0.75,'cache_resident':true,'counters':null,"
        "'memory':{'peak_bytes':1000,'format_bytes':900},'stats':{'picked':'rowsplit','padding':"
        "1.25}}\n");
    CHECK(strstr(read_file(), case_key(&r.c, &web, key)), "another key");
    r.c.cold = false;
    r.c.stream = true;
    CHECK_SAYS(&r,
               "'case':'own made-up cpu f64 width=64 sign=minus cache=warm launch=stream "
               "threshold=9.5 Made-up-1.2 3x4:5 web'",
               "'cache':'warm','launch':'stream'");
    r = good_product(); // its runs make their results: where the time went, and the memory when
    CHECK_SAYS(&r, "'phases_ms':{'symbolic':1.5,'numeric':0.25}",
               "'memory':{'peak_bytes':1000,'format_bytes':900,'timeline':[[0,100],"
               "[0.123,5000000000],[2.5,0]]}");
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
    cJSON_Delete(record);
    record = round_trip(&r);
    CHECK(strcmp(text_at(record, "run"), first) != 0, "two runs are called %s", first);
    cJSON_Delete(record);
}

// Null unless they were asked for; then numbers, or why there are none.
static void test_counters(void)
{
    struct result r = good_result();
    r.counters = (struct counters){.asked = true,
                                   .known = true,
                                   .memory_bytes = 6e9,
                                   .l2_bytes = 0,
                                   .l1_bytes = 7,
                                   .kernels = 2,
                                   .tool = "ncu 1.2"};
    CHECK_SAYS(&r, "'counters':{'memory_bytes':6000000000,'l2_bytes':0,'l1_bytes':7,'kernels':2,"
                   "'tool':'ncu 1.2','reason':null}");
    r.counters = (struct counters){.asked = true, .memory_bytes = 5, .reason = "no right"};
    CHECK_SAYS(&r, "'counters':{'memory_bytes':null,'l2_bytes':null,'l1_bytes':null,'kernels':null,"
                   "'tool':null,'reason':'no right'}");
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
        CHECK_SAYS(&r, "'status':'", status_name(status),
                   "','reason':'told \\'why\\'\\n','case':'own absent cuda f32 width=1 sign=plus "
                   "cache=warm 3x4:5 web'",
                   "'alg':'absent'", "'options':{},'library':null", "'check':null,'time_ms':null",
                   "'setup_ms':null,'formats':[]",
                   "'entries':null,'density':null,'flops':null,'gflops':null,'bytes':{'compulsory':"
                   "null,'gather':null},'bound_ms':null,'efficiency':null,'gather_ms':null,"
                   "'gather_efficiency':null,'cache_resident':null",
                   "'memory':{'peak_bytes':null,'format_bytes':null}");
    }
}

static void test_partly(void)
{
    struct result r = good_result();
    r.checked = false;
    r.check = (struct check){.method = "off", .ok = true};
    r.in_order = ORDER_NOT_LOOKED;
    CHECK_SAYS(&r, "'check':{'method':'off'",
               "'seen_share':null,'error_ratio':null,'tolerance_share':null,'value_error':null",
               "'in_order':null,'same_as':null");

    r = good_result();
    r.in_order = ORDER_KEPT;
    r.same_as = "other";
    CHECK_SAYS(&r, "'in_order':true,'same_as':'other'");

    r = good_result(); // too few samples, on the CPU, and nothing is known of the machine
    r.timing.ci_lo = r.timing.ci_hi = r.timing.separator_ms = r.timing.back_to_back = NAN;
    r.timing.back_ci_lo = r.timing.back_ci_hi = NAN;
    r.timing.back_samples = NULL;
    r.timing.machine.switches = -1;
    CHECK_SAYS(&r, "'ci_lo':null,'ci_hi':null",
               "'separator':null,'back_to_back':null,'back_to_back_ci_lo':null,"
               "'back_to_back_ci_hi':null,'back_to_back_samples':null",
               "'machine':{'switches':null,");

    r = good_result();
    r.bound_ms = r.efficiency = r.gather_ms = r.gather_efficiency = 0; // the roof is not known
    CHECK_SAYS(&r, "'gflops':2199.02,'bytes':{'compulsory':5000000000,'gather':70000000000}",
               "'bound_ms':null,'efficiency':null,'gather_ms':null,'gather_efficiency':null,"
               "'cache_resident':null");

    r = good_result();
    r.flops = r.compulsory_bytes = 0; // an empty matrix: numbers, not something missing
    r.gflops = r.numbers[OWN_ENTRIES] = 0;
    r.numbers[OWN_DENSITY] = NAN;
    r.setup.format_bytes = 0;
    CHECK_SAYS(&r, "'entries':0,'density':null,'flops':0,'gflops':0,'bytes':{'compulsory':0,",
               "'format_bytes':0");

    r = good_product();
    r.status = STATUS_OOM; // after the flops were counted, before there was a result
    snprintf(r.reason, sizeof r.reason, "too large");
    r.timed = r.checked = r.prepared = false;
    r.check = (struct check){0};
    r.numbers[OWN_DENSITY] = NAN;
    r.compulsory_bytes = -1;
    r.trace.count = r.phases.count = 0;
    CHECK_SAYS(&r, "'check':null",
               "'entries':6000000001,'density':null,'flops':1099511627777,'gflops':null,"
               "'bytes':{'compulsory':null,",
               "'memory':{'peak_bytes':1000,'format_bytes':null}");
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
    CHECK_SAYS(&r,
               "'case':'own made-up cpu f32 width=1 sign=plus cache=warm threshold=0 Made-up-1.2 "
               "-:- web'",
               "'matrix':{'name':'web','path':'dir/web.mtx','rows':null,'cols':null,'nnz':null,"
               "'field':null,'symmetry':null,'values':null,'duplicates':null,'row_mean':null,"
               "'row_max':null,'row_cv':null,'load_ms':null,'load_mb_s':null,'cached':null,"
               "'content':null,'file_bytes':null,'file_changed_ns':null}");
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
    CHECK_SAYS(&r, "'model':{'equation':3,'mu':2,'mu_segment':null,'rho':1.25,'Z':1.5,'R':16,'C':4,"
                   "'L':1.75,'delta':8,'intensity':{'algorithmic':1,'all_miss':0.5,'cold_miss':"
                   "0.75},'gflops':{'algorithmic':null,'all_miss':5,'cold_miss':7.5},"
                   "'whole_gflops':6.5}");
}

static void test_not_finite(void)
{
    struct result r = good_result();
    r.gflops = r.timing.median = r.numbers[OWN_ENTRIES] = INFINITY;
    r.check.error_ratio = r.efficiency = NAN;
    r.stats.list[1].number = -INFINITY;
    CHECK_SAYS(&r, "'error_ratio':null", "'median':null", "'entries':null", "'gflops':null",
               "'padding':null");
    const char *text = read_file();
    CHECK(!strstr(text, "nan") && !strstr(text, "inf") && !strstr(text, "NaN"), "%s", text);
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
    RUN_ALL(test_whole, test_run, test_counters, test_statuses, test_partly, test_unread,
            test_model, test_not_finite, test_text);
    unlink(path);
    return TEST_END();
}
