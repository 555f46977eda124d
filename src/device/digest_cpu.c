#include "device/digest_cpu.h"

#include "base/cpu_kind.h"

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
        const uint64_t random = mix_at(i);
        t->key[i] = t->wide_key[2 * i] = digest_slot_key(random, 0);
        t->wide_key[2 * i + 1] = digest_slot_key(random, 1);
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

#define KIND_BODY "device/digest_cpu.inl"
#include "base/each_kind.inl"

static uint64_t block_digest(const struct digest_table *t, const struct device_view *v,
                             int64_t number)
{
    union block b;
    const int64_t first = number * DIGEST_BLOCK;
    const int n = (int)min64(DIGEST_BLOCK, v->lines * v->length - first);
    const bool wide = v->width == 8, real = v->real != ONLY_BITS;
    block_load(v, first, n, &b);
    // -0 becomes 0: -0 + 0 is 0.
    for (int i = 0; i < n && real && v->width < 4; i++)
        if (type_load((enum prec)(v->real - 1), &b.word[i], 0) == 0) b.word[i] = 0;
    for (int i = 0; i < n && real && v->width == 4; i++) b.f32[i] += 0.0f;
    for (int i = 0; i < n && real && wide; i++) b.f64[i] += 0.0;
    return CPU_OF_KIND(sum_words)(b.word, wide ? t->wide_key : t->key, wide ? 2 * n : n) *
           digest_block_key(digest_block_random(number));
}

uint64_t digest_cpu(const struct digest_table *t, const struct device_view *v)
{
    const int64_t count = v->lines * v->length, blocks = (count + DIGEST_BLOCK - 1) / DIGEST_BLOCK;
    uint64_t bits = 0;
#pragma omp parallel for schedule(static) reduction(+ : bits) if (count * v->width > THREADS_FROM)
    for (int64_t i = 0; i < blocks; i++) bits += block_digest(t, v, i);
    return bits;
}
