// The ways of `hash` on CUDA that single options do not lead to: all of the paper's parameters at
// once, tables in global memory, rows that overflow the largest table in shared memory and are done
// again, waves of a small pool, tables that are too large for what they may have, and rows of one
// matrix whose products are dealt out in different ways.
#include "measure/check.h"
#include "data/gen.h"
#include "measure/prepare.h"
#include "test.h"

struct setting {
    const char *name;
    double value;
};
#define SET(...) ((const struct setting[]){__VA_ARGS__, {0}})
static const struct setting paper[] = {
    {"even", 0},    {"repeats", 0},       {"slack", 1}, {"bitmap", 0},
    {"shared", 48}, {"split", INT32_MAX}, {0}};

static const struct run {
    const char *spec;
    const struct setting *set;
    int slack[2];    // the figure slack_least that f32 and f64 have to give
    bool overflows;  // some rows of the symbolic phase have to
    bool all_shared; // no row of the numeric phase may be too long for a table in shared memory
} runs[] = {
    {"skew:900:2:600", paper, {1, 1}, false, true},
    {"skew:900:12:600", paper, {1, 1}, false, true},
    {"skew:5000:2:2000", paper, {1, 1}, false, true}, // a row of about 2,800: table I's group 1
    {"skew:9000:2:9000", paper, {1, 1}, true, false},
    {"fem:4", paper, {1, 1}, false, true},
    {"rmat:10:8", paper, {1, 1}, false, true},
    {"skew:900:2:600", SET({"bitmap", 0}, {"split", 1}), {2, 2}, false, false},
    {"skew:900:2:600", SET({"bitmap", 0}, {"split", 1}, {"pool", 0}), {2, 2}, false, false},
    {"skew:900:2:600", SET({"bitmap", 0}, {"split", 1}, {"even", 0}), {2, 2}, false, false},
    {"skew:9000:2:9000", SET({"bitmap", 0}, {"shared", 32}), {2, 2}, true, false},
    {"skew:9000:2:9000", SET({"bitmap", 0}, {"shared", 32}, {"even", 0}), {2, 2}, true, false},
    // A row of about 1,900 nonzeros: 4,096 places of 8 bytes fit, of 12 bytes they do not.
    {"skew:3000:2:1500", SET({"bitmap", 0}, {"shared", 32}), {2, 1}, false, true},
    {"skew:900:12:600", SET({"bitmap", 0}), {2, 2}, false, true},
    {"skew:900:12:600", SET({"bitmap", 1}), {2, 2}, false, false},
    // 112 products for each nonzero: rows of S one after the other.
    {"uniform:128:112", SET({"bitmap", 0}), {2, 2}, false, true},
    {"uniform:300:112", SET({"bitmap", 1}), {2, 2}, false, false},
    {"uniform:128:112", SET({"bitmap", 1}, {"split", 1}), {2, 2}, false, false},
    {"uniform:128:112", SET({"bitmap", 0}, {"split", 1}), {2, 2}, false, false},
};
// Some of its rows have 12 products for each nonzero, some five times as many.
static const char mixed[] = "skew:900:12:600";

static double figure_of(const struct task *t, const char *name)
{
    for (int f = 0; f < t->figure_count; f++)
        if (!strcmp(t->figures[f].name, name)) return t->figures[f].number;
    return -1;
}

static bool is_set(const struct run *r, const char *name, double *value)
{
    for (int s = 0; r->set[s].name; s++)
        if (!strcmp(name, r->set[s].name)) return *value = r->set[s].value, true;
    return false;
}

static void test_run(const struct run *r, const struct algo *algo, struct device *dev,
                     const struct inputs *in)
{
    struct operands o;
    struct setup setup;
    struct check check = {0};
    struct task t = {.algo = algo};
    char what[128];
    int64_t bytes;
    int given = 0, known = 0;
    int at = snprintf(what, sizeof what, "%s, %s", r->spec, prec_name(in->prec));
    for (int s = 0; r->set[s].name; s++, given++)
        at += snprintf(what + at, sizeof what - (size_t)at, ", %s=%.0f", r->set[s].name,
                       r->set[s].value);
    for (int i = 0; algo->options[i].name; i++) {
        t.opt[i] = algo->options[i].value;
        known += is_set(r, algo->options[i].name, &t.opt[i]);
    }
    CHECK(known == given, "%s: there is no such option", what);
    operands_init(&o, dev, in, LAYOUT_ROW);
    int err = task_prepare(&t, &o, &setup, &bytes);
    if (!err) {
        err = check_task(&t, CHECK_FULL, &check);
        CHECK(err || (figure_of(&t, "overflowed_rows") > 0) == r->overflows,
              "%s: %g rows overflowed", what, figure_of(&t, "overflowed_rows"));
        CHECK(err || !r->all_shared || figure_of(&t, "long_rows_numeric") == 0,
              "%s: %g rows were too long", what, figure_of(&t, "long_rows_numeric"));
        CHECK(err || figure_of(&t, "slack_least") == r->slack[in->prec], "%s: slack_least is %g",
              what, figure_of(&t, "slack_least"));
        task_teardown(&t);
    }
    operands_free(&o);
    CHECK(!err && check.ok, "%s: %s", what, err ? fail_text() : check.reason);
    CHECK(!dev->used_bytes, "%s: %lld bytes left", what, (long long)dev->used_bytes);
}

// Rows for both ways of dealing out products, by a wide margin.
static void test_mixed(const struct csr *A)
{
    int few = 0, many = 0;
    for (int32_t i = 0; i < A->m; i++) {
        int64_t nonzeros = A->ptr[i + 1] - A->ptr[i], products = 0;
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++)
            products += A->ptr[A->idx[p] + 1] - A->ptr[A->idx[p]];
        few += products > 32 && products <= 16 * nonzeros;
        many += nonzeros >= 8 && products >= 48 * nonzeros;
    }
    CHECK(few > 8 && many > 8, "%s: %d rows of few products for a nonzero, %d of many", mixed, few,
          many);
}

int main(void)
{
    const struct algo *algo = NULL;
    struct device dev;
    for (int e = 0; e < algo_count; e++)
        if (algos[e].op == OP_SPGEMM && algos[e].device == DEVICE_CUDA &&
            !strcmp(algos[e].name, "hash"))
            algo = algos[e].algo;
    if (!algo || device_missing(DEVICE_CUDA)) {
        SKIP("hash on cuda: %s", device_missing(DEVICE_CUDA));
        return TEST_END();
    }
    int err = device_open("cuda", &dev);
    CHECK(!err, "%s", fail_text());
    for (size_t r = 0; r < sizeof runs / sizeof *runs && !err; r++) {
        struct csr A;
        err = gen_matrix(runs[r].spec, 1, &A);
        CHECK(!err, "%s", fail_text());
        if (!err && !strcmp(runs[r].spec, mixed)) test_mixed(&A);
        for (int prec = F32; prec <= F64 && !err; prec++) {
            struct inputs in = {.A = &A, .prec = (enum prec)prec, .mul = MUL_AA};
            CHECK(!ops[OP_SPGEMM].make(&in), "%s", fail_text());
            test_run(&runs[r], algo, &dev, &in);
            inputs_free(&in);
        }
        if (!err) csr_free(&A);
    }
    if (!err) device_close(&dev);
    return TEST_END();
}
