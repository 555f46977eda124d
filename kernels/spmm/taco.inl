// The generated loops. taco.c includes this file once per type and kind of processor.

static void NAME(clear)(const struct dense_dev *C, int64_t i)
{
    T *restrict c = (T *)C->val + i * C->ld;
    for (int64_t j = 0; j < C->cols; j++) c[j] = 0;
}

static void NAME(row)(const struct csr_dev *A, const struct dense_dev *B, const struct dense_dev *C,
                      int64_t i)
{
    const int64_t *restrict ptr = A->ptr, k = C->cols;
    const int32_t *restrict idx = A->idx;
    const T *restrict val = A->val;
    T *restrict c = (T *)C->val + i * C->ld;
    for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
        const T *restrict b = (const T *)B->val + idx[p] * B->ld;
        for (int64_t j = 0; j < k; j++) c[j] += val[p] * b[j];
    }
}

static void NAME(multiply)(const struct csr_dev *A, const struct dense_dev *B,
                           const struct dense_dev *C)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < A->m; i++) NAME(clear)(C, i);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < A->m; i++) NAME(row)(A, B, C, i);
}
