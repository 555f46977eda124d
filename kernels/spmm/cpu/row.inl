// A row of C = A * B, vectorised over the k columns. Included once per type and kind of processor:
// T is the type of the values, and VECTOR the bytes of a vector. A slab of the row, some
// neighbouring columns, stays in registers during the loop over the nonzeros of the row. So C is
// written once and B is read in whole cache lines.
//
// Did not pay, time over the time of this code:
//
//     nonzeros by fours, the last ones masked         EPYC 1.03 to 1.8, Xeon 0.7 to 1.7
//     all rows by one slab of 32 or 64 columns        Xeon 1.1 to 1.4 (uniform, wing 0.8 to 0.9)
//     rows by length within 32 to 1,024 neighbours    EPYC 1.15 to 1.25 (nell_gnn 0.8 to 1.0)
//     four sums in turn for one vector                EPYC 1.0
#include "spmm/cpu/product.h"
#include "cpu_vector.inl"

// Bytes of the widest slab. More than 8 sums leave too few of AVX2's 16 registers.
#undef SLAB_BYTES
#define SLAB_BYTES (8 * VECTOR)

// Stores a vector. `past`: a streaming store, for which C is aligned to the vector. A thread that
// uses streaming stores calls stream_end() before other threads read C.
#undef PUT
#undef PUT_WIDE
#define PUT(C, v, past) (*(C) = (v))
#if CPU_HAS_KINDS
CPU_INLINE void NAME(put)(NAME(wide) * C, NAME(wide) v, bool past)
{
    if (!past)
        *C = v;
    else
#if VECTOR == 64
        _mm512_stream_si512((void *)C, (__m512i)v);
#elif VECTOR == 32
        _mm256_stream_si256((void *)C, (__m256i)v);
#else
        _mm_stream_si128((void *)C, (__m128i)v);
#endif
}
CPU_INLINE void NAME(stream_end)(void) { _mm_sfence(); }
#define PUT_WIDE NAME(put)
#else
CPU_INLINE void NAME(stream_end)(void) {}
#define PUT_WIDE PUT
#endif

// The operands of a row: nonzeros, B, prefetching.
struct NAME(terms) {
    const int32_t *idx; // columns, `stride` elements apart; size count
    const T *val;       // values, `stride` elements apart; size count
    int64_t stride, count;
    bool add;             // C += sum, not C = sum
    bool stream;          // streaming stores; rows of C begin at cache lines
    const int32_t *later; // columns to prefetch, NULL: none. Step p prefetches row later[min(p +
                          // skip, last) * stride] of B
    bool padded;          // `later` may contain padding, which is negative
    int64_t skip, last;
    const T *B;
    int64_t ld; // elements between rows of B
};

// sum += val[p] * B[idx[p]][j .. j + width), with vectors of type V.
#define ROW_STEP(sum, V)                                                                           \
    {                                                                                              \
        if (x.later) {                                                                             \
            const int64_t i = x.later[min64(p + x.skip, x.last) * x.stride];                       \
            const T *b = B + (x.padded ? max64(i, 0) : i) * x.ld;                                  \
            UNROLL for (int w = 0; w < width; w += (int)(64 / sizeof(T)))                          \
                __builtin_prefetch(b + w);                                                         \
        }                                                                                          \
        const T a = val[p * x.stride];                                                             \
        const V *b = (const V *)(B + idx[p * x.stride] * x.ld);                                    \
        UNROLL for (int v = 0; v < vectors; v++) sum[v] += a * b[v];                               \
    }

// NAME(slab)(x, j, C, width): C[0 .. width) (+)= sum over p of val[p] * B[idx[p]][j .. j + width),
// with vectors of type V. `width` is a constant after inlining. An addition to a sum waits for the
// addition before it. If `width` is at most two vectors, every other nonzero therefore goes to a
// second set of sums. EPYC with AVX-512, f32, k = 4 to 32: 0.73 to 0.94 of the time with one set of
// sums.
#define ROW_SLAB(slab, V, PUT)                                                                     \
    CPU_INLINE void NAME(slab)(const struct NAME(terms) x, int64_t j, T *restrict C, int width)    \
    {                                                                                              \
        enum { LANES = sizeof(V) / sizeof(T) };                                                    \
        const int vectors = width / LANES;                                                         \
        const bool in_turn = vectors <= 2;                                                         \
        const int32_t *restrict idx = x.idx;                                                       \
        const T *restrict val = x.val, *restrict B = x.B + j;                                      \
        V sum[SLAB_BYTES / sizeof(V)], other[2];                                                   \
        UNROLL for (int v = 0; v < 2; v++) other[v] = (V){0};                                      \
        UNROLL for (int v = 0; v < vectors; v++) sum[v] = x.add ? ((V *)C)[v] : (V){0};            \
        ROLLED for (int64_t p = 0; p < x.count; p++)                                               \
        {                                                                                          \
            ROW_STEP(sum, V)                                                                       \
            if (!in_turn) continue;                                                                \
            if (++p == x.count) break;                                                             \
            ROW_STEP(other, V)                                                                     \
        }                                                                                          \
        if (in_turn) UNROLL for (int v = 0; v < vectors; v++) sum[v] += other[v];                  \
        UNROLL for (int v = 0; v < vectors; v++) { PUT((V *)C + v, sum[v], x.stream); }            \
    }
