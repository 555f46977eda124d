// Paths of `tsparse` on CUDA that the table of cases does not show: pairs that are left out, sums
// of 0 that are left out of C, and inputs that are not finite.
#include "cases.h"

static struct device dev;

// Entries of a 24 x 24 matrix, by rows. Rows 1 and 2 are equal in columns 8 and 9, and cancel in
// row 0 of A * A: tile (0, 1) of C is empty.
static const struct entry {
    int32_t i, j;
    double x;
} entries[] = {{0, 1, 3}, {0, 2, -3}, {1, 8, 5},  {1, 9, 7},
               {2, 8, 5}, {2, 9, 7},  {2, 17, 2}, {8, 0, 1}};

static int make_matrix(struct csr *A)
{
    int err = csr_alloc(A, 24, 24, COUNT(entries));
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    int64_t p = 0;
    for (int32_t i = 0; i < A->m; i++) {
        A->ptr[i] = p;
        for (; p < A->nnz && entries[p].i == i; p++)
            A->idx[p] = entries[p].j, A->val[p] = entries[p].x;
    }
    A->ptr[A->m] = p;
    return OK;
}

static struct outcome run(const struct csr *A, enum prec prec)
{
    const struct op *op = op_find("spgemm");
    const struct algo_entry *e = algo_find(op, "tsparse", DEVICE_CUDA);
    double opt[PARAMS_MAX] = {0};
    struct inputs in;
    int err = inputs_make(&in, &dev, op, A, prec, (int64_t[AXES_MAX]){0}, true, 0);
    CHECK(!err, "%s", fail_text());
    if (err) return (struct outcome){.err = err};
    struct outcome out = case_run(&in, e, opt, CHECK_FULL);
    CHECK(!out.err && !out.left, "%s: %s, %lld bytes left", prec_name(prec),
          out.err ? fail_text() : "", (long long)out.left);
    inputs_free(&in);
    return out;
}

static void check_figure(const struct outcome *out, const char *name, double want)
{
    const double is = figure_of(out, name);
    CHECK(is == want, "%s is %g, not %g", name, is, want);
}

static void test_zeros(const struct csr *A, enum prec prec)
{
    const struct outcome out = run(A, prec);
    CHECK(out.check.ok && out.check.error_ratio == 0, "%s: %s", prec_name(prec), out.check.reason);
    CHECK(out.check.result_nnz == 5, "%lld nonzeros of C", (long long)out.check.result_nnz);
    check_figure(&out, "all_pairs", 7);
    check_figure(&out, "pairs", 4);
    check_figure(&out, "c_tiles", 4);
    check_figure(&out, "zeros", 2);
}

// Without the cancellation nothing is left out.
static void test_no_zeros(const struct csr *A)
{
    A->val[1] = 3;
    const struct outcome out = run(A, F16_F32);
    CHECK(out.check.ok && out.check.result_nnz == 7, "%lld nonzeros of C: %s",
          (long long)out.check.result_nnz, out.check.reason);
    check_figure(&out, "zeros", 0);
}

// Infinity times an absent element is NaN, which must not become a nonzero of C.
static void test_infinite(const struct csr *A)
{
    A->val[1] = 1e6; // infinite in f16
    const struct outcome out = run(A, F16_F32);
    CHECK(out.check.blind && strstr(out.check.reason, "overflow"), "%s", out.check.reason);
    CHECK(out.check.result_nnz == 7, "%lld nonzeros of C", (long long)out.check.result_nnz);
}

int main(void)
{
    struct csr A;
    if (!open_kind(DEVICE_CUDA, &dev)) return TEST_END();
    if (!make_matrix(&A)) {
        for (int prec = F16; prec < PRECS; prec++) test_zeros(&A, (enum prec)prec);
        test_no_zeros(&A);
        test_infinite(&A);
        csr_free(&A);
    }
    CHECK(dev.used_bytes == 0, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    return TEST_END();
}
