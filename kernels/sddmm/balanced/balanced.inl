// CPU kernel of balanced.c, included once per type and kind of processor.
#include "sddmm/cpu_dot.inl"

// Computes nonzeros [p, end) of C.
static void NAME(share)(const struct csr_dev *A, const struct dense_dev *X,
                        const struct dense_dev *Y, T *restrict C, int64_t p, int64_t end)
{
    const int64_t *restrict ptr = A->ptr;
    const T *restrict val = A->val, *x = X->val, *y = Y->val;
    for (int64_t i = row_of(ptr, A->m, p); p < end; i++)
        for (int64_t row_end = min64(ptr[i + 1], end); p < row_end; p++)
            C[p] = val[p] * NAME(dot)(x + i * X->ld, y + A->idx[p] * Y->ld, X->cols);
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    int64_t nnz = A->nnz;
#pragma omp parallel for schedule(dynamic)
    for (int64_t p = 0; p < nnz; p += s->share)
        NAME(share)(A, &t->in[0], &t->in[1], t->val, p, min64(p + s->share, nnz));
}
