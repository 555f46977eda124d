// Step 3, global load balancing: merges neighbouring rows into blocks, and queues the blocks by
// kernel. The numeric phase also computes the row starts of C.
#ifndef SPGEMM_SPECK_PLAN_H
#define SPGEMM_SPECK_PLAN_H

#include "analysis.cuh"

#define SHARES_MOST 1024 // blocks of a plan, each with an equal share of the rows

// Group of rows of a lane. A lane whose rows were merged into the group of another lane has no
// rows.
struct group {
    int32_t rows, weight, span, kernel;
};

static __device__ __forceinline__ int32_t add_limited(int32_t a, int32_t b)
{
    return (int32_t)min((uint32_t)a + (uint32_t)b, (uint32_t)INT32_MAX);
}

// Returns row i as a group.
template <int PHASE>
static __device__ __forceinline__ struct group
row_group(const int32_t *__restrict__ A_ptr, const struct row_facts *__restrict__ facts,
          const int32_t *__restrict__ nz, int64_t i, const struct rule &rule)
{
    if (i >= rule.m) return {0, 0, 0, 0};
    const struct row_facts f = facts[i];
    const int32_t length = A_ptr[i + 1] - A_ptr[i];
    const bool hashed = length > 1 && f.products > 0;
    const int32_t weight = PHASE == NUMERIC ? nz[i] : hashed ? f.products : 0;
    const int32_t span = hashed ? f.high - f.low + 1 : 0;
    return {1, weight, span, row_kernel(rule, weight, span, !hashed)};
}

// Merges aligned groups of 1, 2, 4, ... rows of the warp while the larger of two kernels holds
// both. By all lanes.
static __device__ __forceinline__ void merge_groups(const struct rule &rule, struct group &g)
{
#pragma unroll
    for (int step = 1; step < ROWS_MOST; step *= 2) {
        const struct group o = {
            __shfl_down_sync(FULL_MASK, g.rows, step), __shfl_down_sync(FULL_MASK, g.weight, step),
            __shfl_down_sync(FULL_MASK, g.span, step), __shfl_down_sync(FULL_MASK, g.kernel, step)};
        const int32_t weight = add_limited(g.weight, o.weight), span = add_limited(g.span, o.span);
        const int kernel = hash_kernel(rule, weight), larger = max(g.kernel, o.kernel);
        const bool fits = lane_id() % (2 * step) == 0 && g.rows == step && o.rows == step &&
                          larger <= LARGEST && kernel <= larger && weight <= rule.limit[LARGEST] &&
                          span < INT32_MAX;
        const unsigned merged = __ballot_sync(FULL_MASK, fits);
        if (fits) g = {2 * step, weight, span, kernel};
        if (lane_id() % (2 * step) == step && merged >> (lane_id() - step) & 1) g.rows = 0;
    }
}

// Raises most[s] to the greatest weight of 2^s aligned rows. By all lanes.
static __device__ __forceinline__ void find_most(int32_t weight, int32_t *most)
{
#pragma unroll
    for (int s = 0; s <= ROWS_LOG; s++) {
        if (s > 0) weight = add_limited(weight, __shfl_xor_sync(FULL_MASK, weight, 1 << (s - 1)));
        const int32_t greatest = __reduce_max_sync(FULL_MASK, weight);
        if (lane_id() == 0) atomicMax(&most[s], greatest);
    }
}

