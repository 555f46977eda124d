// Digests of arrays on a device, spots that are spoilt and fetched, and changes of signs: on the
// CPU and, where there is one, on a CUDA device or the emulated one.
#include <stdlib.h>

#include "device/digest.h"
#include "device/signs.h"
#include "test.h"

#define PLACES 5000

// A view of numbers that are on the device, with a copy on the host.
struct block {
    struct device *d;
    struct device_view v;
    int64_t bytes;
    unsigned char *host;
};

static void block_make(struct device *d, int64_t lines, int64_t length, int64_t step, int width,
                       int real, struct block *b)
{
    *b = (struct block){.d = d, .bytes = lines * step * width};
    b->v = (struct device_view){NULL, lines, length, step, width, real};
    b->host = mem_alloc(b->bytes, 1);
    CHECK(b->host && !device_alloc(d, b->bytes, 1, &b->v.p), "%s", fail_text());
    if (!b->host || !b->v.p) exit(1);
    for (int64_t i = 0; i < lines * step; i++) {
        double x = random_value(7, (uint64_t)i);
        uint64_t word = random_at(8, (uint64_t)i);
        if (real == ONLY_BITS)
            memcpy(b->host + i * width, &word, (size_t)width);
        else
            type_store((enum prec)(real - 1), b->host, i, x);
    }
}

static void upload(struct block *b)
{
    CHECK(!device_upload(b->d, b->v.p, b->host, b->bytes), "%s", fail_text());
}

static uint64_t digest(struct block *b)
{
    uint64_t bits;
    upload(b);
    CHECK(!device_digest(b->d, &b->v, &bits), "%s", fail_text());
    return bits;
}

static void block_free(struct block *b)
{
    device_free(b->d, b->v.p);
    mem_free(b->host);
}

static const struct shape {
    int64_t lines, length, step;
    int width;
    int real;
} shapes[] = {{1, 1, 1, 4, REAL_OF(F32)},       {1, PLACES, PLACES, 4, REAL_OF(F32)},
              {40, 31, 33, 4, REAL_OF(F32)},    {40, 31, 33, 8, REAL_OF(F64)},
              {7, 100, 100, 8, REAL_OF(F64)},   {1, 4097, 4097, 1, ONLY_BITS},
              {1, 4097, 4097, 2, ONLY_BITS},    {1, 333, 333, 4, ONLY_BITS},
              {1, 333, 333, 8, ONLY_BITS},      {3, 70000, 70001, 4, REAL_OF(F32)},
              {5, 4097, 4100, 2, REAL_OF(F16)}, {1, 333, 333, 2, REAL_OF(BF16)}};

// Every bit counts, in every place; what lies between the lines does not.
static void test_bits(struct device *d, const struct shape *s)
{
    struct block b;
    block_make(d, s->lines, s->length, s->step, s->width, s->real, &b);
    const uint64_t first = digest(&b);
    CHECK(digest(&b) == first, "%d bytes: two digests of the same differ", s->width);
    for (int i = 0; i < 40; i++) {
        uint64_t random = random_at(9, (uint64_t)i);
        int64_t line = (int64_t)(random >> 8) % s->lines, e = (int64_t)(random >> 20) % s->length;
        int64_t at = (line * s->step + e) * s->width + (int64_t)(random >> 3) % s->width;
        b.host[at] ^= (unsigned char)(1 << (random & 7));
        CHECK(digest(&b) != first, "width %d: bit %d of byte %lld does not count", s->width,
              (int)(random & 7), (long long)at);
        b.host[at] ^= (unsigned char)(1 << (random & 7));
    }
    for (int64_t l = 0; l < s->lines && s->step > s->length; l++)
        memset(b.host + (l * s->step + s->length) * s->width, 0x55,
               (size_t)((s->step - s->length) * s->width));
    CHECK(digest(&b) == first, "what is between the lines counts");
    // Two elements that change places are another block.
    unsigned char one[8];
    memcpy(one, b.host, (size_t)s->width);
    memcpy(b.host, b.host + (s->length - 1) * s->width, (size_t)s->width);
    memcpy(b.host + (s->length - 1) * s->width, one, (size_t)s->width);
    bool same = s->length == 1 || !memcmp(one, b.host, (size_t)s->width);
    CHECK(same == (digest(&b) == first), "width %d: the order does not count", s->width);
    // Only the sign of a real zero does not count.
    memset(b.host, 0, (size_t)s->width);
    const uint64_t zero = digest(&b);
    b.host[s->width - 1] = 0x80;
    CHECK((digest(&b) == zero) == (s->real != ONLY_BITS), "width %d: -0", s->width);
    block_free(&b);
}

