// Rows of A with so many nonzeros in so few columns that a multiprocessor needs most rows of B many
// times, as weights that were pruned have. By the pieces of rows of pieces.cuh each nonzero fetches
// its row of B from the L2, which is what limits. Here it comes from shared memory.
//
// panel  rows of A that a block has, every so many-th one: so panels have about the same work
// strip  neighbouring rows of B, of which shared memory holds a slab, two strips at a time
// slab   128 bytes of a row of B and C
// piece  the nonzeros of a row of A in the columns of a strip
// step   four nonzeros of a piece, which a warp multiplies at once, by eight lanes each
//
// A block sweeps B, strip after strip, and copies the next one while it multiplies by this one. A
// warp has 1 to 4 rows of the panel, whose sums stay in registers all the while. Its nonzeros are
// there once more, in the order in which it comes to them, each with the place of its row of B in
// shared memory. So it reads them one after the other, ahead of time, whatever piece they are of. A
// piece's last step is filled up by zeros, whose row of B are zeros, too.
#include "strips.h"

#include <string.h>

#include "device/cub.cuh"
#include "formats/csr.h"

#define STRIP_THREADS 1024
#define STRIP_WARPS   (STRIP_THREADS / WARP)
#define STRIP_SLAB    128 // bytes
#define STRIP_LANES   8   // that share a nonzero, with 16 bytes of B each
#define STRIP_GROUPS  (WARP / STRIP_LANES)
#define SHELF_BLOCKS  8   // blocks of nonzeros that a warp loads at once, one of `few` in each lane
#define LIST_THREADS  256 // of the kernels that prepare

// A nonzero: its value, and where in shared memory its row of B is.
template <typename T> struct alignas(2 * sizeof(T)) placed {
    T v;
    uint32_t at;
};
template <> struct alignas(16) placed<double> {
    double v;
    uint64_t at; // as wide as the value, so that one load brings both
};

// What one load brings: a nonzero of each step, of 2 steps in f32 and 1 in f64. A block of nonzeros
// is one of these for each group of lanes.
template <typename T> struct alignas(16) few {
    static const int STEPS = 16 / (int)sizeof(placed<T>);
    placed<T> of[STEPS];
};

template <typename T> struct strip_operands {
    const int32_t *steps;
    const int64_t *starts;
    const few<T> *blocks;
    const T *B;
    T *C;
    int32_t m, n, k, panels, height, strips;
    uint32_t B_step, C_step;
};

// Where row r of a warp of a panel is in A; it may lie past the end.
static __device__ __forceinline__ int64_t strip_row(int r, int warp, int32_t panel, int32_t panels)
{
    return (int64_t)(r * STRIP_WARPS + warp) * panels + panel;
}

// Bytes of shared memory that strips take; behind them are a row of zeros and the warps' shelves.
#define STRIP_EXTRA (STRIP_SLAB + STRIP_THREADS * 16)
static __host__ __device__ __forceinline__ uint32_t strips_bytes(int32_t height, int32_t strips)
{
    return (uint32_t)(height * STRIP_SLAB) * (strips > 1 ? 2 : 1);
}

// Copies 16 bytes to shared memory, or zeros. copies_wait() waits for all that the thread has
// begun.
static __device__ __forceinline__ void copy_16(void *to, const void *from, bool zeros)
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (uint32_t)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(zeros ? 0 : 16)
                 : "memory");
#else
    const float4 none = {};
    *(float4 *)to = zeros ? none : *(const float4 *)from;
#endif
}

