// The product by shares of rows. rowsplit.c includes this file once per type and kind of processor.
#include "spmm/cpu_rows.inl"

static void NAME(multiply)(struct task *t)
{
    struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t m = A->m;
    shares_reset(&s->shares);
#pragma omp parallel
    {
        int empty = 0;
        for (int64_t x; (x = shares_take(&s->shares, &empty)) >= 0;) {
            const int64_t first = row_at(A->ptr, m, x * s->share),
                          last = row_at(A->ptr, m, (x + 1) * s->share);
            NAME(rows)(t, first, last, s->prefetch, s->stream);
            if (s->stream) NAME(stream_end)();
        }
    }
}