// The digest is the sum of digest_of() over the elements, so backends agree.
static void test_definition(struct device *d, const struct shape *s)
{
    struct block b;
    uint64_t sum = 0;
    block_make(d, s->lines, s->length, s->step, s->width, s->real, &b);
    struct device_view host = b.v;
    host.p = b.host;
    for (int64_t q = 0; q < s->lines * s->length; q++) sum += digest_of(&host, q);
    CHECK(digest(&b) == sum, "width %d: other bits than the definition's", s->width);
    block_free(&b);
}

static void swap(unsigned char *a, unsigned char *b, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++) {
        unsigned char kept = a[i];
        a[i] = b[i], b[i] = kept;
    }
}

// Two runs of elements that change places change the bits, also where they have the same slots of
// other blocks; so do two elements that lose their signs.
static void test_places(struct device *d, enum prec type)
{
    static const int64_t moved[][3] = {
        {0, 64, 64}, {10, 1000, 24}, {0, DIGEST_BLOCK, 1}, {7, 3 * DIGEST_BLOCK + 7, DIGEST_BLOCK}};
    struct block b;
    block_make(d, 1, PLACES, PLACES, (int)type_bytes(type), REAL_OF(type), &b);
    const int width = b.v.width;
    const uint64_t first = digest(&b);
    for (int i = 0; i < COUNT(moved); i++) {
        unsigned char *one = b.host + moved[i][0] * width, *other = b.host + moved[i][1] * width;
        swap(one, other, moved[i][2] * width);
        CHECK(digest(&b) != first, "row %d", i);
        swap(one, other, moved[i][2] * width);
    }
    for (int i = 97; i < PLACES; i += 97) {
        b.host[width - 1] ^= 0x80, b.host[i * width + width - 1] ^= 0x80;
        CHECK(digest(&b) != first, "signs of elements 0 and %d", i);
        b.host[width - 1] ^= 0x80, b.host[i * width + width - 1] ^= 0x80;
    }
    block_free(&b);
}

// Spoilt are as many elements as it says, none between the lines, and others with another seed.
static void test_spoil(struct device *d, const struct shape *s)
{
    struct block b;
    int64_t spoilt[2] = {0, 0}, both = 0, outside = 0, count = s->lines * s->length;
    block_make(d, s->lines, s->length, s->step, s->width, ONLY_BITS, &b);
    unsigned char *seen = mem_zero_alloc(b.bytes, 1);
    for (int seed = 0; seed < 2 && seen; seed++) {
        memset(b.host, 0, (size_t)b.bytes);
        CHECK(!device_upload(d, b.v.p, b.host, b.bytes), "%s", fail_text());
        CHECK(!device_spoil(d, &b.v, (uint64_t)seed), "%s", fail_text());
        CHECK(!device_download(d, b.host, b.v.p, b.bytes), "%s", fail_text());
        for (int64_t i = 0; i < s->lines * s->step; i++) {
            if (!b.host[i * s->width]) continue;
            for (int w = 0; w < s->width; w++)
                CHECK(b.host[i * s->width + w] == 0xff, "a part of an element");
            outside += i % s->step >= s->length;
            both += seed && seen[i];
            seen[i] = 1;
            spoilt[seed]++;
        }
    }
    CHECK(!outside, "%lld between the lines", (long long)outside);
    if (count <= DEVICE_SPOTS)
        CHECK(spoilt[0] == count, "%lld of %lld", (long long)spoilt[0], (long long)count);
    else
        CHECK(spoilt[0] > DEVICE_SPOTS / 2 && spoilt[0] <= DEVICE_SPOTS && both < spoilt[1] * 3 / 4,
              "%lld and %lld of %lld, %lld twice", (long long)spoilt[0], (long long)spoilt[1],
              (long long)count, (long long)both);
    mem_free(seen);
    block_free(&b);
}

