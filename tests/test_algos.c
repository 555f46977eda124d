// The table-driven test: every algorithm x precision x layout x k x tiny matrix, with whole-number
// values, so that the result must be exact. Runs on the CPU, on a GPU, or on the emulated device.
#include <stdlib.h>

#include "check.h"
#include "prepare.h"
#include "test.h"

// A matrix by rule: entry(i, j) is present where rule() says so.
struct shape {
    const char *name;
    int32_t m, n;
    bool (*rule)(int32_t i, int32_t j);
    int copies; // each entry is given so many times, in scrambled order; 0: once, sorted
};

static bool none(int32_t i, int32_t j) { return (void)i, (void)j, false; }
static bool full(int32_t i, int32_t j) { return (void)i, (void)j, true; }
static bool diagonal(int32_t i, int32_t j) { return i == j; }
static bool lower(int32_t i, int32_t j) { return j <= i; }
static bool tridiagonal(int32_t i, int32_t j) { return abs(i - j) <= 1; }
static bool dense_row(int32_t i, int32_t j) { return i == 7 || j == i % 5; }
static bool dense_row_first(int32_t i, int32_t j) { return i == 0 || j == i; }
static bool dense_row_last(int32_t i, int32_t j) { return i == 39 || j == i; }
static bool dense_column(int32_t i, int32_t j) { return (void)i, j == 3; }
static bool only_first_row(int32_t i, int32_t j) { return i == 0 && j % 2; }
static bool only_last_row(int32_t i, int32_t j) { return i == 299 && j % 2; }
static bool first_half_empty(int32_t i, int32_t j) { return i >= 150 && (i + j) % 7 == 0; }
static bool last_half_empty(int32_t i, int32_t j) { return i < 150 && (i + j) % 7 == 0; }
static bool every_other_row(int32_t i, int32_t j) { return i % 2 && (i + 3 * j) % 5 == 0; }
static bool two_far_rows(int32_t i, int32_t j) { return (i == 5 || i == 2990) && j < 40; }
static bool rows_of_32(int32_t i, int32_t j) { return (j + i) % 64 < 32; }
static bool rows_of_33(int32_t i, int32_t j) { return (j + i) % 64 < 33; }
static bool rows_of_4(int32_t i, int32_t j) { return (j + 64 - i % 64) % 16 == 0; }
static bool scattered(int32_t i, int32_t j)
{
    return random_at(1, (uint64_t)i * 1000 + j) % 11 == 0;
}
static bool few(int32_t i, int32_t j) { return random_at(2, (uint64_t)i * 1000 + j) % 97 == 0; }
static bool power_law(int32_t i, int32_t j) { return j * (i + 1) < 400 + (i + j) % 3; }
static bool long_then_short(int32_t i, int32_t j) { return i % 50 == 10 ? true : j == i % 700; }

static const struct shape shapes[] = {
    {"no rows and no columns", 0, 0, none, 0},
    {"no rows", 0, 5, none, 0},
    {"no columns", 5, 0, none, 0},
    {"no entries", 4, 4, none, 0},
    {"1 x 1", 1, 1, full, 0},
    {"1 x 1 empty", 1, 1, none, 0},
    {"1 x n", 1, 300, full, 0},
    {"1 x n, one row of 3", 1, 3, full, 0},
    {"m x 1", 300, 1, full, 0},
    {"identity", 70, 70, diagonal, 0},
    {"wide diagonal", 20, 90, diagonal, 0},
    {"tall diagonal", 90, 20, diagonal, 0},
    {"every row length to 80", 80, 80, lower, 0},
    {"tridiagonal", 100, 100, tridiagonal, 0},
    {"one dense row", 40, 400, dense_row, 0},
    {"first row dense", 40, 400, dense_row_first, 0},
    {"last row dense", 40, 400, dense_row_last, 0},
    {"one dense column", 200, 9, dense_column, 0},
    {"only the first row", 300, 90, only_first_row, 0},
    {"only the last row", 300, 90, only_last_row, 0},
    {"first half empty", 300, 40, first_half_empty, 0},
    {"last half empty", 300, 40, last_half_empty, 0},
    {"every other row empty", 101, 60, every_other_row, 0},
    {"3000 rows, two of them used", 3000, 50, two_far_rows, 0},
    {"rows of exactly 32", 24, 64, rows_of_32, 0},
    {"rows of exactly 33", 24, 64, rows_of_33, 0},
    {"rows of exactly 4", 128, 64, rows_of_4, 0},
    {"dense 33 x 33", 33, 33, full, 0},
    {"dense 3 x 257", 3, 257, full, 0},
    {"random", 120, 90, scattered, 0},
    {"very sparse", 400, 200, few, 0},
    {"power law", 120, 400, power_law, 0},
    {"long rows among short ones", 160, 700, long_then_short, 0},
    {"unsorted entries", 60, 50, scattered, 1},
    {"duplicate entries", 60, 50, scattered, 3},
};