static __device__ __forceinline__ void copies_wait()
{
#ifdef __CUDA_ARCH__
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Begins to copy the lane's 16 bytes of each row, `first` elements from its start, or zeros where
// the slab lies past the end of B's rows.
template <typename T>
static __device__ __forceinline__ void copy_strip(const strip_operands<T> &x, int32_t strip,
                                                  unsigned char *to, uint32_t first, bool past)
{
    const int32_t top = strip * x.height, rows = min(x.height, x.n - top);
    const int32_t lane = (int32_t)threadIdx.x % STRIP_LANES;
    for (int32_t i = (int32_t)threadIdx.x / STRIP_LANES; i < rows; i += STRIP_THREADS / STRIP_LANES)
        copy_16(to + i * STRIP_SLAB + lane * 16,
                row_at<const T>(x.B, x.B_step, (uint32_t)(top + i)) + first, past);
}

template <typename T> static __device__ __forceinline__ few<T> load_few(const few<T> *p)
{
#ifdef __CUDA_ARCH__
    uint4 x;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                 : "l"(p));
    return *(few<T> *)&x;
#else
    return *p;
#endif
}

// A warp's way through its nonzeros. They come a shelf at a time, to registers, then to the shelf
// in shared memory, which all lanes read, and there one block ahead of what is multiplied.
template <typename T> struct stream {
    few<T> *shelf;
    const few<T> *next; // the lane's of the shelf after `coming`
    few<T> coming, ahead;
    int block; // the next one on the shelf; SHELF_BLOCKS: the shelf is done
};

// The next nonzeros of this lane's group. By all lanes.
template <typename T> static __device__ __forceinline__ few<T> take(stream<T> &from)
{
    const few<T> now = from.ahead;
    if (from.block == SHELF_BLOCKS) {
        __syncwarp();
        from.shelf[lane_id()] = from.coming;
        from.coming = load_few(from.next);
        from.next += WARP;
        from.block = 0;
        __syncwarp();
    }
    from.ahead = from.shelf[from.block++ * STRIP_GROUPS + lane_id() / STRIP_LANES];
    return now;
}

// `own`: where shared memory begins for this lane.
template <typename T, int VEC>
static __device__ __forceinline__ pack<T, VEC> row_of_B(const placed<T> &x,
                                                        const unsigned char *own)
{
    return *(const pack<T, VEC> *)(own + (uint32_t)x.at);
}

// Adds the products of a piece.
template <typename T, int VEC>
static __device__ __forceinline__ void add_piece(pack<T, VEC> &sum, int32_t steps, stream<T> &from,
                                                 const unsigned char *own)
{
    const int STEPS = few<T>::STEPS, TWICE = 2 * STEPS;
#pragma unroll 1
    for (; steps >= TWICE; steps -= TWICE) {
        const few<T> now[2] = {take(from), take(from)};
        pack<T, VEC> b[TWICE];
#pragma unroll
        for (int s = 0; s < TWICE; s++) b[s] = row_of_B<T, VEC>(now[s / STEPS].of[s % STEPS], own);
#pragma unroll
        for (int s = 0; s < TWICE; s++) add_product(sum, now[s / STEPS].of[s % STEPS].v, b[s]);
    }
#pragma unroll 1
    for (; steps > 0; steps -= STEPS) {
        const few<T> now = take(from);
#pragma unroll
        for (int s = 0; s < STEPS; s++)
            if (s < steps) add_product(sum, now.of[s].v, row_of_B<T, VEC>(now.of[s], own));
    }
}

