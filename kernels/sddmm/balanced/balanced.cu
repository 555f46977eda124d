// SDDMM over equal shares of the nonzeros, C = A .* (X * Y^T).
//
// Format: COO, in the order of CSR. Any k, any mix of row lengths: the kernel does not depend on
// them. One lane writes each element of C: no atomics, no sums to join.
//
// Words:
//
// share  the nonzeros of a warp: 8, 16 or 32 neighbouring nonzeros of A
// group  GROUP = 4 or 8 lanes of the warp, which take EACH = 1, 2, 4 or 8 nonzeros of its share
// pack   VEC neighbouring elements of a row of X or Y, 16 bytes where k and the rows allow it. The
//        lanes of a group load GROUP of them side by side, and LOADS times as many at once.
//
// Steps of a warp:
//
// 1. Each lane loads row and column of a nonzero of its group. If EACH is less than GROUP,
//    neighbouring lanes load the same nonzero. Neighbouring nonzeros are in neighbouring groups.
//    Their columns are often neighbours too, and short rows of Y then lie in the same lines of L1.
// 2. A group goes through its nonzeros. The lanes load their packs of Y's row and of X's and add up
//    the products. Loads of one nonzero do not wait for another.
// 3. group_sums() adds up the lanes' parts of all EACH sums together. Each lane is left with the
//    dot product of the nonzero that it loaded, and one lane for each nonzero scales and writes it.
//
// Ends: a warp past the last nonzero returns. A lane past the last nonzero computes the last
// nonzero again and does not write. Packs past column k are zeros.
//
// Limits: loading a row of Y for each nonzero, 4 k bytes in f32, mostly from the caches. In small
// matrices the limit is the start of the kernel. So the kernel starts before the kernel ahead of it
// in the stream has ended. Until then it reads only rows and columns, which no kernel of a run
// writes. In a batch, each run overlaps the run ahead of it; `-opt early-start=0` turns that off.
// H200, f32, 69 matrices, time with the early start over time without: 0.85 to 0.88 if runs are
// launched one by one, 1.06 to 1.08 in a graph with a separator behind each run.
//
// If rows of A span many columns and are not very sparse, nonzeros are ordered by strips of
// columns. Rows of Y are then loaded from L1, see strips.cuh. A warp computes several shares. The
// warps of a multiprocessor take neighbouring shares in turn.
//
// Did not pay on an H200: neighbouring blocks on one multiprocessor (0.95 to 0.97 of the speed),
// one vector load of several columns in place of shuffles (equal), panels of rows with sorted
// columns, cache hints.
#include <math.h>

#include "device/once.cuh"
#include "strips.cuh"

// H200: groups of 4 or 16 lanes reach 0.97 to 1.02 of the speed, blocks of 128, 512 or 1,024
// threads 0.75 to 0.97.
#define WIDE_GROUP     8
#define NARROW_GROUP   4  // of 16-byte packs, for rows of at most NARROW_BYTES
#define NARROW_BYTES   64 // bytes of a row of X or Y
#define MAX_THREADS    256
#define STRIPS_THREADS 1024 // with strips: as many as a multiprocessor has registers for

// Bytes of rows whose loads take as long as the rest of a warp's work. H100, time over that of the
// best share: 0 costs 1.71 at worst in rows of at most 64 bytes, 128 costs 1.22 in rows of 256.
#define SHARE_BYTES 48

// Relation between k and the columns that a group loads at once.
enum fill {
    ONCE,    // equal
    TIMES,   // k is a multiple
    AT_MOST, // k is not larger: each load is compared with k
    PARTLY,  // anything else: each load is compared with k
};

// Form of the kernels.
template <int GROUP_, int VEC_, int LOADS_, int SHARE_, enum fill FILL_>
struct form {
    static const int GROUP = GROUP_, VEC = VEC_, LOADS = LOADS_, SHARE = SHARE_;
    static const int EACH = SHARE * GROUP / WARP; // nonzeros of a group
    static const int SAME = GROUP / EACH;         // neighbouring lanes that have the same nonzero
    static const int STEP = GROUP * VEC * LOADS;  // columns that a group loads at once
    static const bool WHOLE = FILL_ == ONCE || FILL_ == TIMES;
    static const bool LOOP = FILL_ == TIMES || FILL_ == PARTLY;
    static const bool KEEP = EACH * LOADS > 4; // see add_dots()
    static_assert(WHOLE || LOADS == 1, "load() has one test of the column, for one pack");
};

