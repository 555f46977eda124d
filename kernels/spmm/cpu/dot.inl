// Rows of C = A * B with few columns, A in CSR, B and C column-major. Included once per type and
// kind of processor. Vectors run along the nonzeros of a row, and elements of B are gathered. The
// last nonzeros of a row are a masked vector, because a loop over them costs a mispredicted branch.
// The elements of the vectors of four rows are added together. Xeon, one column: 0.3 to 0.6 of the
// time of one nonzero after the other.

// Most nonzeros of a group of four short rows.
#undef DOT_SHORT
#define DOT_SHORT 8
// Nonzeros of a step.
#undef DOT_LANES
#if VECTOR < 32
#define DOT_LANES 1
typedef T NAME(dot_sum);
#else
#define DOT_LANES (32 / T_BYTES)
typedef NAME(middle) NAME(dot_sum);
#endif

// sum[c] += val[p] * B[c * B_ld + idx[p]] for p < DOT_LANES.
CPU_INLINE void NAME(dot_step)(NAME(dot_sum) * sum, const int32_t *idx, const T *val, const T *B,
                               int64_t B_ld, int cols)
{
#if VECTOR < 32
    UNROLL for (int c = 0; c < cols; c++) sum[c] += *val * B[c * B_ld + *idx];
#elif T_BYTES == 4
    const __m256i j = _mm256_loadu_si256((const __m256i *)idx);
    UNROLL for (int c = 0; c < cols; c++) sum[c] +=
        _mm256_loadu_ps(val) * _mm256_i32gather_ps(B + c * B_ld, j, 4);
#else
    const __m128i j = _mm_loadu_si128((const __m128i *)idx);
    UNROLL for (int c = 0; c < cols; c++) sum[c] +=
        _mm256_loadu_pd(val) * _mm256_i32gather_pd(B + c * B_ld, j, 8);
#endif
}

// The same for p < left < DOT_LANES.
CPU_INLINE void NAME(dot_last)(NAME(dot_sum) * sum, const int32_t *idx, const T *val, const T *B,
                               int64_t B_ld, int cols, int left)
{
#if VECTOR < 32
    (void)sum, (void)idx, (void)val, (void)B, (void)B_ld, (void)cols, (void)left;
#elif T_BYTES == 4
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                  mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(left), lanes),
                  j = _mm256_maskload_epi32(idx, mask);
    const __m256 a = _mm256_maskload_ps(val, mask), zero = _mm256_setzero_ps();
    UNROLL for (int c = 0; c < cols; c++) sum[c] +=
        a * _mm256_mask_i32gather_ps(zero, B + c * B_ld, j, (__m256)mask, 4);
#else
    const __m128i lanes = _mm_setr_epi32(0, 1, 2, 3),
                  narrow = _mm_cmpgt_epi32(_mm_set1_epi32(left), lanes),
                  j = _mm_maskload_epi32(idx, narrow);
    const __m256i mask = _mm256_cvtepi32_epi64(narrow);
    const __m256d a = _mm256_maskload_pd(val, mask), zero = _mm256_setzero_pd();
    UNROLL for (int c = 0; c < cols; c++) sum[c] +=
        a * _mm256_mask_i32gather_pd(zero, B + c * B_ld, j, (__m256d)mask, 8);
#endif
}

// C[r] = the sum of the elements of x[r], for r < 4.
CPU_INLINE void NAME(dot_add)(const NAME(dot_sum) * x, T *C)
{
#if VECTOR < 32
    for (int r = 0; r < 4; r++) C[r] = x[r];
#elif T_BYTES == 4
    const __m256 y = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    _mm_storeu_ps(C, _mm256_castps256_ps128(y) + _mm256_extractf128_ps(y, 1));
#else
    const __m256d y = _mm256_hadd_pd(x[0], x[1]), z = _mm256_hadd_pd(x[2], x[3]);
    _mm256_storeu_pd(C, _mm256_permute2f128_pd(y, z, 0x20) + _mm256_permute2f128_pd(y, z, 0x31));
#endif
}

