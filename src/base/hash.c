#include "base/hash.h"

#include <string.h>

#include "base/mix.h"

// The threads hash pieces of the data. Then the hashes of the pieces are joined in order.
#define PIECE  ((int64_t)1 << 20)
#define LANES  4 // independent chains, so that multiplications overlap
#define STRIPE ((int64_t)(LANES * sizeof(uint64_t)))
#define GROUP  64 // pieces hashed before their hashes are joined

// Odd constants of xxHash. A round maps states one to one, so two different words always give
// different states.
#define PRIME_1 0x9e3779b185ebca87u
#define PRIME_2 0xc2b2ae3d27d4eb4fu

static inline uint64_t round_of(uint64_t state, uint64_t word)
{
    state += word * PRIME_2;
    return (state << 31 | state >> 33) * PRIME_1;
}

struct hash hash_join(struct hash x, struct hash y)
{
    uint64_t a = mix(x.a * PRIME_1 + y.a), b = mix(x.b * PRIME_2 + y.b);
    return (struct hash){mix(a + (b << 32 | b >> 32)), mix(b ^ a * PRIME_2)};
}

bool hash_equal(struct hash x, struct hash y) { return x.a == y.a && x.b == y.b; }

static struct hash hash_piece(const char *p, int64_t bytes)
{
    uint64_t lane[LANES] = {PRIME_1, PRIME_2, ~PRIME_1, ~PRIME_2}, word[LANES];
    int64_t i = 0;
    for (; i + STRIPE <= bytes; i += STRIPE) {
        memcpy(word, p + i, sizeof word);
        for (int l = 0; l < LANES; l++) lane[l] = round_of(lane[l], word[l]);
    }
    if (i < bytes) {
        memset(word, 0, sizeof word);
        memcpy(word, p + i, (size_t)(bytes - i));
        for (int l = 0; l < LANES; l++) lane[l] = round_of(lane[l], word[l]);
    }
    // The length tells apart data that differ only in zeros at the end.
    struct hash first = {mix(lane[0]), mix(lane[1])}, second = {mix(lane[2]), mix(lane[3])};
    return hash_join(hash_join(first, second), (struct hash){(uint64_t)bytes, ~(uint64_t)bytes});
}

struct hash hash_bytes(const void *data, int64_t bytes)
{
    const char *p = data;
    struct hash all = {(uint64_t)bytes, PRIME_1}, some[GROUP];
    for (int64_t start = 0; start < bytes; start += GROUP * PIECE) {
        int64_t left = bytes - start, count = min64((left + PIECE - 1) / PIECE, GROUP);
#pragma omp parallel for schedule(dynamic, 1) if (count > 1)
        for (int64_t i = 0; i < count; i++)
            some[i] = hash_piece(p + start + i * PIECE, min64(left - i * PIECE, PIECE));
        for (int64_t i = 0; i < count; i++) all = hash_join(all, some[i]);
    }
    return all;
}
