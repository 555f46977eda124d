// The product by shares of rows. rowsplit.c includes this file once per type and kind of processor.
#include "spmm/cpu/rows.inl"

static void NAME(multiply)(struct task *t)
{
    struct state *s = t->state;
    const struct product of = product_of(t, s->prefetch, s->stream);
    const int64_t *ptr = of.A->ptr, m = of.A->m;
    shares_reset(&s->shares);
#pragma omp parallel num_threads(s->shares.threads)
    {
        int empty = 0;
        for (int64_t x; (x = shares_take(&s->shares, &empty)) >= 0;) {
            const int64_t first = row_at(ptr, m, x * s->share),
                          last = row_at(ptr, m, (x + 1) * s->share);
            NAME(rows)(&of, first, last, (T *)t->C.val + first * of.C_ld);
            if (s->stream) NAME(stream_end)();
        }
    }
}
