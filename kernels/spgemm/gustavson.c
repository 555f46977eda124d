// SpGEMM, C = A * S, row by row with a dense accumulator: the one to read first, and the one that
// others are compared with where no vendor has one.
// Fred G. Gustavson: Two Fast Algorithms for Sparse Matrices: Multiplication and Permuted
// Transposition, ACM TOMS 4(3), 1978.
//
// Format: CSR. Row i of C is the sum of the rows of S that the nonzeros of A's row i name, each
// times its nonzero. A thread sums it up in an array with one place for each column of C, and keeps
// a list of the columns it has used, so that nothing is ever cleared or searched. Two passes over
// the products: the first counts the nonzeros of each row, the second computes them.
#include "cpu.h"
#include "result.h"
#include "base/sort.h"

#include <omp.h>

// Each thread has its part of these.
struct scratch {
    int threads;
    int32_t *seen;   // last row of C that has used a column, threads x n
    double *sum;     // its value in that row, threads x n
    int64_t longest; // length of the longest row of C
    uint64_t *cols;  // columns of the row under way, and as many to sort them, threads x 2 longest
};

// The nonzeros of one row: the different columns among the products.
static int64_t count_row(const struct csr_dev *A, const struct csr_dev *S, int32_t i, int32_t *seen)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    int64_t count = 0;
    for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
        int32_t l = A->idx[p];
        for (int64_t q = S_ptr[l]; q < S_ptr[l + 1]; q++) {
            int32_t j = S->idx[q];
            if (seen[j] == i) continue;
            seen[j] = i;
            count++;
        }
    }
    return count;
}

#define BODY "spgemm/gustavson.inl"
#include "each_prec.inl"

// No column has been seen in any row.
static void forget(struct scratch *w, int64_t n)
{
    memset(w->seen, 0xff, (size_t)(w->threads * n) * sizeof *w->seen);
}

static void symbolic(struct task *t, struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    int64_t n = S->n, *count = t->R.ptr;
    forget(w, n);
#pragma omp parallel num_threads(w->threads)
    {
        int32_t *seen = w->seen + omp_get_thread_num() * n;
#pragma omp for schedule(dynamic, 16)
        for (int32_t i = 0; i < A->m; i++) count[i + 1] = count_row(A, S, i, seen);
    }
}

static int run(struct task *t)
{
    struct scratch w = {.threads = omp_get_max_threads()};
    int64_t n = t->S[0]->n;
    int err = task_phase(t, "symbolic");
    if (!err) err = result_begin(t, sizeof(int64_t), &t->R);
    if (!err) err = device_alloc(t->dev, w.threads * n, sizeof *w.seen, (void **)&w.seen);
    if (!err) symbolic(t, &w);

    if (!err) err = task_phase(t, "allocate");
    if (!err) err = result_sum_rows(t->dev, &t->R, &w.longest);

    if (!err) err = task_phase(t, "numeric");
    if (!err) err = device_alloc(t->dev, w.threads * n, sizeof *w.sum, (void **)&w.sum);
    if (!err)
        err = device_alloc(t->dev, w.threads * 2 * w.longest, sizeof *w.cols, (void **)&w.cols);
    if (!err) {
        forget(&w, n);
        BY_PREC(t, numeric, t, &w);
    }
    device_free(t->dev, w.seen);
    device_free(t->dev, w.sum);
    device_free(t->dev, w.cols);
    return err;
}

const struct algo spgemm_gustavson_cpu = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_DOUBLE,
    .cite = "Gustavson: Two Fast Algorithms for Sparse Matrices: Multiplication and Permuted "
            "Transposition, ACM TOMS 4(3), 1978",
    .reference = true,
    .run = run,
};
