// Rows of C in bins by their counts: products per row (algorithm 2 of Nagasaka, Nukada, Matsuoka,
// ICPP 2017), lists of rows by bin, and row starts of C. Host part: bins_host.cuh.
//
// A bin holds rows with similar counts: products in the symbolic phase, nonzeros of C in the
// numeric phase. The last bin has the rows that are too long for the others. Giants are rows of the
// last bin with so many products that several blocks share a row. A row of C has fewer than 2^31
// products, as the columns of a row of A differ and S has fewer than 2^31 nonzeros. Sums over rows
// can be larger.
//
// The algorithm passes a rule to the kernels: a struct R that chooses the bins. `length` is the
// number of nonzeros of the row of A, `stored` is products[i].
//
//     int32_t count                                            number of bins, at most BIN_MOST
//     int32_t store(int32_t length, int32_t products, int32_t longest)
//                                                              products[i]; `longest`: products
//                                                              with the longest row of S
//     int32_t products(int32_t stored)                         products of the row
//     int by_products(int32_t length, int32_t stored)          bin in the symbolic phase, or -1
//     int by_nonzeros(int32_t length, int32_t nz, int32_t stored)
//                                                              bin in the numeric phase; nz > 0
//     bool giant(unsigned long long all, int32_t length, int32_t stored)
//                                                              true for a giant; `all`: products of
//                                                              all rows
#ifndef SPGEMM_BINS_H
#define SPGEMM_BINS_H

#include "counts.cuh"
#include "hash_table.cuh"

#define BIN_MOST    13   // at most STREAMS_MOST
#define SCAN_SHARES 1024 // most blocks of the scan of row lengths
#define SEGMENT     4096 // nonzeros of a row of A above which blocks count it, this many each
#define BLOCK       256  // threads of the kernels in this file
#define LISTED      4    // rows that a thread lists at a time if there are many rows

enum { SYMBOLIC, NUMERIC };

// Counters on the device, which are copied to the host.
struct counters {
    int32_t rows[2][BIN_MOST];   // rows of each bin, by phase; the last bin includes giants
    int32_t filled[2][BIN_MOST]; // rows of each bin in list[] so far
    int32_t giants[2];
    int32_t longest[2]; // the largest count in the last bin
    int32_t segments;   // segments of long rows of A
    int32_t ended;      // blocks that have ended a kernel with tell_host()
    int32_t overflowed; // rows of C that did not fit in the largest table in shared memory
    unsigned long long products;
    int64_t nnz; // nonzeros of C
};

// Up to SEGMENT nonzeros of a long row of A.
struct segment {
    int32_t row, number;
};

