// Transposition of a dense block, by square blocks of vectors in registers. Included once per type
// and kind of processor, after cpu/row.inl.

#undef TRANSPOSE_LOW
#undef TRANSPOSE_HIGH
#undef TRANSPOSE_2
#undef TRANSPOSE_4
#undef TRANSPOSE_8
#undef TRANSPOSE_16
#undef TRANSPOSE_STEP
#undef TRANSPOSE_STEPS_2
#undef TRANSPOSE_STEPS_4
#undef TRANSPOSE_STEPS_8
#undef TRANSPOSE_STEPS_16
#undef TRANSPOSE

#if CPU_HAS_SHUFFLE
// Lane l of the vectors that replace vectors x and y if s x s blocks of two block rows are
// exchanged across the diagonal. Lanes of y are numbered from `lanes` on.
#define TRANSPOSE_LOW(l, s, lanes)  ((l) & (s) ? (lanes) + (l) - (s) : (l))
#define TRANSPOSE_HIGH(l, s, lanes) ((l) & (s) ? (lanes) + (l) : (l) + (s))
// Lists F for all lanes.
#define TRANSPOSE_2(F, l, s, lanes)  F(l, s, lanes), F(l + 1, s, lanes)
#define TRANSPOSE_4(F, l, s, lanes)  TRANSPOSE_2(F, l, s, lanes), TRANSPOSE_2(F, l + 2, s, lanes)
#define TRANSPOSE_8(F, l, s, lanes)  TRANSPOSE_4(F, l, s, lanes), TRANSPOSE_4(F, l + 4, s, lanes)
#define TRANSPOSE_16(F, l, s, lanes) TRANSPOSE_8(F, l, s, lanes), TRANSPOSE_8(F, l + 8, s, lanes)

#define TRANSPOSE_STEP(s, LANES)                                                                   \
    UNROLL for (int r = 0; r < LANES; r++)                                                         \
    {                                                                                              \
        if (r & s) continue;                                                                       \
        const vector low = __builtin_shufflevector(x[r], x[r + s],                                 \
                                                   TRANSPOSE_##LANES(TRANSPOSE_LOW, 0, s, LANES)); \
        x[r + s] = __builtin_shufflevector(x[r], x[r + s],                                         \
                                           TRANSPOSE_##LANES(TRANSPOSE_HIGH, 0, s, LANES));        \
        x[r] = low;                                                                                \
    }
#define TRANSPOSE_STEPS_2 TRANSPOSE_STEP(1, 2)
#define TRANSPOSE_STEPS_4 TRANSPOSE_STEP(1, 4) TRANSPOSE_STEP(2, 4)
#define TRANSPOSE_STEPS_8 TRANSPOSE_STEP(1, 8) TRANSPOSE_STEP(2, 8) TRANSPOSE_STEP(4, 8)
#define TRANSPOSE_STEPS_16                                                                         \
    TRANSPOSE_STEP(1, 16) TRANSPOSE_STEP(2, 16) TRANSPOSE_STEP(4, 16) TRANSPOSE_STEP(8, 16)

// NAME(transpose): to[j * to_ld + i] = from[i * from_ld + j] for i < lines, j < length. Blocks of
// LANES x LANES elements, vectors of type V; `rest` does what is left. `past`: streaming stores of
// the widest vectors, to which `to` and its lines are aligned.
#define TRANSPOSE(transpose, V, LANES, PUT, rest)                                                  \
    static void NAME(transpose)(const T *restrict from, int64_t from_ld, int64_t lines,            \
                                int64_t length, T *restrict to, int64_t to_ld, bool past)          \
    {                                                                                              \
        typedef V vector;                                                                          \
        const int64_t whole_lines = lines / LANES * LANES, whole = length / LANES * LANES;         \
        for (int64_t j = 0; j < whole; j += LANES)                                                 \
            for (int64_t i = 0; i < whole_lines; i += LANES) {                                     \
                vector x[LANES];                                                                   \
                UNROLL for (int l = 0; l < LANES; l++) x[l] =                                      \
                    *(const V *)(from + (i + l) * from_ld + j);                                    \
                TRANSPOSE_STEPS_##LANES UNROLL for (int l = 0; l < LANES; l++)                     \
                {                                                                                  \
                    PUT((V *)(to + (j + l) * to_ld + i), x[l], past);                              \
                }                                                                                  \
            }                                                                                      \
        if (whole < length) NAME(rest)                                                             \
        (from + whole, from_ld, whole_lines, length - whole, to + whole * to_ld, to_ld, past);     \
        if (whole_lines < lines) NAME(rest)                                                        \
        (from + whole_lines * from_ld, from_ld, lines - whole_lines, length, to + whole_lines,     \
         to_ld, past);                                                                             \
    }
#endif

#if !CPU_HAS_SHUFFLE
#define transpose_single transpose
#endif
static void NAME(transpose_single)(const T *restrict from, int64_t from_ld, int64_t lines,
                                   int64_t length, T *restrict to, int64_t to_ld, bool past)
{
    (void)past;
    for (int64_t j = 0; j < length; j++)
        for (int64_t i = 0; i < lines; i++) to[j * to_ld + i] = from[i * from_ld + j];
}
#if !CPU_HAS_SHUFFLE
#elif T_BYTES == 4 && VECTOR == 64
TRANSPOSE(transpose_narrow, NAME(narrow), 4, PUT, transpose_single)
TRANSPOSE(transpose_middle, NAME(middle), 8, PUT, transpose_narrow)
TRANSPOSE(transpose, NAME(wide), 16, PUT_WIDE, transpose_middle)
#elif T_BYTES == 4 && VECTOR == 32
TRANSPOSE(transpose_narrow, NAME(narrow), 4, PUT, transpose_single)
TRANSPOSE(transpose, NAME(wide), 8, PUT_WIDE, transpose_narrow)
#elif T_BYTES == 4
TRANSPOSE(transpose, NAME(wide), 4, PUT_WIDE, transpose_single)
#elif VECTOR == 64
TRANSPOSE(transpose_narrow, NAME(narrow), 2, PUT, transpose_single)
TRANSPOSE(transpose_middle, NAME(middle), 4, PUT, transpose_narrow)
TRANSPOSE(transpose, NAME(wide), 8, PUT_WIDE, transpose_middle)
#elif VECTOR == 32
TRANSPOSE(transpose_narrow, NAME(narrow), 2, PUT, transpose_single)
TRANSPOSE(transpose, NAME(wide), 4, PUT_WIDE, transpose_narrow)
#else
TRANSPOSE(transpose, NAME(wide), 2, PUT_WIDE, transpose_single)
#endif
