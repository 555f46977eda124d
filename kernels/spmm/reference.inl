// The product by the definition. reference.c includes this file once per type.

// Returns a row of A, `count` nonzeros, times a column of B, whose elements are `down` apart.
static double NAME(row_times_column)(const int32_t *idx, const T *val, int64_t count,
                                     const T *column, int64_t down)
{
    double sum = 0;
    for (int64_t p = 0; p < count; p++) sum += (double)val[p] * column[idx[p] * down];
    return sum;
}

static void NAME(multiply)(const struct csr_dev *A, const struct dense_dev *B,
                           const struct dense_dev *C)
{
    const int64_t *ptr = A->ptr;
    const T *val = A->val, *b = B->val;
    T *c = C->val;
    // Element (i, j) of a dense matrix is at i * down + j * right.
    int64_t b_down = B->layout == LAYOUT_ROW ? B->ld : 1;
    int64_t b_right = B->layout == LAYOUT_ROW ? 1 : B->ld;
    int64_t c_down = C->layout == LAYOUT_ROW ? C->ld : 1;
    int64_t c_right = C->layout == LAYOUT_ROW ? 1 : C->ld;

    for (int32_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < C->cols; j++)
            c[i * c_down + j * c_right] = (T)NAME(row_times_column)(
                A->idx + ptr[i], val + ptr[i], ptr[i + 1] - ptr[i], b + j * b_right, b_down);
}
