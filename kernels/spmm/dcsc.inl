// The product by panels. dcsc.c includes this file once per type and kind of processor.
#include "cpu_vector.inl"

// Bytes of the widest slab: 8 registers of AVX-512.
#undef SLAB_BYTES
#define SLAB_BYTES 512

// Computes columns 0 .. width - 1 of panel s of C with vectors of type V. `width` is a constant
// after inlining.
#define PANEL_SLAB(slab, V)                                                                        \
    CPU_INLINE void NAME(slab)(const struct dcsc *A, int64_t s, const T *restrict B, int64_t ldb,  \
                               T *restrict C, int64_t ldc, int width)                              \
    {                                                                                              \
        const int vectors = width / (int)(sizeof(V) / sizeof(T));                                  \
        const int64_t *restrict start = A->start;                                                  \
        const int32_t *restrict row = A->row;                                                      \
        const T *restrict val = A->val;                                                            \
        for (int64_t i = s * A->panel; i < min64((s + 1) * A->panel, A->m); i++)                   \
            UNROLL for (int v = 0; v < vectors; v++)((V *)(C + i * ldc))[v] = (V){0};              \
        for (int64_t x = A->ptr[s]; x < A->ptr[s + 1]; x++) {                                      \
            const V *b = (const V *)(B + A->col[x] * ldb);                                         \
            V held[SLAB_BYTES / sizeof(V)];                                                        \
            UNROLL for (int v = 0; v < vectors; v++) held[v] = b[v];                               \
            ROLLED for (int64_t q = start[x]; q < start[x + 1]; q++)                               \
            {                                                                                      \
                V *c = (V *)(C + row[q] * ldc);                                                    \
                const T a = val[q];                                                                \
                UNROLL for (int v = 0; v < vectors; v++) c[v] += a * held[v];                      \
            }                                                                                      \
        }                                                                                          \
    }
PANEL_SLAB(panel_wide, NAME(wide))
PANEL_SLAB(panel_middle, NAME(middle))
PANEL_SLAB(panel_narrow, NAME(narrow))
PANEL_SLAB(panel_single, T)
#undef PANEL_SLAB

// Calls the function with the widest vectors that fit. `bytes` is a constant after inlining.
CPU_INLINE void NAME(panel_slab)(const struct dcsc *A, int64_t s, const T *B, int64_t ldb, T *C,
                                 int64_t ldc, int bytes)
{
    const int width = bytes / (int)sizeof(T);
    if (bytes >= VECTOR)
        NAME(panel_wide)(A, s, B, ldb, C, ldc, width);
    else if (bytes >= 32)
        NAME(panel_middle)(A, s, B, ldb, C, ldc, width);
    else if (bytes >= 16)
        NAME(panel_narrow)(A, s, B, ldb, C, ldc, width);
    else
        NAME(panel_single)(A, s, B, ldb, C, ldc, width);
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
        (A, s, (const T *)B->val + j, B->ld, (T *)C->val + j, C->ld, bytes);                       \
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
