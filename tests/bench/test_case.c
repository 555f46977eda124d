// Cases as values: what the options of axes parse to, the plan that is made of them, and the key
// that tells a case from every other one.
#include "bench/plan.h"

#include <stdlib.h>

#include "formats/sellp.h"
#include "own.h"
#include "test.h"

static void refuse(const struct axis *axis, const char *text, const char *says)
{
    struct axis_values v;
    int err = axis_parse(axis, text, &v);
    CHECK(err == ERR_USAGE && !strncmp(fail_text(), "-", 1) && strstr(fail_text(), axis->name) &&
              strstr(fail_text(), says),
          "-%s \"%s\": error %d, %s", axis->name, text, err, err ? fail_text() : "");
}

static void accept(const struct axis *axis, const char *text, int count, const int64_t *values)
{
    struct axis_values v;
    int err = axis_parse(axis, text, &v);
    CHECK(!err && v.text == text && v.count == count, "-%s %s: error %d, %d values", axis->name,
          text, err, v.count);
    for (int i = 0; i < count && !err; i++)
        CHECK(v.value[i] == values[i], "-%s %s: %lld", axis->name, text, (long long)v.value[i]);
}

static void test_axes(void)
{
    char text[32], many[1024] = "1", item[16];
    accept(&own_width, "7", 1, (int64_t[]){7});
    accept(&own_width, "100,1,7", 3, (int64_t[]){100, 1, 7});
    accept(&own_width, "7,8,7,007,8", 2, (int64_t[]){7, 8});
    accept(&own_sign, "minus", 1, (int64_t[]){1});
    accept(&own_sign, "minus,plus,minus", 2, (int64_t[]){1, 0});

    refuse(&own_width, "0", "-width 0: must be from 1 to 100");
    refuse(&own_width, "-1", "must be from 1 to 100");
    refuse(&own_width, "5,101", "-width 101: must be");
    refuse(&own_width, "99999999999999999999", "must be from");
    refuse(&own_width, "", "its value is empty");
    static const char *const none[] = {"x",   "5x",  "5 ",  " 5",  "\t5", "\v5", "\f5",
                                       "\r5", "\n5", "5.0", "1e1", "0x5", "5,x", "--5"};
    for (int i = 0; i < COUNT(none); i++) refuse(&own_width, none[i], "not a whole number");
    static const char *const holes[] = {",", "5,", ",5", "5,,6"};
    for (int i = 0; i < COUNT(holes); i++) refuse(&own_width, holes[i], "empty or too long");
    refuse(&own_width, "1111111111111111111111111111111111111111111111111111111111111111",
           "empty or too long");
    // Ranges, with their last value if a step ends there.
    accept(&own_width, "16:64:16", 4, (int64_t[]){16, 32, 48, 64});
    accept(&own_width, "5:9:3", 2, (int64_t[]){5, 8});
    accept(&own_width, "7:7:1", 1, (int64_t[]){7});
    accept(&own_width, "1:100:*3", 5, (int64_t[]){1, 3, 9, 27, 81});
    accept(&own_width, "3,1:8:*2,4:6:1", 7, (int64_t[]){3, 1, 2, 4, 8, 5, 6});
    accept(&(struct axis){.name = "n", .values = "NUMBERS", .min = 1, .max = INT64_MAX},
           "4611686018427387904:9223372036854775807:*2", 1, (int64_t[]){4611686018427387904});
    static const char *const forms[] = {"1:2",    "1:2:",   ":2:1",   "1::1",  "1:2:1:1",
                                        "0:8:*2", "1:2:x",  "1:2:0",  "1:2:*", "1:2:*1",
                                        "2:1:1",  "1:2:-1", "1 :2:1", "1-8",   "1..8"};
    for (int i = 0; i < COUNT(forms); i++)
        refuse(&own_width, forms[i], "a range is FIRST:LAST:STEP or FIRST:LAST:*FACTOR");
    refuse(&own_width, "0:8:1", "-width 0:8:1: must be from 1 to 100");
    refuse(&own_width, "1:101:50", "-width 1:101:50: must be from 1 to 100");
    refuse(&own_width, "1:65:1", "more than 64 values");
    refuse(&own_width, "32 64", "for several values write 32,64");
    refuse(&own_width, "64K", "not a whole number; write 65536");
    refuse(&own_width, "1m", "not a whole number; write 1048576");

    refuse(&own_sign, "pluss", "did you mean plus? it is one of plus, minus");
    refuse(&own_sign, "PLUS", "no such value");
    refuse(&own_sign, "0", "it is one of plus, minus");
    refuse(&own_sign, "plus,", "empty or too long");

    for (int i = 2; i <= AXIS_VALUES_MAX; i++) {
        snprintf(item, sizeof item, ",%d", i);
        strcat(many, item);
    }
    struct axis_values v;
    strcat(many, ",1,2,3"); // what is there already is not one too many
    CHECK(!axis_parse(&own_width, many, &v) && v.count == AXIS_VALUES_MAX, "%s", fail_text());
    strcat(many, ",99");
    refuse(&own_width, many, "more than 64 values");

    CHECK_TEXT(axis_text(&own_width, 42, text), "42");
    CHECK_TEXT(axis_text(&own_sign, 1, text), "minus");
    CHECK(axis_word(&own_sign, "minus") == 1 && axis_word(&own_sign, "minu") < 0 &&
              axis_word(&own_width, "1") < 0,
          "words");
}