// Sets products[i], and counts the rows of each bin. `lanes` threads count a row; `lanes` is a
// power of two up to 32. Long rows go to the last bin, and are cut into segments for
// count_segments().
template <typename R>
static __global__ __launch_bounds__(BLOCK) void count_products(
    struct factors<float> x, int lanes, R rule, struct counters *counters,
    int32_t *__restrict__ products, struct segment *__restrict__ segments)
{
    __shared__ int32_t rows[BIN_MOST];
    __shared__ unsigned long long all;
    if (threadIdx.x < BIN_MOST) rows[threadIdx.x] = 0;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    const int64_t i = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / lanes;
    const int sub = (int)(threadIdx.x % lanes);
    int32_t p = 0, end = 0, sum = 0, longest = 0;
    int bin = -1;
    if (i < x.m) {
        p = __ldg(x.A_ptr + i);
        end = __ldg(x.A_ptr + i + 1);
    }
    const bool is_long = end - p > SEGMENT;
    if (!is_long)
        for (int64_t q = (int64_t)p + sub; q < end; q += lanes) {
            const int32_t l = __ldg(x.A_idx + q);
            const int32_t count = __ldg(x.S_ptr + l + 1) - __ldg(x.S_ptr + l);
            sum += count;
            longest = max(longest, count);
        }
    for (int step = lanes / 2; step > 0; step /= 2) {
        sum += __shfl_xor_sync(FULL_MASK, sum, step);
        longest = max(longest, __shfl_xor_sync(FULL_MASK, longest, step));
    }
    if (i < x.m && sub == 0) {
        const int32_t stored = rule.store(end - p, sum, longest);
        products[i] = stored;
        if (is_long) {
            const int32_t count = (int32_t)ceil_div(end - p, SEGMENT);
            const int32_t at = atomicAdd(&counters->segments, count);
            for (int32_t c = 0; c < count; c++) segments[at + c] = {(int32_t)i, c};
            bin = rule.count - 1;
        } else {
            bin = rule.by_products(end - p, stored);
        }
    }
    count_row(rows, bin);
    const long long warp_all = warp_sum((long long)(sub == 0 ? sum : 0));
    if (lane_id() == 0) atomicAdd(&all, (unsigned long long)warp_all);
    __syncthreads();
    if (threadIdx.x < (unsigned)rule.count && rows[threadIdx.x])
        atomicAdd(&counters->rows[SYMBOLIC][threadIdx.x], rows[threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(&counters->products, all);
}

// Adds the products of the segments of long rows, a block for each segment.
static __global__
__launch_bounds__(BLOCK) void count_segments(struct factors<float> x, struct counters *counters,
                                             int32_t *__restrict__ products,
                                             const struct segment *__restrict__ segments)
{
    __shared__ int32_t sum;
    for (int32_t c = (int32_t)blockIdx.x; c < counters->segments; c += (int32_t)gridDim.x) {
        const struct segment segment = segments[c];
        const int64_t begin =
            (int64_t)__ldg(x.A_ptr + segment.row) + (int64_t)segment.number * SEGMENT;
        const int64_t end = min(begin + SEGMENT, (int64_t)__ldg(x.A_ptr + segment.row + 1));
        int32_t mine = 0;
        __syncthreads();
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
#pragma unroll 4
        for (int64_t q = begin + threadIdx.x; q < end; q += BLOCK) {
            const int32_t l = __ldg(x.A_idx + q);
            mine += __ldg(x.S_ptr + l + 1) - __ldg(x.S_ptr + l);
        }
        mine = warp_sum(mine);
        if (lane_id() == 0) atomicAdd(&sum, mine);
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(&products[segment.row], sum);
            atomicAdd(&counters->products, (unsigned long long)sum);
        }
    }
}

// A row that a thread lists.
struct listed {
    int32_t row, count; // count: products in the symbolic phase, nonzeros in the numeric phase
    int bin;            // -1: the row is in no bin
    bool giant;
};

// Puts the thread's rows into list[], which has the rows of bin 0, then those of bin 1, and so on.
// Blocks fill the part of each bin from its start as they come, so that neighbours stay close.
// Giants fill the part of the last bin from its end backwards. By all threads of the block.
// `places` and `starts` are in shared memory; `places` is zero before and after the call.
template <int ROWS>
static __device__ __forceinline__ void put_rows(int phase, int last, struct counters *counters,
                                                const struct listed (&these)[ROWS], int32_t *places,
                                                int32_t *starts, int32_t *__restrict__ list)
{
    int32_t place[ROWS];
    int longest = 0;
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        place[k] = count_row(places, these[k].giant ? -1 : these[k].bin);
        if (these[k].bin == last) longest = max(longest, these[k].count);
    }
    __syncthreads();
    if (threadIdx.x <= (unsigned)last) {
        const int g = (int)threadIdx.x;
        int32_t start = 0;
        for (int e = 0; e < g; e++) start += counters->rows[phase][e];
        if (places[g]) start += atomicAdd(&counters->filled[phase][g], places[g]);
        starts[g] = start;
        places[g] = 0;
    }
    __syncthreads();
    longest = __reduce_max_sync(FULL_MASK, longest);
    if (longest && lane_id() == 0) atomicMax(&counters->longest[phase], longest);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        if (these[k].bin >= 0 && !these[k].giant) {
            list[starts[these[k].bin] + place[k]] = these[k].row;
        } else if (these[k].giant) {
            int32_t end = 0;
            for (int e = 0; e <= last; e++) end += counters->rows[phase][e];
            list[end - 1 - atomicAdd(&counters->giants[phase], 1)] = these[k].row;
        }
    }
}

