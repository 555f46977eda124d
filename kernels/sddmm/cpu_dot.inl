// Dot product of two rows, included once per type and kind of processor.
#include "cpu_vector.inl"

// Adds the products of the vectors of type V at l, and moves l past them.
#undef DOT_STEP
#define DOT_STEP(sum, V)                                                                           \
    (sum += *(const V *)(x + l) * *(const V *)(y + l), l += (int64_t)(sizeof(V) / sizeof(T)))
// Returns the sum of both halves of a vector, of type V.
#undef DOT_FOLD
#define DOT_FOLD(sum, V) (((const V *)&(sum))[0] + ((const V *)&(sum))[1])

// Returns sum over l of x[l] * y[l]. The widest vectors have two sums in turn, as an addition waits
// for the addition before it. Reductions by `omp simd` cost gcc 12 up to 3 times the time for k = 1
// and 8.
CPU_INLINE T NAME(dot)(const T *restrict x, const T *restrict y, int64_t k)
{
    enum { LANES = VECTOR / sizeof(T), NARROW = 16 / sizeof(T) };
    int64_t l = 0;
    T sum = 0;
    if (k >= NARROW) {
        NAME(wide) even = {0}, odd = {0};
        while (l + 2 * LANES <= k) {
            DOT_STEP(even, NAME(wide));
            DOT_STEP(odd, NAME(wide));
        }
        if (l + LANES <= k) DOT_STEP(even, NAME(wide));
        even += odd;
#if VECTOR == 64
        NAME(middle) middle = DOT_FOLD(even, NAME(middle));
        if (l + 2 * NARROW <= k) DOT_STEP(middle, NAME(middle));
#elif VECTOR == 32
        NAME(middle) middle = even;
#endif
#if VECTOR > 16
        NAME(narrow) narrow = DOT_FOLD(middle, NAME(narrow));
        if (l + NARROW <= k) DOT_STEP(narrow, NAME(narrow));
#else
        NAME(narrow) narrow = even;
#endif
        UNROLL for (int i = 0; i < NARROW; i++) sum += narrow[i];
    }
    UNROLL for (int i = 1; i < NARROW; i++)
    {
        if (l < k) DOT_STEP(sum, T);
    }
    return sum;
}