// Returns the place of a lane's nonzero in the share.
template <typename F> static __device__ __forceinline__ uint32_t place_of_lane(int lane)
{
    return (uint32_t)(lane % F::GROUP / F::SAME * (WARP / F::GROUP) + lane / F::GROUP);
}

// Returns the nonzeros of a share with strips. H100, worst time over that of the best share: 1.57
// with 32 for all (f64, 2,048 bytes), 1.28 with 16 for all (256 bytes), 1.14 with both.
static constexpr int strips_share(enum fill fill) { return fill == TIMES ? 16 : 32; }

template <typename T> struct operands {
    const int32_t *row, *col;
    const T *val, *X, *Y;
    T *C;
    uint32_t nnz;
    uint32_t k;
    uint32_t X_step, Y_step; // bytes from one row to the next
};

// Loads the packs of a lane in a row: the first at column l, the others GROUP packs apart. Unless
// the form is WHOLE, a pack from column k on is zero.
template <typename F, typename T>
static __device__ __forceinline__ void load(pack<T, F::VEC> (&x)[F::LOADS], const T *top,
                                            uint32_t step, int32_t row, uint32_t l, uint32_t k)
{
    opaque(step);
    const pack<T, F::VEC> *from = row_at<const pack<T, F::VEC>>(top + l, step, (uint32_t)row);
#pragma unroll
    for (int i = 0; i < F::LOADS; i++)
        x[i] = F::WHOLE || l < k ? from[i * F::GROUP] : pack<T, F::VEC>{};
}

// Adds the lane's part of the group's dot products, in columns from l on. Row and column are those
// of the lane's own nonzero. With KEEP a row of X is loaded only if the row differs from that of
// the previous nonzero: fewer loads, but a branch between them. H200: without KEEP the kernel
// reaches 0.85 to 0.95 of the speed.
template <typename F, typename T>
static __device__ __forceinline__ void add_dots(T (&sum)[F::EACH], const operands<T> &a,
                                                int32_t row, int32_t col, uint32_t l)
{
    pack<T, F::VEC> x[F::LOADS], y[F::LOADS];
    int32_t kept = -1;
#pragma unroll
    for (int e = 0; e < F::EACH; e++) {
        const int32_t i = __shfl_sync(FULL_MASK, row, e * F::SAME, F::GROUP);
        const int32_t j = __shfl_sync(FULL_MASK, col, e * F::SAME, F::GROUP);
        load<F>(y, a.Y, a.Y_step, j, l, a.k);
        if (!F::KEEP || i != kept) load<F>(x, a.X, a.X_step, i, l, a.k);
        kept = i;
#pragma unroll
        for (int q = 0; q < F::LOADS; q++) sum[e] = add_dot(sum[e], x[q], y[q]);
    }
}

// Returns the dot product of the lane's nonzero. Called by all lanes of a group.
template <typename F, typename T>
static __device__ __forceinline__ T dots(const operands<T> &a, int32_t row, int32_t col)
{
    T sum[F::EACH] = {};
    uint32_t l = (uint32_t)lane_id() % F::GROUP * F::VEC;
    add_dots<F>(sum, a, row, col, l);
#pragma unroll 1
    for (uint32_t done = F::STEP; F::LOOP && done < a.k; done += F::STEP)
        add_dots<F>(sum, a, row, col, l += F::STEP);
    return group_sums<F::GROUP>(sum);
}

template <typename F, typename T>
static __global__ void __launch_bounds__(MAX_THREADS, 4) multiply(operands<T> a)
{
    start_next();
    const int lane = lane_id();
    const uint32_t warp = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    const uint32_t p = warp * F::SHARE + place_of_lane<F>(lane);
    if (__all_sync(FULL_MASK, p >= a.nnz)) return;
    const uint32_t mine = min(p, a.nnz - 1); // past the end: the last nonzero again
    const int32_t row = a.row[mine], col = a.col[mine];
    wait_for_previous();
    const T v = a.val[mine];
    const T dot = dots<F>(a, row, col);
    if (lane % F::SAME == 0 && p < a.nnz) a.C[p] = v * dot;
}

