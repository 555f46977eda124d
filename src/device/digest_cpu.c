#include "device/digest_cpu.h"

#include "base/cpu_kind.h"

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

struct sums {
    double sum, size;
};

#define KIND_BODY "device/digest_cpu.inl"
#include "base/each_kind.inl"

// Sets `values` to the numbers that the words stand for. Clears the sign of zeros in the words.
static void halves_widen(enum prec type, int n, union block *b, float *values)
{
    for (int i = 0; i < n; i++) {
        values[i] = (float)type_load(type, &b->word[i], 0);
        if (values[i] == 0) b->word[i] = 0;
    }
}

static void block_add(const struct digest_table *t, const struct device_view *v, int64_t number,
                      struct digest_part *part)
{
    union block b;
    float values[DIGEST_BLOCK]; // of elements of fewer bits than f32
    const int64_t first = number * DIGEST_BLOCK;
    const int n = (int)min64(DIGEST_BLOCK, v->lines * v->length - first);
    const uint64_t random = digest_block_random(number);
    const double weight = digest_weight(random);
    block_load(v, first, n, &b);
    const bool wide = v->width == 8, real = v->real != ONLY_BITS;
    if (v->width < 4 && real) halves_widen((enum prec)(v->real - 1), n, &b, values);
    // -0 + 0 is 0.
    for (int i = 0; i < n && real && wide; i++) b.f64[i] += 0.0;
    for (int i = 0; i < n && real && v->width == 4; i++) b.f32[i] += 0.0f;
    const uint64_t bits =
        CPU_OF_KIND(sum_words)(b.word, wide ? t->wide_key : t->key, wide ? 2 * n : n);
    part->d.bits += bits * digest_block_key(random);
    if (!real) return;
    const struct sums s =
        wide ? CPU_OF_KIND(sum_reals_double)(b.f64, t->weight, n)
             : CPU_OF_KIND(sum_reals_float)(v->width < 4 ? values : b.f32, t->weight, n);
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
