// Included once per type and kind of processor by rowsplit.c.
#include "spmm/cpu_rows.inl"

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t m = A->m, steps = m + A->nnz;
#pragma omp parallel for schedule(dynamic)
    for (int64_t x = 0; x < steps; x += s->share) {
        const int64_t first = row_at(A->ptr, m, x), last = row_at(A->ptr, m, x + s->share);
        NAME(rows)(t, first, last, s->prefetch, s->stream);
        if (s->stream) NAME(stream_end)();
    }
}