// Kernel for strips; `place` is each nonzero's place in C. Blocks have about equal numbers of
// neighbouring shares. Arrays that are read once bypass L1, which is left to rows of Y. Row and
// column of a warp's next share are loaded ahead.
template <typename F, typename T>
static __global__ void __launch_bounds__(STRIPS_THREADS, 1)
    multiply_strips(operands<T> a, const int32_t *place)
{
    start_next();
    const int lane = lane_id();
    const uint32_t shares = (a.nnz - 1) / F::SHARE + 1, warps = blockDim.x / WARP;
    const uint32_t end = (uint32_t)((uint64_t)shares * (blockIdx.x + 1) / gridDim.x);
    uint32_t share = (uint32_t)((uint64_t)shares * blockIdx.x / gridDim.x) + threadIdx.x / WARP;
    if (share >= end) return;
    uint32_t p = share * F::SHARE + place_of_lane<F>(lane), mine = min(p, a.nnz - 1);
    int32_t row = load_once(a.row + mine), col = load_once(a.col + mine);
    wait_for_previous();
    for (;;) {
        const T v = load_once(a.val + mine);
        const int32_t at = load_once(place + mine);
        const T dot = dots<F>(a, row, col);
        if (lane % F::SAME == 0 && p < a.nnz) a.C[at] = v * dot;
        share += warps;
        if (share >= end) return;
        p = share * F::SHARE + place_of_lane<F>(lane);
        mine = min(p, a.nnz - 1);
        row = load_once(a.row + mine), col = load_once(a.col + mine);
    }
}

// Decisions of prepare().
struct state {
    int vec;   // elements of a pack, unless `fill` is AT_MOST
    int loads; // packs of a row that a lane loads at once
    enum fill fill;
    int share;   // nonzeros of a warp's share
    int threads; // threads of a block
    bool overlap;
    struct strips strips;
    uint32_t X_step, Y_step;
};

template <typename T> static operands<T> operands_of(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct coo_dev *A = coo_of(t->A[0]);
    const struct dense_dev *X = &t->in[0], *Y = &t->in[1];
    return {A->row,      A->col,           (const T *)A->val, (const T *)X->val, (const T *)Y->val,
            (T *)t->val, (uint32_t)A->nnz, (uint32_t)X->cols, s->X_step,         s->Y_step};
}

// Launches as many blocks as are on the device at once, but no block without a share.
template <typename F, typename T> static void start_strips(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    operands<T> a = operands_of<T>(t);
    const int64_t shares = ceil_div(a.nnz, s->share);
    const int64_t room = (int64_t)t->dev->units * (STRIPS_THREADS / s->threads);
    const unsigned grid = (unsigned)min64(ceil_div(shares, s->threads / WARP), room);
    const int32_t *place = s->strips.place;
    a.row = s->strips.row, a.col = s->strips.col, a.val = (const T *)s->strips.val;
    auto kernel = multiply_strips<F, T>;
    LAUNCH_EARLY_IF(s->overlap, kernel, grid, s->threads, 0, t->dev->stream, a, place);
}

// Launches the kernel. If `resident` is not NULL, only sets *resident to the number of blocks that
// a multiprocessor holds at once, 0 after an error.
template <typename F, typename T> static void start_form(const struct task *t, int *resident)
{
    const struct state *s = (const struct state *)t->state;
    const unsigned grid = (unsigned)ceil_div(t->A[0]->nnz, s->share * (s->threads / WARP));
    auto kernel = multiply<F, T>;
    if (resident) {
        if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, kernel, s->threads, 0))
            *resident = 0;
        return;
    }
    LAUNCH_EARLY_IF(s->overlap, kernel, grid, s->threads, 0, t->dev->stream, operands_of<T>(t));
}