// Four rows of few nonzeros, one nonzero after the other.
CPU_INLINE void NAME(short_dots)(const struct product *of, const int64_t *start, T *C, int64_t C_ld,
                                 int cols)
{
    const int32_t *restrict idx = of->A->idx;
    const T *restrict val = of->A->val, *restrict B = of->B;
    for (int r = 0; r < 4; r++) {
        T sum[2] = {0};
        for (int64_t p = start[r]; p < start[r + 1]; p++) {
            __asm__(""); // keeps the compiler from using vectors
            UNROLL for (int c = 0; c < cols; c++) sum[c] += val[p] * B[c * of->B_ld + idx[p]];
        }
        UNROLL for (int c = 0; c < cols; c++) C[c * C_ld + r] = sum[c];
    }
}

// Computes the four rows that begin at start[0 .. 4) and end at start[1 .. 5). Every other step of
// a row goes to a second set of sums: an addition waits for the addition before it. `cols`, 1 or 2,
// is a constant. BOYD2_A, rows of 1.8 nonzeros, k = 2: 0.5 of the time without short_dots().
CPU_INLINE void NAME(four_dots)(const struct product *of, const int64_t *start, bool is_short, T *C,
                                int64_t C_ld, int cols)
{
    const int32_t *restrict idx = of->A->idx;
    const T *restrict val = of->A->val, *restrict B = of->B;
    NAME(dot_sum) x[2][4];
    if (is_short) {
        NAME(short_dots)(of, start, C, C_ld, cols);
        return;
    }
    UNROLL for (int r = 0; r < 4; r++)
    {
        NAME(dot_sum) sum[2], other[2];
        UNROLL for (int c = 0; c < cols; c++) sum[c] = other[c] = (NAME(dot_sum)){0};
        int64_t p = start[r];
        const int64_t end = start[r + 1];
        for (; p + 2 * DOT_LANES <= end; p += 2 * DOT_LANES) {
            NAME(dot_step)(sum, idx + p, val + p, B, of->B_ld, cols);
            NAME(dot_step)(other, idx + p + DOT_LANES, val + p + DOT_LANES, B, of->B_ld, cols);
        }
        if (p + DOT_LANES <= end) {
            NAME(dot_step)(sum, idx + p, val + p, B, of->B_ld, cols);
            p += DOT_LANES;
        }
        if (p < end) NAME(dot_last)(sum, idx + p, val + p, B, of->B_ld, cols, (int)(end - p));
        UNROLL for (int c = 0; c < cols; c++) x[c][r] = sum[c] + other[c];
    }
    UNROLL for (int c = 0; c < cols; c++) NAME(dot_add)(x[c], C + c * C_ld);
}

// Computes rows [first, last), in groups that begin at multiples of four rows. A group belongs to
// two shares if a share begins inside. Both then compute their rows in the same way.
CPU_INLINE void NAME(dots_in)(const struct product *of, int64_t first, int64_t last, T *C, int cols)
{
    const int64_t *restrict ptr = of->A->ptr, m = of->A->m;
    for (int64_t i = first, next; i < last; i = next) {
        const int64_t group = i / 4 * 4;
        const bool is_short = ptr[min64(group + 4, m)] - ptr[group] <= DOT_SHORT;
        next = min64(group + 4, last);
        if (next == i + 4) {
            NAME(four_dots)(of, ptr + i, is_short, C + i - first, of->C_ld, cols);
            continue;
        }
        int64_t start[5]; // rows of other shares are empty
        T part[2 * 4];
        for (int r = 0; r < 5; r++) start[r] = ptr[min64(max64(group + r, i), next)];
        NAME(four_dots)(of, start, is_short, part, 4, cols);
        for (int c = 0; c < cols; c++)
            for (int64_t r = i; r < next; r++)
                C[c * of->C_ld + r - first] = part[c * 4 + r - group];
    }
}

// Computes rows [first, last). B and C are column-major and have one or two columns. C: row
// `first`.
static void NAME(dots)(const struct product *of, int64_t first, int64_t last, T *C)
{
    if (of->k == 1)
        NAME(dots_in)(of, first, last, C, 1);
    else
        NAME(dots_in)(of, first, last, C, 2);
}
