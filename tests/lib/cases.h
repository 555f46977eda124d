// Running one case in a test: from a problem, an algorithm and its options to a comparison that
// must be exact, or at least right.
#ifndef CASES_H
#define CASES_H

#include "measure/check.h"
#include "measure/fresh.h"
#include "measure/prepare.h"
#include "test.h"

// The first device of a kind. False where there is none, which is a skip, or a failure.
static inline bool open_kind(enum device_kind kind, struct device *dev)
{
    const char *name = device_list[kind].name;
    if (device_missing(kind)) {
        SKIP("%s: %s", name, device_missing(kind));
        return false;
    }
    int err = device_open(name, dev);
    CHECK(!err, "%s: %s", name, fail_text());
    return !err;
}

// The whole of a program that tests what is for CUDA: opens the device, runs the tests, the last of
// which is NULL. `units`: of the device, as the tests have it; 0: its own.
static inline int main_on_cuda(struct device *dev, int units, void (*const tests[])(void))
{
    if (!open_kind(DEVICE_CUDA, dev)) return TEST_END();
    if (units) dev->units = units;
    for (int i = 0; tests[i]; i++) tests[i]();
    CHECK(dev->used_bytes == 0, "%lld bytes left", (long long)dev->used_bytes);
    device_close(dev);
    return TEST_END();
}

// The inputs of a test, and what its cases share.
struct inputs {
    struct source source;
    struct problem p;
    struct reference ref;
    struct operands o;
    bool stay; // for algorithms whose results ignore the inputs: these do not change
};

// `axis` as in struct problem. Whole numbers if `exact`; `pad` elements between the rows of dense
// matrices. After an error there is nothing to free.
static inline int inputs_make(struct inputs *in, struct device *dev, const struct op *op,
                              const struct csr *A, enum prec prec, const int64_t *axis, bool exact,
                              int64_t pad)
{
    source_init(&in->source, A);
    in->stay = false;
    in->p = (struct problem){
        .op = op, .source = &in->source, .prec = prec, .seed = 7, .integers = exact};
    memcpy(in->p.axis, axis, sizeof in->p.axis);
    int err = problem_make(&in->p);
    reference_init(&in->ref, &in->p);
    operands_init(&in->o, dev);
    in->o.pad = pad;
    if (err)
        source_free(&in->source);
    else
        operands_use(&in->o, &in->p);
    return err;
}

// The same for an exact SpMM; tells what is wrong.
static inline int spmm_inputs(struct inputs *in, struct device *dev, const struct csr *A,
                              enum prec prec, enum layout layout, int64_t k, int64_t pad)
{
    const int64_t axis[AXES_MAX] = {k, layout};
    int err = inputs_make(in, dev, op_find("spmm"), A, prec, axis, true, pad);
    CHECK(!err, "%s", fail_text());
    return err;
}

// Puts a dense matrix of the problem where a task finds it, with NaN between its lines; one of
// which only the room is needed has no values.
static inline int place_apart(struct inputs *in, const struct dense *from, int64_t pad,
                              struct dense_dev *D)
{
    const enum prec prec = in->p.prec;
    const int64_t rows = from->rows, cols = from->cols;
    *D = (struct dense_dev){.rows = rows, .cols = cols, .layout = in->p.layout};
    D->ld = dense_length(D) + pad;
    const int64_t count = dense_lines(D) * D->ld, bytes = count * (int64_t)prec_bytes(prec);
    int err = device_alloc(in->o.dev, count, prec_bytes(prec), &D->val);
    void *image = from->val && !err ? mem_alloc(count, prec_bytes(prec)) : NULL;
    if (!image) return err || !from->val ? err : ERR_MEMORY;
    memset(image, 0xff, (size_t)bytes);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            prec_store(prec, image, D->layout == LAYOUT_ROW ? i * D->ld + j : j * D->ld + i,
                       prec_load(prec, from->val, i * cols + j));
    err = device_upload(in->o.dev, D->val, image, bytes);
    mem_free(image);
    return err;
}

// Gives each dense operand, and after them a dense result, its own distance from line to line.
static inline int inputs_apart(struct inputs *in, const int pads[DENSE_MAX + 1])
{
    const struct problem *p = &in->p;
    const struct dense result = {.rows = p->rows, .cols = p->cols};
    int err = OK;
    for (int i = 0; i < DENSE_MAX && p->in[i].val && !err; i++)
        err = place_apart(in, &p->in[i], pads[i], &in->o.in[i]);
    if (!err && p->op->result == RESULT_DENSE)
        err = place_apart(in, &result, pads[DENSE_MAX], &in->o.C);
    return err;
}

static inline void inputs_free(struct inputs *in)
{
    operands_free(&in->o);
    reference_free(&in->ref);
    problem_free(&in->p);
    source_free(&in->source);
}

// What a case comes to.
struct outcome {
    int err; // of preparing or of running it
    struct setup setup;
    struct check check;
    struct figures figures;
    int64_t left; // bytes that the run did not free
};

static inline struct outcome case_run(struct inputs *in, const struct algo_entry *entry,
                                      const double *opt, enum check_mode mode)
{
    struct outcome out = {0};
    struct task t = {.entry = entry, .algo = entry->algo};
    memcpy(t.opt, opt, sizeof t.opt);
    out.err = task_prepare(&t, &in->o, &out.setup);
    if (out.err) return out;
    // The check runs it twice: the second run must not depend on what the first one left behind.
    int64_t before = in->o.dev->used_bytes;
    struct fresh fresh = fresh_start(&t, &in->o, NULL);
    out.err = check_task(&t, &in->ref, mode, in->stay ? NULL : &fresh, &out.check);
    if (!out.err) out.err = fresh_end(&fresh);
    out.left = in->o.dev->used_bytes - before;
    out.figures = t.figures;
    task_teardown(&t);
    return out;
}

// Sets the option of this name; a CHECK if the algorithm has none.
static inline void set_option(const struct algo_entry *entry, double *opt, const char *name,
                              double value)
{
    int place = algo_param_find(entry->algo, name);
    CHECK(place >= 0, "%s has no option %s", entry->name, name);
    if (place >= 0) opt[place] = value;
}

static inline double figure_of(const struct outcome *out, const char *name)
{
    const struct figure *f = figures_find(&out->figures, name);
    return f ? f->number : -1;
}

#endif