// Counts the blocks of each queue for a balanced run, and finds the greatest weights. Numeric: sets
// sums[b] to the nonzeros of C in share b of the rows.
template <int PHASE>
static __global__ __launch_bounds__(BLOCK) void plan_sums(
    const int32_t *__restrict__ A_ptr, const struct row_facts *__restrict__ facts,
    const int32_t *__restrict__ nz, int32_t share, struct rule rule, struct totals *totals,
    int64_t *__restrict__ sums)
{
    __shared__ int32_t blocks[KERNELS], most[ROWS_LOG + 1], windows;
    __shared__ unsigned long long all;
    if (threadIdx.x < KERNELS) blocks[threadIdx.x] = 0;
    if (threadIdx.x <= ROWS_LOG) most[threadIdx.x] = 0;
    if (threadIdx.x == 0) all = windows = 0;
    __syncthreads();
    long long mine = 0;
    const int64_t begin = (int64_t)blockIdx.x * share;
    for (int64_t at = begin; at < min(begin + share, (int64_t)rule.m); at += BLOCK) {
        struct group g = row_group<PHASE>(A_ptr, facts, nz, at + threadIdx.x, rule);
        mine += g.weight;
        if (g.kernel == DENSE_LARGEST && g.span > rule.window[1]) windows = 1;
        find_most(g.weight, most);
        merge_groups(rule, g);
        count_row(blocks, g.rows && g.weight ? g.kernel : -1);
    }
    mine = warp_sum(mine);
    if (lane_id() == 0) atomicAdd(&all, (unsigned long long)mine);
    __syncthreads();
    if (threadIdx.x < KERNELS && blocks[threadIdx.x])
        atomicAdd(&totals->blocks[PHASE][threadIdx.x], blocks[threadIdx.x]);
    if (threadIdx.x <= ROWS_LOG) atomicMax(&totals->most[PHASE][threadIdx.x], most[threadIdx.x]);
    if (threadIdx.x == 0 && windows) atomicMax(&totals->windows[PHASE], 1);
    if (PHASE == NUMERIC && threadIdx.x == 0) {
        sums[blockIdx.x] = (int64_t)all;
        atomicAdd(&totals->nnz, all);
    }
}

// Puts a lane's block into its queue. The queues follow each other. Blocks fill a queue from its
// start as they come, so that neighbours stay close. By all threads. `places` and `starts` are in
// shared memory; `places` is zero before and after the call.
static __device__ __forceinline__ void put_block(int phase, struct totals *totals, int64_t i,
                                                 const struct group &g, int32_t *places,
                                                 int32_t *starts, struct block_rows *queue)
{
    const int k = g.rows && g.weight ? g.kernel : -1;
    const int32_t place = count_row(places, k);
    __syncthreads();
    if (threadIdx.x < KERNELS) {
        const int e = (int)threadIdx.x;
        int32_t start = 0;
        for (int o = 0; o < e; o++) start += totals->blocks[phase][o];
        if (places[e]) start += atomicAdd(&totals->filled[phase][e], places[e]);
        starts[e] = start;
        places[e] = 0;
    }
    __syncthreads();
    if (k >= 0) queue[starts[k] + place] = {(int32_t)i, g.rows};
}

// Fills the queues of a balanced run. Numeric: also computes ptr[0..m] from nz and the sums over
// shares.
template <int PHASE, typename P>
static __global__ __launch_bounds__(BLOCK) void plan_list(
    const int32_t *__restrict__ A_ptr, const struct row_facts *__restrict__ facts,
    const int32_t *__restrict__ nz, int32_t share, struct rule rule, struct totals *totals,
    const int64_t *__restrict__ share_sums, P *__restrict__ ptr,
    struct block_rows *__restrict__ queue, struct totals *seen)
{
    __shared__ int32_t places[KERNELS], starts[KERNELS];
    __shared__ unsigned long long sums[BLOCK / WARP];
    const bool balanced = is_balanced(PHASE, rule, totals);
    unsigned long long before = 0, total, mine = 0;
    if (threadIdx.x < KERNELS) places[threadIdx.x] = 0;
    if (PHASE == NUMERIC) {
        for (unsigned b = threadIdx.x; b < blockIdx.x; b += BLOCK) mine += share_sums[b];
        team_scan<BLOCK>(mine, sums, before);
    }
    const int64_t begin = (int64_t)blockIdx.x * share, end = min(begin + share, (int64_t)rule.m);
    __syncthreads();
    for (int64_t at = begin; at < end && (balanced || PHASE == NUMERIC); at += BLOCK) {
        const int64_t i = at + threadIdx.x;
        if (PHASE == NUMERIC) {
            const unsigned long long count = i < end ? nz[i] : 0;
            const unsigned long long upto = team_scan<BLOCK>(count, sums, total);
            if (i < end) ptr[i] = (P)(before + upto);
            before += total;
        }
        if (!balanced) continue;
        struct group g = row_group<PHASE>(A_ptr, facts, nz, i, rule);
        merge_groups(rule, g);
        put_block(PHASE, totals, i, g, places, starts, queue);
    }
    if (PHASE == NUMERIC && end == rule.m && threadIdx.x == 0) ptr[rule.m] = (P)before;
    tell_host(totals, seen);
}

#endif
