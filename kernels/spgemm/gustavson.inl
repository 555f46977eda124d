// Numeric pass of gustavson.c, included once per value type.

// Writes row i of C, sorted by column, to idx and val.
static void NAME(row)(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                      int32_t *restrict seen, double *restrict sum, uint64_t *restrict cols,
                      uint64_t *restrict spare, int32_t *restrict idx, T *restrict val)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const T *A_val = A->val, *S_val = S->val;
    int64_t count = 0;
    for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
        int32_t l = A->idx[p];
        double a = A_val[p];
        for (int64_t q = S_ptr[l]; q < S_ptr[l + 1]; q++) {
            int32_t j = S->idx[q];
            if (seen[j] != i) {
                seen[j] = i;
                sum[j] = 0;
                cols[count++] = (uint64_t)j;
            }
            sum[j] += a * S_val[q];
        }
    }
    sort_keys(cols, spare, count, 0);
    for (int64_t p = 0; p < count; p++) {
        idx[p] = (int32_t)cols[p];
        val[p] = (T)sum[cols[p]];
    }
}

static void NAME(numeric)(struct task *t, const struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int64_t *ptr = t->R.ptr;
    T *val = t->R.val;
#pragma omp parallel num_threads(w->threads)
    {
        int64_t me = omp_get_thread_num(), n = S->n;
        int32_t *seen = w->seen + me * n;
        double *sum = w->sum + me * n;
        uint64_t *cols = w->cols + me * 2 * w->longest, *spare = cols + w->longest;
#pragma omp for schedule(dynamic, 16)
        for (int32_t i = 0; i < A->m; i++) {
            int64_t p = ptr[i];
            NAME(row)(A, S, i, seen, sum, cols, spare, t->R.idx + p, val + p);
        }
    }
}
