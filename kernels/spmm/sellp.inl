// Included once per type and kind of processor by sellp.c.
#include "spmm/cpu_row.inl"

// The rows of slice s. Entry j of a row lies near entry j of the rows after it, so prefetching
// looks as many whole rows ahead as have `prefetch` nonzeros, also into the next slices. In slabs
// of so many bytes, a constant.
CPU_INLINE void NAME(slice_in)(const struct sellp *A, const struct dense_dev *B,
                               const struct dense_dev *C, int64_t s, int64_t prefetch, int bytes)
{
    int64_t slice = A->slice, start = A->ptr[s], width = (A->ptr[s + 1] - start) / slice;
    int64_t ahead = width ? (prefetch + width - 1) / width : 0;
    const int32_t *restrict idx = A->idx;
    const T *restrict val = A->val;
    T *restrict c = C->val;
    for (int64_t i = s * slice; i < min64((s + 1) * slice, A->m); i++) {
        const int32_t *later = NULL;
        int64_t later_width = 0;
        if (prefetch) {
            int64_t x = min64(i + ahead, A->m - 1) / slice;
            later_width = (A->ptr[x + 1] - A->ptr[x]) / slice;
            later = later_width ? idx + A->ptr[x] + (i + ahead) % slice : NULL;
        }
        const int64_t q = start + i % slice;
        const struct NAME(terms) x = {.idx = idx + q,
                                      .val = val + q,
                                      .stride = slice,
                                      .count = row_length(idx + q, slice, width),
                                      .later = later,
                                      .last = later_width - 1,
                                      .padded = true,
                                      .B = B->val,
                                      .ld = B->ld};
        NAME(row)(x, c + i * C->ld, C->cols, bytes);
    }
}

static void NAME(slice)(const struct sellp *A, const struct dense_dev *B, const struct dense_dev *C,
                        int64_t s, int64_t prefetch)
{
#define SLICE(bytes) NAME(slice_in)(A, B, C, s, prefetch, bytes)
    BY_BYTES(NAME(slab_bytes)(C->cols), SLICE)
#undef SLICE
}

static void NAME(multiply)(const struct sellp *A, const struct dense_dev *B,
                           const struct dense_dev *C, int64_t prefetch)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < A->slices; s++) NAME(slice)(A, B, C, s, prefetch);
}
