// SpGEMM, C = A * S, row by row with a dense accumulator: the simplest kernel of SpGEMM, and the
// reference for results.
// Fred G. Gustavson: Two Fast Algorithms for Sparse Matrices: Multiplication and Permuted
// Transposition, ACM TOMS 4(3), 1978.
//
// Format: CSR. Row i of C is the sum of A_il times row l of S over the nonzeros A_il of row i. A
// thread adds up the row in an array with one element for each column of C, and keeps a list of the
// used columns. The array is not searched, and not cleared between rows. Two passes over the
// products: the first counts the nonzeros of each row, the second computes them. Values of 16 bits
// are added in double and rounded once.
#include "cpu.h"
#include "result.h"
#include "base/sort.h"

#include <omp.h>

// Buffers of all threads, one thread's part after the other.
struct scratch {
    int threads;
    int32_t *seen;   // last row of C that used a column, threads x n
    double *sum;     // its value in that row, threads x n
    int64_t longest; // length of the longest row of C
    uint64_t *cols;  // columns of the row, and room to sort them, threads x 2 longest
};

// Returns nnz of row i of C: the number of different columns among its products.
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

// Operands and scratch memory of one thread.
struct rows {
    const struct csr_dev *A, *S;
    int32_t *seen;          // last row with a product in each column, size n
    double *sum;            // sum of each column in that row, size n
    uint64_t *cols, *spare; // columns of a row, and memory for the sort; size `longest` each
};

// Writes row i of C, sorted by column, from element `at` on of `idx` and `val`. `in` and `out`, the
// types of the values, are constants after inlining for f32 and f64.
CPU_INLINE void row_of(const struct rows *w, int32_t i, enum prec in, enum prec out, int64_t at,
                       int32_t *restrict idx, void *restrict val)
{
    const int64_t *A_ptr = w->A->ptr, *S_ptr = w->S->ptr;
    const int32_t *A_idx = w->A->idx, *S_idx = w->S->idx;
    const void *A_val = w->A->val, *S_val = w->S->val;
    int32_t *restrict seen = w->seen;
    double *restrict sum = w->sum;
    int64_t count = 0;
    for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
        const int32_t l = A_idx[p];
        const double a = type_load(in, A_val, p);
        for (int64_t q = S_ptr[l]; q < S_ptr[l + 1]; q++) {
            const int32_t j = S_idx[q];
            if (seen[j] != i) {
                seen[j] = i;
                sum[j] = 0;
                w->cols[count++] = (uint64_t)j;
            }
            sum[j] += a * type_load(in, S_val, q);
        }
    }
    sort_keys(w->cols, w->spare, count, 0);
    for (int64_t p = 0; p < count; p++) {
        idx[at + p] = (int32_t)w->cols[p];
        type_store(out, val, at + p, sum[w->cols[p]]);
    }
}

static void row_by_type(const struct rows *w, int32_t i, enum prec prec, int64_t at, int32_t *idx,
                        void *val)
{
    switch (prec) {
    case F32: row_of(w, i, F32, F32, at, idx, val); break;
    case F64: row_of(w, i, F64, F64, at, idx, val); break;
    default: row_of(w, i, prec_in(prec), prec_out(prec), at, idx, val);
    }
}

// Marks all columns as unused.
static void forget(const struct scratch *w, int64_t n)
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

static void numeric(struct task *t, const struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int64_t *ptr = t->R.ptr;
    forget(w, S->n);
#pragma omp parallel num_threads(w->threads)
    {
        const int64_t me = omp_get_thread_num();
        uint64_t *cols = w->cols + me * 2 * w->longest;
        const struct rows rows = {
            A, S, w->seen + me * S->n, w->sum + me * S->n, cols, cols + w->longest};
#pragma omp for schedule(dynamic, 16)
        for (int32_t i = 0; i < A->m; i++)
            row_by_type(&rows, i, t->prec, ptr[i], t->R.idx, t->R.val);
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
    if (!err) numeric(t, &w);
    device_free(t->dev, w.seen);
    device_free(t->dev, w.sum);
    device_free(t->dev, w.cols);
    return err;
}

const struct algo spgemm_gustavson_cpu = {
    .precs = EVERY_PREC,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_DOUBLE,
    .cite = "Gustavson: Two Fast Algorithms for Sparse Matrices: Multiplication and Permuted "
            "Transposition, ACM TOMS 4(3), 1978",
    .reference = true,
    .run = run,
};