template <typename T, int GROUP, int VEC, int LOADS, enum fill FILL>
static void start_share(const struct task *t, int *resident)
{
    const struct state *s = (const struct state *)t->state;
    if constexpr (GROUP == WIDE_GROUP)
        if (s->strips.width)
            return start_strips<form<GROUP, VEC, LOADS, strips_share(FILL), FILL>, T>(t);
    if (s->share == 8) {
        start_form<form<GROUP, VEC, LOADS, 8, FILL>, T>(t, resident);
    } else if (s->share == 16) {
        start_form<form<GROUP, VEC, LOADS, 16, FILL>, T>(t, resident);
    } else {
        start_form<form<GROUP, VEC, LOADS, 32, FILL>, T>(t, resident);
    }
}

template <typename T> static void start_once(const struct task *t, int *resident)
{
    const int loads = ((const struct state *)t->state)->loads, widest = 16 / sizeof(T);
    if (loads == 1) {
        start_share<T, WIDE_GROUP, widest, 1, ONCE>(t, resident);
    } else if (loads == 2) {
        start_share<T, WIDE_GROUP, widest, 2, ONCE>(t, resident);
    } else {
        start_share<T, WIDE_GROUP, widest, 4, ONCE>(t, resident);
    }
}

template <typename T> static void start(const struct task *t, int *resident)
{
    const struct state *s = (const struct state *)t->state;
    const int widest = 16 / sizeof(T);
    if (s->fill == AT_MOST) {
        start_share<T, NARROW_GROUP, widest, 1, AT_MOST>(t, resident);
    } else if (s->vec == 1) {
        start_share<T, WIDE_GROUP, 1, 1, PARTLY>(t, resident);
    } else if (s->vec < widest) {
        start_share<T, WIDE_GROUP, 2, 1, PARTLY>(t, resident);
    } else if (s->fill == PARTLY) {
        start_share<T, WIDE_GROUP, widest, 1, PARTLY>(t, resident);
    } else if (s->fill == ONCE) {
        start_once<T>(t, resident);
    } else {
        start_share<T, WIDE_GROUP, widest, 4, TIMES>(t, resident);
    }
}

static int run(struct task *t)
{
    if (t->A[0]->nnz == 0) return OK;
    BY_PREC(t, start, t, NULL);
    return launch_check(t->entry->name);
}

// Returns true if packs of `vec` elements divide the rows of X and Y.
static bool vec_fits(const struct task *t, int64_t vec)
{
    return t->in[0].cols % vec == 0 && t->in[0].ld % vec == 0 && t->in[1].ld % vec == 0;
}

// Returns the elements of the widest pack that divides the rows of X and Y and that gives most
// lanes of a group a pack.
static int choose_vec(const struct task *t)
{
    for (int vec = (int)(16 / in_bytes(t)); vec > 1; vec /= 2)
        if (vec_fits(t, vec) && t->in[0].cols > WIDE_GROUP * vec / 2) return vec;
    return 1;
}

// Sets `fill` and `loads`. Narrow rows without strips: AT_MOST. Else as many loads at once as fill
// k with packs of full width.
static void choose_loads(const struct task *t, struct state *s)
{
    const int64_t k = t->in[0].cols, bytes = in_bytes(t);
    const int64_t packs = k / (WIDE_GROUP * s->vec);
    const bool narrow = k > 0 && k * bytes <= NARROW_BYTES && vec_fits(t, 16 / bytes);
    s->fill = narrow && !s->strips.width ? AT_MOST : PARTLY;
    s->loads = 1;
    if (s->vec * bytes < 16 || k % (WIDE_GROUP * s->vec)) return;
    if (packs == 1 || packs == 2 || packs == 4) {
        s->fill = ONCE;
        s->loads = (int)packs;
    } else if (packs % 4 == 0) {
        s->fill = TIMES;
        s->loads = 4;
    }
}

// Returns the threads of a block. With strips: a warp for each share of a multiprocessor, at most
// STRIPS_THREADS threads. Else threads are halved until each multiprocessor has two blocks.
static int choose_threads(const struct task *t, const struct state *s)
{
    const int most = s->strips.width ? STRIPS_THREADS : MAX_THREADS;
    const int wanted = (int)task_option(t, "threads");
    if (wanted) return min(max(wanted / WARP, 1) * WARP, most);
    const int64_t shares = ceil_div(t->A[0]->nnz, s->share), units = t->dev->units;
    if (s->strips.width) return (int)min64(ceil_div(shares, units) * WARP, most);
    int threads = most;
    while (threads > WARP && shares * WARP / threads < 2 * units) threads /= 2;
    return threads;
}

