// An operation of the tests' own, for what is tested of the harness and is of no one operation.
//
// For each nonzero of A: C_ij = a_ij * (sum of row j of X), X dense and n x width; or minus that.
// The second variant computes twice as much.
#ifndef OWN_H
#define OWN_H

#include <math.h>
#include <string.h>

#include "algos/algo.h"
#include "base/squares.h"

enum { OWN_WIDTH, OWN_SIGN };
static const int64_t own_widths[] = {1, 3, 4, 7, -1};
static const struct axis own_width = {
    .name = "width",
    .values = "NUMBERS",
    .about = "columns of X",
    .min = 1,
    .max = 100,
    .standard = 3,
    .tried = own_widths,
};
static const char *const own_signs[] = {"plus", "minus", NULL};
static const struct axis own_sign = {
    .name = "sign",
    .values = "NAMES",
    .about = "of what is drawn for X",
    .words = own_signs,
    .quiet = true,
};
static const struct axis *const own_axes[] = {
    [OWN_WIDTH] = &own_width, [OWN_SIGN] = &own_sign, NULL};
static const char *const own_variants[] = {"A . sum(X)", "2 * A . sum(X)", NULL};

enum { OWN_ENTRIES, OWN_DENSITY };
static const struct op_number own_numbers[] = {
    [OWN_ENTRIES] = {"entries", "nonzeros of A", NULL, true},
    [OWN_DENSITY] = {"density", "entries / (rows * columns)", "dens.", false},
    {0},
};

static inline int own_make(struct problem *p)
{
    int64_t width = p->axis[OWN_WIDTH];
    int err = problem_bound(p, source_value(p->source) * 2 * (double)width);
    p->rows = p->A->m, p->cols = p->A->n;
    if (!err) err = size_mul(p->A->nnz, width, &p->work);
    if (!err) err = dense_make(p, 0, p->A->n, width);
    for (int64_t x = 0; x < p->A->n * width && p->axis[OWN_SIGN] && !err; x++)
        type_store(p->prec, p->in[0].val, x, -type_load(p->prec, p->in[0].val, x));
    return err;
}

static inline int64_t own_bytes(const struct problem *p, int variant, int64_t result_nnz)
{
    (void)variant;
    (void)result_nnz;
    int64_t dense = (int64_t)p->A->n * p->axis[OWN_WIDTH] + p->A->nnz;
    return op_csr_bytes(p->A, p->prec) + dense * (int64_t)type_bytes(p->prec);
}

// A row of X for each nonzero; with the other sign it is in pieces.
static inline bool own_gather(const struct problem *p, struct op_gather *out)
{
    int64_t row_bytes = p->axis[OWN_WIDTH] * (int64_t)type_bytes(p->prec);
    *out = (struct op_gather){p->A->nnz, row_bytes, p->A->n * row_bytes};
    return !p->axis[OWN_SIGN];
}

static inline void own_tell(const struct problem *p, int64_t result_nnz, double *values)
{
    (void)result_nnz;
    double room = (double)p->A->m * p->A->n;
    values[OWN_ENTRIES] = (double)p->A->nnz;
    values[OWN_DENSITY] = room > 0 ? (double)p->A->nnz / room : NAN;
}

static inline int64_t own_row_room(const struct problem *p, int32_t i)
{
    return p->A->ptr[i + 1] - p->A->ptr[i];
}

static inline int64_t own_row_work(const struct problem *p, int32_t i)
{
    return own_row_room(p, i) * p->axis[OWN_WIDTH];
}

// Element q of C, and the root of the sum of the squares of its terms.
static inline double own_element(const struct problem *p, int variant, int64_t q, double *root)
{
    int64_t width = p->axis[OWN_WIDTH], x = p->A->idx[q] * width;
    double a = (variant ? 2 : 1) * type_round(p->prec, p->A->val[q]), sum = 0;
    struct squares squares = {0};
    for (int64_t l = 0; l < width; l++) {
        double product = a * type_load(p->prec, p->in[0].val, x + l);
        sum += product;
        squares_add(&squares, product);
    }
    *root = squares_root(&squares);
    return sum;
}

static inline void own_row(const struct problem *p, int variant, int32_t i, struct row *row)
{
    row->count = own_row_room(p, i);
    row->terms = row->count ? p->axis[OWN_WIDTH] : 0;
    for (int64_t e = 0; e < row->count; e++) {
        double root;
        row->ref[e] = own_element(p, variant, p->A->ptr[i] + e, &root);
        row->error[e] = sum_error(row->terms, root, row->ref[e]);
    }
}

static inline int own_project(const struct problem *p, int variant, const struct projection *out)
{
    for (int32_t i = 0; i < p->A->m; i++) {
        int64_t terms = own_row_room(p, i) + p->axis[OWN_WIDTH];
        struct squares squares = {0};
        double want = 0;
        for (int64_t q = p->A->ptr[i]; q < p->A->ptr[i + 1]; q++) {
            double root, weight = op_weight(p, p->A->idx[q]);
            want += own_element(p, variant, q, &root) * weight;
            squares_add(&squares, root * weight);
        }
        double root = squares_root(&squares);
        out->want[i] = want;
        out->size[i] = hypot(root, want);
        out->error[i] = sum_error(p->axis[OWN_WIDTH], root, want);
        out->own[i] = sum_error(terms, root, want);
    }
    return OK;
}

static const struct op own_op = {
    .name = "own",
    .formula = "C = A . sum(X)",
    .result = RESULT_PATTERN,
    .axes = own_axes,
    .variants = own_variants,
    .numbers = own_numbers,
    .make = own_make,
    .compulsory_bytes = own_bytes,
    .gather = own_gather,
    .tell = own_tell,
    .row_work = own_row_work,
    .row_room = own_row_room,
    .row = own_row,
    .project = own_project,
};

// The operations, and then this one; NULL after it.
static inline const struct op *op_or_own(int i)
{
    return i < op_count ? ops[i] : i == op_count ? &own_op : NULL;
}

// Axes at the which-th of the values that are tried, or at the last of them; words at the first.
static inline void axes_start(const struct op *op, int which, int64_t axis[AXES_MAX])
{
    memset(axis, 0, AXES_MAX * sizeof *axis);
    for (int a = 0; op->axes[a]; a++) {
        int64_t value;
        int last = op->axes[a]->words ? 0 : which;
        for (int done = 0; done <= last && axis_try(op->axes[a], done, &value); done++)
            axis[a] = value;
    }
}

// The next combination of the axes that have words; false after the last.
static inline bool axes_next_words(const struct op *op, int64_t axis[AXES_MAX])
{
    for (int a = op_axis_count(op) - 1; a >= 0; a--) {
        if (!op->axes[a]->words || op->axes[a]->optional) continue;
        if (op->axes[a]->words[++axis[a]]) return true;
        axis[a] = 0;
    }
    return false;
}

#endif
