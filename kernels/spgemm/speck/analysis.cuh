// Step 1, the analysis: products, longest row of S and range of columns of each row of C.
#ifndef SPGEMM_SPECK_ANALYSIS_H
#define SPGEMM_SPECK_ANALYSIS_H

#include "sizes.cuh"

#define BLOCK        256   // threads of the kernels in this file and in plan.cuh
#define SEGMENT      4096  // nonzeros of a row of A above which several blocks analyse the row
#define RANGES_LEAST 10000 // nonzeros of A above which ranges of columns are computed

// Adds row l of S to the counts of a row.
template <typename T>
static __device__ __forceinline__ void add_row(const struct factors<T> &x, int32_t l, bool ranges,
                                               struct row_facts &f)
{
    const int32_t begin = __ldg(x.S_ptr + l), end = __ldg(x.S_ptr + l + 1);
    f.products += end - begin;
    f.longest = max(f.longest, end - begin);
    if (!ranges || begin == end) return;
    f.low = min(f.low, __ldg(x.S_idx + begin));
    f.high = max(f.high, __ldg(x.S_idx + end - 1));
}

// Joins the counts of groups of `lanes` neighbouring lanes. By all lanes.
static __device__ __forceinline__ void join_facts(int lanes, struct row_facts &f)
{
    for (int step = lanes / 2; step > 0; step /= 2) {
        f.products += __shfl_xor_sync(FULL_MASK, f.products, step);
        f.longest = max(f.longest, __shfl_xor_sync(FULL_MASK, f.longest, step));
        f.low = min(f.low, __shfl_xor_sync(FULL_MASK, f.low, step));
        f.high = max(f.high, __shfl_xor_sync(FULL_MASK, f.high, step));
    }
}

// Sets the counts of all rows, and nz of rows with at most one nonzero of A. `lanes`, a power of
// two up to 32, take a row. Rows over SEGMENT are listed for analyse_long().
static __global__ __launch_bounds__(BLOCK) void analyse_rows(
    struct factors<float> x, int lanes, bool ranges, struct row_facts *__restrict__ facts,
    int32_t *__restrict__ nz, struct totals *totals, int32_t *__restrict__ long_rows)
{
    __shared__ unsigned long long all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    const int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / lanes;
    const int sub = (int)(threadIdx.x % lanes);
    struct row_facts f = {0, 0, ranges ? INT32_MAX : 0, ranges ? -1 : x.n - 1};
    int32_t p = 0, end = 0;
    if (i < x.m) {
        p = __ldg(x.A_ptr + i);
        end = __ldg(x.A_ptr + i + 1);
    }
    const bool is_long = end - p > SEGMENT;
    if (!is_long)
        for (int64_t q = (int64_t)p + sub; q < end; q += lanes)
            add_row(x, __ldg(x.A_idx + q), ranges, f);
    join_facts(lanes, f);
    if (i < x.m && sub == 0) {
        facts[i] = f;
        nz[i] = end - p == 1 ? f.products : 0;
        if (is_long) long_rows[atomicAdd(&totals->long_rows, 1)] = (int32_t)i;
    }
    const long long sum = warp_sum((long long)(sub == 0 ? f.products : 0));
    if (lane_id() == 0) atomicAdd(&all, (unsigned long long)sum);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&totals->products, all);
}

// Sets the counts of long rows. Each block takes segments of every long row.
static __global__ __launch_bounds__(BLOCK) void analyse_long(struct factors<float> x, bool ranges,
                                                             struct row_facts *facts,
                                                             struct totals *totals,
                                                             const int32_t *__restrict__ long_rows)
{
    for (int32_t r = 0; r < totals->long_rows; r++) {
        const int32_t i = long_rows[r];
        const int64_t begin = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
        struct row_facts f = {0, 0, ranges ? INT32_MAX : 0, ranges ? -1 : x.n - 1};
        int64_t at = begin + (int64_t)blockIdx.x * SEGMENT;
        if (at >= end) continue;
        for (; at < end; at += (int64_t)gridDim.x * SEGMENT)
#pragma unroll 4
            for (int64_t q = at + threadIdx.x; q < min(at + SEGMENT, end); q += BLOCK)
                add_row(x, __ldg(x.A_idx + q), ranges, f);
        join_facts(WARP, f);
        if (lane_id() > 0) continue;
        atomicAdd(&facts[i].products, f.products);
        atomicMax(&facts[i].longest, f.longest);
        atomicMin(&facts[i].low, f.low);
        atomicMax(&facts[i].high, f.high);
        atomicAdd(&totals->products, (unsigned long long)f.products);
    }
}

#endif
