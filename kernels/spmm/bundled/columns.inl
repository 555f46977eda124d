// The product with column-major B and C. bundled.inl includes this file.
#include "spmm/cpu/transpose.inl"

// Copies rows [first, last) of columns [j, j + cols) of B to s->slab.
static void NAME(copy_rows)(const struct task *t, int64_t first, int64_t last, int64_t j,
                            int64_t cols)
{
    const struct state *s = t->state;
    const struct dense_dev *B = &t->in[0];
    const T *from = (const T *)B->val + j * B->ld + first;
    T *to = (T *)s->slab + first * s->slab_ld;
    for (int64_t f = 0; f < cols; f += LINE_BYTES / T_BYTES) NAME(transpose)
    (from + f * B->ld, B->ld, min64(cols - f, LINE_BYTES / T_BYTES), last - first, to + f,
     s->slab_ld, false);
}

// Computes columns [j, j + cols) of the rows between two cuts, panel by panel. A panel is part of a
// block of rows, so that no bundle crosses its borders, and whole panels begin at cache lines of C.
static void NAME(panels)(const struct task *t, const struct product *of, struct cut from,
                         struct cut to, T *panel, int64_t j, int64_t cols)
{
    const struct state *s = t->state;
    const struct bundle *list = s->found.list;
    const int64_t ld = t->C.ld;
    T *C = (T *)t->C.val + j * ld;
    while (from.row < to.row) {
        const int64_t row = from.row;
        struct cut next = {min64((row / BUNDLE_BLOCK + 1) * BUNDLE_BLOCK, to.row), from.bundle};
        while (next.bundle < to.bundle && list[next.bundle].row < next.row) next.bundle++;
        NAME(share)(&s->found, of, from, next, panel);
        const bool past = s->stream && row % (LINE_BYTES / T_BYTES) == 0;
        NAME(transpose)(panel, of->C_ld, next.row - row, cols, C + row, ld, past);
        from = next;
    }
    if (s->stream) NAME(stream_end)();
}

static void NAME(multiply_gathered)(struct task *t)
{
    struct state *s = t->state;
    const struct product of = product_of(t, 0, false);
    shares_reset(&s->shares);
#pragma omp parallel num_threads(s->shares.threads)
    {
        int empty = 0;
        for (int64_t x; (x = shares_take(&s->shares, &empty)) >= 0;) NAME(dots)
        (&of, s->cut[x].row, s->cut[x + 1].row, (T *)t->C.val + s->cut[x].row);
    }
}

static void NAME(multiply_slabs)(struct task *t)
{
    struct state *s = t->state;
    const int64_t n = t->in[0].rows, k = t->C.cols;
    for (int64_t j = 0; j < k; j += s->cols) {
        const int64_t cols = min64(s->cols, k - j);
        const struct product of = {.A = csr_of(t->A[0]),
                                   .B = s->slab,
                                   .B_ld = s->slab_ld,
                                   .C_ld = s->slab_ld,
                                   .k = padded_columns(cols, T_BYTES),
                                   .prefetch = s->prefetch};
        shares_reset(&s->shares);
#pragma omp parallel num_threads(s->shares.threads)
        {
            T *panel = (T *)s->panels + omp_get_thread_num() * BUNDLE_BLOCK * s->slab_ld;
#pragma omp for schedule(static)
            for (int64_t i = 0; i < n; i += COPY_ROWS)
                NAME(copy_rows)(t, i, min64(i + COPY_ROWS, n), j, cols);
            int empty = 0;
            for (int64_t x; (x = shares_take(&s->shares, &empty)) >= 0;)
                NAME(panels)(t, &of, s->cut[x], s->cut[x + 1], panel, j, cols);
        }
    }
}