static const struct algo_option own_options[] = {
    {"grain", 4, 1, 64, true, "rows of a share"},
    {"slice", 16, 1, 64, true, "in place of the format's own"},
    {0},
};
static const char *own_library(void) { return "Some Library 1.2"; }
static const struct algo plain = {.A = {&format_csr}};
static const struct algo sliced = {.A = {&format_sellp}, .options = own_options};
static const struct algo not_built;
static const struct algo foreign = {.A = {&format_csr}, .library = own_library};
static const struct algo_entry entries[] = {
    {"plain", &own_op, DEVICE_CPU, &plain},
    {"sliced", &own_op, DEVICE_CPU, &sliced},
    {"foreign", &own_op, DEVICE_CPU, &foreign},
    {"absent", &own_op, DEVICE_CPU, &not_built},
};
enum { GRAIN, SLICE, PAD }; // of sliced

// Every combination of the values, in the order that is promised.
static void test_plan(void)
{
    static const enum prec precs[] = {F64, F32};
    const struct choice_entry chosen[] = {
        {&entries[1], "cpu", false}, {&entries[0], "here", true}, {&entries[3], "there", true}};
    // Two values of slice make two cases of those that have it; nobody has `none`.
    const struct given_option settings[] = {
        {"slice", 8}, {"grain", 2}, {"slice", 32}, {"none", 1}, {"none", 2}};
    const int variants = 2;
    struct plan_request r = {.op = &own_op,
                             .entries = chosen,
                             .entry_count = 3,
                             .precs = precs,
                             .prec_count = 2,
                             .opts = settings,
                             .opt_count = 5,
                             .cold = true};
    CHECK(!axis_parse(&own_width, "9,2,5", &r.axes[OWN_WIDTH]), "%s", fail_text());
    CHECK(!axis_parse(&own_sign, "minus,plus", &r.axes[OWN_SIGN]), "%s", fail_text());
    struct plan plan;
    CHECK(!plan_make(&plan, &r) && plan.count == 48 && plan.op == &own_op, "%lld cases",
          (long long)plan.count);
    int64_t x = 0;
    for (int p = 0; p < 2; p++)
        for (int w = 0; w < 3; w++)
            for (int s = 0; s < 2; s++)
                for (int v = 0; v < 4; v++) {
                    int e = v < variants ? 0 : v - variants + 1;
                    const struct bench_case *c = &plan.cases[x++];
                    bool right = c->prec == precs[p] && c->entry == chosen[e].entry && c->cold &&
                                 !strcmp(c->device, chosen[e].device) &&
                                 c->axis[OWN_WIDTH] == r.axes[OWN_WIDTH].value[w] &&
                                 c->axis[OWN_SIGN] == r.axes[OWN_SIGN].value[s];
                    CHECK(right, "case %lld is another one", (long long)x - 1);
                    double want[ALGO_OPTIONS_MAX] = {0};
                    if (e == 0) want[GRAIN] = 2, want[SLICE] = v ? 32 : 8, want[PAD] = 8;
                    CHECK(!memcmp(c->opt, want, sizeof want), "case %lld has other options",
                          (long long)x - 1);
                    CHECK(case_same_inputs(c, &plan.cases[(x - 1) / 4 * 4]) &&
                              (x <= 4 || !case_same_inputs(c, &plan.cases[x - 5])),
                          "case %lld: cases with the same inputs do not follow each other",
                          (long long)x - 1);
                }
    plan_free(&plan);
    CHECK(!plan.cases && !plan.count, "a plan that was freed");
    plan_free(&plan);

    for (int n = 1; n <= 2; n++) {
        mem_fail_at(n);
        CHECK(plan_make(&plan, &r) == ERR_MEMORY && !plan.cases && !plan.count,
              "no memory was needed");
    }
    mem_fail_at(0);
    r.entry_count = r.prec_count = INT32_MAX;
    r.axes[OWN_WIDTH].count = r.axes[OWN_SIGN].count = AXIS_VALUES_MAX;
    CHECK(plan_make(&plan, &r) == ERR_MEMORY && !plan.count, "more cases than can be counted");
    r.entry_count = 0, r.prec_count = 2;
    CHECK(!plan_make(&plan, &r) && !plan.count, "%lld cases of no algorithm",
          (long long)plan.count);
    plan_free(&plan);
}

