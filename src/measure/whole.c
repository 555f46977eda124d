#include "measure/whole.h"

#include <math.h>

#include "base/secret.h"

// Returns the average number of nonzero products of an element: half of the whole numbers that the
// type holds without a gap (bf16: 128 of 256). One element of 10^22 has more than 256.
static double products_of(enum prec sums) { return 0.5 / type_list[sums].unit; }

static double longest_row(const struct csr *A)
{
    int64_t longest = 1;
    for (int64_t i = 0; i < A->m; i++) longest = max64(longest, A->ptr[i + 1] - A->ptr[i]);
    return (double)longest;
}

// Returns the share of nonzeros of the dense operands. Zeros are placed in B first, so each nonzero
// of A contributes to some column of C. If a row of B would have under one nonzero, long rows of A
// get zeros instead, and short rows keep all products.
static double density_of(const struct problem *p, double products)
{
    switch (p->op->result) {
    case RESULT_DENSE: return fmin(1, fmax(products / longest_row(p->A), 1 / (double)p->cols));
    case RESULT_PATTERN: return fmin(1, sqrt(products / (double)p->in[0].cols)); // X and Y
    case RESULT_SPARSE: break;
    }
    return 1;
}

// Draws the values of A. Row i of the operation's A has `products` / `density` nonzeros at most, on
// average.
static void draw(const struct problem *p, double products, double density, struct csr *A)
{
    const int64_t *ptr = p->A->ptr;
    const bool turned = p->A != p->source->A, scales = p->op->result == RESULT_PATTERN;
    const uint64_t seed = secret();
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t q = A->ptr[i]; q < A->ptr[i + 1]; q++) {
            const int64_t row = turned ? A->idx[q] : i, length = ptr[row + 1] - ptr[row];
            const double share = scales ? 1 : products / density / (double)length;
            A->val[q] = op_draw_whole(seed, q, share);
        }
}

int whole_make(const struct problem *p, enum prec sums, struct whole *out)
{
    const double products = products_of(sums), density = density_of(p, products);
    *out = (struct whole){.A = *p->source->A};
    out->A.val = mem_alloc(out->A.nnz, sizeof *out->A.val);
    if (!out->A.val) return ERR_MEMORY;
    draw(p, products, density, &out->A);
    source_init(&out->source, &out->A);
    out->p = (struct problem){
        .op = p->op, .source = &out->source, .prec = p->prec, .seed = secret(), .density = density};
    memcpy(out->p.axis, p->axis, sizeof p->axis);
    int err = problem_make(&out->p);
    out->p.bound = 2 * products;
    if (err) whole_free(out);
    return err;
}

void whole_free(struct whole *w)
{
    problem_free(&w->p);
    source_free(&w->source);
    mem_free(w->A.val);
}