// Lists the rows by products. Sets nz[i] = 0 for rows without products. A block has BLOCK * ROWS
// rows.
template <int ROWS, typename R>
static __global__ __launch_bounds__(BLOCK) void list_by_products(
    const int32_t *__restrict__ A_ptr, int32_t m, R rule, struct counters *counters,
    const int32_t *__restrict__ products, int32_t *__restrict__ nz, int32_t *__restrict__ list,
    struct counters *seen)
{
    __shared__ int32_t places[BIN_MOST], starts[BIN_MOST];
    if (threadIdx.x < BIN_MOST) places[threadIdx.x] = 0;
    __syncthreads();
    struct listed these[ROWS];
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int64_t i = ((int64_t)blockIdx.x * ROWS + k) * BLOCK + threadIdx.x;
        these[k] = {(int32_t)i, 0, -1, false};
        if (i >= m) continue;
        const int32_t stored = products[i], length = A_ptr[i + 1] - A_ptr[i];
        const int last = rule.count - 1;
        these[k].count = rule.products(stored);
        these[k].bin = length > SEGMENT ? last : rule.by_products(length, stored);
        these[k].giant = these[k].bin == last && rule.giant(counters->products, length, stored);
        if (these[k].bin < 0) nz[i] = 0;
    }
    put_rows(SYMBOLIC, rule.count - 1, counters, these, places, starts, list);
    tell_host(counters, seen);
}

// Returns the bin of row i in the numeric phase, or -1 for a row without nonzeros.
template <typename R>
static __device__ __forceinline__ int numeric_bin(const R &rule, const struct counters *counters,
                                                  const int32_t *__restrict__ A_ptr, int32_t i,
                                                  int32_t nz, int32_t stored, bool &giant)
{
    giant = false;
    if (nz == 0) return -1;
    const int32_t length = A_ptr[i + 1] - A_ptr[i];
    giant = rule.giant(counters->products, length, stored);
    return giant ? rule.count - 1 : rule.by_nonzeros(length, nz, stored);
}

// Sets sums[b] to the nonzeros of C in block b's share of the rows, [b * share, (b + 1) * share).
// Counts the rows of each bin.
template <typename R>
static __global__ __launch_bounds__(BLOCK) void sum_shares(const int32_t *__restrict__ A_ptr,
                                                           int32_t m, int32_t share, R rule,
                                                           struct counters *counters,
                                                           const int32_t *__restrict__ nz,
                                                           const int32_t *__restrict__ products,
                                                           int64_t *__restrict__ sums)
{
    __shared__ int32_t rows[BIN_MOST];
    __shared__ unsigned long long all;
    if (threadIdx.x < BIN_MOST) rows[threadIdx.x] = 0;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    long long mine = 0;
    const int64_t begin = (int64_t)blockIdx.x * share;
    for (int64_t at = begin; at < min(begin + share, (int64_t)m); at += BLOCK) {
        const int64_t i = at + threadIdx.x;
        int bin = -1;
        bool giant;
        if (i < m) {
            const int32_t count = nz[i];
            bin = numeric_bin(rule, counters, A_ptr, (int32_t)i, count, products[i], giant);
            mine += count;
        }
        count_row(rows, bin);
    }
    mine = warp_sum(mine);
    if (lane_id() == 0) atomicAdd(&all, (unsigned long long)mine);
    __syncthreads();
    if (threadIdx.x < (unsigned)rule.count && rows[threadIdx.x])
        atomicAdd(&counters->rows[NUMERIC][threadIdx.x], rows[threadIdx.x]);
    if (threadIdx.x == 0) sums[blockIdx.x] = (int64_t)all;
}