// An algorithm of one k has cases of another k only if its name was given.
static void test_columns(void)
{
    static const struct algo of_one = {.A = {&format_csr}, .columns = 1};
    const struct op *op = op_find("spmm");
    const struct algo_entry vector = {"vector", op, DEVICE_CPU, &of_one},
                            any = {"any", op, DEVICE_CPU, &plain};
    const enum prec prec = F32;
    for (int i = 0; i < 2; i++) {
        const bool by_pattern = i;
        const struct choice_entry chosen[] = {{&vector, "cpu", by_pattern},
                                              {&any, "cpu", by_pattern}};
        struct plan_request r = {
            .op = op,
            .entries = chosen,
            .entry_count = 2,
            .precs = &prec,
            .prec_count = 1,
            .axes = {{.count = 2, .value = {1, 64}}, {.count = 1}, {.count = 1}}};
        struct plan plan;
        int64_t found[2][2] = {0}; // by algorithm, by k
        CHECK(!plan_make(&plan, &r), "%s", fail_text());
        for (int64_t c = 0; c < plan.count; c++)
            found[plan.cases[c].entry == &any][plan.cases[c].axis[0] == 64]++;
        CHECK(found[0][0] == 1 && found[0][1] == !by_pattern, "pattern %d: its own k, %lld others",
              by_pattern, (long long)found[0][1]);
        CHECK(found[1][0] == 1 && found[1][1] == 1, "pattern %d: every k", by_pattern);
        plan_free(&plan);
    }
}

// To ask for no graphs is another case where there would be any: on CUDA, if the result is there
// before and the cache is warm.
static void test_stream(void)
{
    static const struct algo_entry on_cpu = {"mine", &own_op, DEVICE_CPU, &sliced},
                                   on_gpu = {"mine", &own_op, DEVICE_CUDA, &sliced};
    bool graphs = device_list[DEVICE_CUDA].ops && device_list[DEVICE_CUDA].ops->graph_make;
    for (int i = 0; i < 16; i++) {
        struct op op = own_op;
        bool gpu = i & 1, asked = i & 2, cold = i & 4, sparse = i & 8;
        const struct choice_entry chosen = {gpu ? &on_gpu : &on_cpu, "here", false};
        const enum prec prec = F32;
        struct plan plan;
        op.result = sparse ? RESULT_SPARSE : RESULT_DENSE;
        struct plan_request r = {.op = &op,
                                 .entries = &chosen,
                                 .entry_count = 1,
                                 .precs = &prec,
                                 .prec_count = 1,
                                 .axes = {{.count = 1}, {.count = 1}},
                                 .cold = cold,
                                 .stream = asked};
        CHECK(!plan_make(&plan, &r) && plan.count == 1, "%s", fail_text());
        CHECK(plan.cases[0].stream == (gpu && graphs && asked && !cold && !sparse), "row %d", i);
        plan_free(&plan);
    }
}

static struct matrix matrix_here(void)
{
    return (struct matrix){.name = (char *)"cage5",
                           .path = (char *)"dir/cage5.mtx",
                           .field = "real",
                           .A = {.m = 5, .n = 6, .nnz = 9000000000}};
}

static struct bench_case case_here(void)
{
    struct bench_case c = {.entry = &entries[1], .device = "cpu", .prec = F32, .axis = {3, 1}};
    algo_defaults(&sliced, c.opt);
    return c;
}