static const int64_t ks[] = {1, 2, 3, 8, 31, 32, 33, 64, 65, 100, 128, 130};

// Whole numbers in -3 .. 3, zeros among them.
static double value_at(int32_t i, int32_t j)
{
    return (double)(random_at(3, (uint64_t)i * 4099 + (uint64_t)j) % 7) - 3;
}

static int shape_build(const struct shape *s, struct csr *A)
{
    int copies = s->copies ? s->copies : 1;
    struct coo T = {.m = s->m, .n = s->n};
    int64_t room = (int64_t)s->m * s->n * copies;
    T.row = mem_alloc(room, sizeof *T.row);
    T.col = mem_alloc(room, sizeof *T.col);
    T.val = mem_alloc(room, sizeof *T.val);
    if (!T.row || !T.col || !T.val) return ERR_MEMORY;
    for (int c = 0; c < copies; c++)
        for (int32_t i = 0; i < s->m; i++)
            for (int32_t q = 0; q < s->n; q++) {
                // 37 and n are coprime in the scrambled shapes, so this is a permutation.
                int32_t j = s->copies ? (q * 37 + 11) % s->n : q;
                if (!s->rule(i, j)) continue;
                T.row[T.nnz] = i;
                T.col[T.nnz] = j;
                T.val[T.nnz++] = value_at(i, j);
            }
    int err = csr_from_coo(&T, A, NULL);
    coo_free(&T);
    return err;
}

// Runs one case and says what is wrong with it, or NULL. `unsupported` is set where the algorithm
// refuses.
static const char *case_fault(const struct algo *algo, const double *opt, struct operands *o,
                              bool *unsupported)
{
    static char text[512];
    struct setup setup;
    int64_t bytes;
    struct check check;
    struct task t = {.algo = algo};
    memcpy(t.opt, opt, sizeof t.opt);
    int err = task_prepare(&t, o, &setup, &bytes);
    *unsupported = err == ERR_UNSUPPORTED;
    if (err) {
        snprintf(text, sizeof text, "prepare: %s", fail_text());
        return text;
    }
    const char *fault = NULL;
    // Twice: the second run must not depend on what the first one left behind.
    for (int round = 0; round < 2 && !fault; round++) {
        err = check_task(&t, CHECK_FULL, &check);
        *unsupported = err == ERR_UNSUPPORTED;
        if (err)
            snprintf(text, sizeof text, "run: %s", fail_text());
        else if (check.error_ratio != 0)
            snprintf(text, sizeof text, "not exact: ratio %g: %s", check.error_ratio, check.reason);
        if (err || check.error_ratio != 0) fault = text;
    }
    task_teardown(&t);
    return fault;
}

static void default_options(const struct algo *algo, double *opt)
{
    const struct algo_option *o = algo->options;
    for (int i = 0; o && o[i].name; i++) opt[i] = o[i].value;
}

static int unsupported_count;
static bool own_only; // leaves out the vendor's algorithms

static bool wanted(const struct algo *algo, const struct device *dev, enum layout layout,
                   enum prec prec)
{
    return algo && algo->device == dev->kind && algo->op == OP_SPMM &&
           (algo->layouts & BIT(layout)) && (algo->precs & BIT(prec)) &&
           !(own_only && !strncmp(algo->name, "cusparse", 8));
}

static void test_case(const struct algo *algo, const double *opt, struct operands *o,
                      const char *shape, const char *note)
{
    bool unsupported;
    const char *fault = case_fault(algo, opt, o, &unsupported);
    if (unsupported) {
        unsupported_count++;
        return;
    }
    CHECK(!fault, "%s on %s, %s, k %lld, %s, \"%s\"%s: %s", algo->name, o->dev->id,
          prec_name(o->in->prec), (long long)o->in->k, layout_name(o->layout), shape, note, fault);
}