template <typename T, int ROWS>
static __global__ void __launch_bounds__(STRIP_THREADS, 1)
    multiply_strips(const __grid_constant__ strip_operands<T> x)
{
    typedef pack<int32_t, ROWS> counts;
    SHARED_DYNAMIC(unsigned char, memory);
    const int VEC = 16 / (int)sizeof(T);
    const int warp = (int)threadIdx.x / WARP, lane = (int)threadIdx.x % STRIP_LANES;
    const uint32_t size = (uint32_t)(x.height * STRIP_SLAB);
    const unsigned char *own = memory + lane * 16;
    uint32_t first = (blockIdx.y * STRIP_LANES + (uint32_t)lane) * VEC;
    const bool past = first >= (uint32_t)x.k;
    if (past) first = 0;

    copy_strip(x, 0, memory, first, past);
    if (threadIdx.x < STRIP_LANES)
        copy_16(memory + strips_bytes(x.height, x.strips) + threadIdx.x * 16, x.B, true);
    const int64_t w = (int64_t)blockIdx.x * STRIP_WARPS + warp;
    const counts *steps = (const counts *)x.steps + w * x.strips;
    stream<T> from;
    from.shelf = (few<T> *)(memory + strips_bytes(x.height, x.strips) + STRIP_SLAB) + warp * WARP;
    from.next = x.blocks + x.starts[w] * STRIP_GROUPS + lane_id() + WARP;
    from.coming = load_few(from.next - WARP);
    from.block = SHELF_BLOCKS;
    take(from);
    counts next = steps[0];
    pack<T, VEC> sum[ROWS] = {};
#pragma unroll 1
    for (int32_t s = 0; s < x.strips; s++) {
        const counts now = next;
        copies_wait();
        __syncthreads();
        if (s + 1 < x.strips) {
            copy_strip(x, s + 1, memory + (s + 1) % 2 * size, first, past);
            next = steps[s + 1];
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) add_piece<T, VEC>(sum[r], now.x[r], from, own);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t i = strip_row(r, warp, (int32_t)blockIdx.x, x.panels);
#pragma unroll
        for (int v = 0; v < VEC; v++)
#pragma unroll
            for (int step = STRIP_LANES; step < WARP; step *= 2)
                sum[r].x[v] += __shfl_xor_sync(FULL_MASK, sum[r].x[v], step);
        if (i < x.m && !past && lane_id() < STRIP_LANES)
            *(pack<T, VEC> *)(row_at<T>(x.C, x.C_step, (uint32_t)i) + first) = sum[r];
    }
}

// ---- Preparation ----

// The pieces of A: which row's, of which strip.
struct cutting {
    const int32_t *ptr, *idx;
    int32_t m, n, panels, height, strips;
    int rows;
};

// Nonzeros [first, first + count) of A.
struct strip_piece {
    int32_t first, count;
};

// Piece number p of a warp of a panel: all rows' of the first strip come first.
static __device__ __forceinline__ strip_piece find_piece(const struct cutting &c, int64_t warp,
                                                         int32_t p)
{
    const int64_t i =
        strip_row(p % c.rows, (int)(warp % STRIP_WARPS), (int32_t)(warp / STRIP_WARPS), c.panels);
    if (i >= c.m) return {0, 0};
    const int32_t top = p / c.rows * c.height, start = c.ptr[i], end = c.ptr[i + 1];
    const int32_t first = lower_bound(c.idx, start, end, top);
    return {first, lower_bound(c.idx, first, end, min(c.n, top + c.height)) - first};
}

static __device__ __forceinline__ int32_t steps_of(const strip_piece &piece)
{
    return (int32_t)ceil_div(piece.count, STRIP_GROUPS);
}

// Steps of each piece, and blocks of nonzeros of each warp, of which there is one for each of ours.
template <int STEPS>
static __global__ void __launch_bounds__(LIST_THREADS)
    count_steps(struct cutting c, int32_t *__restrict__ steps, int32_t *__restrict__ blocks)
{
    const int64_t w = (int64_t)blockIdx.x * (LIST_THREADS / WARP) + threadIdx.x / WARP;
    const int32_t pieces = c.strips * c.rows;
    if (w >= (int64_t)c.panels * STRIP_WARPS) return;
    int32_t sum = 0;
    for (int32_t p = lane_id(); p < pieces; p += WARP) {
        const int32_t own = steps_of(find_piece(c, w, p));
        steps[w * pieces + p] = own;
        sum += (int32_t)ceil_div(own, STEPS);
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) blocks[w] = sum;
}

