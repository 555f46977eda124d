// CPU kernel of sddmm/aspt.c, included once per type and kind of processor.
#include "sddmm/cpu_dot.inl"

// Computes panel b: its tiles one after another, then the light part.
static void NAME(panel)(const struct aspt *A, const struct dense_dev *X, const struct dense_dev *Y,
                        T *restrict C, int64_t b)
{
    int64_t first = b * A->panel, last = min64(first + A->panel, A->m), parts;
    const int64_t *at = aspt_parts(A, first, &parts);
    const T *restrict val = A->val, *x = X->val, *y = Y->val;
    for (int64_t t = 0; t < parts; t++) {
        const int64_t *row = at;
        for (int64_t i = first; i < last; i++, row += parts)
            for (int64_t q = row[t]; q < row[t + 1]; q++)
                C[row[0] + A->place[q]] =
                    val[q] * NAME(dot)(x + i * X->ld, y + A->idx[q] * Y->ld, X->cols);
    }
}

static void NAME(multiply)(const struct aspt *A, const struct dense_dev *X,
                           const struct dense_dev *Y, T *restrict C)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t b = 0; b < A->panels; b++) NAME(panel)(A, X, Y, C, b);
}
