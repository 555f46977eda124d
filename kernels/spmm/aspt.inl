// The product by panels. aspt.c includes this file once per type and kind of processor.
#include "spmm/cpu/row.inl"

// C[0 .. k) (+)= the products of nonzeros [p, end) of a row with rows of B. `add`: C keeps its
// values. `prefetch`: distance in nonzeros, 0: none. `bytes`: bytes of a slab.
CPU_INLINE void NAME(part)(const struct aspt *A, int64_t p, int64_t end, bool add, int64_t prefetch,
                           const struct dense_dev *B, T *restrict C, int bytes)
{
    const struct NAME(terms) x = {.idx = A->idx + p,
                                  .val = (const T *)A->val + p,
                                  .stride = 1,
                                  .count = end - p,
                                  .add = add,
                                  .later = prefetch ? A->idx + p : NULL,
                                  .skip = prefetch,
                                  .last = A->nnz - 1 - p,
                                  .B = B->val,
                                  .ld = B->ld};
    NAME(row)(x, C, B->cols, bytes);
}

// Computes panel b: its tiles, then the light parts. The first part of a row that has nonzeros
// writes the row of C, and the other parts add to that row. The light part writes an empty row.
// `bytes`, the bytes of a slab, is a constant.
CPU_INLINE void NAME(panel_in)(const struct aspt *A, const struct dense_dev *B,
                               const struct dense_dev *C, int64_t b, int64_t prefetch, int bytes)
{
    int64_t first = b * A->panel, last = min64(first + A->panel, A->m), parts;
    const int64_t *at = aspt_parts(A, first, &parts);
    T *restrict c = C->val;
    for (int64_t t = 0; t < parts; t++) {
        const int64_t *row = at;
        bool light = t == parts - 1;
        for (int64_t i = first; i < last; i++, row += parts) {
            bool begun = row[t] > row[0];
            if (row[t] == row[t + 1] && (begun || !light)) continue;
            NAME(part)(A, row[t], row[t + 1], begun, light ? prefetch : 0, B, c + i * C->ld, bytes);
        }
    }
}

static void NAME(panel)(const struct aspt *A, const struct dense_dev *B, const struct dense_dev *C,
                        int64_t b, int64_t prefetch)
{
#define PANEL(bytes) NAME(panel_in)(A, B, C, b, prefetch, bytes)
    BY_BYTES(NAME(slab_bytes)(C->cols), PANEL)
#undef PANEL
}

static void NAME(multiply)(const struct aspt *A, const struct dense_dev *B,
                           const struct dense_dev *C, int64_t prefetch)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < A->panels; b++) NAME(panel)(A, B, C, b, prefetch);
}
