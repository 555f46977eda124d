// The product by shares of the merge path. merge.c includes this file once per type and kind of
// processor.
#include "spmm/cpu/row.inl"

// Computes a share, the path between two points. Writes every row that ends in the share, and
// stores the sum of the unfinished row in `carry`. Returns the unfinished row, or -1 if there is
// none. `bytes`, the bytes of a slab, and `ahead` are constants.
CPU_INLINE int64_t NAME(share_in)(const struct task *t, struct place from, struct place to,
                                  bool ahead, T *restrict carry, int bytes)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct product of = product_of(t, s->prefetch, s->stream);
    struct NAME(terms) x = NAME(csr_terms)(&of, ahead);
    const int64_t *restrict ptr = A->ptr;
    const int64_t k = t->C.cols, ld = t->C.ld;
    T *restrict C = t->C.val;
    int64_t p = from.nonzero;
    for (int64_t i = from.row; i < to.row; i++) {
        NAME(csr_row)(x, p, ptr[i + 1], ahead, C + i * ld, k, bytes);
        p = ptr[i + 1];
    }
    if (s->stream) NAME(stream_end)();
    if (p == to.nonzero) return -1;
    x.stream = false;
    NAME(csr_row)(x, p, to.nonzero, ahead, carry, k, bytes);
    return to.row;
}

static int64_t NAME(share)(const struct task *t, struct place from, struct place to,
                           T *restrict carry)
{
    const struct state *s = t->state;
    int64_t row = -1;
#define SHARE(bytes)                                                                               \
    row = s->prefetch ? NAME(share_in)(t, from, to, true, carry, bytes)                            \
                      : NAME(share_in)(t, from, to, false, carry, bytes)
    BY_BYTES(NAME(slab_bytes)(t->C.cols), SHARE)
#undef SHARE
    return row;
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct dense_dev *C = &t->C;
    T *carry = s->carry, *c = C->val;
    int64_t steps = A->m + A->nnz, length = (steps + s->shares - 1) / s->shares;
#pragma omp parallel for schedule(static)
    for (int64_t x = 0; x < s->shares; x++) {
        struct place from = path_search(A->ptr, A->m, A->nnz, min64(x * length, steps));
        struct place to = path_search(A->ptr, A->m, A->nnz, min64((x + 1) * length, steps));
        s->row[x] = NAME(share)(t, from, to, carry + x * s->carry_ld);
    }
    // A share has at most one unfinished row, too little work for threads.
    for (int64_t x = 0; x < s->shares; x++) {
        if (s->row[x] < 0) continue;
        for (int64_t j = 0; j < C->cols; j++)
            c[s->row[x] * C->ld + j] += carry[x * s->carry_ld + j];
    }
}
