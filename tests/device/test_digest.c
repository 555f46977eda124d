// Digests of what lies on a device, and spots of it that are spoilt: on the CPU and, where there is
// one, on a CUDA device or the emulated one.
#include <math.h>
#include <stdlib.h>

#include "device/digest.h"
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

static struct digest digest(struct block *b)
{
    struct digest x;
    CHECK(!device_upload(b->d, b->v.p, b->host, b->bytes), "%s", fail_text());
    CHECK(!device_digest(b->d, &b->v, &x), "%s", fail_text());
    return x;
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
    struct digest first = digest(&b), again = digest(&b);
    CHECK(first.bits == again.bits && fabs(first.sum - again.sum) <= 1e-15 * first.size &&
              fabs(first.size - again.size) <= 1e-12 * first.size,
          "%d bytes: two digests of the same differ", s->width);
    for (int i = 0; i < 40; i++) {
        uint64_t random = random_at(9, (uint64_t)i);
        int64_t line = (int64_t)(random >> 8) % s->lines, e = (int64_t)(random >> 20) % s->length;
        int64_t at = (line * s->step + e) * s->width + (int64_t)(random >> 3) % s->width;
        b.host[at] ^= (unsigned char)(1 << (random & 7));
        CHECK(digest(&b).bits != first.bits, "width %d: bit %d of byte %lld does not count",
              s->width, (int)(random & 7), (long long)at);
        b.host[at] ^= (unsigned char)(1 << (random & 7));
    }
    for (int64_t l = 0; l < s->lines && s->step > s->length; l++)
        memset(b.host + (l * s->step + s->length) * s->width, 0x55,
               (size_t)((s->step - s->length) * s->width));
    CHECK(digest(&b).bits == first.bits, "what is between the lines counts");
    // Two elements that change places are another block.
    unsigned char one[8];
    memcpy(one, b.host, (size_t)s->width);
    memcpy(b.host, b.host + (s->length - 1) * s->width, (size_t)s->width);
    memcpy(b.host + (s->length - 1) * s->width, one, (size_t)s->width);
    bool same = s->length == 1 || !memcmp(one, b.host, (size_t)s->width);
    CHECK(same == (digest(&b).bits == first.bits), "width %d: the order does not count", s->width);
    block_free(&b);
}

// The digest is what digest_add() adds up, element by element; so backends agree.
static void test_definition(struct device *d, const struct shape *s)
{
    struct block b;
    block_make(d, s->lines, s->length, s->step, s->width, s->real, &b);
    struct digest x = digest(&b);
    struct device_view host = b.v;
    struct digest_part part = {0};
    host.p = b.host;
    for (int64_t q = 0; q < s->lines * s->length; q++) digest_add(&host, q, &part);
    struct digest y = digest_of(&part);
    CHECK(x.bits == y.bits, "width %d: other bits than the definition's", s->width);
    CHECK(fabs(x.sum - y.sum) <= 1e-15 * x.size && fabs(x.size - y.size) <= 1e-12 * x.size,
          "%s %.17g, by definition %.17g", d->id, x.sum, y.sum);
    block_free(&b);
}

static void swap(unsigned char *a, unsigned char *b, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++) {
        unsigned char kept = a[i];
        a[i] = b[i], b[i] = kept;
    }
}

