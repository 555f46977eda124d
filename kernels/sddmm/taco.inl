// The generated loops. taco.c includes this file once per type and kind of processor.

static void NAME(row)(const struct csr_dev *A, const struct dense_dev *X, const struct dense_dev *Y,
                      T *restrict C, int64_t i)
{
    const int64_t *restrict ptr = A->ptr, k = X->cols;
    const T *restrict val = A->val, *restrict x = (const T *)X->val + i * X->ld;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const T *restrict y = (const T *)Y->val + A->idx[p] * Y->ld;
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t l = 0; l < k; l++) sum += x[l] * y[l];
        C[p] = val[p] * sum;
    }
}

static void NAME(multiply)(const struct csr_dev *A, const struct dense_dev *X,
                           const struct dense_dev *Y, T *restrict C)
{
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < A->m; i++) NAME(row)(A, X, Y, C, i);
}
