// Included once per type and kind of processor by rowsplit.c.
#include "spmm/cpu_row.inl"

// Rows [first, last) of C, in slabs of so many bytes; that and `ahead` are constants.
CPU_INLINE void NAME(rows_in)(const struct csr_dev *A, const struct dense_dev *B,
                              const struct dense_dev *C, int64_t first, int64_t last, bool ahead,
                              int64_t prefetch, int bytes)
{
    const struct NAME(terms) x = NAME(csr_terms)(A, B);
    const int64_t *restrict ptr = A->ptr;
    const int64_t k = C->cols, ld = C->ld;
    T *restrict c = C->val;
    for (int64_t i = first; i < last; i++)
        NAME(csr_row)(x, ptr[i], ptr[i + 1], ahead, prefetch, c + i * ld, k, bytes);
}

static void NAME(rows)(const struct csr_dev *A, const struct dense_dev *B,
                       const struct dense_dev *C, int64_t first, int64_t last, int64_t prefetch)
{
#define ROWS(bytes)                                                                                \
    if (prefetch)                                                                                  \
        NAME(rows_in)(A, B, C, first, last, true, prefetch, bytes);                                \
    else                                                                                           \
        NAME(rows_in)(A, B, C, first, last, false, 0, bytes)
    BY_BYTES(NAME(slab_bytes)(C->cols), ROWS)
#undef ROWS
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t m = A->m, steps = m + A->nnz;
#pragma omp parallel for schedule(dynamic)
    for (int64_t x = 0; x < steps; x += s->share) {
        const int64_t first = row_at(A->ptr, m, x), last = row_at(A->ptr, m, x + s->share);
        NAME(rows)(A, &t->in[0], &t->C, first, last, s->prefetch);
    }
}
