// SpMM by the definition, C = A * B: one sum for each element of C, in double. Serial, any layout,
// any precision. The results of all other kernels are compared with this one.
#include "cpu.h"

// Returns row i of A times a column of B, whose elements begin at `at` and are `down` apart.
static double row_times_column(const struct csr_dev *A, int64_t i, enum prec type, const void *B,
                               int64_t at, int64_t down)
{
    const int64_t *ptr = A->ptr;
    double sum = 0;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
        sum += type_load(type, A->val, p) * type_load(type, B, at + A->idx[p] * down);
    return sum;
}

static int run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    const enum prec in = prec_in(t->prec), out = prec_out(t->prec);
    // Element (i, j) of a dense matrix is at i * down + j * right.
    const int64_t b_down = B->layout == LAYOUT_ROW ? B->ld : 1;
    const int64_t b_right = B->layout == LAYOUT_ROW ? 1 : B->ld;
    const int64_t c_down = C->layout == LAYOUT_ROW ? C->ld : 1;
    const int64_t c_right = C->layout == LAYOUT_ROW ? 1 : C->ld;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < C->cols; j++)
            type_store(out, C->val, i * c_down + j * c_right,
                       row_times_column(A, i, in, B->val, j * b_right, b_down));
    return OK;
}

const struct algo spmm_reference_cpu = {
    .layouts = BOTH_LAYOUTS,
    .precs = EVERY_PREC,
    .A = {&format_csr},
    .arith = ARITH_DOUBLE,
    .cite = "C_ij = sum over l of A_il * B_lj",
    .reference = true,
    .run = run,
};
