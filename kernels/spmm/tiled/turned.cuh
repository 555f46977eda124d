// The turned way of tiled-tuned: in each run B is turned into a row-major copy, and the sums of a
// window of rows of C are made in shared memory, from which they go to C column by column.
#ifndef TILED_TURNED_H
#define TILED_TURNED_H

#include "device/cub.cuh"
#include "turn.cuh"
#include "window_sum.cuh"
#include "window_write.cuh"

template <typename T, int GROUP>
static __global__ void __launch_bounds__(MAX_THREADS, sizeof(T) == 8 ? 2 : 3)
    multiply(struct shape a, struct windows w, const int32_t *__restrict__ ptr,
             const int32_t *__restrict__ idx, const T *__restrict__ val, const T *__restrict__ B,
             T *__restrict__ C, carries<T> y)
{
    SHARED_DYNAMIC(T, sums);
    __shared__ int32_t start[MAX_ROWS + 1];
    __shared__ int32_t head_row[MAX_THREADS / GROUP];
    __shared__ struct piece p;
    const struct piece found = find_piece(a, w, ptr);
    if (!found.rows) return;
    if (threadIdx.x == 0) p = found;
    for (int r = (int)threadIdx.x; r <= found.rows; r += (int)blockDim.x)
        start[r] = ptr[found.row + r];
    const int step = w.rows + 1;
    const room<T, GROUP> x = {step, sums, sums + room<T, GROUP>::COLUMNS * step, head_row, start};
    const struct share s = find_share(found, (int)threadIdx.x / GROUP, (int)blockDim.x / GROUP);
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        sum_shares(x, a, p, s, idx, val, B, slab);
        __syncthreads();
        add_heads(x);
        __syncthreads();
        write_rows(x, a, p, C, slab);
        if (p.number >= 0) pass_on(x, a, w, p, y, C, slab);
    }
}

// How many pieces each window is cut into, 0: it is whole.
static __global__ void count_pieces(struct shape a, struct windows w,
                                    const int32_t *__restrict__ ptr, int32_t *__restrict__ count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w.count) return;
    const int32_t row = (int32_t)i * w.rows, size = ptr[row + min(w.rows, a.m - row)] - ptr[row];
    count[i] = size > w.most ? (int32_t)ceil_div(size, w.most) : 0;
}

static __global__ void list_pieces(struct windows w, int32_t *__restrict__ window)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < w.pieces)
        window[i] = (int32_t)(upper_bound(w.first, (int64_t)0, (int64_t)w.count + 1, i) - 1);
}

// What is decided and allocated before.
struct turned {
    struct shape shape;
    struct windows windows;
    int group, threads;
    int64_t B_ld;    // of `B`: whole vectors
    void *B;         // row-major
    int64_t *first;  // as in struct windows
    int32_t *window; // likewise
    void *part;      // as in struct carries
    int32_t *arrived;
};

#define BLOCK 256 // threads, of the kernels that make lists

static int cut_windows(struct task *t, struct turned *s)
{
    struct device *d = t->dev;
    const int32_t *ptr = (const int32_t *)csr_of(t->A[0])->ptr;
    const int64_t windows = s->windows.count;
    int32_t *count = NULL;
    int64_t pieces = 0;
    int err = device_alloc(d, windows, sizeof *count, (void **)&count);
    if (!err) err = device_alloc(d, windows + 1, sizeof *s->first, (void **)&s->first);
    if (!err && windows) {
        LAUNCH(count_pieces, (unsigned)ceil_div(windows, BLOCK), BLOCK, 0, d->stream, s->shape,
               s->windows, ptr, count);
        err = launch_check(t->entry->name);
    }
    if (!err) err = cub_exclusive_sum(d, count, windows, s->first);
    if (!err) err = wait_for(d, t->entry->name, s->first + windows, &pieces, sizeof pieces);
    device_free(d, count);
    if (!err) err = device_alloc(d, pieces, sizeof *s->window, (void **)&s->window);
    if (err || !pieces) return err;
    s->windows.pieces = (int32_t)pieces;
    s->windows.first = s->first;
    LAUNCH(list_pieces, (unsigned)ceil_div(pieces, BLOCK), BLOCK, 0, d->stream, s->windows,
           s->window);
    s->windows.window = s->window;
    return launch_check(t->entry->name);
}