// Block b of a piece has its steps b * STEPS and on; a step has four neighbouring nonzeros.
template <typename T>
static __global__ void __launch_bounds__(LIST_THREADS)
    fill_blocks(struct cutting c, const T *__restrict__ val, const int64_t *__restrict__ starts,
                few<T> *__restrict__ blocks)
{
    const int STEPS = few<T>::STEPS;
    const int64_t w = (int64_t)blockIdx.x * (LIST_THREADS / WARP) + threadIdx.x / WARP;
    if (w >= (int64_t)c.panels * STRIP_WARPS) return;
    few<T> *to = blocks + starts[w] * STRIP_GROUPS;
    for (int32_t p = 0; p < c.strips * c.rows; p++) {
        const struct strip_piece piece = find_piece(c, w, p);
        const int32_t strip = p / c.rows, top = strip * c.height;
        const int32_t loads =
            (int32_t)ceil_div(steps_of(piece), STEPS) * STRIP_GROUPS; // of one group each
        for (int32_t l = lane_id(); l < loads; l += WARP)
            for (int s = 0; s < STEPS; s++) {
                const int32_t e = (l / STRIP_GROUPS * STEPS + s) * STRIP_GROUPS + l % STRIP_GROUPS;
                placed<T> x = {0, strips_bytes(c.height, c.strips)};
                if (e < piece.count)
                    x = {val[piece.first + e],
                         (uint32_t)((strip % 2 * c.height + c.idx[piece.first + e] - top) *
                                    STRIP_SLAB)};
                to[l].of[s] = x;
            }
        to += loads;
    }
}

template <typename T, int ROWS> static void start(const struct task *t, const struct strips *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t strips = (int32_t)ceil_div(A->n, s->height);
    const strip_operands<T> x = {s->steps,
                                 s->starts,
                                 (const few<T> *)s->blocks,
                                 (const T *)t->in[0].val,
                                 (T *)t->C.val,
                                 A->m,
                                 A->n,
                                 (int32_t)t->C.cols,
                                 s->panels,
                                 s->height,
                                 strips,
                                 s->B_step,
                                 s->C_step};
    auto kernel = multiply_strips<T, ROWS>;
    LAUNCH(kernel, dim3((unsigned)s->panels, (unsigned)s->slabs), STRIP_THREADS,
           strips_bytes(s->height, strips) + STRIP_EXTRA, t->dev->stream, x);
}

template <typename T> static void start_rows(const struct task *t, const struct strips *s)
{
    if (s->rows == 1)
        start<T, 1>(t, s);
    else if (s->rows == 2)
        start<T, 2>(t, s);
    else
        start<T, 4>(t, s);
}

void strips_start(const struct task *t, const struct strips *s) { BY_PREC(t, start_rows, t, s); }

template <typename T> static int allow_all_shared(const struct device *d)
{
    int err = allow_shared(d, multiply_strips<T, 1>);
    if (!err) err = allow_shared(d, multiply_strips<T, 2>);
    if (!err) err = allow_shared(d, multiply_strips<T, 4>);
    return err;
}

template <typename T> static int make_blocks(struct task *t, struct strips *s)
{
    struct device *d = t->dev;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t strips = (int32_t)ceil_div(A->n, s->height);
    const struct cutting c = {
        (const int32_t *)A->ptr, A->idx, A->m, A->n, s->panels, s->height, strips, s->rows};
    const int64_t warps = (int64_t)s->panels * STRIP_WARPS;
    const unsigned grid = (unsigned)ceil_div(warps, LIST_THREADS / WARP);
    const int64_t block = STRIP_GROUPS * (int64_t)sizeof(few<T>);
    int32_t *counts = NULL;
    int64_t blocks;
    int err = device_alloc(d, warps * strips, s->rows * sizeof *s->steps, (void **)&s->steps);
    if (!err) err = device_alloc(d, warps + 1, sizeof *s->starts, (void **)&s->starts);
    if (!err) err = device_alloc(d, warps, sizeof *counts, (void **)&counts);
    if (!err) {
        auto count = count_steps<few<T>::STEPS>;
        LAUNCH(count, grid, LIST_THREADS, 0, d->stream, c, s->steps, counts);
        err = cub_offsets(d, t->entry->name, counts, warps, s->starts, &blocks);
    }
    device_free(d, counts);
    // A warp loads up to two shelves more than it has.
    if (!err) err = device_alloc(d, blocks + 2 * SHELF_BLOCKS, block, &s->blocks);
    if (err) return err;
    err = device_fill(d, (char *)s->blocks + blocks * block, 0, 2 * SHELF_BLOCKS * block);
    if (err) return err;
    auto fill = fill_blocks<T>;
    LAUNCH(fill, grid, LIST_THREADS, 0, d->stream, c, (const T *)A->val, s->starts,
           (few<T> *)s->blocks);
    return launch_check(t->entry->name);
}

