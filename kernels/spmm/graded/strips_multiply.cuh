// The kernel of SpMM by strips, see strips.cu.
#ifndef GRADED_STRIPS_MULTIPLY_H
#define GRADED_STRIPS_MULTIPLY_H

#include "device/copy.cuh"
#include "device/once.cuh"
#include "strips.h"

#define STRIP_THREADS 1024
#define STRIP_WARPS   (STRIP_THREADS / WARP)
#define STRIP_SLAB    128 // bytes
#define STRIP_LANES   8   // lanes that share a nonzero, with 16 bytes of B each
#define STRIP_GROUPS  (WARP / STRIP_LANES)
#define SHELF_BLOCKS  8 // blocks of nonzeros that a warp loads at once, one of `few` in each lane

// A nonzero: its value in the type of sums, and the address of its row of B in shared memory.
template <typename S> struct alignas(2 * sizeof(S)) placed {
    S v;
    uint32_t at;
};
template <> struct alignas(16) placed<double> {
    double v;
    uint64_t at; // as wide as the value, so that one load brings both
};

// Nonzeros of one load: 2 in f32 and 1 in f64, each from another step. A block of nonzeros has such
// a load for each group of lanes.
template <typename S> struct alignas(16) few {
    static const int STEPS = 16 / (int)sizeof(placed<S>);
    placed<S> of[STEPS];
};

template <typename T> struct strip_operands {
    const int32_t *steps;
    const int64_t *starts;
    const few<sum_type<T>> *blocks;
    const T *B;
    void *C;
    int32_t m, n, k, panels, height, strips;
    uint32_t B_step, C_step;
    bool narrow; // C has 16 bits
};

// Returns the row of A of row r of a warp of a panel. The row may lie past the end.
static __device__ __forceinline__ int64_t strip_row(int r, int warp, int32_t panel, int32_t panels)
{
    return (int64_t)(r * STRIP_WARPS + warp) * panels + panel;
}

// Returns the bytes of strips in shared memory. A row of zeros and the shelves of the warps follow.
#define STRIP_EXTRA (STRIP_SLAB + STRIP_THREADS * 16)
static __host__ __device__ __forceinline__ uint32_t strips_bytes(int32_t height, int32_t strips)
{
    return (uint32_t)(height * STRIP_SLAB) * (strips > 1 ? 2 : 1);
}

// Begins to copy the lane's 16 bytes of each row of a strip. They begin at element `first` of the
// row. If the slab lies past the end of B's rows, zeros are written.
template <typename T>
static __device__ __forceinline__ void copy_strip(const strip_operands<T> &x, int32_t strip,
                                                  unsigned char *to, uint32_t first, bool past)
{
    const int32_t top = strip * x.height, rows = min(x.height, x.n - top);
    const int32_t lane = (int32_t)threadIdx.x % STRIP_LANES;
    for (int32_t i = (int32_t)threadIdx.x / STRIP_LANES; i < rows; i += STRIP_THREADS / STRIP_LANES)
        copy_begin<16>(to + i * STRIP_SLAB + lane * 16,
                       row_at<const T>(x.B, x.B_step, (uint32_t)(top + i)) + first, past);
}

// Position of a warp in its nonzeros. A shelf of nonzeros goes to registers (`coming`), then to
// shared memory, where all lanes read it. `ahead` is one block ahead of the products. H100, 16,384
// x 4,096, k = 32: 39 us; 55 us if nonzeros are loaded straight to registers, two loads ahead.
template <typename S> struct stream {
    few<S> *shelf;
    const few<S> *next; // the lane's nonzeros of the shelf after `coming`
    few<S> coming, ahead;
    int block; // next block of the shelf; SHELF_BLOCKS: the shelf is used up
};

// Returns the next nonzeros of this lane's group. By all lanes.
template <typename S> static __device__ __forceinline__ few<S> take(stream<S> &from)
{
    const few<S> now = from.ahead;
    if (from.block == SHELF_BLOCKS) {
        __syncwarp();
        from.shelf[lane_id()] = from.coming;
        from.coming = load_once(from.next);
        from.next += WARP;
        from.block = 0;
        __syncwarp();
    }
    from.ahead = from.shelf[from.block++ * STRIP_GROUPS + lane_id() / STRIP_LANES];
    return now;
}

// Loads from the row of B of a nonzero. `own`: start of shared memory plus the offset of the lane.
template <typename T, int VEC>
static __device__ __forceinline__ pack<T, VEC> row_of_B(const placed<sum_type<T>> &x,
                                                        const unsigned char *own)
{
    return load_pack((const pack<T, VEC> *)(own + (uint32_t)x.at));
}

// Adds the products of a segment.
template <typename T, int VEC>
static __device__ __forceinline__ void add_piece(pack<sum_type<T>, VEC> &sum, int32_t steps,
                                                 stream<sum_type<T>> &from,
                                                 const unsigned char *own)
{
    typedef sum_type<T> S;
    const int STEPS = few<S>::STEPS, TWICE = 2 * STEPS;
#pragma unroll 1
    for (; steps >= TWICE; steps -= TWICE) {
        const few<S> now[2] = {take(from), take(from)};
        pack<T, VEC> b[TWICE];
#pragma unroll
        for (int s = 0; s < TWICE; s++) b[s] = row_of_B<T, VEC>(now[s / STEPS].of[s % STEPS], own);
#pragma unroll
        for (int s = 0; s < TWICE; s++) add_product(sum, now[s / STEPS].of[s % STEPS].v, b[s]);
    }
#pragma unroll 1
    for (; steps > 0; steps -= STEPS) {
        const few<S> now = take(from);
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
    typedef sum_type<T> S;
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
        copy_begin<16>(memory + strips_bytes(x.height, x.strips) + threadIdx.x * 16, x.B, true);
    const int64_t w = (int64_t)blockIdx.x * STRIP_WARPS + warp;
    const counts *steps = (const counts *)x.steps + w * x.strips;
    stream<S> from;
    from.shelf = (few<S> *)(memory + strips_bytes(x.height, x.strips) + STRIP_SLAB) + warp * WARP;
    from.next = x.blocks + x.starts[w] * STRIP_GROUPS + lane_id() + WARP;
    from.coming = load_once(from.next - WARP);
    from.block = SHELF_BLOCKS;
    take(from);
    counts next = steps[0];
    pack<S, VEC> sum[ROWS] = {};
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
            store_result<T, VEC, true>(row_at<char>((char *)x.C, x.C_step, (uint32_t)i), first,
                                       x.narrow, sum[r]);
    }
}

#endif
