// The product by panels. dcsc.c includes this file once per type and kind of processor.

// Bytes of the widest slab: 8 registers of AVX-512.
#undef SLAB_BYTES
#define SLAB_BYTES 512

// Computes columns 0 .. width - 1 of panel s of C. `width` is a constant after inlining.
CPU_INLINE void NAME(panel_slab)(const struct dcsc *A, int64_t s, const T *restrict B, int64_t ldb,
                                 T *restrict C, int64_t ldc, int width)
{
    const int64_t *restrict start = A->start;
    const int32_t *restrict row = A->row;
    const T *restrict val = A->val;
    for (int64_t i = s * A->panel; i < min64((s + 1) * A->panel, A->m); i++)
        for (int j = 0; j < width; j++) C[i * ldc + j] = 0;
    for (int64_t x = A->ptr[s]; x < A->ptr[s + 1]; x++) {
        const T *restrict b = B + A->col[x] * ldb;
        T held[SLAB_BYTES / sizeof(T)];
        for (int j = 0; j < width; j++) held[j] = b[j];
        for (int64_t q = start[x]; q < start[x + 1]; q++) {
            T *restrict c = C + row[q] * ldc;
            const T v = val[q];
            for (int j = 0; j < width; j++) c[j] += v * held[j];
        }
    }
}

// Computes panel s slab by slab. If k is not a multiple of a slab, the last slab overlaps the slab
// before and computes some elements twice, with the same result.
static void NAME(panel)(const struct dcsc *A, int64_t s, const struct dense_dev *B,
                        const struct dense_dev *C)
{
    const int64_t k = C->cols;
    for (int64_t j = 0; j < k;) {
        int64_t width = SLAB_BYTES / sizeof(T);
        while (width > k || width / 2 >= k - j) width /= 2;
        j = min64(j, k - width);
#define SLAB(bytes)                                                                                \
    case bytes:                                                                                    \
        NAME(panel_slab)                                                                           \
        (A, s, (const T *)B->val + j, B->ld, (T *)C->val + j, C->ld, bytes / sizeof(T));           \
        break
        switch (width * sizeof(T)) {
            SLAB(512);
            SLAB(256);
            SLAB(128);
            SLAB(64);
            SLAB(32);
            SLAB(16);
            SLAB(8);
            SLAB(4);
        }
#undef SLAB
        j += width;
    }
}

static void NAME(multiply)(const struct dcsc *A, const struct dense_dev *B,
                           const struct dense_dev *C)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < A->panels; s++) NAME(panel)(A, s, B, C);
}
