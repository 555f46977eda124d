// One row of C = A * B, vectorised over the k columns: included once per type, with T the type of
// the values and PREC its name. A slab of the row, some neighbouring columns, stays in vector
// registers while all nonzeros of the row pass by, so that C is written once and B is read in whole
// cache lines.

// The widest slab: 8 registers of AVX-512 hide the latency of the additions, which form one chain
// for each register. AVX2 has 16 registers of half the size.
#undef SLAB_BYTES
#define SLAB_BYTES 512

// C[0 .. width) = sum over p < count of val[p * stride] * B[idx[p * stride] * ld ...]; `width` is
// a constant where this is inlined. Unless `later` is NULL, the row of B that belongs to
// later[min(p + skip, last) * stride] is fetched at step p; padding there is legal.
CPU_INLINE void NAME(row_slab)(const int32_t *restrict idx, const T *restrict val, int64_t stride,
                               int64_t count, const int32_t *restrict later, int64_t skip,
                               int64_t last, const T *restrict B, int64_t ld, T *restrict C,
                               int width)
{
    T sum[SLAB_BYTES / sizeof(T)];
    for (int j = 0; j < width; j++) sum[j] = 0;
    for (int64_t p = 0; p < count; p++) {
        if (later) {
            const T *b = B + max64(later[min64(p + skip, last) * stride], 0) * ld;
            for (int j = 0; j < width; j += (int)(64 / sizeof(T))) __builtin_prefetch(b + j);
        }
        T a = val[p * stride];
        const T *b = B + idx[p * stride] * ld;
        for (int j = 0; j < width; j++) sum[j] += a * b[j];
    }
    for (int j = 0; j < width; j++) C[j] = sum[j];
}

// C[0 .. k) slab by slab. The last one overlaps the one before it where k is no multiple: that
// computes a few elements twice, to the same value, but passes over the row only once more.
CPU_INLINE void NAME(row)(const int32_t *restrict idx, const T *restrict val, int64_t stride,
                          int64_t count, const int32_t *restrict later, int64_t skip, int64_t last,
                          const T *restrict B, int64_t ld, T *restrict C, int64_t k)
{
    for (int64_t j = 0; j < k;) {
        int64_t width = SLAB_BYTES / sizeof(T);
        while (width > k || width / 2 >= k - j) width /= 2;
        j = min64(j, k - width);
#define SLAB(bytes)                                                                                \
    case bytes:                                                                                    \
        NAME(row_slab)                                                                             \
        (idx, val, stride, count, later, skip, last, B + j, ld, C + j, bytes / sizeof(T));         \
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

// The same for the nonzeros [p, end) of a CSR matrix. Prefetching runs on into the next rows.
CPU_INLINE void NAME(csr_row)(const struct csr_dev *A, int64_t p, int64_t end, int prefetch,
                              const T *restrict B, int64_t ld, T *restrict C, int64_t k)
{
    const int32_t *idx = A->idx + p;
    const T *val = (const T *)A->val + p;
    NAME(row)(idx, val, 1, end - p, prefetch ? idx : NULL, prefetch, A->nnz - 1 - p, B, ld, C, k);
}

// Asks for a row of C that will be written soon after row i: stores leave the processor in order,
// so that one that misses the cache holds up all after it.
CPU_INLINE void NAME(claim_row)(const struct dense_dev *C, int64_t i)
{
    const T *row = (const T *)C->val + min64(i + 4, C->rows - 1) * C->ld;
    for (int64_t j = 0; j < C->cols; j += 64 / sizeof(T)) __builtin_prefetch(row + j, 1);
}