// The fetched elements are those that are spoilt with the same seed, in the order of the spots.
static void test_fetch(struct device *d, const struct shape *s)
{
    struct block b;
    unsigned char got[DEVICE_SPOTS * 8 + 1];
    block_make(d, s->lines, s->length, s->step, s->width, s->real, &b);
    for (uint64_t seed = 1; seed < 4; seed++) {
        const int64_t count = digest_spots(&b.v), bytes = count * s->width;
        int64_t wrong = 0;
        upload(&b);
        got[bytes] = 0x5a;
        CHECK(!device_fetch(d, &b.v, seed, got), "%s", fail_text());
        for (int64_t x = 0; x < count; x++)
            wrong += !!memcmp(got + x * s->width, b.host + digest_spot(&b.v, seed, x) * s->width,
                              (size_t)s->width);
        CHECK(!wrong && got[bytes] == 0x5a, "%lld of %lld spots", (long long)wrong,
              (long long)count);
        CHECK(!device_spoil(d, &b.v, seed), "%s", fail_text());
        CHECK(!device_fetch(d, &b.v, seed, got), "%s", fail_text());
        for (int64_t x = 0; x < bytes; x++) wrong += got[x] != 0xff;
        CHECK(!wrong && got[bytes] == 0x5a, "%lld bytes are not spoilt", (long long)wrong);
        CHECK(!device_fetch(d, &b.v, seed + 9, got), "%s", fail_text());
        for (int64_t x = 0; x < bytes; x++) wrong += got[x] != 0xff;
        CHECK(count < DEVICE_SPOTS || wrong > bytes / 4, "the spots do not depend on the seed");
    }
    block_free(&b);
}

#define KEY_A 0x123456789abcdefu
#define KEY_B 0xfedcba987654321u
// Signs without a key, by a key, by another one, by the same again, by the first, and without.
static const uint64_t keys[] = {0, KEY_A, KEY_B, KEY_B, KEY_A, 0};

// Returns true if the element at `place` is not the host's, with another sign if `flip`.
static bool differs(const struct block *b, const unsigned char *now, int64_t place, bool flip)
{
    unsigned char want[8];
    const int width = b->v.width;
    memcpy(want, b->host + place * width, (size_t)width);
    want[width - 1] ^= (unsigned char)(flip << 7);
    return memcmp(want, now + place * width, (size_t)width);
}

// Elements have the signs of sign_of_dense(), by row or by column. What lies between the lines
// stays.
static void test_dense(struct device *d, const struct shape *s, bool by_column)
{
    struct block b;
    block_make(d, s->lines, s->length, s->step, s->width, ONLY_BITS, &b);
    unsigned char *now = mem_alloc(b.bytes, 1);
    upload(&b);
    for (int k = 1; k < COUNT(keys) && now; k++) {
        const struct device_signs_dense signs = {b.v, by_column, keys[k - 1], keys[k]};
        int64_t wrong = 0;
        CHECK(!d->ops->sign_dense(d, &signs), "%s", fail_text());
        CHECK(!device_download(d, now, b.v.p, b.bytes), "%s", fail_text());
        for (int64_t place = 0; place < s->lines * s->step; place++) {
            const int64_t line = place / s->step, e = place % s->step;
            wrong += differs(&b, now, place,
                             e < s->length && sign_of_dense(keys[k], by_column ? e : line,
                                                            by_column ? line : e));
        }
        CHECK(!wrong, "width %d, key %d, by column %d: %lld elements", s->width, k, by_column,
              (long long)wrong);
    }
    mem_free(now);
    block_free(&b);
}