void strips_free(struct device *d, struct strips *s)
{
    device_free(d, s->steps);
    device_free(d, s->starts);
    device_free(d, s->blocks);
}

// ---- Whether it pays ----

// A multiprocessor's clocks: by strips for a launch, a block, a nonzero of its panel and a row of
// B; and by pieces for so many bytes of B that nonzeros fetch from the L2, with rows of 128 bytes
// or more of them. Fitted to 12 matrices on an H100: by strips to within 13 %, by pieces the
// fastest.
struct strip_clocks {
    double launch, block, nonzero, row;
};
static const struct strip_clocks clocks_f32 = {1400, 2150, 1.53, 2.5},
                                 clocks_f64 = {1200, 1900, 2.14, 3.05};
#define GATHER_BYTES_NARROW 42
#define GATHER_BYTES        53
#define STRIPS_GAIN         0.93 // of the clocks by pieces, at most
#define CLOCKS_ALONE        8    // for a nonzero, if a warp's neighbours have nothing to do

// The most nonzeros of a panel, or as many as would take as long where one warp takes longest.
static __global__ void __launch_bounds__(STRIP_THREADS)
    find_fullest(struct cutting c, int32_t alone, int32_t *__restrict__ most)
{
    __shared__ int32_t sum, longest;
    const int warp = (int)threadIdx.x / WARP;
    if (threadIdx.x == 0) sum = longest = 0;
    __syncthreads();
    if (lane_id() == 0) {
        int32_t own = 0;
        for (int r = 0; r < c.rows; r++) {
            const int64_t i = strip_row(r, warp, (int32_t)blockIdx.x, c.panels);
            if (i < c.m) own += c.ptr[i + 1] - c.ptr[i];
        }
        atomicAdd(&sum, own);
        atomicMax(&longest, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(most,
                  (int32_t)min((int64_t)INT32_MAX, max((int64_t)sum, (int64_t)longest * alone)));
}

static int fullest_panel(struct task *t, const struct strips *s, int32_t alone, int32_t *out)
{
    struct device *d = t->dev;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct cutting c = {
        (const int32_t *)A->ptr, A->idx, A->m, A->n, s->panels, s->height, 0, s->rows};
    int32_t *most = NULL;
    int err = device_alloc(d, 1, sizeof *most, (void **)&most);
    if (!err) err = device_fill(d, most, 0, sizeof *most);
    if (!err) {
        LAUNCH(find_fullest, (unsigned)s->panels, STRIP_THREADS, 0, d->stream, c, alone, most);
        err = wait_for(d, t->entry->name, most, out, sizeof *out);
    }
    device_free(d, most);
    return err;
}

static double clocks_by_strips(const struct task *t, const struct strips *s, double nonzeros)
{
    const struct strip_clocks *of = t->prec == F32 ? &clocks_f32 : &clocks_f64;
    const double turns = (double)ceil_div((int64_t)s->panels * s->slabs, t->dev->units);
    return of->launch + turns * (of->block + of->nonzero * nonzeros + of->row * (double)t->A[0]->n);
}

static double clocks_by_pieces(const struct task *t)
{
    const int64_t row = t->C.cols * (int64_t)prec_bytes(t->prec);
    return (double)t->A[0]->nnz * (double)row / t->dev->units /
           (row <= STRIP_SLAB ? GATHER_BYTES_NARROW : GATHER_BYTES);
}

static void take_rows(const struct task *t, struct strips *s, int rows)
{
    s->rows = rows;
    s->panels = (int32_t)ceil_div(t->A[0]->m, (int64_t)rows * STRIP_WARPS);
}

// Takes the rows of a warp that should be the fastest; none where pieces are as fast. Panels are
// looked at only if they would do by their mean.
static int choose_rows(struct task *t, struct strips *s)
{
    const double most = STRIPS_GAIN * clocks_by_pieces(t);
    const struct strip_clocks *of = t->prec == F32 ? &clocks_f32 : &clocks_f64;
    double least = most;
    int best = 0, err = OK;
    for (int rows = 1; rows <= 4 && !err; rows *= 2) {
        int32_t fullest = 0;
        take_rows(t, s, rows);
        if (clocks_by_strips(t, s, (double)t->A[0]->nnz / s->panels) >= least) continue;
        err = fullest_panel(t, s, (int32_t)(CLOCKS_ALONE / of->nonzero), &fullest);
        const double clocks = clocks_by_strips(t, s, fullest);
        if (clocks < least) best = rows, least = clocks;
    }
    take_rows(t, s, max(best, 1));
    s->rows = best;
    return err;
}

// Where rows of B and C begin at multiples of 16 bytes.
static bool strips_fit(const struct task *t)
{
    const int64_t bytes = (int64_t)prec_bytes(t->prec);
    return t->C.cols * bytes % 16 == 0 && t->in[0].ld * bytes % 16 == 0 &&
           t->C.ld * bytes % 16 == 0 && t->A[0]->nnz > 0 && t->C.cols > 0;
}

// Whether an option says how pieces are to be: then they are meant.
static bool pieces_are_meant(const struct task *t)
{
    double defaults[PARAMS_MAX];
    const struct param *p;
    algo_defaults(t->algo, defaults);
    for (int i = 0; (p = algo_param(t->algo, i)); i++)
        if (strcmp(p->name, "strips") && task_option(t, p->name) != defaults[i]) return true;
    return false;
}

int strips_plan(struct task *t, struct strips *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int wanted = (int)task_option(t, "strips");
    int most;
    *s = {};
    if (wanted == 0 || !strips_fit(t) || (wanted < 0 && pieces_are_meant(t))) return OK;
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, t->dev->index));
    const int64_t rows = (most - STRIP_EXTRA) / STRIP_SLAB;
    const int64_t strips = A->n <= rows ? 1 : ceil_div(A->n, rows / 2);
    s->height = (int32_t)ceil_div(A->n, strips);
    s->slabs = (int32_t)ceil_div(t->C.cols * (int64_t)prec_bytes(t->prec), STRIP_SLAB);
    int err = OK;
    if (wanted > 0)
        take_rows(t, s, wanted == 3 ? 4 : wanted);
    else
        err = choose_rows(t, s);
    if (err || !s->rows) return err;
    if (s->slabs > 65535) { // of a grid
        s->rows = 0;
        return OK;
    }
    err = row_step(t, &t->in[0], &s->B_step);
    if (!err) err = row_step(t, &t->C, &s->C_step);
    if (!err) err = BY_PREC(t, allow_all_shared, t->dev);
    if (!err) err = BY_PREC(t, make_blocks, t, s);
    if (err == ERR_MEMORY && wanted < 0) { // it does without
        strips_free(t->dev, s);
        *s = {};
        return OK;
    }
    if (!err) task_number(t, "strip_rows", s->rows);
    return err;
}
