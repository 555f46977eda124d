// check() of csr, coo and tilecols: it names each invariant that is broken. Those of the other
// formats are in test_<format>.c.
#include <stddef.h>

#include "formats/coo.h"
#include "formats/csr.h"
#include "formats/tile16.h"
#include "test.h"

static struct device dev;

// A field of a format's struct, or an element of an array that it points to, and what is written
// there.
struct breakage {
    size_t offset, size;
    int64_t at; // element of the array, -1: the field itself
    int64_t value;
    const char *want;
};
#define FIELD(type, name, value, want)                                                             \
    {                                                                                              \
        offsetof(struct type, name), sizeof((struct type *)0)->name, -1, value, want               \
    }
#define ELEMENT(type, name, at, value, want)                                                       \
    {                                                                                              \
        offsetof(struct type, name), sizeof *((struct type *)0)->name, at, value, want             \
    }
#define NO_ARRAY(type, name) FIELD(type, name, 0, "missing array")
#define CSR_START(at, value, want)                                                                 \
    {                                                                                              \
        offsetof(struct csr_dev, ptr), sizeof(int64_t), at, value, want                            \
    }

// [ 1 . 2 . ]
// [ . 3 . . ]
// [ 4 5 . 6 ]
static struct csr small = {
    3, 4, 6, (int64_t[]){0, 2, 3, 6}, (int32_t[]){0, 2, 1, 0, 1, 3}, (double[]){1, 2, 3, 4, 5, 6}};

static const struct breakage csr_breakages[] = {
    FIELD(csr_dev, m, -1, "negative size"),
    FIELD(csr_dev, n, -1, "negative size"),
    FIELD(csr_dev, nnz, -1, "negative size"),
    FIELD(csr_dev, ptr_bytes, 0, "ptr_bytes is neither 4 nor 8"),
    FIELD(csr_dev, ptr_bytes, 5, "ptr_bytes is neither 4 nor 8"),
    NO_ARRAY(csr_dev, ptr),
    NO_ARRAY(csr_dev, idx),
    NO_ARRAY(csr_dev, val),
    CSR_START(0, 1, "ptr[0] is not 0"),
    CSR_START(3, 5, "ptr[m] is not nnz"),
    FIELD(csr_dev, nnz, 5, "ptr[m] is not nnz"),
    CSR_START(1, -1, "ptr descends"),
    CSR_START(2, 1, "ptr descends"),
    CSR_START(2, 7, "ptr descends"),
    ELEMENT(csr_dev, idx, 0, -1, "column outside the matrix"),
    ELEMENT(csr_dev, idx, 5, 4, "column outside the matrix"),
    FIELD(csr_dev, n, 3, "column outside the matrix"),
    ELEMENT(csr_dev, idx, 1, 0, "columns not ascending"),
    ELEMENT(csr_dev, idx, 5, 0, "columns not ascending"),
    {0},
};

static const struct breakage coo_breakages[] = {
    FIELD(coo_dev, m, -1, "negative size"),
    FIELD(coo_dev, n, -1, "negative size"),
    FIELD(coo_dev, nnz, -1, "negative size"),
    NO_ARRAY(coo_dev, row),
    NO_ARRAY(coo_dev, col),
    NO_ARRAY(coo_dev, val),
    ELEMENT(coo_dev, row, 0, -1, "row outside the matrix"),
    ELEMENT(coo_dev, row, 5, 3, "row outside the matrix"),
    FIELD(coo_dev, m, 2, "row outside the matrix"),
    ELEMENT(coo_dev, col, 0, -1, "column outside the matrix"),
    ELEMENT(coo_dev, col, 5, 4, "column outside the matrix"),
    FIELD(coo_dev, n, 3, "column outside the matrix"),
    ELEMENT(coo_dev, row, 0, 1, "rows descend"),
    ELEMENT(coo_dev, row, 5, 1, "rows descend"),
    ELEMENT(coo_dev, row, 2, 0, "columns not ascending"),
    ELEMENT(coo_dev, col, 1, 0, "columns not ascending"),
    ELEMENT(coo_dev, col, 5, 1, "columns not ascending"),
    {0},
};

