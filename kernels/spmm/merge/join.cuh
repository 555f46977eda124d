// The join of cut rows. One warp of each block adds the parts that its warps have stored. Parts of
// a row that crosses blocks (the paper's carry-out) go to memory, two slots per block. The block
// that arrives last adds them in the order of the blocks, or the paper's fix-up kernel does
// afterwards.
#ifndef MERGE_JOIN_H
#define MERGE_JOIN_H

#include "parts.cuh"

// Writes row i, which the ends of blocks first to last - 1 cut, from its parts.
template <typename T, int VEC>
static __device__ __forceinline__ void
add_carries(const struct sizes &a, void *__restrict__ C, int32_t i, int32_t j,
            const pack<sum_type<T>, VEC> *carry, int32_t first, int32_t last)
{
    const int batch = 32 / VEC;
    const int lane = lane_id();
    pack<sum_type<T>, VEC> sum = carry[(2 * (int64_t)first + 1) * WARP + lane];
    for (int32_t b = first + 1; b <= last; b += batch) {
        pack<sum_type<T>, VEC> x[batch];
#pragma unroll
        for (int q = 0; q < batch; q++) x[q] = carry[2 * (int64_t)min(b + q, last) * WARP + lane];
#pragma unroll
        for (int q = 0; q < batch; q++)
            if (b + q <= last) add(sum, x[q]);
    }
    if (j < a.k) store_row<T, VEC>(a, C, i, j, sum);
}

// The rows that the two ends of a block cut, -1: none.
struct cut_rows {
    int32_t ended; // row that began before the block and ends in the block
    int32_t open;  // row that goes on after the block
    bool through;  // `open` also began before the block
};

// Adds the parts of the block's warps. Writes rows that end here, and stores parts of rows that
// cross blocks.
template <typename T, int VEC>
static __device__ __forceinline__ struct cut_rows
join_warps(int lane, const struct sizes &a, void *__restrict__ C, int32_t j,
           pack<sum_type<T>, VEC> *carry, const warp_parts<sum_type<T>, VEC> &parts)
{
    const int warps = (int)blockDim.y;
    const int32_t block = (int32_t)blockIdx.x;
    pack<sum_type<T>, VEC> sum = {};
    bool outside = parts.flags[0] & BEGAN_BEFORE; // the row of `sum` began in an earlier block
    int32_t ended = -1, open = -1;
    for (int w = 0; w < warps; w++) {
        const int flags = parts.flags[w];
        if (!(flags & ACTIVE)) break;
        if (flags & ENDS_ROW) {
            if (flags & BEGAN_BEFORE) {
                add(sum, parts.head[w][lane]);
                if (outside) {
                    ended = parts.first[w];
                    carry[2 * (int64_t)block * WARP + lane] = sum;
                } else if (j < a.k) {
                    store_row<T, VEC>(a, C, parts.first[w], j, sum);
                }
            }
            outside = false;
            sum = {};
        }
        if (flags & GOES_ON) add(sum, parts.tail[w][lane]);
        open = flags & GOES_ON ? parts.last[w] : -1;
    }
    if (open >= 0) carry[(2 * (int64_t)block + !outside) * WARP + lane] = sum;
    return {ended, open, outside};
}

// Signals that this block's parts of its cut rows are in memory. Finishes a row if all other parts
// have arrived. The counter of a cut row is that of the block in which the row begins. The warp
// that finishes the row resets the counter for the next run.
template <typename T, int VEC>
static __device__ __forceinline__ void
arrive(int lane, const struct sizes &a, const int32_t *__restrict__ ptr, void *__restrict__ C,
       int32_t j, const pack<sum_type<T>, VEC> *carry, struct cut_rows cut, int32_t *arrived,
       int32_t block_share)
{
    if (cut.ended < 0 && cut.open < 0) return;
    __syncwarp(); // all lanes' writes come before the two releases
    const int32_t i = lane == 0 ? cut.ended : lane == 1 ? cut.open : -1;
    int32_t first = 0, last = 0;
    bool complete = false;
    if (i >= 0) {
        first = ptr[i] / block_share;
        last = (ptr[i + 1] - 1) / block_share;
        complete = atomic_add_release(&arrived[first], 1) == last - first;
        if (complete) arrived[first] = 0;
    }
    const unsigned done = __ballot_sync(FULL_MASK, complete);
    if (!done) return;
    __threadfence();
    __syncwarp(); // all lanes read other blocks' parts after the lane that saw them arrive
    for (int w = 0; w < 2; w++)
        if (done >> w & 1)
            add_carries<T, VEC>(a, C, warp_broadcast(i, w), j, carry, warp_broadcast(first, w),
                                warp_broadcast(last, w));
}

// Joins the cut rows of a block. One warp calls this function when all warps have finished the
// slab.
template <typename T, int VEC>
static __device__ __forceinline__ void join(const struct sizes &a, const struct split &s,
                                            const int32_t *__restrict__ ptr, void *__restrict__ C,
                                            int32_t j, int32_t slab, const struct scratch &x,
                                            const warp_parts<sum_type<T>, VEC> &parts)
{
    const int lane = lane_id();
    const int64_t slab_start = (int64_t)slab * s.blocks;
    pack<sum_type<T>, VEC> *carry = (pack<sum_type<T>, VEC> *)x.carry + slab_start * 2 * WARP;
    const struct cut_rows cut = join_warps<T, VEC>(lane, a, C, j, carry, parts);
    if (x.arrived) {
        arrive<T, VEC>(lane, a, ptr, C, j, carry, cut, x.arrived + slab_start,
                       s.share * (int32_t)blockDim.y);
    } else if (slab == 0 && lane == 0) {
        x.cut[blockIdx.x] = cut.through ? -1 : cut.open;
    }
}

#endif
