// Reference of SDDMM, C = A .* (X * Y^T): a dot product for each nonzero of A. Serial, summed in
// double, any precision. Results of the other kernels are compared with this one's.
#include "cpu.h"

// Returns the dot product of k elements of X from `x` on and of Y from `y` on.
static double dot(enum prec type, const void *X, int64_t x, const void *Y, int64_t y, int64_t k)
{
    double sum = 0;
    for (int64_t l = 0; l < k; l++) sum += type_load(type, X, x + l) * type_load(type, Y, y + l);
    return sum;
}

static int run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *X = &t->in[0], *Y = &t->in[1];
    const enum prec in = prec_in(t->prec), out = prec_out(t->prec);
    const int64_t *ptr = A->ptr;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
            type_store(out, t->val, p,
                       type_load(in, A->val, p) *
                           dot(in, X->val, i * X->ld, Y->val, A->idx[p] * Y->ld, X->cols));
    return OK;
}

const struct algo sddmm_reference_cpu = {
    .layouts = ROW_MAJOR,
    .precs = EVERY_PREC,
    .A = {&format_csr},
    .arith = ARITH_DOUBLE,
    .cite = "C_ij = A_ij * sum over l of X_il * Y_jl",
    .reference = true,
    .run = run,
};