#define ROWS   90
#define COLS   70
#define BESIDE 8 // values behind those of the matrix
// Values of a matrix in CSR, or of its transpose, have the signs of sign_of_sparse(); those beside
// stay.
static void test_sparse(struct device *d, int width, bool transposed, int ptr_bytes, bool broken)
{
    const int m = transposed ? COLS : ROWS, n = transposed ? ROWS : COLS;
    static int32_t ptr[ROWS + 1], idx[ROWS * COLS], row[ROWS * COLS];
    int64_t wide[ROWS + 1], nnz = 0;
    void *ptr_dev, *idx_dev;
    struct block b;
    for (int i = 0; i < m; i++, ptr[i] = (int32_t)nnz)
        for (int j = 0; j < n; j++)
            if (random_at(3, (uint64_t)(transposed ? j * COLS + i : i * COLS + j)) % 4 == 0 &&
                i % 9)
                row[nnz] = i, idx[nnz++] = j;
    if (broken) ptr[1] = -7, ptr[5] = (int32_t)nnz + 99; // rows 0 and 4 overlap others
    for (int i = 0; i <= m; i++) wide[i] = ptr[i];
    block_make(d, 1, nnz + BESIDE, nnz + BESIDE, width, ONLY_BITS, &b);
    unsigned char *now = mem_alloc(b.bytes, 1);
    upload(&b);
    CHECK(now && !device_place(d, idx, nnz, sizeof *idx, &idx_dev) &&
              !device_place(d, ptr_bytes == 8 ? (void *)wide : ptr, m + 1, (size_t)ptr_bytes,
                            &ptr_dev),
          "%s", fail_text());
    for (int k = 1; k < COUNT(keys) && now; k++) {
        const struct device_signs_sparse signs = {keys[k - 1], keys[k], m,     nnz,  ptr_dev,
                                                  ptr_bytes,   idx_dev, b.v.p, width};
        int64_t wrong = 0;
        CHECK(!d->ops->sign_sparse(d, &signs), "%s", fail_text());
        CHECK(!device_download(d, now, b.v.p, b.bytes), "%s", fail_text());
        for (int64_t q = broken ? nnz : 0; q < nnz + BESIDE; q++)
            wrong += differs(&b, now, q,
                             q < nnz && (transposed ? sign_of_sparse(keys[k], idx[q], row[q])
                                                    : sign_of_sparse(keys[k], row[q], idx[q])));
        CHECK(!wrong, "width %d, key %d, transposed %d, starts of %d: %lld values", width, k,
              transposed, ptr_bytes, (long long)wrong);
    }
    device_free(d, ptr_dev);
    device_free(d, idx_dev);
    mem_free(now);
    block_free(&b);
}

// Half of the signs change, also of those whose three neighbours in a rectangle are known. Without
// a key none changes. A transpose has the transposed signs.
static void test_random(void)
{
    int64_t dense[2] = {0, 0}, sparse[2] = {0, 0}, none = 0, unlike = 0;
    for (int64_t i = 0; i < 100; i++)
        for (int64_t j = 0; j < 200; j++) {
            bool d = sign_of_dense(KEY_A, i, j), s = sign_of_sparse(KEY_A, i, j);
            dense[0] += d, sparse[0] += s;
            dense[1] += d ^ sign_of_dense(KEY_A, i + 100, j) ^ sign_of_dense(KEY_A, i, j + 200) ^
                        sign_of_dense(KEY_A, i + 100, j + 200);
            sparse[1] += s ^ sign_of_sparse(KEY_A, i + 100, j) ^ sign_of_sparse(KEY_A, i, j + 200) ^
                         sign_of_sparse(KEY_A, i + 100, j + 200);
            none += sign_of_dense(0, i, j) + sign_of_sparse(0, i, j);
            unlike += s != sign_of_sparse(KEY_A, j, i);
        }
    for (int x = 0; x < 2; x++)
        CHECK(llabs(dense[x] - 10000) < 600 && llabs(sparse[x] - 10000) < 600, "%lld and %lld",
              (long long)dense[x], (long long)sparse[x]);
    CHECK(!none && !unlike, "%lld without a key, %lld unlike the transpose", (long long)none,
          (long long)unlike);
}

static void test_device(const char *spec)
{
    struct device d;
    int err = device_open(spec, &d);
    CHECK(!err, "%s", err ? fail_text() : "");
    if (err) return;
    for (int i = 0; i < COUNT(shapes); i++) {
        test_bits(&d, &shapes[i]);
        test_spoil(&d, &shapes[i]);
        test_fetch(&d, &shapes[i]);
        test_definition(&d, &shapes[i]);
        for (int by_column = 0; by_column < 2; by_column++) test_dense(&d, &shapes[i], by_column);
    }
    for (int type = 0; type < TYPES; type++) test_places(&d, (enum prec)type);
    for (int x = 0; x < 32; x++) test_sparse(&d, 1 << x % 4, x & 4, x & 8 ? 8 : 4, x & 16);
    uint64_t x = 1;
    struct device_view nothing = {NULL, 0, 3, 3, 4, REAL_OF(F32)};
    CHECK(!device_digest(&d, &nothing, &x) && !x, "a digest of nothing");
    CHECK(!device_spoil(&d, &nothing, 1), "%s", fail_text());
    device_close(&d);
}

int main(void)
{
    test_random();
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (missing)
            SKIP("%s: %s", device_list[k].name, missing);
        else
            test_device(device_list[k].name);
    }
    return TEST_END();
}