ROW_SLAB(slab_wide, NAME(wide), PUT_WIDE)
ROW_SLAB(slab_middle, NAME(middle), PUT)
ROW_SLAB(slab_narrow, NAME(narrow), PUT)
ROW_SLAB(slab_single, T, PUT)
#undef ROW_SLAB
#undef ROW_STEP

// Calls the slab function with the widest vectors that fit. `bytes` is a constant, so that one of
// the four calls is left after inlining.
CPU_INLINE void NAME(slab)(const struct NAME(terms) x, int64_t j, T *restrict C, int bytes)
{
    const int width = bytes / (int)sizeof(T);
    if (bytes > SLAB_BYTES)
        __builtin_unreachable();
    else if (bytes >= VECTOR)
        NAME(slab_wide)(x, j, C, width);
    else if (bytes >= 32)
        NAME(slab_middle)(x, j, C, width);
    else if (bytes >= 16)
        NAME(slab_narrow)(x, j, C, width);
    else
        NAME(slab_single)(x, j, C, width);
}

// Calls CALL(bytes) with a constant.
#undef BY_BYTES
#define BY_BYTES(bytes, CALL)                                                                      \
    switch (bytes) {                                                                               \
    case 512: CALL(512); break;                                                                    \
    case 256: CALL(256); break;                                                                    \
    case 128: CALL(128); break;                                                                    \
    case 64: CALL(64); break;                                                                      \
    case 32: CALL(32); break;                                                                      \
    case 16: CALL(16); break;                                                                      \
    case 8: CALL(8); break;                                                                        \
    case 4: CALL(4); break;                                                                        \
    }

// Returns the bytes of each slab of k columns except the last slab.
static int NAME(slab_bytes)(int64_t k)
{
    int bytes = SLAB_BYTES;
    while (bytes > (int64_t)sizeof(T) * k) bytes /= 2;
    return bytes;
}

// Computes the last columns [j, k). The slab has the next power of two of columns, overlaps the
// slab before and computes some elements twice. Slabs that add to C do not overlap.
static __attribute__((noinline)) void NAME(last_slab)(struct NAME(terms) x, int64_t j,
                                                      T *restrict C, int64_t k)
{
    x.stream = false;
    while (j < k) {
        int64_t width = 1;
        while (width < k - j) width *= 2;
        if (x.add && width > k - j) width /= 2;
        j = min64(j, k - width);
#define SLAB(bytes) NAME(slab)(x, j, C + j, bytes)
        BY_BYTES(width * sizeof(T), SLAB)
#undef SLAB
        j += width;
    }
}

// Computes C[0 .. k) in slabs of `bytes` = slab_bytes(k), a constant after inlining.
CPU_INLINE void NAME(row)(const struct NAME(terms) x, T *restrict C, int64_t k, int bytes)
{
    const int64_t width = bytes / (int)sizeof(T);
    int64_t j = 0;
    do {
        NAME(slab)(x, j, C + j, bytes);
        j += width;
    } while (bytes == SLAB_BYTES && j + width <= k); // a narrower slab is the only one
    if (j < k) NAME(last_slab)(x, j, C, k);
}

// Returns the operands that all rows of a CSR matrix have in common, without start and length.
CPU_INLINE struct NAME(terms) NAME(csr_terms)(const struct product *of, bool ahead)
{
    return (struct NAME(terms)){.idx = of->A->idx,
                                .val = of->A->val,
                                .stride = 1,
                                .stream = of->stream,
                                .skip = ahead ? of->prefetch : 0,
                                .last = of->A->nnz - 1,
                                .B = of->B,
                                .ld = of->B_ld};
}

// C[0 .. k) = the products of nonzeros [p, end) of a CSR matrix. `ahead`, a constant: prefetching,
// which runs on into the next rows.
CPU_INLINE void NAME(csr_row)(struct NAME(terms) x, int64_t p, int64_t end, bool ahead,
                              T *restrict C, int64_t k, int bytes)
{
    x.idx += p;
    x.val += p;
    x.count = end - p;
    x.later = ahead ? x.idx : NULL;
    x.last -= p;
    NAME(row)(x, C, k, bytes);
}
