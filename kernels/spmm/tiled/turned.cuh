// The turned method of tiled-tuned. Each run copies B to row-major (turn.cuh). A block then makes
// the sums of a panel, rows of C, in shared memory, and writes them to C column by column.
#ifndef TILED_TURNED_H
#define TILED_TURNED_H

#include "device/cub.cuh"
#include "turn.cuh"
#include "turned_sum.cuh"
#include "turned_write.cuh"

template <typename T, int GROUP>
static __global__ void __launch_bounds__(MAX_THREADS, sizeof(T) == 8 ? 2 : 3)
    multiply(struct shape a, struct panels w, const int32_t *__restrict__ ptr,
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
    const block_memory<T, GROUP> x = {step, sums, sums + block_memory<T, GROUP>::COLUMNS * step,
                                      head_row, start};
    const struct share s = find_share(found, (int)threadIdx.x / GROUP, (int)blockDim.x / GROUP);
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        sum_shares(x, a, p, s, idx, val, B, slab);
        __syncthreads();
        add_heads(x);
        __syncthreads();
        write_rows(x, a, w, p, C, slab);
        if (p.number >= 0) join_pieces(x, a, w, p, y, C, slab);
    }
}

// Sets count[i] to the number of pieces of panel i. 0: the panel is not cut.
static __global__ void count_pieces(struct shape a, struct panels w,
                                    const int32_t *__restrict__ ptr, int32_t *__restrict__ count)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= w.count) return;
    const struct piece p = whole_panel(a, w, (int32_t)i, ptr);
    const int32_t size = p.end - p.begin;
    count[i] = size > w.most ? (int32_t)ceil_div(size, w.most) : 0;
}

// Lists the pieces. first[i] is the first piece of panel i. Pieces of a panel have equal numbers of
// nonzeros.
static __global__ void list_pieces(struct shape a, struct panels w, const int32_t *__restrict__ ptr,
                                   const int64_t *__restrict__ first,
                                   struct piece *__restrict__ list)
{
    const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= w.pieces) return;
    const int32_t panel = (int32_t)(upper_bound(first, (int64_t)0, (int64_t)w.count + 1, b) - 1);
    struct piece p = whole_panel(a, w, panel, ptr);
    const int64_t size = p.end - p.begin;
    p.number = (int32_t)b;
    p.first = (int32_t)first[panel];
    p.of_them = (int32_t)first[panel + 1] - p.first;
    const int32_t x = p.number - p.first;
    p.begin = p.panel_begin + (int32_t)(size * x / p.of_them);
    p.end = p.panel_begin + (int32_t)(size * (x + 1) / p.of_them);
    list[b] = p;
}

// H200: blocks of 64 threads are the fastest on a full device. Small matrices have larger blocks
// and smaller panels: 4.3 us in place of 9 to 11, PGPgiantcompo 10.0 us in place of 18.6.
#define TURNED_THREADS 64  // least threads of a block
#define TURNED_BUSY    512 // threads that a multiprocessor should have
#define TURNED_PANELS  4   // blocks that a multiprocessor should have

// Decisions and allocations of prepare().
struct turned {
    struct shape shape;
    struct panels panels;
    int group, threads;
    bool early;          // the kernel may start before the copy of B ends
    int64_t B_ld;        // elements between rows of `B`: whole vectors
    void *B;             // row-major copy
    struct piece *piece; // see struct panels
    void *part;          // see struct carries
    int32_t *arrived;
};

#define BLOCK 256 // threads of the kernels that make lists

// Sets first[] to the first piece of each panel, and *pieces to the number of pieces.
static int find_pieces(struct task *t, struct turned *s, int64_t *first, int64_t *pieces)
{
    struct device *d = t->dev;
    const int64_t panels = s->panels.count;
    int32_t *count = NULL;
    int err = device_alloc(d, panels, sizeof *count, (void **)&count);
    if (!err && panels) {
        LAUNCH(count_pieces, (unsigned)ceil_div(panels, BLOCK), BLOCK, 0, d->stream, s->shape,
               s->panels, (const int32_t *)csr_of(t->A[0])->ptr, count);
        err = launch_check(t->entry->name);
    }
    if (!err) err = cub_offsets(d, t->entry->name, count, panels, first, pieces);
    device_free(d, count);
    return err;
}

static int cut_panels(struct task *t, struct turned *s)
{
    struct device *d = t->dev;
    int64_t *first = NULL, pieces = 0;
    int err = device_alloc(d, (int64_t)s->panels.count + 1, sizeof *first, (void **)&first);
    if (!err) err = find_pieces(t, s, first, &pieces);
    if (!err) err = device_alloc(d, pieces, sizeof *s->piece, (void **)&s->piece);
    if (!err && pieces) {
        s->panels.pieces = (int32_t)pieces;
        s->panels.piece = s->piece;
        LAUNCH(list_pieces, (unsigned)ceil_div(pieces, BLOCK), BLOCK, 0, d->stream, s->shape,
               s->panels, (const int32_t *)csr_of(t->A[0])->ptr, first, s->piece);
        err = launch_check(t->entry->name);
    }
    device_free(d, first);
    return err;
}