// The texts that records hold: change them only with the schema's version.
static void test_keys(void)
{
    char key[CASE_KEY_MAX];
    struct matrix M = matrix_here();
    struct bench_case c = case_here();
    CHECK_TEXT(case_key(&c, &M, key), "own sliced cpu f32 width=3 sign=minus cache=warm grain=4 "
                                      "pad=8 slice=16 5x6:9000000000 cage5");
    c.opt[GRAIN] = 0.125, c.opt[PAD] = 1e6, c.cold = true, c.prec = F64;
    strcpy(c.device, "cuda:12");
    M.name = (char *)"a name of words";
    CHECK_TEXT(case_key(&c, &M, key), "own sliced cuda:12 f64 width=3 sign=minus cache=cold "
                                      "grain=0.125 pad=1000000 slice=16 5x6:9000000000 "
                                      "a name of words");
    c.stream = true;
    CHECK_TEXT(case_key(&c, &M, key), "own sliced cuda:12 f64 width=3 sign=minus cache=cold "
                                      "launch=stream grain=0.125 pad=1000000 slice=16 "
                                      "5x6:9000000000 a name of words");
    c.stream = false;
    c.entry = &entries[2];
    M = (struct matrix){.name = (char *)"lost", .path = (char *)"lost.mtx"};
    CHECK_TEXT(case_key(&c, &M, key), "own foreign cuda:12 f64 width=3 sign=minus cache=cold "
                                      "Some-Library-1.2 -:- lost");
    CHECK_TEXT(case_library(&c), "Some Library 1.2");
    c.entry = &entries[3];
    CHECK_TEXT(case_key(&c, &M, key),
               "own absent cuda:12 f64 width=3 sign=minus cache=cold -:- lost");
    CHECK(!case_library(&c), "a library of nothing");
}

static void change(struct bench_case *c, struct matrix *M, int field)
{
    switch (field) {
    case 0: c->entry = &entries[0]; break;
    case 1: c->entry = &entries[2]; break;
    case 2: c->entry = &entries[3]; break;
    case 3: strcpy(c->device, "cuda:0"); break;
    case 4: c->prec = F64; break;
    case 5: c->axis[OWN_WIDTH] = 4; break;
    case 6: c->axis[OWN_SIGN] = 0; break;
    case 7: c->cold = true; break;
    case 8: c->opt[GRAIN] = 5; break;
    case 9: c->opt[SLICE] = 17; break;
    case 10: c->opt[PAD] = 2; break;
    case 11: M->A.m = 4; break;
    case 12: M->A.n = 5; break;
    case 13: M->A.nnz++; break;
    case 14: M->name = (char *)"cage"; break;
    case 15: M->field = NULL; break;
    case 16: c->stream = true; break;
    default: c->opt[GRAIN] = 4.000001; break;
    }
}
#define FIELDS 18

static void test_differences(void)
{
    char keys[FIELDS + 1][CASE_KEY_MAX];
    for (int f = 0; f <= FIELDS; f++) {
        struct matrix M = matrix_here();
        struct bench_case c = case_here();
        if (f < FIELDS) change(&c, &M, f);
        case_key(&c, &M, keys[f]);
        struct bench_case same = case_here();
        CHECK(case_same_inputs(&c, &same) == (f < 4 || f > 6), "change %d: the inputs", f);
        for (int g = 0; g < f; g++)
            CHECK(strcmp(keys[f], keys[g]), "changes %d and %d: %s", g, f, keys[f]);
    }
    // What says nothing of the case does not matter.
    char key[CASE_KEY_MAX];
    struct matrix M = matrix_here();
    struct bench_case c = case_here();
    M.path = (char *)"elsewhere/cage5.mtx", M.load_ms = 5, M.field = "pattern";
    c.opt[ALGO_OPTIONS_MAX - 1] = 1;
    CHECK_TEXT(case_key(&c, &M, key), keys[FIELDS]);
}

// Two values of -trans give one product. The standard value is not in the key.
static void test_ways(void)
{
    static const char *const words[] = {"", " trans=flag", " trans=copy"};
    struct matrix M = matrix_here();
    char key[CASE_KEY_MAX], want[CASE_KEY_MAX], text[AXIS_PRODUCT_TEXT];
    const struct op *op = op_find("spmm");
    const struct axis *trans = op->axes[2];
    for (int x = 0; x < 3; x++) {
        const struct algo_entry e = {.name = "any", .op = op, .algo = &plain};
        const struct bench_case c = {
            .entry = &e, .device = "cpu", .stream = true, .axis = {64, LAYOUT_ROW, x}};
        snprintf(want, sizeof want,
                 "spmm any cpu f32 k=64 layout=row cache=warm launch=stream%s %dx%d:%lld %s",
                 words[x], M.A.m, M.A.n, (long long)M.A.nnz, M.name);
        CHECK_TEXT(case_key(&c, &M, key), want);
        CHECK_TEXT(axis_product_text(trans, x, text), x ? "flag,copy" : "no");
        CHECK(axis_has_ways(trans, x) == (x > 0), "ways of %d", x);
        for (int y = 0; y < 3; y++) {
            struct bench_case other = c;
            other.axis[2] = y;
            CHECK(case_same_product(&c, &other) == (!x == !y), "%d and %d", x, y);
            CHECK(case_same_inputs(&c, &other) == (x == y), "%d and %d", x, y);
            other.axis[0] = 32;
            CHECK(!case_same_product(&c, &other), "another k");
        }
    }
}

