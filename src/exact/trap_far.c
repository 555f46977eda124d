// The trap `far`: the dense operands have more elements than an int counts, and A has few nonzeros.
// The operands are made in the device's memory, without a copy on the host. All elements are NaN
// except the rows that nonzeros refer to. A wrong offset therefore gives NaN.
#include "exact/traps.h"

#include <stdio.h>
#include <string.h>

#include "measure/output.h"
#include "measure/prepare.h"

#define LINES 3  // rows of A with nonzeros, and columns of these
#define TERMS 4  // nonzero elements of a row of X or Y
#define EXTRA 64 // rows beyond the offset
#define EMPTY 4  // rows without nonzeros that are compared

// Returns row or column number i of n that has nonzeros: the first, the middle, the last.
static int64_t place(int i, int64_t n) { return i == LINES - 1 ? n - 1 : i * (n / 2); }
static double a_value(int i, int j) { return 1 + (i + j) % 3; }

int far_build(const struct trap *trap, int64_t offset, struct csr *A)
{
    const int32_t n = (int32_t)(offset / trap->k + EXTRA);
    int err = csr_alloc(A, n, n, LINES * LINES);
    if (err) return err;
    int64_t used = 0;
    int line = 0;
    for (int64_t i = 0; i < n; i++) {
        A->ptr[i] = used;
        if (line == LINES || i != place(line, n)) continue;
        for (int j = 0; j < LINES; j++, used++) {
            A->idx[used] = (int32_t)place(j, n);
            A->val[used] = a_value(line, j);
        }
        line++;
    }
    A->ptr[n] = used;
    return OK;
}

// Element l of the row number `line` that is used, of dense input `which`. Rows of X and Y have few
// nonzeros, the last among them: their sums are exact in 16 bits.
static double element(const struct op *op, int which, int line, int64_t l, int64_t k)
{
    const bool used = op->result == RESULT_DENSE || l % (k / TERMS) == k / TERMS - 1;
    return used ? (double)((l + 3 * line + which) % 7) - 3 : 0;
}

static double want(const struct trap_case *c, int i, int64_t j, int64_t k)
{
    const struct op *op = c->entry->op;
    double sum = 0;
    if (op->result == RESULT_DENSE) {
        for (int l = 0; l < LINES; l++) sum += a_value(i, l) * element(op, 0, l, j, k);
        return sum;
    }
    for (int64_t l = 0; l < k; l++) sum += element(op, 0, i, l, k) * element(op, 1, (int)j, l, k);
    return c->entry->algo->variant ? sum : a_value(i, (int)j) * sum;
}

// Returns the address of element (i, j).
static char *address(const struct dense_dev *D, int64_t i, int64_t j, enum prec type)
{
    const int64_t at = D->layout == LAYOUT_ROW ? i * D->ld + j : j * D->ld + i;
    return (char *)D->val + at * (int64_t)type_bytes(type);
}

static int place_dense(struct trap_case *c, enum layout layout, int which, struct dense_dev *D)
{
    const enum prec type = prec_in(c->prec);
    const int64_t n = c->A->n, k = c->axis[0], width = (int64_t)type_bytes(type);
    uint64_t bits;
    *D = (struct dense_dev){.rows = n, .cols = k, .layout = layout};
    D->ld = dense_length(D);
    int err = device_alloc(c->dev, n * k, type_bytes(type), &D->val);
    if (!err) err = device_fill(c->dev, D->val, 0xff, n * k * width);
    for (int line = 0; line < LINES && !err; line++)
        for (int64_t l = 0; l < k && !err; l++) {
            type_store(type, &bits, 0, element(c->entry->op, which, line, l, k));
            err = device_upload(c->dev, address(D, place(line, n), l, type), &bits, width);
        }
    return err;
}

// Sets *stored to the row of the result's memory that has row i of C; -1: none.
static int stored_row(const struct task *t, int64_t i, int64_t *stored)
{
    int32_t *order = t->order ? mem_alloc(t->C.rows, sizeof *order) : NULL;
    *stored = t->order ? -1 : i;
    if (!t->order) return OK;
    int err = order ? device_download(t->dev, order, t->order, t->C.rows * 4) : ERR_MEMORY;
    for (int64_t x = 0; x < t->C.rows && !err; x++)
        if (order[x] == i) *stored = x;
    mem_free(order);
    return err;
}

