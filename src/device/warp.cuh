// Device functions for all kernels: sums and scans over lanes, warps and teams, binary searches,
// vectors. For nvcc and for the emulator of tests/emu.
//
// Kernels and device functions are `static`. In the emulator AddressSanitizer watches the
// __shared__ arrays of static templates only.
//
// "By all lanes": all 32 lanes of the warp must call the function together.
#ifndef WARP_H
#define WARP_H

#include "device/cuda.cuh"
#include "device/half.cuh"
#include "device/warp_size.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the kernels need sm_80 or later"
#endif

#define FULL_MASK 0xffffffffu

static __host__ __device__ __forceinline__ int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// Returns the lane of this thread. blockDim.x is a multiple of WARP, or blockDim.y and z are 1.
static __device__ __forceinline__ int lane_id() { return (int)(threadIdx.x % WARP); }

// Returns a mask of the bits below bit `place`.
static __device__ __forceinline__ uint32_t bits_below(int place) { return (1u << place) - 1; }

// Hides the origin of x from the compiler. Called for a row step right before `row * step` in 64
// bits, opaque() keeps the product a multiply-add of 32 by 32 bits. Otherwise the compiler forgets
// in the next basic block that both factors have 32 bits, and multiplies 64 by 64. x also stays in
// its register instead of being computed again.
template <typename T> static __device__ __forceinline__ void opaque(T &x)
{
    static_assert(sizeof x == 4, "x is one register");
    asm volatile("" : "+r"(x));
}

// Returns x of lane `from`. By all lanes.
template <typename T> static __device__ __forceinline__ T warp_broadcast(T x, int from)
{
    return __shfl_sync(FULL_MASK, x, from);
}

// Returns the sum over each group of LANES neighbouring lanes, to all lanes of the group. By all
// lanes.
template <int LANES, typename T> static __device__ __forceinline__ T group_sum(T x)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) x += __shfl_xor_sync(FULL_MASK, x, step);
    return x;
}
template <typename T> static __device__ __forceinline__ T warp_sum(T x)
{
    return group_sum<WARP>(x);
}

// Returns the minimum over each group of LANES neighbouring lanes. By all lanes.
template <int LANES, typename T> static __device__ __forceinline__ T group_min(T x)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) x = min(x, __shfl_xor_sync(FULL_MASK, x, step));
    return x;
}

// Computes N <= LANES sums over each group of LANES lanes, at little more than the cost of one.
// Lane l of a group gets sum number l * N / LANES. Each of the first steps halves the number of
// sums per lane: a lane sends its terms of the other half to its partner. By all lanes.
template <int LANES, typename T, int N> static __device__ __forceinline__ T group_sums(T (&x)[N])
{
    int step = LANES / 2;
#pragma unroll
    for (int n = N / 2; n > 0; n /= 2) {
        const bool upper = lane_id() & step;
#pragma unroll
        for (int i = 0; i < n; i++) {
            const T kept = upper ? x[i + n] : x[i], sent = upper ? x[i] : x[i + n];
            x[i] = kept + __shfl_xor_sync(FULL_MASK, sent, step);
        }
        step /= 2;
    }
#pragma unroll
    for (; step > 0; step /= 2) x[0] += __shfl_xor_sync(FULL_MASK, x[0], step);
    return x[0];
}

// Returns the inclusive prefix sum over each group of LANES lanes. By all lanes.
template <int LANES, typename T> static __device__ __forceinline__ T group_scan(T x)
{
    const int lane = lane_id() % LANES;
#pragma unroll
    for (int step = 1; step < LANES; step *= 2) {
        const T before = __shfl_up_sync(FULL_MASK, x, step, LANES);
        if (lane >= step) x += before;
    }
    return x;
}
template <typename T> static __device__ __forceinline__ T warp_scan(T x)
{
    return group_scan<WARP>(x);
}

// A team: TEAM neighbouring threads of a block that share a piece of work. TEAM is 32, or the size
// of the block. TEAM 0: the whole block, of any size.
template <int TEAM> static __device__ __forceinline__ void team_sync()
{
    if (TEAM == WARP)
        __syncwarp();
    else
        __syncthreads();
}

template <int TEAM> static __device__ __forceinline__ int team_size()
{
    return TEAM ? TEAM : (int)blockDim.x;
}

template <int TEAM> static __device__ __forceinline__ int team_rank()
{
    return TEAM ? (int)(threadIdx.x % (TEAM ? TEAM : 1)) : (int)threadIdx.x;
}

// Returns true if `is` holds for any thread of the team. A barrier.
template <int TEAM> static __device__ __forceinline__ bool team_any(bool is)
{
    if (TEAM != WARP) return __syncthreads_or(is) != 0;
    team_sync<TEAM>(); // a vote orders no memory
    return __any_sync(FULL_MASK, is);
}

