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
        write_rows(x, a, w, p, C, slab);
        if (p.number >= 0) pass_on(x, a, w, p, y, C, slab);
    }
}

// count[i] becomes the number of pieces of window i; 0: the window is whole.
static __global__ void count_pieces(struct shape a, struct windows w,
                                    const int32_t *__restrict__ ptr, int32_t *__restrict__ count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w.count) return;
    const struct piece p = whole_window(a, w, (int32_t)i, ptr);
    const int32_t size = p.end - p.begin;
    count[i] = size > w.most ? (int32_t)ceil_div(size, w.most) : 0;
}

// first[i] is the first piece of window i. The nonzeros of a window are shared out evenly.
static __global__ void list_pieces(struct shape a, struct windows w,
                                   const int32_t *__restrict__ ptr,
                                   const int64_t *__restrict__ first,
                                   struct piece *__restrict__ list)
{
    const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= w.pieces) return;
    const int32_t window = (int32_t)(upper_bound(first, (int64_t)0, (int64_t)w.count + 1, b) - 1);
    struct piece p = whole_window(a, w, window, ptr);
    const int64_t size = p.end - p.begin;
    p.number = (int32_t)b;
    p.first = (int32_t)first[window];
    p.of_them = (int32_t)first[window + 1] - p.first;
    const int32_t x = p.number - p.first;
    p.begin = p.window_begin + (int32_t)(size * x / p.of_them);
    p.end = p.window_begin + (int32_t)(size * (x + 1) / p.of_them);
    list[b] = p;
}

// H200: blocks of 64 threads are the fastest on a busy device. Small matrices have larger blocks
// and smaller windows: 4.3 us in place of 9 to 11, PGPgiantcompo 10.0 us in place of 18.6.
#define TURNED_THREADS 64  // of a block, at least
#define TURNED_BUSY    512 // threads that a multiprocessor should have
#define TURNED_WINDOWS 4   // blocks that it should have

// Decisions and allocations of prepare().
struct turned {
    struct shape shape;
    struct windows windows;
    int group, threads;
    bool early;          // the kernel may start before B is turned
    int64_t B_ld;        // of `B`: whole vectors
    void *B;             // row-major
    struct piece *piece; // as in struct windows
    void *part;          // as in struct carries
    int32_t *arrived;
};

#define BLOCK 256 // threads, of the kernels that make lists

// Finds the first piece of each window, and how many there are.
static int find_pieces(struct task *t, struct turned *s, int64_t *first, int64_t *pieces)
{
    struct device *d = t->dev;
    const int64_t windows = s->windows.count;
    int32_t *count = NULL;
    int err = device_alloc(d, windows, sizeof *count, (void **)&count);
    if (!err && windows) {
        LAUNCH(count_pieces, (unsigned)ceil_div(windows, BLOCK), BLOCK, 0, d->stream, s->shape,
               s->windows, (const int32_t *)csr_of(t->A[0])->ptr, count);
        err = launch_check(t->entry->name);
    }
    if (!err) err = cub_offsets(d, t->entry->name, count, windows, first, pieces);
    device_free(d, count);
    return err;
}