// Returns the cost of the kernel with the share and the threads of the state: the bytes that a
// group loads and SHARE_BYTES, times the warps of the busiest multiprocessor. In the last wave of
// blocks the multiprocessor is not full. The time of that wave is between that of its own warps and
// that of a full wave. H100, 25 matrices, rows of 128 to 2,048 bytes, time over that of the best
// share:
//
//     last wave counts as    mean     worst
//     the mean of both       1.008    1.14
//     its own warps          1.054    1.45
//     a full wave            1.017    1.26
static double cost(const struct task *t, const struct state *s)
{
    const int groups = WARP / (s->fill == AT_MOST ? NARROW_GROUP : WIDE_GROUP);
    const int64_t m = t->A[0]->m, nnz = t->A[0]->nnz, warps = s->threads / WARP;
    const int64_t blocks = ceil_div(ceil_div(nnz, s->share * warps), t->dev->units);
    const double row_bytes = (double)(t->in[0].cols * in_bytes(t));
    const double Y_rows = (double)s->share / groups;
    const double X_rows = fmin(Y_rows, 1 + (s->share - groups) * (double)m / (double)nnz);
    int room = 0;
    BY_PREC(t, start, t, &room);
    const int64_t rest = room > 0 ? blocks % room : 0;
    const double waves = (double)(blocks - rest) + (rest ? (double)(rest + room) / 2 : 0);
    return ((Y_rows + X_rows) * row_bytes + SHARE_BYTES) * (double)warps * waves;
}

// Sets `share`, to the share of least cost unless strips or an option fix it, and `threads`.
static void choose_share(const struct task *t, struct state *s)
{
    const int wanted = (int)task_option(t, "share");
    const int fixed = s->strips.width ? strips_share(s->fill) : wanted;
    double least = INFINITY;
    int best = 8;
    for (s->share = 8; s->share <= 32 && !fixed; s->share *= 2) {
        s->threads = choose_threads(t, s);
        const double c = cost(t, s);
        if (c < least) best = s->share;
        least = fmin(c, least);
    }
    s->share = fixed ? fixed : best;
    s->threads = choose_threads(t, s);
}

static int prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    if (t->A[0]->nnz > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%s: more than 2^31 - 1 nonzeros", t->entry->name);
    const int share = (int)task_option(t, "share");
    if (share != 0 && share != 8 && share != 16 && share != 32)
        return fail(ERR_UNSUPPORTED, "%s: share=%d: it is 0, 8, 16 or 32", t->entry->name, share);
    int err = row_step(t, &t->in[0], &s->X_step);
    if (!err) err = row_step(t, &t->in[1], &s->Y_step);
    if (!err) err = strips_make(t, &s->strips);
    if (err) return err;
    s->vec = choose_vec(t);
    choose_loads(t, s);
    choose_share(t, s);
    s->overlap = task_option(t, "early-start") != 0 &&
                 can_launch_early(multiply<form<WIDE_GROUP, 1, 1, 8, PARTLY>, float>);
    task_number(t, "share", s->share);
    task_number(t, "early_start", s->overlap);
    task_number(t, "strip_width", s->strips.width);
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) strips_free(t->dev, &s->strips);
    task_free_state(t);
}

static const struct param options[] = {
    {"share", 0, 0, 32, true, "nonzeros per warp without strips: 8, 16 or 32; 0: by the sizes"},
    {"early-start", 1, 0, 1, true, "1: blocks start before the previous kernel has ended"},
    {"strips", -1, -1, 1, true,
     "1: computes C strip by strip, so that rows of Y stay in L1; 0: never; -1: if that is faster"},
    {"width", 0, 0, 1 << 30, true, "columns of a strip; 0: by the sizes"},
    {"threads", 0, 0, STRIPS_THREADS, true,
     "threads per block, in whole warps, at most 256 without strips; 0: by the sizes"},
    {},
};

extern const struct algo sddmm_balanced_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_coo},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    ALGO_FUNCTIONS(prepare, run, teardown),
};
