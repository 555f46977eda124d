// The product by blocks. csb.c includes this file once per type and kind of processor.

// Rows of B and C of a part of A, from the first element on.
struct NAME(dense) {
    const T *B;
    T *C;
    int64_t B_ld, C_ld, k;
};

// Adds the products of nonzeros [p, end) of a block. `k`, the columns of B and C, is a constant for
// some callers.
CPU_INLINE void NAME(nonzeros_in)(const struct csb *A, int64_t p, int64_t end, struct NAME(dense) d,
                                  int64_t k)
{
    const uint32_t *restrict place = A->place;
    const T *restrict val = A->val;
    for (; p < end; p++) {
        const T a = val[p], *restrict b = d.B + csb_col(place[p]) * d.B_ld;
        T *restrict c = d.C + csb_row(place[p]) * d.C_ld;
        for (int64_t j = 0; j < k; j++) c[j] += a * b[j];
    }
}

static void NAME(nonzeros)(const struct csb *A, int64_t p, int64_t end, struct NAME(dense) d)
{
    switch (d.k) { // as in Hong et al.
    case 32: NAME(nonzeros_in)(A, p, end, d, 32); break;
    case 128: NAME(nonzeros_in)(A, p, end, d, 128); break;
    default: NAME(nonzeros_in)(A, p, end, d, d.k);
    }
}

// Adds the products of nonzeros [p, end), which lie in a square of `size` rows and columns. A
// square with more than `most` nonzeros is cut into quadrants. The first and the last quadrant have
// no rows in common, nor have the other two.
static void NAME(block)(const struct csb *A, int64_t p, int64_t end, int32_t size, int64_t most,
                        struct NAME(dense) d)
{
    if (end - p <= most || size == 1) {
        NAME(nonzeros)(A, p, end, d);
        return;
    }
    const int32_t half = size / 2;
    const int64_t lower = first_with(A, p, end, (uint32_t)half << 16);
    const int64_t right = first_with(A, p, lower, (uint32_t)half);
    const int64_t last = first_with(A, lower, end, (uint32_t)half);
#pragma omp task
    NAME(block)(A, p, right, half, most, d);
    NAME(block)(A, last, end, half, most, d);
#pragma omp taskwait
#pragma omp task
    NAME(block)(A, right, lower, half, most, d);
    NAME(block)(A, lower, last, half, most, d);
#pragma omp taskwait
}

// Computes chunk x, of block row b, which has `rows` rows. `d` has all of B.
static void NAME(chunk)(const struct task *t, int64_t b, int64_t x, int64_t rows,
                        struct NAME(dense) d)
{
    const struct state *s = t->state;
    const struct csb *A = csb_of(t->A[0]);
    const T *B = d.B;
    const bool single = s->start[x + 1] - s->start[x] == 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d.k; j++) d.C[i * d.C_ld + j] = 0;
    for (int64_t y = s->start[x]; y < s->start[x + 1]; y++) {
        const int64_t p = A->ptr[y], end = A->ptr[y + 1];
        d.B = B + (y - b * A->block_cols) * A->beta * d.B_ld;
        if (p < end) NAME(block)(A, p, end, A->beta, single ? s->most : end - p, d);
    }
}

// Computes chunks [first, end) of block row b. The second half of the chunks has a temporary.
static void NAME(block_row)(const struct task *t, int64_t b, int64_t first, int64_t end,
                            struct NAME(dense) d)
{
    const struct state *s = t->state;
    const struct csb *A = csb_of(t->A[0]);
    const int64_t rows = min64(A->beta, A->m - b * A->beta);
    if (end - first == 1) {
        NAME(chunk)(t, b, first, rows, d);
        return;
    }
    const int64_t middle = first + (end - first) / 2;
    struct NAME(dense) half = d;
    half.C = (T *)s->sums + (middle - b - 1) * A->beta * d.k; // first chunks have none
    half.C_ld = d.k;
#pragma omp task
    NAME(block_row)(t, b, middle, end, half);
    NAME(block_row)(t, b, first, middle, d);
#pragma omp taskwait
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < d.k; j++) d.C[i * d.C_ld + j] += half.C[i * d.k + j];
}

static void NAME(multiply)(const struct task *t)
{
    const struct state *s = t->state;
    const struct csb *A = csb_of(t->A[0]);
    const struct dense_dev *B = &t->in[0], *C = &t->C;
#pragma omp parallel
#pragma omp single
    for (int64_t b = 0; b < A->block_rows; b++) {
        const struct NAME(dense)
            d = {B->val, (T *)C->val + b * A->beta * C->ld, B->ld, C->ld, C->cols};
#pragma omp task
        NAME(block_row)(t, b, s->first[b], s->first[b + 1], d);
    }
}