// Room for what pieces leave, and their counters.
static int make_carries(struct task *t, struct turned *s)
{
    int64_t slots, values;
    int err = size_mul(s->windows.pieces, s->shape.slabs, &slots);
    if (!err) err = size_mul(slots, 32 * s->group, &values); // two slots of 16 bytes a lane
    if (!err) err = device_alloc(t->dev, values, 1, &s->part);
    if (!err) err = device_alloc(t->dev, slots, sizeof *s->arrived, (void **)&s->arrived);
    if (!err && slots)
        err = device_fill(t->dev, s->arrived, 0, slots * (int64_t)sizeof *s->arrived);
    return err;
}

static int make_B(struct task *t, struct turned *s)
{
    const int64_t n = t->in[0].rows, width = (int64_t)prec_bytes(t->prec);
    int64_t count;
    int err = size_mul(n, s->B_ld, &count);
    if (!err) err = device_alloc(t->dev, count, (size_t)width, &s->B);
    if (!err && s->B_ld > t->C.cols) err = device_fill(t->dev, s->B, 0, count * width);
    return err;
}

// Pieces are so short that each multiprocessor has some twenty, if that leaves them worth a block.
static int32_t choose_most(const struct task *t, int64_t slabs)
{
    const int64_t wanted = (int64_t)task_option(t, "piece");
    if (wanted) return (int32_t)wanted;
    const int64_t fair = t->A[0]->nnz * slabs / ((int64_t)t->dev->units * 20);
    return (int32_t)max64(256, min64(4096, fair));
}

template <typename T> static int allow_room(const struct task *t, int group)
{
    auto narrow = multiply<T, 8>;
    auto middle = multiply<T, 16>;
    auto wide = multiply<T, 32>;
    return group == 8    ? allow_shared(t->dev, narrow)
           : group == 16 ? allow_shared(t->dev, middle)
                         : allow_shared(t->dev, wide);
}

// Sets everything but what is allocated.
static int choose(struct task *t, struct turned *s)
{
    const int64_t vec = 16 / (int64_t)prec_bytes(t->prec), k = t->C.cols, m = t->C.rows;
    s->group = GROUP_LEAST;
    while (s->group < WARP && s->group * vec < k) s->group *= 2;
    s->threads = (int)task_option(t, "threads") / WARP * WARP;
    s->B_ld = ceil_div(k, vec) * vec;
    struct dense_dev B = t->in[0];
    B.ld = s->B_ld;
    s->shape = {(int32_t)m, (int32_t)k, (int32_t)ceil_div(k, s->group * vec), 0, t->C.ld};
    s->windows.rows = (int32_t)task_option(t, "window") / WARP * WARP;
    s->windows.count = (int32_t)ceil_div(m, s->windows.rows);
    s->windows.most = choose_most(t, s->shape.slabs);
    int err = row_step(t, &B, &s->shape.B_step);
    return err ? err : BY_PREC(t, allow_room, t, s->group);
}

static int turned_prepare(struct task *t, struct turned *s)
{
    int err = choose(t, s);
    if (!err) err = cut_windows(t, s);
    if (!err) err = make_carries(t, s);
    if (!err) err = make_B(t, s);
    task_number(t, "piece", s->windows.most);
    task_number(t, "pieces", s->windows.pieces);
    return err;
}

static void turned_free(struct device *d, struct turned *s)
{
    device_free(d, s->B);
    device_free(d, s->first);
    device_free(d, s->window);
    device_free(d, s->part);
    device_free(d, s->arrived);
}

template <typename T, int GROUP>
static void start_group(const struct task *t, const struct turned *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const carries<T> y = {(T *)s->part, s->arrived};
    const dim3 grid((unsigned)(s->windows.pieces + (int64_t)s->windows.count),
                    (unsigned)min64(s->shape.slabs, 65535));
    auto kernel = multiply<T, GROUP>;
    LAUNCH(kernel, grid, (unsigned)s->threads, (room<T, GROUP>::bytes(s->windows.rows, s->threads)),
           t->dev->stream, s->shape, s->windows, (const int32_t *)A->ptr, A->idx, (const T *)A->val,
           (const T *)s->B, (T *)t->C.val, y);
}

template <typename T> static void turned_start(const struct task *t, const struct turned *s)
{
    if (t->A[0]->nnz) start_turn(t->dev, &t->in[0], (T *)s->B, s->B_ld);
    if (s->group == 8) {
        start_group<T, 8>(t, s);
    } else if (s->group == 16) {
        start_group<T, 16>(t, s);
    } else {
        start_group<T, 32>(t, s);
    }
}

#endif
