// Loops of sddmm/reference.c, included once per value type.

static double NAME(dot)(const T *x, const T *y, int64_t k)
{
    double sum = 0;
    for (int64_t l = 0; l < k; l++) sum += (double)x[l] * y[l];
    return sum;
}

static void NAME(multiply)(const struct csr_dev *A, const struct dense_dev *X,
                           const struct dense_dev *Y, T *C)
{
    const int64_t *ptr = A->ptr;
    const T *val = A->val, *x = X->val, *y = Y->val;
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
            C[p] = (T)(val[p] * NAME(dot)(x + i * X->ld, y + A->idx[p] * Y->ld, X->cols));
}
