// The sums of a piece, made by a block in shared memory.
#ifndef TILED_TURNED_SUM_H
#define TILED_TURNED_SUM_H

#include "turned_panel.cuh"

// The share of this thread's group. `size` is the same in all groups of the block.
struct share {
    int32_t size;
    int32_t first, end;
};

static __device__ __forceinline__ struct share find_share(const struct piece &p, int group,
                                                          int groups)
{
    const int32_t count = p.end - p.begin;
    struct share s;
    s.size = (int32_t)ceil_div(count, groups * QUAD) * QUAD;
    s.first = p.begin + min(s.size * group, count);
    s.end = s.first + min(s.size, p.end - s.first);
    return s;
}

// A nonzero in the registers of a lane.
template <typename T> struct nonzero {
    int32_t col;
    T v;
};

// Loads a nonzero. Past the end of the share: column 0 and value 0.
template <typename T>
static __device__ __forceinline__ nonzero<T>
load_nonzero(const int32_t *__restrict__ idx, const T *__restrict__ val, int32_t q, int32_t end)
{
    nonzero<T> x = {};
    if (q < end) x = {idx[q], val[q]};
    return x;
}

// Returns the row of this lane's nonzero q of a round, or ~row if the row began before the share.
// Sets `ends` to the lanes whose nonzero is the last of a row in the share.
template <typename T, int GROUP>
static __device__ __forceinline__ int32_t find_rows(const block_memory<T, GROUP> &x, int32_t rows,
                                                    const struct share &s, int32_t q,
                                                    unsigned &ends)
{
    const bool mine = q < s.end;
    const int32_t row = mine ? row_of(x, rows, q) : 0;
    ends = __ballot_sync(FULL_MASK, mine && (q + 1 == s.end || x.start[row + 1] == q + 1));
    return mine && x.start[row] < s.first ? ~row : row;
}

// Stores the sum of a row in `sums`, or in `head` if the row began before the share. Clears the
// sum.
template <typename T, int GROUP>
static __device__ __forceinline__ void store_sum(const block_memory<T, GROUP> &x, int group,
                                                 int lane, int32_t row,
                                                 pack<T, 16 / sizeof(T)> &sum)
{
    const bool head = row < 0;
    T *to = head ? x.head + group * x.COLUMNS + lane : x.sums + lane * x.step + row;
    const int step = head ? GROUP : GROUP * x.step;
    if (head && lane == 0) x.head_row[group] = ~row;
#pragma unroll
    for (int e = 0; e < x.VEC; e++) to[e * step] = sum.x[e];
    sum = {};
}

// Returns a mask with lane 0 of each group of a warp.
template <int GROUP> static __device__ __forceinline__ constexpr unsigned first_lanes()
{
    return GROUP == 32 ? 1u : GROUP == 16 ? 0x10001u : 0x1010101u;
}

// sum += the products of the quad of nonzeros that begins with the nonzero of lane g of each group.
template <typename T, int GROUP>
static __device__ __forceinline__ void
add_quad(pack<T, 16 / sizeof(T)> &sum, const block_memory<T, GROUP> &x, int group, int lane,
         int32_t my_row, T v, unsigned ends, int g, const pack<T, 16 / sizeof(T)> *b)
{
    T v_e[QUAD];
#pragma unroll
    for (int e = 0; e < QUAD; e++) v_e[e] = __shfl_sync(FULL_MASK, v, g + e, GROUP);
    if (!(ends >> g & first_lanes<GROUP>() * ((1u << QUAD) - 1))) {
#pragma unroll
        for (int e = 0; e < QUAD; e++) add_product(sum, v_e[e], b[e]);
        return;
    }
    const unsigned my_ends = ends >> (lane_id() - lane + g);
#pragma unroll
    for (int e = 0; e < QUAD; e++) {
        const int32_t row = __shfl_sync(FULL_MASK, my_row, g + e, GROUP);
        add_product(sum, v_e[e], b[e]);
        if (my_ends >> e & 1) store_sum(x, group, lane, row, sum);
    }
}

// Writes zeros to rows without a first part in this piece: empty rows, and a row that began in an
// earlier piece.
template <typename T, int GROUP>
static __device__ __forceinline__ void
clear_rows(const block_memory<T, GROUP> &x, const struct piece &p, int group, int groups, int lane)
{
    for (int32_t r = group; r < p.rows; r += groups) {
        const int32_t start = x.start[r], next = x.start[r + 1];
        if (start == next || (start < p.begin && next > p.begin))
#pragma unroll
            for (int e = 0; e < x.VEC; e++) x.sums[(e * GROUP + lane) * x.step + r] = 0;
    }
}

// Computes the shares of the groups. The groups of a warp go through their shares together, because
// all lanes take part in the shuffles.
template <typename T, int GROUP>
static __device__ __forceinline__ void
sum_shares(const block_memory<T, GROUP> &x, const struct shape &a, const struct piece &p,
           const struct share &s, const int32_t *__restrict__ idx, const T *__restrict__ val,
           const T *__restrict__ B, int32_t slab)
{
    typedef pack<T, 16 / sizeof(T)> pack_t;
    const int lane = (int)threadIdx.x % GROUP, group = (int)threadIdx.x / GROUP;
    const int groups = (int)blockDim.x / GROUP;
    const int64_t j = ((int64_t)slab * GROUP + lane) * x.VEC;
    const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first columns
    pack_t sum = {};
    nonzero<T> next = load_nonzero(idx, val, s.first + lane, s.end);
    wait_for_previous(); // B is complete
    __syncthreads();     // `p` and `start` are complete, and the previous slab is done with `sums`
    if (lane == 0) x.head_row[group] = -1;
    clear_rows(x, p, group, groups, lane);
    for (int32_t done = 0; done < s.size; done += GROUP) {
        const nonzero<T> now = next;
        const int32_t left = s.size - done, q = s.first + min(done, s.end - s.first) + lane;
        int32_t my_row = 0;
        unsigned ends = 0;
        if (left > GROUP) next = load_nonzero(idx, val, q + GROUP, s.end);
#pragma unroll 1
        for (int g = 0; g < GROUP && g < left; g += BATCH) {
            pack_t row[BATCH];
#pragma unroll
            for (int n = 0; n < BATCH; n += QUAD) {
                uint32_t step = a.B_step;
                if (g + n >= left) break;
                opaque(step);
#pragma unroll
                for (int e = n; e < n + QUAD; e++)
                    row[e] = *row_at<const pack_t>(
                        b, step, (uint32_t)__shfl_sync(FULL_MASK, now.col, g + e, GROUP));
            }
            if (g == 0)
                my_row =
                    find_rows(x, p.rows, s, q, ends); // while the loads of the batch are in flight
#pragma unroll
            for (int n = 0; n < BATCH; n += QUAD) {
                if (g + n >= left) break;
                add_quad(sum, x, group, lane, my_row, now.v, ends, g + n, row + n);
            }
        }
    }
}

// Adds the parts of cut rows to `sums`, in the order of the groups. All threads of the block call
// this function after a barrier.
template <typename T, int GROUP>
static __device__ __forceinline__ void add_heads(const block_memory<T, GROUP> &x)
{
    for (int c = (int)threadIdx.x; c < x.COLUMNS; c += (int)blockDim.x)
        for (int g = 0; g < (int)blockDim.x / GROUP; g++)
            if (x.head_row[g] >= 0) x.sums[c * x.step + x.head_row[g]] += x.head[g * x.COLUMNS + c];
}

#endif