// Tiles (0, 0), (1, 0) and (0, 1): see make_tiled().
static const struct breakage tilecols_breakages[] = {
    ELEMENT(tilecols, ptr, 1, 4, "ptr descends"),
    FIELD(tilecols, n, 16, "tile columns do not cover n"),
    FIELD(tilecols, n, 33, "tile columns do not cover n"),
    FIELD(tilecols, tile_n, 1, "tile columns do not cover n"),
    NO_ARRAY(tilecols, ptr),
    NO_ARRAY(tilecols, row),
    NO_ARRAY(tilecols, tile),
    NO_ARRAY(tilecols, used),
    ELEMENT(tilecols, ptr, 0, 1, "ptr[0] is not 0"),
    ELEMENT(tilecols, ptr, 2, 2, "ptr[tile_n] is not tiles"),
    FIELD(tilecols, tiles, 2, "ptr[tile_n] is not tiles"),
    ELEMENT(tilecols, ptr, 1, -1, "ptr descends"),
    ELEMENT(tilecols, row, 0, -1, "tile row outside the matrix"),
    ELEMENT(tilecols, row, 1, 2, "tile row outside the matrix"),
    FIELD(tilecols, m, 16, "tile row outside the matrix"),
    ELEMENT(tilecols, tile, 0, -1, "tile outside the matrix"),
    ELEMENT(tilecols, tile, 2, 3, "tile outside the matrix"),
    ELEMENT(tilecols, used, 0, 0, "an empty tile"),
    ELEMENT(tilecols, used, 2, 0, "an empty tile"),
    ELEMENT(tilecols, row, 1, 0, "tile rows not ascending"),
    ELEMENT(tilecols, tile, 1, 0, "tiles not ascending"),
    {0},
};

static void check_breakage(struct sparse *X, const struct breakage *b)
{
    char *field = (char *)X + b->offset, *place = field;
    char kept[sizeof(int64_t)];
    if (b->at >= 0) {
        memcpy(&place, field, sizeof place);
        place += b->at * (int64_t)b->size;
    }
    memcpy(kept, place, b->size);
    memcpy(place, &b->value, b->size); // the low bytes come first
    const char *broken = X->format->check(X);
    CHECK(broken && !strcmp(broken, b->want), "%s: got \"%s\", want \"%s\"", X->format->name,
          broken ? broken : "nothing", b->want);
    memcpy(place, kept, b->size);
    broken = X->format->check(X);
    CHECK(!broken, "%s: not mended after \"%s\": %s", X->format->name, b->want, broken);
}

// Breaks one invariant after the other, and frees the matrix.
static void check_breakages(struct sparse *X, const struct breakage *list)
{
    if (!X) return;
    CHECK(!X->format->check(X), "%s: %s", X->format->name, X->format->check(X));
    for (; list->want; list++) check_breakage(X, list);
    sparse_free(&dev, X);
}

static struct sparse *make_csr(const struct csr *A)
{
    struct sparse *X;
    double ms;
    CHECK(!csr_place(&dev, A, F64, &ms, &X), "%s", fail_text());
    return X;
}

// Frees what it is made from.
static struct sparse *make_from(struct sparse *from, const struct format *format)
{
    struct sparse *X = NULL;
    CHECK(from && !sparse_make(&dev, format, from, NULL, &X), "%s", fail_text());
    sparse_free(&dev, from);
    return X;
}

// Row starts of 32 bits, as devices have them, in place of 64.
static struct sparse *make_narrow(void)
{
    struct sparse *X = make_csr(&small);
    struct csr_dev *A = (struct csr_dev *)X;
    if (!X) return NULL;
    int32_t starts[] = {0, 2, 3, 6};
    A->ptr_bytes = 4;
    memcpy(A->ptr, starts, sizeof starts);
    return X;
}

static const struct breakage narrow_breakages[] = {
    {offsetof(struct csr_dev, ptr), sizeof(int32_t), 0, 1, "ptr[0] is not 0"},
    {offsetof(struct csr_dev, ptr), sizeof(int32_t), 3, 5, "ptr[m] is not nnz"},
    {offsetof(struct csr_dev, ptr), sizeof(int32_t), 2, 1, "ptr descends"},
    {0},
};

// An 18 x 20 matrix:  (0, 0) (0, 16) | (17, 2).
static struct sparse *make_tiled(void)
{
    int64_t ptr[19];
    int32_t idx[] = {0, 16, 2};
    double val[] = {1, 2, 3};
    struct csr A = {18, 20, 3, ptr, idx, val};
    for (int i = 0; i <= A.m; i++) ptr[i] = i == 0 ? 0 : i < A.m ? 2 : 3;
    return make_from(make_from(make_csr(&A), &format_tile16), &format_tilecols);
}

int main(void)
{
    CHECK(!device_open("cpu", &dev), "%s", fail_text());
    check_breakages(make_csr(&small), csr_breakages);
    check_breakages(make_narrow(), narrow_breakages);
    check_breakages(make_from(make_csr(&small), &format_coo), coo_breakages);
    check_breakages(make_tiled(), tilecols_breakages);
    CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
