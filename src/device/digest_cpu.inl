// The sum of a block. digest_cpu.c includes this file once per kind of processor.

static uint64_t KIND_NAME(sum_words)(const uint32_t *restrict word, const uint32_t *restrict key,
                                     int n)
{
#if VECTOR == 64
    // GCC 12 would use 64-bit multiplications, three operations instead of the one of AVX2.
    return sum_words_avx2(word, key, n);
#else
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) bits += (uint64_t)word[i] * key[i];
    return bits;
#endif
}