// Two runs of elements that change places change the bits and the sum, also where they have the
// same slots of other blocks; so do two elements that lose their signs.
static void test_places(struct device *d, enum prec type)
{
    static const int64_t moved[][3] = {
        {0, 64, 64}, {10, 1000, 24}, {0, DIGEST_BLOCK, 1}, {7, 3 * DIGEST_BLOCK + 7, DIGEST_BLOCK}};
    struct block b;
    block_make(d, 1, PLACES, PLACES, (int)type_bytes(type), REAL_OF(type), &b);
    const int width = b.v.width;
    struct digest first = digest(&b);
    for (int i = 0; i < COUNT(moved); i++) {
        unsigned char *one = b.host + moved[i][0] * width, *other = b.host + moved[i][1] * width;
        swap(one, other, moved[i][2] * width);
        struct digest now = digest(&b);
        CHECK(now.bits != first.bits && fabs(now.sum - first.sum) > 1e-6, "row %d: %g", i,
              now.sum - first.sum);
        swap(one, other, moved[i][2] * width);
    }
    for (int i = 1; i < PLACES; i++) {
        b.host[width - 1] ^= 0x80, b.host[i * width + width - 1] ^= 0x80;
        if (i % 97 == 0) CHECK(digest(&b).bits != first.bits, "signs of elements 0 and %d", i);
        b.host[width - 1] ^= 0x80, b.host[i * width + width - 1] ^= 0x80;
    }
    block_free(&b);
}

// A change of one element by x changes the sum by x times its weight; NaN makes it NaN.
static void test_sum(struct device *d, const struct shape *s)
{
    struct block b;
    if (s->real == ONLY_BITS) return;
    block_make(d, s->lines, s->length, s->step, s->width, s->real, &b);
    struct digest first = digest(&b);
    CHECK(first.size > 0 && fabs(first.sum) <= first.size, "sum %g, size %g", first.sum,
          first.size);
    void *at = b.host + ((s->lines - 1) * s->step + s->length - 1) * s->width;
    const enum prec type = (enum prec)(s->real - 1);
    const double old = type_load(type, at, 0);
    type_store(type, at, 0, old + 0.25);
    const double more = type_load(type, at, 0) - old;
    double change = fabs(digest(&b).sum - first.sum) / more;
    CHECK(more > 0.2 && change > 0.49 && change < 1.01, "the sum changes by %g of %g", change,
          more);
    memset(at, 0xff, (size_t)s->width);
    CHECK(isnan(digest(&b).sum), "NaN does not show");
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

// Sums on both kinds of device agree, and bits too.
static void test_agree(struct device *d, const struct shape *s)
{
    struct device cpu;
    struct block here, there;
    CHECK(!device_open("cpu", &cpu), "%s", fail_text());
    block_make(d, s->lines, s->length, s->step, s->width, s->real, &here);
    block_make(&cpu, s->lines, s->length, s->step, s->width, s->real, &there);
    struct digest x = digest(&here), y = digest(&there);
    CHECK(x.bits == y.bits, "%s and the CPU have other bits", d->id);
    CHECK(fabs(x.sum - y.sum) <= 1e-15 * x.size && fabs(x.size - y.size) <= 1e-12 * x.size,
          "%s %.17g, CPU %.17g", d->id, x.sum, y.sum);
    block_free(&here);
    block_free(&there);
    device_close(&cpu);
}

static void test_device(const char *spec)
{
    struct device d;
    int err = device_open(spec, &d);
    CHECK(!err, "%s", err ? fail_text() : "");
    if (err) return;
    for (int i = 0; i < COUNT(shapes); i++) {
        test_bits(&d, &shapes[i]);
        test_sum(&d, &shapes[i]);
        test_spoil(&d, &shapes[i]);
        test_agree(&d, &shapes[i]);
        test_definition(&d, &shapes[i]);
    }
    for (int type = 0; type < TYPES; type++) test_places(&d, (enum prec)type);
    struct digest x = {1, 1, 1};
    struct device_view nothing = {NULL, 0, 3, 3, 4, REAL_OF(F32)};
    CHECK(!device_digest(&d, &nothing, &x) && !x.bits && x.sum == 0, "a digest of nothing");
    CHECK(!device_spoil(&d, &nothing, 1), "%s", fail_text());
    device_close(&d);
}

int main(void)
{
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        if (missing)
            SKIP("%s: %s", device_list[k].name, missing);
        else
            test_device(device_list[k].name);
    }
    return TEST_END();
}
