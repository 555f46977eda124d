// The inner loops. roof_fma.c includes this file once per kind of processor.

// Processors without vectors of 32 or 64 bytes are measured with an array in the L1.
#define FMA_ARRAY(T)                                                                               \
    static double KIND_NAME(multiply_add_##T)(void *lanes, double factor, double term)             \
    {                                                                                              \
        T *x = lanes;                                                                              \
        const T a = (T)factor, b = (T)term;                                                        \
        for (int r = 0; r < ROUNDS / 64; r++) {                                                    \
            for (int i = 0; i < ROOF_FMA_LANES; i++) {                                             \
                T y = x[i];                                                                        \
                y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                        \
                y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                        \
                x[i] = y;                                                                          \
            }                                                                                      \
            keep_elements(x); /* keeps the compiler from merging rounds */                         \
        }                                                                                          \
        return 2.0 * 8 * ROOF_FMA_LANES * (ROUNDS / 64);                                           \
    }
// Independent chains of vectors in registers hide the latency of two units. The fastest vector
// width depends on the processor, so both are tried.
#define FMA_CHAINS(T, SIZE)                                                                        \
    static double KIND_NAME(multiply_add_##T##SIZE)(void *lanes, double factor, double term)       \
    {                                                                                              \
        T##SIZE y[CHAINS], *x = lanes;                                                             \
        const T a = (T)factor, b = (T)term;                                                        \
        for (int c = 0; c < CHAINS; c++) y[c] = x[c];                                              \
        for (int r = 0; r < ROUNDS; r++)                                                           \
            for (int c = 0; c < CHAINS; c++) y[c] = y[c] * a + b;                                  \
        for (int c = 0; c < CHAINS; c++) x[c] = y[c];                                              \
        keep_elements(x);                                                                          \
        return 2.0 * CHAINS * ROUNDS * (SIZE / sizeof(T));                                         \
    }
FMA_ARRAY(float)
FMA_ARRAY(double)
FMA_CHAINS(float, 32)
FMA_CHAINS(float, 64)
FMA_CHAINS(double, 32)
FMA_CHAINS(double, 64)
#undef FMA_ARRAY
#undef FMA_CHAINS

static const multiply_add KIND_NAME(multiply_adds)[2][ROOF_FMA_SHAPES] = {
    [F32] = {KIND_NAME(multiply_add_float32), KIND_NAME(multiply_add_float64),
             KIND_NAME(multiply_add_float)},
    [F64] = {KIND_NAME(multiply_add_double32), KIND_NAME(multiply_add_double64),
             KIND_NAME(multiply_add_double)}};