// Allocates the parts of cut rows and their counters.
static int make_carries(struct task *t, struct turned *s)
{
    int64_t slots, values;
    int err = size_mul(s->panels.pieces, s->shape.slabs, &slots);
    if (!err) err = size_mul(slots, 32 * s->group, &values); // two slots of 16 bytes per lane
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

// Returns the rows of a panel: rows with about the nonzeros of a piece, LEAST_ROWS to 32. More
// nonzeros keep the groups of a block busy for long, fewer do not pay for a block. The rows are
// halved while the device has too few blocks.
static int32_t choose_rows(const struct task *t, int64_t piece)
{
    int64_t wanted = (int64_t)task_option(t, "block-rows"), rows = MAX_ROWS;
    const bool given = wanted > 0;
    if (!given) wanted = min64(32, piece * t->C.rows / max64(1, t->A[0]->nnz));
    while (rows > LEAST_ROWS &&
           (rows > wanted || (!given && t->C.rows < rows * TURNED_PANELS * t->dev->units)))
        rows /= 2;
    return (int32_t)rows;
}

// Returns the threads of a block. A device that is not full gets more threads per block, so that a
// group has fewer sequential batches of loads.
static int choose_threads(const struct task *t, const struct turned *s)
{
    const int64_t given = (int64_t)task_option(t, "threads") / WARP * WARP;
    const int64_t blocks = ((int64_t)s->panels.count + s->panels.pieces) * s->shape.slabs;
    int64_t threads = TURNED_THREADS;
    while (threads < MAX_THREADS && blocks * threads < (int64_t)t->dev->units * TURNED_BUSY)
        threads *= 2;
    return (int)min64(MAX_THREADS, given ? given : threads);
}

template <typename T, int GROUP> static int prepare_kernel(const struct task *t, struct turned *s)
{
    auto kernel = multiply<T, GROUP>;
    s->early = task_option(t, "early-start") != 0 && can_launch_early(kernel);
    return allow_shared(t->dev, kernel);
}

// Calls function<T, GROUP>(t, s) for the group of the case.
#define BY_GROUP(T, function, t, s)                                                                \
    ((s)->group == 8    ? function<T, 8>(t, s)                                                     \
     : (s)->group == 16 ? function<T, 16>(t, s)                                                    \
                        : function<T, 32>(t, s))

template <typename T> static int prepare_kernels(const struct task *t, struct turned *s)
{
    return BY_GROUP(T, prepare_kernel, t, s);
}

// Sets everything except allocations.
static int choose(struct task *t, struct turned *s)
{
    const int64_t vec = 16 / (int64_t)prec_bytes(t->prec), k = t->C.cols, m = t->C.rows;
    struct dense_dev B = t->in[0];
    s->group = GROUP_LEAST;
    while (s->group < WARP && s->group * vec < k) s->group *= 2;
    B.ld = s->B_ld = ceil_div(k, vec) * vec;
    s->shape = {(int32_t)m, (int32_t)k, (int32_t)ceil_div(k, s->group * vec), 0, t->C.ld};
    s->panels.most = (int32_t)task_option(t, "block-nonzeros");
    s->panels.rows = choose_rows(t, s->panels.most);
    s->panels.count = (int32_t)ceil_div(m, s->panels.rows);
    int err = row_step(t, &B, &s->shape.B_step);
    return err ? err : BY_PREC(t, prepare_kernels, t, s);
}

static int turned_prepare(struct task *t, struct turned *s)
{
    int err = choose(t, s);
    if (!err) err = cut_panels(t, s);
    if (!err) err = make_carries(t, s);
    if (!err) err = make_B(t, s);
    s->threads = choose_threads(t, s);
    task_number(t, "block_rows", s->panels.rows);
    task_number(t, "threads", s->threads);
    task_number(t, "pieces", s->panels.pieces);
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
    const dim3 grid((unsigned)(s->panels.pieces + (int64_t)s->panels.count),
                    (unsigned)min64(s->shape.slabs, 65535));
    const size_t bytes = block_memory<T, GROUP>::bytes(s->panels.rows, s->threads);
    const int32_t *ptr = (const int32_t *)A->ptr, *idx = A->idx;
    const T *val = (const T *)A->val, *B = (const T *)s->B;
    T *C = (T *)t->C.val;
    auto kernel = multiply<T, GROUP>;
    LAUNCH_EARLY_IF(A->nnz && s->early, kernel, grid, (unsigned)s->threads, bytes, t->dev->stream,
                    s->shape, s->panels, ptr, idx, val, B, C, y);
}

template <typename T> static void turned_start(const struct task *t, const struct turned *s)
{
    if (t->A[0]->nnz) start_turn(t->dev, &t->in[0], (T *)s->B, s->B_ld);
    BY_GROUP(T, start_group, t, s);
}

#endif
