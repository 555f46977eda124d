// The product by panels. tiled.c includes this file once per type and kind of processor.

// Copies rows map[0 .. count) of `cols` columns of B to the stage: `width` elements per row, zeros
// past the last column.
CPU_INLINE void NAME(load_stage)(T *restrict stage, const int32_t *restrict map, int64_t count,
                                 const T *restrict B, int64_t ld, int64_t cols, int width)
{
    for (int f = 0; f < width; f++)
        for (int64_t n = 0; n < count; n++)
            stage[n * width + f] = f < cols ? B[f * ld + map[n]] : 0;
}

// sum[0 .. width) += the products of a segment's entries in one stage: entries from q on, 32 apart,
// up to `end` or the first padding.
CPU_INLINE void NAME(add_segment)(T *restrict sum, const struct tiled *A, const T *restrict stage,
                                  int64_t q, int64_t end, int width)
{
    const uint16_t *restrict idx = A->idx;
    const T *restrict val = A->val;
    T x[32];
    for (int f = 0; f < width; f++) x[f] = sum[f];
    for (; q < end && idx[q] != A->stage; q += SLICE) {
        const T *b = stage + (int64_t)idx[q] * width;
        for (int f = 0; f < width; f++) x[f] += val[q] * b[f];
    }
    for (int f = 0; f < width; f++) sum[f] = x[f];
}

// Computes panel i times columns [j, j + width) of B, or fewer if B ends before.
CPU_INLINE void NAME(panel)(const struct task *t, T *restrict buffer, int64_t i, int64_t j,
                            int width)
{
    const struct tiled *A = tiled_of(t->A[0]);
    const struct state *s = t->state;
    T *stage = buffer, *sums = buffer + (int64_t)A->stage * width;
    int64_t rows = min64(A->rows, A->segments - i * A->rows), cols = min64(width, t->C.cols - j);
    memset(sums, 0, (size_t)(rows * width) * sizeof *sums);
    for (int64_t x = A->panel[i]; x < A->panel[i + 1]; x++) {
        NAME(load_stage)
        (stage, A->map + A->map_ptr[x], A->map_ptr[x + 1] - A->map_ptr[x],
         (const T *)t->in[0].val + j * t->in[0].ld, t->in[0].ld, cols, width);
        const int64_t *slice = A->slice + x * (A->rows / SLICE);
        for (int64_t r = 0; r < rows; r++) NAME(add_segment)
        (sums + r * width, A, stage, slice[r / SLICE] + r % SLICE, slice[r / SLICE + 1], width);
    }
    T *restrict c = (T *)t->C.val + j * t->C.ld, *restrict parts = s->parts;
    for (int64_t f = 0; f < cols; f++)
        for (int64_t r = 0; r < rows; r++) {
            int64_t to = A->to ? A->to[i * A->rows + r] : i * A->rows + r;
            if (to >= 0)
                c[f * t->C.ld + to] = sums[r * width + f];
            else
                parts[(j + f) * A->parts - 1 - to] = sums[r * width + f];
        }
}

// Calls panel() with a constant width.
static void NAME(panel_of)(const struct task *t, T *buffer, int64_t i, int64_t j, int width)
{
    switch (width) {
#define WIDTH(number)                                                                              \
    case number: NAME(panel)(t, buffer, i, j, number); break
        WIDTH(32);
        WIDTH(16);
        WIDTH(8);
        WIDTH(4);
        WIDTH(2);
        WIDTH(1);
#undef WIDTH
    }
}

// Adds the parts of cut rows, in the order of the segments of a row.
static void NAME(add_parts)(const struct tiled *A, const struct dense_dev *C, const T *parts)
{
    T *c = C->val;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t x = 0; x < A->cuts; x++)
        for (int64_t j = 0; j < C->cols; j++) {
            T sum = 0;
            for (int64_t q = A->cut_part[x]; q < A->cut_part[x + 1]; q++)
                sum += parts[j * A->parts + q];
            c[j * C->ld + A->cut_row[x]] = sum;
        }
}

static void NAME(multiply)(struct task *t)
{
    const struct state *s = t->state;
    const struct tiled *A = tiled_of(t->A[0]);
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t i = 0; i < A->panels; i++)
        for (int64_t j = 0; j < t->C.cols; j += s->factor) NAME(panel_of)
    (t, (T *)(s->buffer + omp_get_thread_num() * s->buffer_bytes), i, j, s->factor);
    if (A->cuts) NAME(add_parts)(A, &t->C, s->parts);
}
