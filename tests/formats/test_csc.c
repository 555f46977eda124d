// csc_transpose(): A^T in csr, and no memory for it.
#include "formats/csc.h"

#include "formats.h"
#include "csr_equal.h"
#include "test.h"

static struct device dev;

static struct sparse *make_csr(const struct csr *A)
{
    struct sparse *X;
    CHECK(!csr_place(&dev, A, F64, &X), "%s", fail_text());
    return X;
}

// [ 1 . 2 . ]
// [ . 3 . . ]
// [ 4 5 . 6 ]
static const struct csr small = {
    3, 4, 6, (int64_t[]){0, 2, 3, 6}, (int32_t[]){0, 2, 1, 0, 1, 3}, (double[]){1, 2, 3, 4, 5, 6}};

static void test_transpose(void)
{
    static int64_t ptr[] = {0, 2, 4, 5, 6};
    static int32_t idx[] = {0, 2, 1, 2, 0, 2};
    static double val[] = {1, 4, 3, 5, 2, 6};
    const struct csr want = {4, 3, 6, ptr, idx, val};
    struct sparse *A = make_csr(&small), *T;
    struct csr got;
    if (!A) return;
    int err = csc_transpose(&dev, A, &T);
    CHECK(!err && T->format == &format_csr && T->m == 4 && T->n == 3, "%s", fail_text());
    if (!err) {
        CHECK(!format_broken(T), "%s", format_broken(T));
        CHECK(!format_to_csr(T, &got) && csr_equal(&got, &want), "not the transpose");
        csr_free(&got);
        sparse_free(&dev, T);
    }
    mem_fail_at(1);
    CHECK(csc_transpose(&dev, A, &T) == ERR_MEMORY && !T, "a matrix without memory");
    mem_fail_at(0);
    sparse_free(&dev, A);
}

TESTS_ON_CPU(dev, test_transpose)