static int cut_windows(struct task *t, struct turned *s)
{
    struct device *d = t->dev;
    int64_t *first = NULL, pieces = 0;
    int err = device_alloc(d, (int64_t)s->windows.count + 1, sizeof *first, (void **)&first);
    if (!err) err = find_pieces(t, s, first, &pieces);
    if (!err) err = device_alloc(d, pieces, sizeof *s->piece, (void **)&s->piece);
    if (!err && pieces) {
        s->windows.pieces = (int32_t)pieces;
        s->windows.piece = s->piece;
        LAUNCH(list_pieces, (unsigned)ceil_div(pieces, BLOCK), BLOCK, 0, d->stream, s->shape,
               s->windows, (const int32_t *)csr_of(t->A[0])->ptr, first, s->piece);
        err = launch_check(t->entry->name);
    }
    device_free(d, first);
    return err;
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

// Rows of a window: as many as have the nonzeros of a piece, LEAST_ROWS to 32. More nonzeros
// keep the groups of a block busy for long, fewer do not pay for a block. The rows are halved while
// the device has too few blocks.
static int32_t choose_rows(const struct task *t, int64_t piece)
{
    int64_t wanted = (int64_t)task_option(t, "window"), rows = MAX_ROWS;
    const bool given = wanted > 0;
    if (!given) wanted = min64(32, piece * t->C.rows / max64(1, t->A[0]->nnz));
    while (rows > LEAST_ROWS &&
           (rows > wanted || (!given && t->C.rows < rows * TURNED_WINDOWS * t->dev->units)))
        rows /= 2;
    return (int32_t)rows;
}

// More threads for each block where the device is not busy: then a group has fewer nonzeros to go
// through, one batch of loads after the other.
static int choose_threads(const struct task *t, const struct turned *s)
{
    const int64_t given = (int64_t)task_option(t, "threads") / WARP * WARP;
    const int64_t blocks = ((int64_t)s->windows.count + s->windows.pieces) * s->shape.slabs;
    int64_t threads = TURNED_THREADS;
    while (threads < MAX_THREADS && blocks * threads < (int64_t)t->dev->units * TURNED_BUSY)
        threads *= 2;
    return (int)min64(MAX_THREADS, given ? given : threads);
}

template <typename T, int GROUP> static int ready_kernel(const struct task *t, struct turned *s)
{
    auto kernel = multiply<T, GROUP>;
    s->early = task_option(t, "overlap") != 0 && can_launch_early(kernel);
    return allow_shared(t->dev, kernel);
}

// Calls function<T, GROUP>(t, s) for the groups of the case.
#define BY_GROUP(T, function, t, s)                                                                \
    ((s)->group == 8    ? function<T, 8>(t, s)                                                     \
     : (s)->group == 16 ? function<T, 16>(t, s)                                                    \
                        : function<T, 32>(t, s))

template <typename T> static int ready_prec(const struct task *t, struct turned *s)
{
    return BY_GROUP(T, ready_kernel, t, s);
}

// Sets everything but what is allocated.
static int choose(struct task *t, struct turned *s)
{
    const int64_t vec = 16 / (int64_t)prec_bytes(t->prec), k = t->C.cols, m = t->C.rows;
    struct dense_dev B = t->in[0];
    s->group = GROUP_LEAST;
    while (s->group < WARP && s->group * vec < k) s->group *= 2;
    B.ld = s->B_ld = ceil_div(k, vec) * vec;
    s->shape = {(int32_t)m, (int32_t)k, (int32_t)ceil_div(k, s->group * vec), 0, t->C.ld};
    s->windows.most = (int32_t)task_option(t, "piece");
    s->windows.rows = choose_rows(t, s->windows.most);
    s->windows.count = (int32_t)ceil_div(m, s->windows.rows);
    int err = row_step(t, &B, &s->shape.B_step);
    return err ? err : BY_PREC(t, ready_prec, t, s);
}

static int turned_prepare(struct task *t, struct turned *s)
{
    int err = choose(t, s);
    if (!err) err = cut_windows(t, s);
    if (!err) err = make_carries(t, s);
    if (!err) err = make_B(t, s);
    s->threads = choose_threads(t, s);
    task_number(t, "window", s->windows.rows);
    task_number(t, "threads", s->threads);
    task_number(t, "pieces", s->windows.pieces);
    return err;
}

static void turned_free(struct device *d, struct turned *s)
{
    device_free(d, s->B);
    device_free(d, s->piece);
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
    const size_t bytes = room<T, GROUP>::bytes(s->windows.rows, s->threads);
    const int32_t *ptr = (const int32_t *)A->ptr, *idx = A->idx;
    const T *val = (const T *)A->val, *B = (const T *)s->B;
    T *C = (T *)t->C.val;
    auto kernel = multiply<T, GROUP>;
    LAUNCH_EARLY_IF(A->nnz && s->early, kernel, grid, (unsigned)s->threads, bytes, t->dev->stream,
                    s->shape, s->windows, ptr, idx, val, B, C, y);
}

template <typename T> static void turned_start(const struct task *t, const struct turned *s)
{
    if (t->A[0]->nnz) start_turn(t->dev, &t->in[0], (T *)s->B, s->B_ld);
    BY_GROUP(T, start_group, t, s);
}

#endif
