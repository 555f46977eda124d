// Included once per type by spmm_rowsplit.c.

// Rows [first, last) of C.
CPU_CLONES static void NAME(rows)(const struct csr_dev *A, const struct dense_dev *B,
                                  const struct dense_dev *C, int64_t first, int64_t last,
                                  int prefetch)
{
    const int64_t *restrict ptr = A->ptr;
    const T *restrict b = B->val;
    T *restrict c = C->val;
    for (int64_t i = first; i < last; i++) {
        if (prefetch) NAME(claim_row)(C, i);
        NAME(csr_row)(A, ptr[i], ptr[i + 1], prefetch, b, B->ld, c + i * C->ld, C->cols);
    }
}

static void NAME(multiply)(struct task *t)
{
    // Fewer at a time where there are few rows, so that every thread gets some.
    int64_t m = t->A.m, most = m / (8 * omp_get_max_threads());
    int64_t chunk = max64(1, min64((int64_t)task_option(t, "chunk"), most));
    int prefetch = (int)task_option(t, "prefetch");
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < m; i += chunk)
        NAME(rows)(&t->A, &t->B, &t->C, i, min64(i + chunk, m), prefetch);
}