// Sets before[k] to the sum of counts over the rows ahead of the thread's k-th row, and `total` to
// the sum over all. The k-th row is row k * BLOCK + threadIdx.x of these ROWS * BLOCK. `sums` is in
// shared memory, with room for the warps of each BLOCK. By all threads; begins with a barrier.
template <int ROWS>
static __device__ __forceinline__ void
scan_rows(const struct listed (&these)[ROWS], unsigned long long (&before)[ROWS],
          unsigned long long *sums, unsigned long long &total)
{
    const int warps = BLOCK / WARP, warp = (int)threadIdx.x / WARP, lane = lane_id();
    static_assert(ROWS * BLOCK / WARP <= WARP, "a warp sums up the warps of all");
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        before[k] = warp_scan((unsigned long long)these[k].count);
        if (lane == WARP - 1) sums[k * warps + warp] = before[k];
        before[k] -= (unsigned long long)these[k].count;
    }
    __syncthreads();
    const unsigned long long all = warp_scan(lane < ROWS * warps ? sums[lane] : 0);
    total = warp_broadcast(all, WARP - 1);
#pragma unroll
    for (int k = 0; k < ROWS; k++) {
        const int warps_before = k * warps + warp;
        const unsigned long long base = __shfl_sync(FULL_MASK, all, max(warps_before - 1, 0));
        if (warps_before > 0) before[k] += base;
    }
}

// Computes ptr[0..m] from nz and the sums over shares, and lists the rows by nonzeros.
template <int ROWS, typename P, typename R>
static __global__ __launch_bounds__(BLOCK, 5) void list_by_nonzeros(
    const int32_t *__restrict__ A_ptr, int32_t m, int32_t share, R rule, struct counters *counters,
    const int32_t *__restrict__ nz, const int32_t *__restrict__ products,
    const int64_t *__restrict__ share_sums, P *__restrict__ ptr, int32_t *__restrict__ list,
    struct counters *seen)
{
    __shared__ int32_t places[BIN_MOST], starts[BIN_MOST];
    __shared__ unsigned long long sums[ROWS * BLOCK / WARP];
    unsigned long long before = 0, total, mine = 0;
    if (threadIdx.x < BIN_MOST) places[threadIdx.x] = 0;
    for (unsigned b = threadIdx.x; b < blockIdx.x; b += BLOCK) mine += share_sums[b];
    team_scan<BLOCK>(mine, sums, before);
    const int64_t begin = (int64_t)blockIdx.x * share, end = min(begin + share, (int64_t)m);
    for (int64_t at = begin; at < end; at += ROWS * BLOCK) {
        struct listed these[ROWS];
        unsigned long long upto[ROWS];
#pragma unroll
        for (int k = 0; k < ROWS; k++) {
            const int64_t i = at + k * BLOCK + threadIdx.x;
            these[k] = {(int32_t)i, 0, -1, false};
            if (i >= end) continue;
            these[k].count = nz[i];
            these[k].bin =
                numeric_bin(rule, counters, A_ptr, (int32_t)i, nz[i], products[i], these[k].giant);
        }
        scan_rows(these, upto, sums, total);
#pragma unroll
        for (int k = 0; k < ROWS; k++)
            if (at + k * BLOCK + threadIdx.x < end) ptr[these[k].row] = (P)(before + upto[k]);
        before += total;
        put_rows(NUMERIC, rule.count - 1, counters, these, places, starts, list);
    }
    if (end == m && threadIdx.x == 0) {
        ptr[m] = (P)before;
        counters->nnz = (int64_t)before;
    }
    tell_host(counters, seen);
}

#endif
