// Included once per type by rowsplit.c.
#include "spmm/cpu_row.inl"

// Rows [first, last) of C.
CPU_CLONES static void NAME(rows)(const struct csr_dev *A, const struct dense_dev *B,
                                  const struct dense_dev *C, int64_t first, int64_t last,
                                  int prefetch)
{
    const int64_t *restrict ptr = A->ptr;
    const T *restrict b = B->val;
    T *restrict c = C->val;
    for (int64_t i = first; i < last; i++) {
        if (prefetch) NAME(claim_row)(C, i);
        NAME(csr_row)(A, ptr[i], ptr[i + 1], prefetch, b, B->ld, c + i * C->ld, C->cols);
    }
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    int64_t m = A->m;
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < m; i += s->share)
        NAME(rows)(A, &t->in[0], &t->C, i, min64(i + s->share, m), s->prefetch);
}
