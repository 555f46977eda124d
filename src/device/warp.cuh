// What device code shares: lanes and warps, sums and scans over them, searches, vectors. Compiles
// the same under nvcc and under the emulator of tests/emu.
//
// Kernels and their device helpers are `static`, like everything else that no other file calls;
// under the emulator AddressSanitizer watches the __shared__ arrays of static templates only.
//
// Where a function is by "all lanes", all 32 of the warp call it together.
#ifndef WARP_H
#define WARP_H

#include "device/cuda.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "the kernels need sm_80 or later"
#endif

#define WARP      32
#define FULL_MASK 0xffffffffu

static __host__ __device__ __forceinline__ int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// Place of this thread in its warp; blockDim.x is a multiple of WARP, or the block has one row.
static __device__ __forceinline__ int lane_id() { return (int)(threadIdx.x % WARP); }

// The bits below bit `place`.
static __device__ __forceinline__ uint32_t bits_below(int place) { return (1u << place) - 1; }

// Hides from the compiler where x comes from. Done to the row step of a matrix right before
// `row * step` in 64 bits, it keeps that one multiply-add of 32 by 32 bits. Without it the compiler
// forgets, from one basic block to the next, that both are 32 bits wide, and multiplies 64 by 64.
// What is opaque is not computed anew either: it stays in its register.
template <typename T> static __device__ __forceinline__ void opaque(T &x)
{
    static_assert(sizeof x == 4, "it is one register");
    asm volatile("" : "+r"(x));
}

// The value that lane `from` of the warp holds. By all lanes.
template <typename T> static __device__ __forceinline__ T warp_broadcast(T x, int from)
{
    return __shfl_sync(FULL_MASK, x, from);
}

// The sum over each group of LANES neighbouring lanes, the same in all of them. By all lanes.
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

// The least over each group of LANES neighbouring lanes. By all lanes.
template <int LANES, typename T> static __device__ __forceinline__ T group_min(T x)
{
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) x = min(x, __shfl_xor_sync(FULL_MASK, x, step));
    return x;
}

// N sums over each group of LANES lanes at little more than the price of one, N <= LANES: each lane
// gets sum number l * N / LANES of its group, where l is its place in it. Each of the first steps
// halves the sums that a lane has a part of, and sends its parts of the others away. By all lanes.
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

// The sum over the lanes up to this one, of its group of LANES. By all lanes.
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

// A team: the TEAM threads that lie side by side in a block and share a piece of work, a warp or a
// block of several; TEAM 0 is the whole block, however large.
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

// Whether `is` holds for any thread of the team. A barrier.
template <int TEAM> static __device__ __forceinline__ bool team_any(bool is)
{
    if (TEAM != WARP) return __syncthreads_or(is) != 0;
    team_sync<TEAM>(); // a vote orders no memory
    return __any_sync(FULL_MASK, is);
}

// The sum of x over the threads of the team before this one; `total` is that over all. `sums` is
// shared, with room for one of each warp, and free again after the next barrier. Begins with a
// barrier. Blocks are of whole warps.
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

// The first place in [low, high) of the ascending a whose element is above x; `high` if there is
// none. The row that holds nonzero p is upper_bound(ptr, 0, m + 1, p) - 1, also among empty rows.
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
// The same for the first that is at least x.
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

// The first of the 32 lanes that holds no less than x, where what they hold ascends; 31 if all are
// below x. By all lanes.
static __device__ __forceinline__ int32_t lower_bound_lanes(int32_t a, int32_t x)
{
    int32_t low = 0;
#pragma unroll
    for (int32_t step = WARP / 2; step > 0; step /= 2)
        if (__shfl_sync(FULL_MASK, a, low + step - 1) < x) low += step;
    return low;
}

// The last lane, of each `apart`-th, whose `first` is no higher than x: `first` ascends over the
// lanes, and lane 0's is no higher. By all lanes.
template <typename N> static __device__ __forceinline__ int lane_of(N first, N x, int apart)
{
    int lane = 0;
    for (int step = WARP / 2; step >= apart; step /= 2)
        if (__shfl_sync(FULL_MASK, first, lane + step) <= x) lane += step;
    return lane;
}

// What lies i rows below `top`, rows being `step` bytes apart.
template <typename X, typename T>
static __device__ __forceinline__ X *row_at(T *top, uint32_t step, uint32_t i)
{
    return (X *)((char *)top + (uint64_t)i * step);
}

// VEC neighbouring values, loaded and stored at once; the address is a multiple of their size.
template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack {
    T x[VEC];
};

template <typename T, int VEC>
static __device__ __forceinline__ void add(pack<T, VEC> &sum, const pack<T, VEC> &x)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) sum.x[i] += x.x[i];
}

// sum += v * x
template <typename T, int VEC>
static __device__ __forceinline__ void add_product(pack<T, VEC> &sum, T v, const pack<T, VEC> &x)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) sum.x[i] += v * x.x[i];
}

// sum + x . y
template <typename T, int VEC>
static __device__ __forceinline__ T add_dot(T sum, const pack<T, VEC> &x, const pack<T, VEC> &y)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) sum += x.x[i] * y.x[i];
    return sum;
}

// Adds to a counter and returns what it was; what this warp wrote before is visible to whoever sees
// the sum and calls __threadfence(). Cheaper than __threadfence() and atomicAdd(): L1 stays valid.
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