// Compares an element in the device's memory. Sets c->why if they differ.
static int compare(struct trap_case *c, const void *at, double want, int64_t i, int64_t j)
{
    const enum prec type = prec_out(c->prec);
    uint64_t bits;
    int err = device_download(c->dev, &bits, at, (int64_t)type_bytes(type));
    const double got = err ? 0 : type_load(type, &bits, 0);
    if (!err && !(got == type_round(type, want))) trap_differs(c, i, j, got, want);
    return err;
}

// Compares row i of a dense result. `line`: number of the row among those with nonzeros; -1: none.
static int compare_row(struct trap_case *c, const struct task *t, int64_t i, int line)
{
    int64_t stored;
    int err = stored_row(t, i, &stored);
    if (!err && stored < 0)
        snprintf(c->why, sizeof c->why, "no row of the result is row %lld of C", (long long)i);
    for (int64_t j = 0; j < t->C.cols && !err && !c->why[0]; j++)
        err = compare(c, address(&t->C, stored, j, prec_out(c->prec)),
                      line < 0 ? 0 : want(c, line, j, t->C.cols), i, j);
    return err;
}

static int compare_all(struct trap_case *c, const struct task *t)
{
    const int64_t n = c->A->m, width = (int64_t)type_bytes(prec_out(c->prec));
    const int64_t empty[EMPTY] = {1, n / 4, n / 2 + 7, n - 2};
    int err = OK;
    if (c->entry->op->result == RESULT_PATTERN) {
        for (int p = 0; p < LINES * LINES && !err && !c->why[0]; p++) {
            const int i = p / LINES, j = p % LINES;
            err = compare(c, (const char *)t->val + p * width, want(c, i, j, c->axis[0]),
                          place(i, n), place(j, n));
        }
        return err;
    }
    for (int line = 0; line < LINES && !err && !c->why[0]; line++)
        err = compare_row(c, t, place(line, n), line);
    for (int x = 0; x < EMPTY && !err && !c->why[0]; x++) err = compare_row(c, t, empty[x], -1);
    return err;
}

static int run_task(struct trap_case *c, struct operands *o)
{
    struct task t = {.entry = c->entry, .algo = c->entry->algo};
    struct setup setup;
    algo_defaults(t.algo, t.opt);
    int err = task_prepare(&t, o, &setup);
    if (err) return err;
    err = output_poison(&t);
    if (!err) err = task_run(&t);
    if (!err) err = device_sync(c->dev);
    if (!err) err = compare_all(c, &t);
    task_teardown(&t);
    return err;
}

enum exact_result far_run(struct trap_case *c)
{
    const struct op *op = c->entry->op;
    const int64_t n = c->A->n, k = c->axis[0];
    const int inputs = op->result == RESULT_DENSE ? 1 : 2;
    const int64_t in = (int64_t)type_bytes(prec_in(c->prec)),
                  out = op->result == RESULT_DENSE ? (int64_t)type_bytes(prec_out(c->prec)) : 0;
    struct source source;
    source_init(&source, c->A);
    struct problem p = {
        .op = op, .source = &source, .prec = c->prec, .factor = &source, .A = c->A, .stored = c->A};
    memcpy(p.axis, c->axis, sizeof p.axis);
    for (int a = 0; op->axes[a]; a++)
        if (op->axes[a] == &axis_layout) p.layout = (enum layout)c->axis[a];
    p.rows = n;
    p.cols = op->result == RESULT_DENSE ? k : n;
    p.work = c->A->nnz * k;
    for (int i = 0; i < inputs; i++) p.in[i] = (struct dense){.rows = n, .cols = k};
    if (!trap_has_room(c, n * k * (inputs * in + out))) return EXACT_SKIPPED;
    struct operands o;
    operands_init(&o, c->dev);
    operands_use(&o, &p);
    int err = OK;
    for (int i = 0; i < inputs && !err; i++) err = place_dense(c, p.layout, i, &o.in[i]);
    if (!err) err = run_task(c, &o);
    operands_free(&o);
    source_free(&source);
    return err ? trap_failed(c, err) : c->why[0] ? EXACT_WRONG : EXACT_RIGHT;
}
