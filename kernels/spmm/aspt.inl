// Included once per type by aspt.c.

// The widest slab of a row of C: 8 registers of AVX-512, 16 of AVX2.
#undef SLAB_BYTES
#define SLAB_BYTES 512

// C[0 .. width) (+)= sum over p in [p, end) of val[p] * B[idx[p] * ld ...]; `width` is a constant
// where this is inlined. Rows of B are fetched `prefetch` nonzeros ahead, as far as there are any.
CPU_INLINE void NAME(part_slab)(const struct aspt *A, int64_t p, int64_t end, bool add,
                                int prefetch, const T *restrict B, int64_t ld, T *restrict C,
                                int width)
{
    const int32_t *restrict idx = A->idx;
    const T *restrict val = A->val;
    T sum[SLAB_BYTES / sizeof(T)];
    for (int j = 0; j < width; j++) sum[j] = add ? C[j] : 0;
    for (; p < end; p++) {
        if (prefetch) {
            const T *b = B + idx[min64(p + prefetch, A->nnz - 1)] * ld;
            for (int j = 0; j < width; j += (int)(64 / sizeof(T))) __builtin_prefetch(b + j);
        }
        T a = val[p];
        const T *b = B + idx[p] * ld;
        for (int j = 0; j < width; j++) sum[j] += a * b[j];
    }
    for (int j = 0; j < width; j++) C[j] = sum[j];
}

// The nonzeros [p, end) of a row times all k columns of B, in slabs of the widths that k is the sum
// of. What is there already stays as long as `add`.
CPU_INLINE void NAME(part)(const struct aspt *A, int64_t p, int64_t end, bool add, int prefetch,
                           const struct dense_dev *B, T *restrict C)
{
    const T *restrict b = B->val;
    for (int64_t j = 0, width = SLAB_BYTES / sizeof(T); j < B->cols;) {
        while (width > B->cols - j) width /= 2;
#define SLAB(bytes)                                                                                \
    case bytes:                                                                                    \
        NAME(part_slab)                                                                            \
        (A, p, end, add, prefetch, b + j, B->ld, C + j, bytes / sizeof(T));                        \
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

// Panel b: its tiles one after another, then what is light. The first part that a row has anything
// in writes its row of C, or the light part does; the others add to it.
CPU_CLONES static void NAME(panel)(const struct aspt *A, const struct dense_dev *B,
                                   const struct dense_dev *C, int64_t b, int prefetch)
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
            NAME(part)(A, row[t], row[t + 1], begun, light ? prefetch : 0, B, c + i * C->ld);
        }
    }
}

static void NAME(multiply)(const struct aspt *A, const struct dense_dev *B,
                           const struct dense_dev *C, int prefetch)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < A->panels; b++) NAME(panel)(A, B, C, b, prefetch);
}
