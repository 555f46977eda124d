// What the table-driven tests share (test_algos.c, test_spgemm.c): tiny matrices by rule or built,
// the loop over algorithms, precisions, layouts and options, and the exact comparison.
#ifndef CASES_H
#define CASES_H

#include <stdlib.h>

#include "measure/check.h"
#include "measure/prepare.h"
#include "test.h"

// A matrix by rule: entry (i, j) is present where rule() says so.
struct shape {
    const char *name;
    int32_t m, n;
    bool (*rule)(int32_t i, int32_t j);
    int copies; // each entry is given so many times, in scrambled order; 0: once, sorted
};

static inline bool none(int32_t i, int32_t j) { return (void)i, (void)j, false; }
static inline bool full(int32_t i, int32_t j) { return (void)i, (void)j, true; }
static inline bool diagonal(int32_t i, int32_t j) { return i == j; }
static inline bool lower(int32_t i, int32_t j) { return j <= i; }
static inline bool tridiagonal(int32_t i, int32_t j) { return abs(i - j) <= 1; }
static inline bool scattered(int32_t i, int32_t j)
{
    return random_at(1, (uint64_t)i * 1000 + (uint64_t)j) % 11 == 0;
}
static inline bool few(int32_t i, int32_t j)
{
    return random_at(2, (uint64_t)i * 1000 + (uint64_t)j) % 97 == 0;
}

// Whole numbers in -3 .. 3, zeros among them.
static double value_at(int32_t i, int32_t j)
{
    return (double)(random_at(3, (uint64_t)i * 4099 + (uint64_t)j) % 7) - 3;
}

// An empty matrix with room for entries.
static int entries_alloc(struct coo *T, int32_t m, int32_t n, int64_t room)
{
    *T = (struct coo){.m = m, .n = n};
    T->row = mem_alloc(room, sizeof *T->row);
    T->col = mem_alloc(room, sizeof *T->col);
    T->val = mem_alloc(room, sizeof *T->val);
    return T->row && T->col && T->val ? OK : ERR_MEMORY;
}

static void add_entry(struct coo *T, int32_t i, int32_t j, double x)
{
    T->row[T->nnz] = i;
    T->col[T->nnz] = j;
    T->val[T->nnz++] = x;
}

static int entries_to_csr(struct coo *T, const char *name, struct csr *A)
{
    int err = csr_from_coo(T, A, NULL);
    coo_free(T);
    CHECK(!err && !csr_check(A), "%s: %s", name, err ? fail_text() : csr_check(A));
    return err;
}

static int shape_build(const struct shape *s, struct csr *A)
{
    int copies = s->copies ? s->copies : 1;
    struct coo T;
    int err = entries_alloc(&T, s->m, s->n, (int64_t)s->m * s->n * copies);
    if (err) return err;
    for (int c = 0; c < copies; c++)
        for (int32_t i = 0; i < s->m; i++)
            for (int32_t q = 0; q < s->n; q++) {
                // 37 and n are coprime in the scrambled shapes, so this is a permutation.
                int32_t j = s->copies ? (q * 37 + 11) % s->n : q;
                if (s->rule(i, j)) add_entry(&T, i, j, value_at(i, j));
            }
    return entries_to_csr(&T, s->name, A);
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
    // The check runs it twice: the second run must not depend on what the first one left behind.
    int64_t before = o->dev->used_bytes;
    const char *fault = text;
    err = check_task(&t, CHECK_FULL, &check);
    *unsupported = err == ERR_UNSUPPORTED;
    if (err)
        snprintf(text, sizeof text, "run: %s", fail_text());
    else if (check.error_ratio != 0)
        snprintf(text, sizeof text, "not exact: ratio %g: %s", check.error_ratio, check.reason);
    else if (o->dev->used_bytes != before)
        snprintf(text, sizeof text, "the run left %lld bytes",
                 (long long)(o->dev->used_bytes - before));
    else
        fault = NULL;
    task_teardown(&t);
    return fault;
}

static void default_options(const struct algo *algo, double *opt)
{
    const struct algo_option *o = algo->options;
    for (int i = 0; o && o[i].name; i++) opt[i] = o[i].value;
}

static enum op_kind cases_op;
static int unsupported_count;
static bool own_only; // leaves out the vendor's algorithms

static bool wanted(const struct algo *algo, const struct device *dev, enum layout layout,
                   enum prec prec)
{
    return algo && algo->device == dev->kind && algo->op == cases_op &&
           (algo->layouts & BIT(layout)) && (algo->precs & BIT(prec)) &&
           !(own_only && !strncmp(algo->name, "cusparse", 8));
}

static void test_case(const struct algo *algo, const double *opt, struct operands *o,
                      const char *shape, const char *note)
{
    bool unsupported;
    char what[32];
    const char *fault = case_fault(algo, opt, o, &unsupported);
    if (unsupported) {
        unsupported_count++;
        return;
    }
    if (cases_op == OP_SPGEMM)
        snprintf(what, sizeof what, "%s", mul_name(o->in->mul));
    else
        snprintf(what, sizeof what, "k %lld, %s", (long long)o->in->k, layout_name(o->layout));
    CHECK(!fault, "%s on %s, %s, %s, \"%s\"%s: %s", algo->name, o->dev->id, prec_name(o->in->prec),
          what, shape, note, fault);
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

// Each option of each algorithm at its limits, at 0 where that is not one of them and, if
// `between`, at powers of two.
static void test_options(struct device *dev, const struct inputs *in, const char *shape,
                         bool between)
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
            if (p->min < 0) values[count++] = 0;
            for (double v = 1; between && v < p->max && count < 14; v *= 2)
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

// The main() of a table: PROGRAM [cpu|cuda] [short|tiny] [own]: one device, every third or ninth
// shape only, no vendor's algorithms. test_device() goes through the shapes, `step` at a time.
static int cases_main(int argc, char **argv, enum op_kind op,
                      void (*test_device)(struct device *dev, int step))
{
    static const char *const specs[] = {"cpu", "cuda"};
    const char *only = NULL;
    int step = 1;
    cases_op = op;
    for (int a = 1; a < argc; a++) {
        if (!strcmp(argv[a], "short"))
            step = 3;
        else if (!strcmp(argv[a], "tiny"))
            step = 9;
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
        test_device(&dev, step);
        CHECK(dev.used_bytes == 0, "%lld bytes left on %s", (long long)dev.used_bytes, dev.id);
        device_close(&dev);
    }
    for (int e = 0; e < algo_count; e++)
        if (!algos[e].algo && algos[e].op == op) SKIP("%s: %s", algos[e].name, algos[e].missing);
    if (unsupported_count) printf("%d cases refused by their algorithm\n", unsupported_count);
    return TEST_END();
}

#endif
