// A range of rows of C = A * B, A in CSR. Included once per type and kind of processor.
#include "spmm/cpu_row.inl"

// Computes rows [first, last) of C. `bytes`, the bytes of a slab, and `ahead`, true if prefetch is
// not 0, are constants.
CPU_INLINE void NAME(rows_in)(const struct task *t, int64_t first, int64_t last, bool ahead,
                              int64_t prefetch, bool stream, int bytes)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct NAME(terms) x = NAME(csr_terms)(A, &t->in[0], prefetch, stream);
    const int64_t *restrict ptr = A->ptr;
    const int64_t k = t->C.cols, ld = t->C.ld;
    T *restrict C = t->C.val;
    for (int64_t i = first; i < last; i++)
        NAME(csr_row)(x, ptr[i], ptr[i + 1], ahead, C + i * ld, k, bytes);
}

// Computes rows [first, last) of C. With `stream`, the caller calls stream_end() afterwards.
static void NAME(rows)(const struct task *t, int64_t first, int64_t last, int64_t prefetch,
                       bool stream)
{
#define ROWS(bytes)                                                                                \
    if (prefetch)                                                                                  \
        NAME(rows_in)(t, first, last, true, prefetch, stream, bytes);                              \
    else                                                                                           \
        NAME(rows_in)(t, first, last, false, 0, stream, bytes)
    BY_BYTES(NAME(slab_bytes)(t->C.cols), ROWS)
#undef ROWS
}
