// Included once per type by merge.c.
#include "spmm/cpu_row.inl"

// The piece of the path between two places: every row that ends in it is written; what it has of
// the row after those goes to `carry`. Returns that row, or -1 where there is nothing of it.
CPU_CLONES static int64_t NAME(share)(const struct csr_dev *A, const struct dense_dev *B,
                                      const struct dense_dev *C, struct place from, struct place to,
                                      int prefetch, T *restrict carry)
{
    const int64_t *restrict ptr = A->ptr;
    const T *restrict b = B->val;
    T *restrict c = C->val;
    int64_t p = from.nonzero, k = C->cols;
    for (int64_t i = from.row; i < to.row; i++) {
        if (prefetch) NAME(claim_row)(C, i);
        NAME(csr_row)(A, p, ptr[i + 1], prefetch, b, B->ld, c + i * C->ld, k);
        p = ptr[i + 1];
    }
    if (p == to.nonzero) return -1;
    NAME(csr_row)(A, p, to.nonzero, prefetch, b, B->ld, carry, k);
    return to.row;
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    T *carry = s->carry, *c = C->val;
    int64_t steps = A->m + A->nnz, length = (steps + s->shares - 1) / s->shares;
#pragma omp parallel for schedule(static)
    for (int64_t x = 0; x < s->shares; x++) {
        struct place from = path_search(A->ptr, A->m, A->nnz, min64(x * length, steps));
        struct place to = path_search(A->ptr, A->m, A->nnz, min64((x + 1) * length, steps));
        s->row[x] = NAME(share)(A, B, C, from, to, s->prefetch, carry + x * s->carry_ld);
    }
    // At most one row a share: not worth threads.
    for (int64_t x = 0; x < s->shares; x++) {
        if (s->row[x] < 0) continue;
        for (int64_t j = 0; j < C->cols; j++)
            c[s->row[x] * C->ld + j] += carry[x * s->carry_ld + j];
    }
}
