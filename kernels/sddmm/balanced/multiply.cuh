// The kernels of `balanced` and their instances. start_*.cu compile the instances of a type.
#ifndef BALANCED_MULTIPLY_H
#define BALANCED_MULTIPLY_H

#include "device/once.cuh"
#include "state.h"

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

template <typename T> struct operands {
    const int32_t *row, *col;
    const T *val, *X, *Y;
    void *C;
    uint32_t nnz;
    uint32_t k;
    uint32_t X_step, Y_step; // bytes from one row to the next
    bool narrow;             // C has 16 bits
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
        x[i] = F::WHOLE || l < k ? load_pack(from + i * F::GROUP) : pack<T, F::VEC>{};
}

// Adds the lane's part of the group's dot products, in columns from l on. Row and column are those
// of the lane's own nonzero. With KEEP a row of X is loaded only if the row differs from that of
// the previous nonzero: fewer loads, but a branch between them. H200: without KEEP the kernel
// reaches 0.85 to 0.95 of the speed.
template <typename F, typename T>
static __device__ __forceinline__ void add_dots(sum_type<T> (&sum)[F::EACH], const operands<T> &a,
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
static __device__ __forceinline__ sum_type<T> dots(const operands<T> &a, int32_t row, int32_t col)
{
    sum_type<T> sum[F::EACH] = {};
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
    const sum_type<T> v = widen(a.val[mine]);
    const sum_type<T> dot = dots<F>(a, row, col);
    if (lane % F::SAME == 0 && p < a.nnz) store_result<T, 1>(a.C, p, a.narrow, {{v * dot}});
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
        const sum_type<T> v = widen(load_once(a.val + mine));
        const int32_t at = load_once(place + mine);
        const sum_type<T> dot = dots<F>(a, row, col);
        if (lane % F::SAME == 0 && p < a.nnz) store_result<T, 1>(a.C, at, a.narrow, {{v * dot}});
        share += warps;
        if (share >= end) return;
        p = share * F::SHARE + place_of_lane<F>(lane);
        mine = min(p, a.nnz - 1);
        row = load_once(a.row + mine), col = load_once(a.col + mine);
    }
}

template <typename T> static operands<T> operands_of(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct coo_dev *A = coo_of(t->A[0]);
    const struct dense_dev *X = &t->in[0], *Y = &t->in[1];
    return {A->row,
            A->col,
            (const T *)A->val,
            (const T *)X->val,
            (const T *)Y->val,
            t->val,
            (uint32_t)A->nnz,
            (uint32_t)X->cols,
            s->X_step,
            s->Y_step,
            result_is_narrow(t)};
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

template <typename T> void balanced_start(const struct task *t, int *resident)
{
    const struct state *s = (const struct state *)t->state;
    const int widest = 16 / sizeof(T);
    if (s->fill == AT_MOST) {
        start_share<T, NARROW_GROUP, widest, 1, AT_MOST>(t, resident);
    } else if (s->vec == 1) {
        start_share<T, WIDE_GROUP, 1, 1, PARTLY>(t, resident);
    } else if (s->vec < widest) {
        start_share<T, WIDE_GROUP, widest / 2, 1, PARTLY>(t, resident);
    } else if (s->fill == PARTLY) {
        start_share<T, WIDE_GROUP, widest, 1, PARTLY>(t, resident);
    } else if (s->fill == ONCE) {
        start_once<T>(t, resident);
    } else {
        start_share<T, WIDE_GROUP, widest, 4, TIMES>(t, resident);
    }
}

#endif