// A name of any length: the key is cut off, and what is before the name is whole.
static void test_long_names(void)
{
    static char name[3 * CASE_KEY_MAX];
    char key[CASE_KEY_MAX], short_key[CASE_KEY_MAX];
    struct matrix M = matrix_here();
    struct bench_case c = case_here();
    M.name = (char *)"";
    case_key(&c, &M, short_key);
    for (int length = 1; length < COUNT(name); length += length < 800 ? 97 : 1) {
        memset(name, 'x', (size_t)length);
        M.name = name;
        memset(key, '#', sizeof key);
        case_key(&c, &M, key);
        size_t want = strlen(short_key) + (size_t)length;
        CHECK(memchr(key, 0, sizeof key) && !strncmp(key, short_key, strlen(short_key)) &&
                  strlen(key) == (want < CASE_KEY_MAX ? want : CASE_KEY_MAX - 1),
              "a name of %d letters", length);
    }
}

static int compare(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

// No two cases of a plan have the same key: every algorithm of an operation, and of some axes all
// words and some numbers.
static void test_unique(const struct op *op)
{
    static const enum prec precs[] = {F32, F64};
    struct matrix M = matrix_here();
    struct plan_request r = {.op = op, .precs = precs, .prec_count = 2};
    struct choice_entry *chosen = mem_zero_alloc(algo_count, sizeof *chosen);
    for (int e = 0; e < algo_count && chosen; e++) {
        if (algos[e].op != op) continue;
        chosen[r.entry_count].entry = &algos[e];
        device_id(algos[e].device, 0, chosen[r.entry_count++].device);
    }
    r.entries = chosen;
    for (int a = 0; op->axes[a]; a++)
        for (int i = 0; axis_try(op->axes[a], i, &r.axes[a].value[i]); i++) r.axes[a].count++;
    struct plan plan = {0};
    CHECK(!plan_make(&plan, &r) && plan.count > 0, "%s: %s", op->name, fail_text());
    char *room = mem_alloc(plan.count, CASE_KEY_MAX), **keys = mem_alloc(plan.count, sizeof *keys);
    for (int64_t i = 0; i < plan.count; i++)
        keys[i] = (char *)case_key(&plan.cases[i], &M, room + i * CASE_KEY_MAX);
    qsort(keys, (size_t)plan.count, sizeof *keys, compare);
    for (int64_t i = 1; i < plan.count; i++)
        CHECK(strcmp(keys[i - 1], keys[i]), "two cases are %s", keys[i]);
    mem_free(keys);
    mem_free(room);
    plan_free(&plan);
    mem_free(chosen);
}

// Each value that an option may have gives another key.
static void test_options(const struct algo_entry *e)
{
    const struct algo_option *p;
    struct matrix M = matrix_here();
    for (int i = 0; e->algo && (p = algo_option_at(e->algo, i)); i++) {
        const double values[] = {p->min, p->max, (p->min + p->max) / 2, p->max - 1, p->max / 3};
        char keys[COUNT(values)][CASE_KEY_MAX];
        for (int v = 0; v < COUNT(values); v++) {
            struct bench_case c = {.entry = e, .device = "cpu"};
            algo_defaults(e->algo, c.opt);
            c.opt[i] = values[v];
            case_key(&c, &M, keys[v]);
            for (int w = 0; w < v; w++)
                CHECK(values[v] == values[w] || strcmp(keys[v], keys[w]),
                      "%s: %s of %.17g and %.17g are the same", e->name, p->name, values[v],
                      values[w]);
        }
    }
}

int main(void)
{
    RUN_ALL(test_axes, test_plan, test_columns, test_stream, test_keys, test_differences, test_ways,
            test_long_names);
    for (int x = 0; x < op_count; x++) test_unique(ops[x]);
    for (int e = 0; e < algo_count; e++) test_options(&algos[e]);
    return TEST_END();
}
