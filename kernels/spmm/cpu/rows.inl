// A range of rows of C = A * B, A in CSR. Included once per type and kind of processor.
#include "spmm/cpu/row.inl"
#include "spmm/cpu/dot.inl"

// Computes rows [first, last). C: row `first`. `bytes`, the bytes of a slab, and `ahead`, true if
// rows of B are prefetched, are constants.
CPU_INLINE void NAME(rows_in)(const struct product *of, int64_t first, int64_t last, T *restrict C,
                              bool ahead, int bytes)
{
    const struct NAME(terms) x = NAME(csr_terms)(of, ahead);
    const int64_t *restrict ptr = of->A->ptr;
    const int64_t k = of->k, ld = of->C_ld;
    for (int64_t i = first; i < last; i++, C += ld)
        NAME(csr_row)(x, ptr[i], ptr[i + 1], ahead, C, k, bytes);
}

// Computes rows [first, last). C: row `first`. With streaming stores the caller calls stream_end()
// afterwards.
static void NAME(rows)(const struct product *of, int64_t first, int64_t last, T *restrict C)
{
    if (of->k == 1 && of->B_ld == 1 && of->C_ld == 1) {
        NAME(dots)(of, first, last, C);
        return;
    }
#define ROWS(bytes)                                                                                \
    if (of->prefetch)                                                                              \
        NAME(rows_in)(of, first, last, C, true, bytes);                                            \
    else                                                                                           \
        NAME(rows_in)(of, first, last, C, false, bytes)
    BY_BYTES(NAME(slab_bytes)(of->k), ROWS)
#undef ROWS
}
