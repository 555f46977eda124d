// Included once per type and kind of processor by rowsplit.c.
#include "spmm/cpu_row.inl"

// Rows [first, last) of C, in slabs of so many bytes; that and `ahead` are constants.
CPU_INLINE void NAME(rows_in)(const struct task *t, int64_t first, int64_t last, bool ahead,
                              int bytes)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct NAME(terms) x = NAME(csr_terms)(A, &t->in[0], ahead ? s->prefetch : 0, s->stream);
    const int64_t *restrict ptr = A->ptr;
    const int64_t k = t->C.cols, ld = t->C.ld;
    T *restrict C = t->C.val;
    for (int64_t i = first; i < last; i++)
        NAME(csr_row)(x, ptr[i], ptr[i + 1], ahead, C + i * ld, k, bytes);
    if (s->stream) NAME(stream_end)();
}

static void NAME(rows)(const struct task *t, int64_t first, int64_t last)
{
    const struct state *s = t->state;
#define ROWS(bytes)                                                                                \
    if (s->prefetch)                                                                               \
        NAME(rows_in)(t, first, last, true, bytes);                                                \
    else                                                                                           \
        NAME(rows_in)(t, first, last, false, bytes)
    BY_BYTES(NAME(slab_bytes)(t->C.cols), ROWS)
#undef ROWS
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t m = A->m, steps = m + A->nnz;
#pragma omp parallel for schedule(dynamic)
    for (int64_t x = 0; x < steps; x += s->share)
        NAME(rows)(t, row_at(A->ptr, m, x), row_at(A->ptr, m, x + s->share));
}
