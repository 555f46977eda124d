// tiled-tuned: SpMM, C = A * B, column-major, by way of row-major matrices.
//
// Format: CSR. Any k. Where B is column-major, the k elements that a nonzero needs lie in k places,
// and each costs a sector of 32 bytes unless neighbouring rows need its neighbours, which tiles can
// help only as far as a panel has such rows. Row-major they lie side by side. So B is turned into a
// row-major copy, merge-tuned multiplies, and its result is turned back into C: all of it within
// each run. Turning reads and writes B and C once more, in whole lines; that is little beside what
// gathering costs.
//
// A block turns 32 x 32 elements at a time through shared memory.
#include "kernel.cuh"

extern const struct algo spmm_merge_tuned_cuda;

#define SIDE 32 // of a square
#define ROWS 8  // of threads

// to[j * to_step + i] = from[i * from_step + j] for i < lines, j < length.
template <typename T>
static __global__ void __launch_bounds__(SIDE *ROWS)
    turn(int64_t lines, int64_t length, const T *__restrict__ from, int64_t from_step,
         T *__restrict__ to, int64_t to_step)
{
    __shared__ T square[SIDE][SIDE + 1]; // a column of it lies in different banks
    const int x = (int)threadIdx.x;
    const int64_t j0 = (int64_t)blockIdx.x * SIDE;
    for (int64_t i0 = (int64_t)blockIdx.y * SIDE; i0 < lines; i0 += (int64_t)gridDim.y * SIDE) {
#pragma unroll
        for (int y = (int)threadIdx.y; y < SIDE; y += ROWS)
            if (i0 + y < lines && j0 + x < length)
                square[y][x] = from[(i0 + y) * from_step + j0 + x];
        __syncthreads();
#pragma unroll
        for (int y = (int)threadIdx.y; y < SIDE; y += ROWS)
            if (j0 + y < length && i0 + x < lines) to[(j0 + y) * to_step + i0 + x] = square[x][y];
        __syncthreads(); // the next square takes its place
    }
}

// From one layout to the other.
template <typename T>
static void start_turn(const struct task *t, const struct dense_dev *from,
                       const struct dense_dev *to)
{
    const bool by_rows = from->layout == LAYOUT_ROW;
    const int64_t lines = by_rows ? from->rows : from->cols;
    const int64_t length = by_rows ? from->cols : from->rows;
    const dim3 grid((unsigned)ceil_div(length, SIDE),
                    (unsigned)min64(ceil_div(lines, SIDE), 65535));
    if (!lines || !length) return;
    auto kernel = turn<T>;
    LAUNCH(kernel, grid, dim3(SIDE, ROWS), 0, t->dev->stream, lines, length, (const T *)from->val,
           from->ld, (T *)to->val, to->ld);
}

// The state is a task of merge-tuned on row-major copies.
static int copy_alloc(struct task *t, const struct dense_dev *of, struct dense_dev *copy)
{
    int64_t count;
    *copy = {of->rows, of->cols, of->cols, LAYOUT_ROW, NULL};
    int err = size_mul(of->rows, of->cols, &count);
    return err ? err : device_alloc(t->dev, count, prec_bytes(t->prec), &copy->val);
}

static int prepare(struct task *t)
{
    struct task *inner = (struct task *)mem_alloc(1, sizeof *inner);
    t->state = inner;
    if (!inner) return ERR_MEMORY;
    *inner = *t;
    inner->algo = &spmm_merge_tuned_cuda;
    inner->state = NULL;
    inner->in[0].val = inner->C.val = NULL; // not the task's own, which teardown() would free
    algo_defaults(inner->algo, inner->opt);
    int err = copy_alloc(t, &t->in[0], &inner->in[0]);
    if (!err) err = copy_alloc(t, &t->C, &inner->C);
    if (!err) err = inner->algo->prepare(inner);
    t->figures = inner->figures;
    return err;
}

static void teardown(struct task *t)
{
    struct task *inner = (struct task *)t->state;
    if (!inner) return;
    inner->algo->teardown(inner);
    device_free(t->dev, inner->in[0].val);
    device_free(t->dev, inner->C.val);
    task_free_state(t);
}

template <typename T> static int run_prec(struct task *t)
{
    struct task *inner = (struct task *)t->state;
    start_turn<T>(t, &t->in[0], &inner->in[0]);
    int err = inner->algo->run(inner);
    if (!err) start_turn<T>(t, &inner->C, &t->C);
    return err ? err : launch_check(t->entry->name);
}

static int run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    return BY_PREC(t, run_prec, t);
}

extern const struct algo spmm_tiled_tuned_cuda = {
    .layouts = COL_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .about = "B turned into a row-major copy, merge-tuned, its result turned back, in each run",
    .cite = "after Yang, Buluc, Owens, Euro-Par 2018, section 4.2",
    .differs = "There are no tiles of A: B is made row-major instead of being staged by panels.",
    .tuned_of = "tiled",
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
