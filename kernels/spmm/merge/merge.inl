// Included once per type and kind of processor by merge.c.
#include "spmm/cpu_row.inl"

// The piece of the path between two places: every row that ends in it is written; what it has of
// the row after those goes to `carry`. Returns that row, or -1 where there is nothing of it.
CPU_INLINE int64_t NAME(share_in)(const struct csr_dev *A, const struct dense_dev *B,
                                  const struct dense_dev *C, struct place from, struct place to,
                                  bool ahead, int64_t prefetch, T *restrict carry, int bytes)
{
    const struct NAME(terms) x = NAME(csr_terms)(A, B);
    const int64_t *restrict ptr = A->ptr;
    const int64_t k = C->cols, ld = C->ld;
    T *restrict c = C->val;
    int64_t p = from.nonzero;
    for (int64_t i = from.row; i < to.row; i++) {
        NAME(csr_row)(x, p, ptr[i + 1], ahead, prefetch, c + i * ld, k, bytes);
        p = ptr[i + 1];
    }
    if (p == to.nonzero) return -1;
    NAME(csr_row)(x, p, to.nonzero, ahead, prefetch, carry, k, bytes);
    return to.row;
}

static int64_t NAME(share)(const struct csr_dev *A, const struct dense_dev *B,
                           const struct dense_dev *C, struct place from, struct place to,
                           int64_t prefetch, T *restrict carry)
{
    int64_t row = -1;
#define SHARE(bytes)                                                                               \
    row = prefetch ? NAME(share_in)(A, B, C, from, to, true, prefetch, carry, bytes)               \
                   : NAME(share_in)(A, B, C, from, to, false, 0, carry, bytes)
    BY_BYTES(NAME(slab_bytes)(C->cols), SHARE)
#undef SHARE
    return row;
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
