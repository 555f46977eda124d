#include "exact/inputs.h"

#include <string.h>

#include "measure/fresh.h"

int inputs_make(struct inputs *in, struct device *dev, const struct op *op, const struct csr *A,
                enum prec prec, const int64_t *axis, bool exact, int64_t pad)
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

// Puts a dense matrix of the problem where a task finds it, with NaN between its lines. A result,
// which has no values, only gets the memory.
static int place_apart(struct inputs *in, const struct dense *from, int64_t pad,
                       struct dense_dev *D)
{
    const enum prec type = from->val ? prec_in(in->p.prec) : prec_out(in->p.prec);
    const int64_t rows = from->rows, cols = from->cols;
    *D = (struct dense_dev){.rows = rows, .cols = cols, .layout = in->p.layout};
    D->ld = dense_length(D) + pad;
    const int64_t count = dense_lines(D) * D->ld, bytes = count * (int64_t)type_bytes(type);
    int err = device_alloc(in->o.dev, count, type_bytes(type), &D->val);
    void *image = from->val && !err ? mem_alloc(count, type_bytes(type)) : NULL;
    if (!image) return err || !from->val ? err : ERR_MEMORY;
    memset(image, 0xff, (size_t)bytes);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            type_store(type, image, D->layout == LAYOUT_ROW ? i * D->ld + j : j * D->ld + i,
                       type_load(type, from->val, i * cols + j));
    err = device_upload(in->o.dev, D->val, image, bytes);
    mem_free(image);
    return err;
}

int inputs_apart(struct inputs *in, const int pads[DENSE_MAX + 1])
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

void inputs_free(struct inputs *in)
{
    operands_free(&in->o);
    reference_free(&in->ref);
    problem_free(&in->p);
    source_free(&in->source);
}

struct outcome case_run(struct inputs *in, const struct algo_entry *entry, const double *opt,
                        enum check_mode mode)
{
    struct outcome out = {0};
    struct task t = {.entry = entry, .algo = entry->algo};
    memcpy(t.opt, opt, sizeof t.opt);
    out.err = task_prepare(&t, &in->o, &out.setup);
    if (out.err) return out;
    int64_t before = in->o.dev->used_bytes;
    struct fresh fresh = fresh_start(&t, &in->o, NULL);
    out.err = check_task(&t, &in->ref, mode, in->stay ? NULL : &fresh, &out.check);
    int own = out.err == ERR_DEVICE ? device_sync(in->o.dev) : OK;
    if (!own) own = fresh_end(&fresh);
    if (!out.err) out.err = own;
    out.left = in->o.dev->used_bytes - before;
    out.figures = t.figures;
    task_teardown(&t);
    char what[64];
    if (in->o.lost) operands_verify(&in->o, what); // frees the operands
    return out;
}
