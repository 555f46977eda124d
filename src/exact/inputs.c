#include "exact/inputs.h"

#include <stdio.h>
#include <string.h>

#include "measure/change.h"

int inputs_make(struct inputs *in, struct device *dev, const struct op *op, const struct csr *A,
                enum prec prec, const int64_t *axis, bool exact, int64_t pad)
{
    source_init(&in->source, A);
    in->stay = false;
    in->shift = 0;
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

// Puts a dense matrix of the problem where a task finds it, with NaN between its lines, behind
// `shift` elements. A result, which has no values, only gets the memory.
static int place_apart(struct inputs *in, const struct dense *from, int64_t pad, int shift,
                       struct dense_dev *D)
{
    const enum prec type = from->val ? prec_in(in->p.prec) : prec_out(in->p.prec);
    const int64_t rows = from->rows, cols = from->cols;
    *D = (struct dense_dev){.rows = rows, .cols = cols, .layout = in->p.layout};
    D->ld = dense_length(D) + pad;
    const int64_t width = (int64_t)type_bytes(type);
    const int64_t count = dense_lines(D) * D->ld, bytes = count * width;
    int err = device_alloc(in->o.dev, count + shift, type_bytes(type), &D->val);
    if (!err) D->val = (char *)D->val + shift * width;
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

// Places the dense matrices, see inputs_apart() and inputs_unalign().
static int place_all(struct inputs *in, const int pads[DENSE_MAX + 1], int shift)
{
    const struct problem *p = &in->p;
    const struct dense result = {.rows = p->rows, .cols = p->cols};
    int err = OK;
    in->shift = shift;
    for (int i = 0; i < DENSE_MAX && p->in[i].val && !err; i++)
        err = place_apart(in, &p->in[i], pads[i], shift, &in->o.in[i]);
    if (!err && p->op->result == RESULT_DENSE)
        err = place_apart(in, &result, pads[DENSE_MAX], shift, &in->o.C);
    return err;
}

int inputs_apart(struct inputs *in, const int pads[DENSE_MAX + 1])
{
    return place_all(in, pads, 0);
}

int inputs_unalign(struct inputs *in)
{
    static const int pads[DENSE_MAX + 1];
    const enum prec type = prec_out(in->p.prec);
    int err = place_all(in, pads, 1);
    if (err || in->p.op->result != RESULT_PATTERN) return err;
    err = device_alloc(in->o.dev, in->p.A->nnz + 1, type_bytes(type), &in->o.val);
    if (!err) in->o.val = (char *)in->o.val + type_bytes(type);
    return err;
}

// Moves a pointer back to the begin of its block.
static void move_back(void **p, size_t bytes)
{
    if (*p) *p = (char *)*p - bytes;
}

void inputs_free(struct inputs *in)
{
    const size_t out = (size_t)in->shift * type_bytes(prec_out(in->p.prec));
    for (int i = 0; i < DENSE_MAX; i++)
        move_back(&in->o.in[i].val, (size_t)in->shift * type_bytes(prec_in(in->p.prec)));
    move_back(&in->o.C.val, out);
    move_back(&in->o.val, out);
    operands_free(&in->o);
    reference_free(&in->ref);
    problem_free(&in->p);
    source_free(&in->source);
}

struct case_outcome case_run(struct inputs *in, const struct algo_entry *entry, const double *opt,
                             enum check_mode mode)
{
    struct case_outcome out = {0};
    struct task t = {.entry = entry, .algo = entry->algo};
    memcpy(t.opt, opt, sizeof t.opt);
    out.err = task_prepare(&t, &in->o, &out.setup);
    if (out.err) return out;
    int64_t before = in->o.dev->used_bytes;
    struct change change = change_start(&t, &in->o);
    out.err = check_task(&t, &in->ref, mode, in->stay ? NULL : &change, &out.check);
    int own = out.err == ERR_DEVICE ? device_sync(in->o.dev) : OK;
    if (!own) own = change_end(&change);
    if (!out.err) out.err = own;
    out.left = in->o.dev->used_bytes - before;
    out.stats = t.stats;
    task_teardown(&t);
    char what[64];
    own = in->o.lost ? operands_verify(&in->o, what) : OK; // frees the operands
    if (!out.err) out.err = own;
    return out;
}

enum exact_result exact_of_error(int err)
{
    if (err == ERR_UNSUPPORTED) return EXACT_UNSUPPORTED;
    if (err == ERR_MEMORY || err == ERR_UNCHECKED) return EXACT_SKIPPED;
    return err == ERR_WRONG ? EXACT_WRONG : EXACT_FAILED;
}

// Whole numbers are exact but for sums in 16 bits.
enum exact_result outcome_judge(const struct case_outcome *out, const struct algo_entry *entry,
                                enum prec prec, char why[FAIL_TEXT_MAX])
{
    const double most = algo_sums_narrow(entry->algo, prec) ? 1 : 0;
    why[0] = 0;
    if (out->err)
        snprintf(why, FAIL_TEXT_MAX, "%s", fail_text());
    else if (out->left)
        snprintf(why, FAIL_TEXT_MAX, "%lld bytes were not freed", (long long)out->left);
    else if (!(out->check.error_ratio <= most))
        snprintf(why, FAIL_TEXT_MAX, "%s (ratio %g)", out->check.reason, out->check.error_ratio);
    if (out->err) return exact_of_error(out->err);
    return why[0] ? EXACT_WRONG : EXACT_RIGHT;
}
