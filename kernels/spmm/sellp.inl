// Included once per type by sellp.c.
#include "spmm/cpu_row.inl"

// The rows of slice s. Entry j of a row lies near entry j of the rows after it, so prefetching
// looks as many whole rows ahead as have `prefetch` nonzeros, also into the next slices.
CPU_CLONES static void NAME(slice)(const struct sellp *A, const struct dense_dev *B,
                                   const struct dense_dev *C, int64_t s, int prefetch)
{
    int64_t slice = A->slice, start = A->ptr[s], width = (A->ptr[s + 1] - start) / slice;
    int64_t ahead = width ? (prefetch + width - 1) / width : 0;
    const int32_t *restrict idx = A->idx;
    const T *restrict val = A->val, *restrict b = B->val;
    T *restrict c = C->val;
    for (int64_t i = s * slice; i < min64((s + 1) * slice, A->m); i++) {
        const int32_t *later = NULL;
        int64_t later_width = 0;
        if (prefetch) {
            int64_t x = min64(i + ahead, A->m - 1) / slice;
            later_width = (A->ptr[x + 1] - A->ptr[x]) / slice;
            later = later_width ? idx + A->ptr[x] + (i + ahead) % slice : NULL;
            NAME(claim_row)(C, i);
        }
        int64_t q = start + i % slice, count = row_length(idx + q, slice, width);
        NAME(row)
        (idx + q, val + q, slice, count, later, 0, later_width - 1, b, B->ld, c + i * C->ld,
         C->cols);
    }
}

static void NAME(multiply)(const struct sellp *A, const struct dense_dev *B,
                           const struct dense_dev *C, int prefetch)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < A->slices; s++) NAME(slice)(A, B, C, s, prefetch);
}
