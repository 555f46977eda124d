// The product by shares of rows for values of fewer bits than f32, with sums in f32. rowsplit.c
// includes this file once per kind of processor. Eight neighbouring columns are a vector. `type` and
// `in` are constants after inlining.

CPU_INLINE void KIND_NAME(widen)(enum prec type, const void *b, eight *x)
{
#if VECTOR > 16
    if (type == F16 || type == BF16) {
        const __m128i halves = _mm_loadu_si128((const __m128i *)b);
        *x = type == F16 ? (eight)_mm256_cvtph_ps(halves)
                         : (eight)_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16);
        return;
    }
#endif
    for (int e = 0; e < 8; e++) (*x)[e] = (float)type_load(type, b, e);
}

CPU_INLINE void KIND_NAME(store)(enum prec type, const eight *x, void *C, int64_t at)
{
#if VECTOR > 16
    if (type == F16) {
        _mm_storeu_si128((__m128i *)((uint16_t *)C + at), _mm256_cvtps_ph((__m256)*x, 0));
        return;
    }
#endif
    if (type == F32) {
        memcpy((float *)C + at, x, sizeof *x);
    } else if (type == BF16) {
        const eight_words words = (eight_words)*x;
        const eight_words nearest = words + 0x7fff + (words >> 16 & 1);
        const eight_words number = (eight_words)(*x == *x); // all bits; 0 for NaN, which stays NaN
        const eight_words bits = (nearest & number) | ((words | 0x400000) & ~number);
        const eight_halves halves = __builtin_convertvector(bits >> 16, eight_halves);
        memcpy((uint16_t *)C + at, &halves, sizeof halves);
    } else {
        for (int e = 0; e < 8; e++) type_store(type, C, at + e, (*x)[e]);
    }
}

// Computes `vectors`, a constant after inlining, times eight columns of a row, from column j on.
CPU_INLINE void KIND_NAME(slab)(const struct halves *x, int64_t begin, int64_t end, int64_t j,
                                int64_t at, enum prec in, int vectors)
{
    const int64_t bytes = (int64_t)type_bytes(in);
    eight sum[8];
    UNROLL for (int v = 0; v < vectors; v++) sum[v] = (eight){0};
    for (int64_t p = begin; p < end; p++) {
        const float a = (float)type_load(in, x->val, p);
        const char *b = (const char *)x->B + (x->idx[p] * x->B_ld + j) * bytes;
        UNROLL for (int v = 0; v < vectors; v++)
        {
            eight row;
            KIND_NAME(widen)(in, b + 8 * v * bytes, &row);
            sum[v] += a * row;
        }
    }
    UNROLL for (int v = 0; v < vectors; v++) KIND_NAME(store)(x->out, &sum[v], x->C, at + 8 * v);
}

// Computes a row of C, which begins at element `at`. From k = 8 on the last slab ends at
// column k, and may overlap the slab before.
CPU_INLINE void KIND_NAME(row)(const struct halves *x, int64_t begin, int64_t end, int64_t at,
                               enum prec in)
{
    int64_t j = 0;
    for (; j + 64 <= x->k; j += 64) KIND_NAME(slab)(x, begin, end, j, at + j, in, 8);
    if (j + 32 <= x->k) KIND_NAME(slab)(x, begin, end, j, at + j, in, 4), j += 32;
    if (j + 16 <= x->k) KIND_NAME(slab)(x, begin, end, j, at + j, in, 2), j += 16;
    for (; x->k >= 8 && j < x->k; j += 8) {
        const int64_t from = min64(j, x->k - 8);
        KIND_NAME(slab)(x, begin, end, from, at + from, in, 1);
    }
    for (; j < x->k; j++) {
        float sum = 0;
        for (int64_t p = begin; p < end; p++)
            sum += (float)(type_load(in, x->val, p) *
                           type_load(in, x->B, x->idx[p] * x->B_ld + j));
        type_store(x->out, x->C, at + j, sum);
    }
}

// Computes rows first to last - 1.
static void KIND_NAME(rows_of_halves)(const struct halves *x, int64_t first, int64_t last)
{
    switch ((int)x->in) {
#define TYPE(symbol, name, words, bits, ...)                                                       \
    case symbol:                                                                                   \
        for (int64_t i = first; i < last && sizeof(bits) < sizeof(float); i++)                     \
            KIND_NAME(row)(x, x->ptr[i], x->ptr[i + 1], i * x->C_ld, symbol);                      \
        break;
#include "base/precs.def"
    }
}
