#include "device/digest_cpu.h"

#include <math.h>

#define THREADS_FROM ((int64_t)256 << 10) // bytes; for fewer, starting threads takes longer

// The elements of a block, contiguous.
union block {
    uint32_t word[2 * DIGEST_BLOCK];
    float f32[DIGEST_BLOCK];
    double f64[DIGEST_BLOCK];
};

void digest_table_fill(struct digest_table *t)
{
    for (int i = 0; i < DIGEST_BLOCK; i++) {
        const uint64_t random = digest_random(i);
        t->key[i] = t->wide_key[2 * i] = digest_slot_key(random, 0);
        t->wide_key[2 * i + 1] = digest_slot_key(random, 1);
        t->weight[i] = digest_weight(random);
    }
}

// Copies `count` elements from `place` on.
static void block_load(const struct device_view *v, int64_t place, int count, union block *b)
{
    const char *from = v->p;
    for (int i = 0, n; i < count; i += n) {
        const int64_t left = v->length - (place + i) % v->length; // elements left in this line
        const char *p = from + digest_at(v, place + i) * v->width;
        n = (int)min64(count - i, left);
        switch (v->width) {
        case 1:
            for (int e = 0; e < n; e++) b->word[i + e] = ((const uint8_t *)p)[e];
            break;
        case 2:
            for (int e = 0; e < n; e++) b->word[i + e] = ((const uint16_t *)p)[e];
            break;
        default: memcpy((char *)b + i * v->width, p, (size_t)n * (size_t)v->width);
        }
    }
}

// Not for AVX-512: GCC 12 would use 64-bit multiplications, three operations instead of the one of
// AVX2.
CPU_CLONES_V3 static uint64_t sum_words(const uint32_t *restrict word, const uint32_t *restrict key,
                                        int n)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++) bits += (uint64_t)word[i] * key[i];
    return bits;
}

struct sums {
    double sum, size;
};

#define SUM_REALS(T)                                                                               \
    CPU_CLONES static struct sums sum_reals_##T(const T *restrict x,                               \
                                                const double *restrict weight, int n) {            \
        double sum = 0, size = 0;                                                                  \
        _Pragma("omp simd reduction(+ : sum, size)") for (int i = 0; i < n; i++)                   \
        {                                                                                          \
            const double y = (double)x[i] * weight[i];                                             \
            sum += y;                                                                              \
            size += fabs(y);                                                                       \
        }                                                                                          \
        return (struct sums){sum, size};                                                           \
    }
SUM_REALS(float)
SUM_REALS(double)

static void block_add(const struct digest_table *t, const struct device_view *v, int64_t number,
                      struct digest_part *part)
{
    union block b;
    const int64_t first = number * DIGEST_BLOCK;
    const int n = (int)min64(DIGEST_BLOCK, v->lines * v->length - first);
    const uint64_t random = digest_block_random(number);
    const double weight = digest_weight(random);
    block_load(v, first, n, &b);
    const uint64_t bits =
        v->width == 8 ? sum_words(b.word, t->wide_key, 2 * n) : sum_words(b.word, t->key, n);
    part->d.bits += bits * digest_block_key(random);
    if (!v->real) return;
    const struct sums s = v->width == 8 ? sum_reals_double(b.f64, t->weight, n)
                                        : sum_reals_float(b.f32, t->weight, n);
    digest_add_real(part, s.sum * weight, s.size * fabs(weight));
}

void digest_cpu(const struct digest_table *t, const struct device_view *v, struct digest *out)
{
    const int64_t count = v->lines * v->length, blocks = (count + DIGEST_BLOCK - 1) / DIGEST_BLOCK;
    uint64_t bits = 0;
    double sum = 0, size = 0;
#pragma omp parallel reduction(+ : bits, sum, size) if (count * v->width > THREADS_FROM)
    {
        struct digest_part part = {0};
#pragma omp for schedule(static)
        for (int64_t i = 0; i < blocks; i++) block_add(t, v, i, &part);
        const struct digest mine = digest_of(&part);
        bits += mine.bits, sum += mine.sum, size += mine.size;
    }
    *out = (struct digest){bits, sum, size};
}