// All algorithms of this device on one set of inputs.
static void test_inputs(struct device *dev, const struct inputs *in, const char *shape)
{
    for (int layout = 0; layout < 2; layout++) {
        struct operands o;
        operands_init(&o, dev, in, (enum layout)layout);
        for (int e = 0; e < algo_count; e++) {
            const struct algo *algo = algos[e].algo;
            if (!wanted(algo, dev, (enum layout)layout, in->prec)) continue;
            double opt[ALGO_OPTIONS_MAX] = {0};
            default_options(algo, opt);
            test_case(algo, opt, &o, shape, "");
        }
        operands_free(&o);
    }
}

// Each option of each algorithm at its limits and at powers of two between.
static void test_options(struct device *dev, const struct inputs *in, const char *shape)
{
    struct operands o;
    operands_init(&o, dev, in, LAYOUT_ROW);
    for (int e = 0; e < algo_count; e++) {
        const struct algo *algo = algos[e].algo;
        if (!wanted(algo, dev, LAYOUT_ROW, in->prec) || !algo->options) continue;
        double opt[ALGO_OPTIONS_MAX] = {0};
        for (int i = 0; algo->options[i].name; i++) {
            const struct algo_option *p = &algo->options[i];
            double values[16] = {p->min, p->max};
            int count = 2;
            for (double v = 1; v < p->max && count < 14; v *= 2)
                if (v > p->min) values[count++] = v;
            for (int v = 0; v < count; v++) {
                char note[96];
                default_options(algo, opt);
                opt[i] = values[v];
                snprintf(note, sizeof note, ", %s=%g", p->name, values[v]);
                test_case(algo, opt, &o, shape, note);
            }
        }
    }
    operands_free(&o);
}

// `step` > 1 takes every step-th shape and k only.
static void test_device(struct device *dev, size_t step)
{
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s += step) {
        struct csr A;
        int err = shape_build(&shapes[s], &A);
        CHECK(!err && !csr_check(&A), "%s: %s", shapes[s].name, err ? fail_text() : csr_check(&A));
        if (err) continue;
        for (int prec = F32; prec <= F64; prec++)
            for (size_t i = 0; i < sizeof ks / sizeof *ks; i += step) {
                struct inputs in = {
                    .A = &A, .prec = (enum prec)prec, .k = ks[i], .seed = 7, .integers = true};
                err = ops[OP_SPMM].make(&in);
                CHECK(!err, "inputs: %s", fail_text());
                if (err) continue;
                test_inputs(dev, &in, shapes[s].name);
                if (ks[i] == 33) test_options(dev, &in, shapes[s].name);
                inputs_free(&in);
            }
        csr_free(&A);
    }
}

// test_algos [cpu|cuda] [short] [own]: one device, every third shape and k, no vendor's algorithms
int main(int argc, char **argv)
{
    static const char *const specs[] = {"cpu", "cuda"};
    const char *only = NULL;
    bool is_short = false;
    for (int a = 1; a < argc; a++) {
        if (!strcmp(argv[a], "short"))
            is_short = true;
        else if (!strcmp(argv[a], "own"))
            own_only = true;
        else
            only = argv[a];
    }
    for (int kind = DEVICE_CPU; kind <= DEVICE_CUDA; kind++) {
        struct device dev;
        if (only && strcmp(only, specs[kind])) continue;
        if (device_missing((enum device_kind)kind)) {
            SKIP("%s: %s", specs[kind], device_missing((enum device_kind)kind));
            continue;
        }
        int err = device_open(specs[kind], &dev);
        CHECK(!err, "%s: %s", specs[kind], fail_text());
        if (err) continue;
        test_device(&dev, is_short ? 3 : 1);
        CHECK(dev.used_bytes == 0, "%lld bytes left on %s", (long long)dev.used_bytes, dev.id);
        device_close(&dev);
    }
    for (int e = 0; e < algo_count; e++)
        if (!algos[e].algo) SKIP("%s: %s", algos[e].name, algos[e].missing);
    if (unsupported_count) printf("%d cases refused by their algorithm\n", unsupported_count);
    return TEST_END();
}
