// The inner loops. roof_cpu.c includes this file once per kind of processor.

// Four independent sums, so that additions overlap. `count` is a multiple of 32.
static uint64_t KIND_NAME(read_words)(const uint64_t *restrict p, int64_t count)
{
    typedef uint64_t words __attribute__((vector_size(VECTOR), aligned(8)));
    enum { WORDS = VECTOR / sizeof(uint64_t) };
    words a = {0}, b = a, c = a, d = a;
    const int64_t n = count / (4 * WORDS);
    const words *v = (const words *)p;
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; i++) a ^= v[i], b ^= v[i + n], c ^= v[i + 2 * n], d ^= v[i + 3 * n];
    a ^= b ^ c ^ d;
    uint64_t sum = 0;
    for (int w = 0; w < WORDS; w++) sum ^= a[w];
    return sum;
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
