// The product by slices. sellp.c includes this file once per type and kind of processor.
#include "spmm/cpu/row.inl"

// Computes the rows of slice s. Entry j of a row lies near entry j of the rows after it in memory.
// Prefetching therefore looks whole rows ahead, as many as have `prefetch` nonzeros, also into the
// next slices. `bytes`, the bytes of a slab, is a constant.
CPU_INLINE void NAME(slice_in)(const struct task *t, int64_t s, int bytes)
{
    const int64_t prefetch = ((const struct state *)t->state)->prefetch;
    const bool stream = ((const struct state *)t->state)->stream;
    const struct sellp *A = sellp_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
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
                                      .stream = stream,
                                      .padded = true,
                                      .B = B->val,
                                      .ld = B->ld};
        NAME(row)(x, c + i * C->ld, C->cols, bytes);
    }
    if (stream) NAME(stream_end)();
}

static void NAME(slice)(const struct task *t, int64_t s)
{
#define SLICE(bytes) NAME(slice_in)(t, s, bytes)
    BY_BYTES(NAME(slab_bytes)(t->C.cols), SLICE)
#undef SLICE
}

static void NAME(multiply)(struct task *t)
{
    const int64_t slices = sellp_of(t->A[0])->slices;
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < slices; s++) NAME(slice)(t, s);
}
