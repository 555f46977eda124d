// The paper's two extra kernels. PartitionSpmm finds the rows of every share before the product.
// FixCarryOut adds the parts of cut rows after the product.
#ifndef MERGE_PAPER_H
#define MERGE_PAPER_H

#include "join.cuh"
#include "search.cuh"

// Sets the rows of the first and the last nonzero of each share. A warp has a share.
static __global__ void partition(struct sizes a, struct split s, const int32_t *__restrict__ ptr,
                                 int32_t *__restrict__ limits)
{
    const int64_t w = (int64_t)blockIdx.x * blockDim.y + warp_broadcast(threadIdx.y, 0);
    if (w * s.share >= s.nnz) return;
    const int32_t p = (int32_t)(w * s.share);
    int32_t first, last;
    find_rows(ptr, a.m, p, p + min(s.share, s.nnz - p) - 1, first, last);
    if (lane_id() == 0) {
        limits[2 * w] = first;
        limits[2 * w + 1] = last;
    }
}

// Finishes the cut rows. A warp has a block of the product that has nonzeros. `block_share`:
// nonzeros of a block.
template <typename T, int VEC>
static __global__ void fix_up(struct sizes a, struct split s, const int32_t *__restrict__ ptr,
                              void *__restrict__ C, struct scratch x, int32_t block_share)
{
    const int64_t b = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (b >= s.blocks) return;
    const int32_t i = x.cut[b];
    if (i < 0) return;
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y)
        add_carries<T, VEC>(a, C, i, (slab * WARP + lane_id()) * VEC,
                            (pack<sum_type<T>, VEC> *)x.carry + (int64_t)slab * s.blocks * 2 * WARP,
                            (int32_t)b, (ptr[i + 1] - 1) / block_share);
}

#endif