// Returns the exclusive prefix sum of x over the team, and sets `total` to the sum. `sums`: shared
// memory with an element per warp, reusable after the next barrier. Begins with a barrier. Blocks
// have whole warps.
template <int TEAM, typename N>
static __device__ __forceinline__ N team_scan(N x, N *sums, N &total)
{
    const int lane = lane_id(), warp = team_rank<TEAM>() / WARP, warps = team_size<TEAM>() / WARP;
    const N upto = warp_scan(x);
    team_sync<TEAM>();
    if (TEAM == WARP) {
        total = warp_broadcast(upto, WARP - 1);
        return upto - x;
    }
    if (lane == WARP - 1) sums[warp] = upto;
    team_sync<TEAM>();
    N all = lane < warps ? sums[lane] : (N)0; // not warp_scan(): few steps for few warps
    for (int step = 1; step < warps; step *= 2) {
        const N before = __shfl_up_sync(FULL_MASK, all, step);
        if (lane >= step) all += before;
    }
    total = warp_broadcast(all, warps - 1);
    const N base = __shfl_sync(FULL_MASK, all, warp > 0 ? warp - 1 : 0);
    return upto - x + (warp > 0 ? base : (N)0);
}

// Returns the first index in [low, high) whose element of the ascending a is above x; `high` if
// there is none. The row of nonzero p is upper_bound(ptr, 0, m + 1, p) - 1, also with empty rows.
template <typename I, typename N>
static __device__ __forceinline__ I upper_bound(const N *__restrict__ a, I low, I high, N x)
{
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (a[middle] <= x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
// Returns the first index in [low, high) whose element is at least x.
template <typename I, typename N>
static __device__ __forceinline__ I lower_bound(const N *__restrict__ a, I low, I high, N x)
{
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (a[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Returns the first lane whose `a` is at least x; 31 if all are below x. `a` ascends over the
// lanes. By all lanes.
static __device__ __forceinline__ int32_t lower_bound_lanes(int32_t a, int32_t x)
{
    int32_t low = 0;
#pragma unroll
    for (int32_t step = WARP / 2; step > 0; step /= 2)
        if (__shfl_sync(FULL_MASK, a, low + step - 1) < x) low += step;
    return low;
}

// Returns the last lane, of lanes 0, apart, 2 * apart, ..., whose `first` is at most x. `first`
// ascends over the lanes, and is at most x in lane 0. By all lanes.
template <typename N> static __device__ __forceinline__ int lane_of(N first, N x, int apart)
{
    int lane = 0;
    for (int step = WARP / 2; step >= apart; step /= 2)
        if (__shfl_sync(FULL_MASK, first, lane + step) <= x) lane += step;
    return lane;
}

// Returns the address of row i below `top`, with rows `step` bytes apart.
template <typename X, typename T>
static __device__ __forceinline__ X *row_at(T *top, uint32_t step, uint32_t i)
{
    return (X *)((char *)top + (uint64_t)i * step);
}

template <typename T, int VEC>
static __device__ __forceinline__ void add(pack<T, VEC> &sum, const pack<T, VEC> &x)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) sum.x[i] += x.x[i];
}

// sum += v * x.
template <typename T, int VEC>
static __device__ __forceinline__ void add_product(pack<sum_type<T>, VEC> &sum, sum_type<T> v,
                                                   const pack<T, VEC> &x)
{
    sum_type<T> y[VEC];
    widen_all(y, x);
#pragma unroll
    for (int i = 0; i < VEC; i++) sum.x[i] += v * y[i];
}

// Returns sum + x . y.
template <typename T, int VEC>
static __device__ __forceinline__ sum_type<T> add_dot(sum_type<T> sum, const pack<T, VEC> &x,
                                                      const pack<T, VEC> &y)
{
    sum_type<T> a[VEC], b[VEC];
    widen_all(a, x);
    widen_all(b, y);
#pragma unroll
    for (int i = 0; i < VEC; i++) sum += a[i] * b[i];
    return sum;
}

// Adds to a counter and returns the old value. Earlier writes of this warp are visible to threads
// that see the sum and call __threadfence(). Cheaper than __threadfence() and atomicAdd(): the L1
// stays valid.
static __device__ __forceinline__ int32_t atomic_add_release(int32_t *p, int32_t x)
{
#ifdef __CUDA_ARCH__
    int32_t old;
    asm volatile("atom.add.release.gpu.global.s32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(p), "r"(x)
                 : "memory");
    return old;
#else
    return atomicAdd(p, x);
#endif
}

#endif
