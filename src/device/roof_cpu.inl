// The inner loops. roof_cpu.c includes this file once per kind of processor.

// Four independent sums, so that additions overlap.
static uint64_t KIND_NAME(read_words)(const uint64_t *restrict p, int64_t count)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    int64_t n = count / 4;
    for (int64_t i = 0; i < n; i++) a ^= p[i], b ^= p[i + n], c ^= p[i + 2 * n], d ^= p[i + 3 * n];
    return a ^ b ^ c ^ d;
}

// Defines a reader of rows of PARTS quads. Two independent sums, so that operations overlap. The
// random sequence does not depend on loads, so the processor has as many loads in flight as it can.
#define GATHER(PARTS)                                                                              \
    static uint64_t KIND_NAME(gather_##PARTS)(const char *block, uint32_t rows, uint64_t x,        \
                                              int64_t count)                                       \
    {                                                                                              \
        quad even = {0}, odd = {0};                                                                \
        for (int64_t n = 0; n < count; n++) {                                                      \
            const quad *row = (const quad *)block + (int64_t)roof_random_row(x, rows) * PARTS;     \
            x = roof_random_next(x);                                                               \
            for (int i = 0; i < PARTS; i += 2) even ^= row[i];                                     \
            for (int i = 1; i < PARTS; i += 2) odd ^= row[i];                                      \
        }                                                                                          \
        even ^= odd;                                                                               \
        return even[0] ^ even[1] ^ even[2] ^ even[3];                                              \
    }
GATHER(1)
GATHER(2)
GATHER(4)
GATHER(8)
GATHER(16)
#undef GATHER

static const row_reader KIND_NAME(row_readers)[ROOF_ROWS] = {
    KIND_NAME(gather_1), KIND_NAME(gather_2), KIND_NAME(gather_4), KIND_NAME(gather_8),
    KIND_NAME(gather_16)};

// Multiply-adds x = x * a + b, which stay finite for a < 1. Twelve independent chains of vectors in
// registers hide the latency of two units. The fastest vector width depends on the processor, so
// both are tried. Processors without these vectors are measured with an array in the L1.
#define FMA_LANES(T)                                                                               \
    static double KIND_NAME(multiply_add_##T)(T *restrict x, T a, T b)                             \
    {                                                                                              \
        for (int r = 0; r < FMA_ROUNDS / 64; r++) {                                                \
            for (int i = 0; i < LANES; i++) {                                                      \
                T y = x[i];                                                                        \
                y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                        \
                y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                        \
                x[i] = y;                                                                          \
            }                                                                                      \
            __asm__ volatile("" ::: "memory"); /* keeps the compiler from merging rounds */        \
        }                                                                                          \
        return 2.0 * 8 * LANES * (FMA_ROUNDS / 64);                                                \
    }
#define FMA_CHAINS(T, SIZE)                                                                        \
    static double KIND_NAME(multiply_add_##T##SIZE)(T *restrict x, T a, T b)                       \
    {                                                                                              \
        T##SIZE y[CHAINS];                                                                         \
        for (int c = 0; c < CHAINS; c++) y[c] = x[c] - (T##SIZE){0};                               \
        for (int r = 0; r < FMA_ROUNDS; r++)                                                       \
            for (int c = 0; c < CHAINS; c++) y[c] = y[c] * a + b;                                  \
        for (int c = 0; c < CHAINS; c++) x[c] = y[c][0];                                           \
        return 2.0 * CHAINS * FMA_ROUNDS * (SIZE / sizeof(T));                                     \
    }
FMA_LANES(float)
FMA_LANES(double)
FMA_CHAINS(float, 32)
FMA_CHAINS(float, 64)
FMA_CHAINS(double, 32)
FMA_CHAINS(double, 64)
#undef FMA_LANES
#undef FMA_CHAINS
