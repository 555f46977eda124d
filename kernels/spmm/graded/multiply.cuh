// The kernel: every piece, in one launch. Blocks lie in the grid by the kind of their pieces.
#ifndef GRADED_MULTIPLY_H
#define GRADED_MULTIPLY_H

#include "team.cuh"

// Returns the binary logarithm of a power of two. Calls with a non-constant argument run a loop.
static __host__ __device__ constexpr int log2_of(int x) { return x > 1 ? 1 + log2_of(x / 2) : 0; }

// The nonzeros of a thread's group, and the first row of the piece; -1: no piece.
template <typename T> struct work {
    int32_t row;
    stretch<T> from;
};

// Piece i of a list, of teams of 1 << log_team lanes. Past the last piece there is nothing. A piece
// of few rounds is cut into as many equal parts as there are groups, so that none is done long
// before the others; in a longer one groups take rounds in turn, which lie side by side in A.
template <typename S, bool BUNDLE>
static __device__ __forceinline__ work<typename S::T>
find_work(const operands<typename S::T> &x, const struct piece *list, int32_t count, int32_t i,
          int log_team)
{
    constexpr int LOG_LANES = log2_of(S::LANES), MOST_ROUNDS = BUNDLE ? 4 : 2;
    const int log_groups = log_team - LOG_LANES;
    const int group = (int)(threadIdx.x >> LOG_LANES) & ((1 << log_groups) - 1);
    const int lane = (int)(threadIdx.x % S::LANES);
    struct piece piece = {-1, 0, 0, 0};
    if (i < count) piece = list[i];
    work<typename S::T> w;
    w.row = piece.row;
    w.from.idx = BUNDLE ? x.bundle_idx : x.idx;
    w.from.val = BUNDLE ? x.bundle_val + (int64_t)piece.start * (ALIKE - 1) : x.val;
    w.from.apart = piece.length;
    w.from.stride = 1 << log_team;
    // From where a group begins to where the next one does; where the group's nonzeros end.
    int32_t part = S::LANES, end = piece.length;
    if (log_groups > 0 && piece.length <= MOST_ROUNDS << log_team) {
        part = (piece.length + (1 << log_groups) - 1) >> log_groups;
        end = min(piece.length, (group + 1) * part);
        w.from.stride = S::LANES;
    }
    w.from.p = piece.start + group * part + lane;
    w.from.left = end - group * part;
    return w;
}

// Threads of a block that add up segments for the same pack of a slab.
template <int SLAB_PACKS> static __host__ __device__ constexpr int sharers()
{
    return SLAB_PACKS < THREADS ? THREADS / SLAB_PACKS : 1;
}

// The sums over the segments of a row, in a fixed order, to sums[0]: each sharer of a pack adds up
// every SHARERS-th segment, then one thread what they have. By all threads of a block.
template <int SLAB_PACKS, typename packed>
static __device__ __forceinline__ void add_segments(packed (*sums)[SLAB_PACKS],
                                                    const packed *partial, int32_t segments)
{
    const int SHARERS = sharers<SLAB_PACKS>();
    for (int t = (int)threadIdx.x; t < SHARERS * SLAB_PACKS; t += THREADS) {
        const int c = t % SLAB_PACKS, sharer = t / SLAB_PACKS;
        packed all = {};
#pragma unroll 4
        for (int32_t s = sharer; s < segments; s += SHARERS)
            add(all, partial[(int64_t)s * SLAB_PACKS + c]);
        sums[sharer][c] = all;
    }
    __syncthreads();
    for (int c = (int)threadIdx.x; c < SLAB_PACKS; c += THREADS)
        for (int s = 1; s < SHARERS && s < segments; s++) add(sums[0][c], sums[s][c]);
}

// The sums of a segment's block, over its warps, go to `partial`; the block that is the last of its
// row to come adds those up. A row that is one segment needs none of that.
template <typename S>
static __device__ __forceinline__ void
finish_segment(sums<S, 1> &sum, const operands<typename S::T> &x, const lists &a, int32_t row,
               int32_t slab, const columns<S> &where)
{
    typedef typename S::packed packed;
    const int SLAB_PACKS = S::LANES * S::PACKS, WARPS = THREADS / WARP;
    const int SHARERS = sharers<SLAB_PACKS>();
    __shared__ packed sums[SHARERS > WARPS ? SHARERS : WARPS][SLAB_PACKS];
    __shared__ bool last;
    const int lane = (int)(threadIdx.x % S::LANES), warp = (int)(threadIdx.x / WARP);
    // Loaded ahead of the barrier, so that nothing waits for it behind that.
    const int32_t length = x.ptr[row + 1] - x.ptr[row];
    add_groups<S::LANES, WARP>(sum);
#pragma unroll
    for (int l = 0; l < S::PACKS; l++)
        if (lane_id() < S::LANES) sums[warp][l * S::LANES + lane] = sum.x[0][l];
    __syncthreads();
    // Segments come first in the grid, so the block's number is its segment's.
    const int32_t i = (int32_t)blockIdx.x;
    const int32_t segments = segments_of(length, a.segment, a.uncut);
    packed *partial = (packed *)x.partial + (int64_t)slab * a.count[SEGMENT] * SLAB_PACKS;
    for (int c = (int)threadIdx.x; c < SLAB_PACKS; c += THREADS) {
        packed all = sums[0][c];
        for (int w = 1; w < WARPS; w++) add(all, sums[w][c]);
        sums[0][c] = all;
        if (segments > 1) partial[(int64_t)i * SLAB_PACKS + c] = all;
    }
    __syncthreads();
    if (segments > 1) {
        const int32_t first = a.list[SEGMENT][i].first; // read anew: it would fill a register
        int32_t *arrived = x.arrived + (int64_t)slab * a.count[SEGMENT] + first;
        if (threadIdx.x == 0) {
            __threadfence();
            last = atomic_add_release(arrived, 1) == segments - 1;
            if (last) {
                *arrived = 0;
                __threadfence();
            }
        }
        __syncthreads();
        if (!last) return;
        add_segments<SLAB_PACKS>(sums, partial + (int64_t)first * SLAB_PACKS, segments);
        __syncthreads();
    }
    if ((int)threadIdx.x >= S::LANES) return;
#pragma unroll
    for (int l = 0; l < S::PACKS; l++) sum.x[0][l] = sums[0][l * S::LANES + lane];
    store_row<S>(sum.x[0], x.C, x.C_step, row, where);
}

// Sums up a bundle and writes its rows.
template <int TEAM, typename S>
static __device__ __forceinline__ void
bundle(const operands<typename S::T> &x, const lists &a, int kind, int32_t block,
       const shelf<typename S::T> &shelf, const columns<S> &where)
{
    const int32_t i = block * (THREADS / TEAM) + (int32_t)(threadIdx.x / TEAM);
    constexpr int LOG_TEAM = log2_of(TEAM);
    const work<typename S::T> w = find_work<S, true>(x, a.list[kind], a.count[kind], i, LOG_TEAM);
    const nonzeros<typename S::T, ALIKE> next =
        load_round<ALIKE>(w.from, (int)(threadIdx.x % S::LANES));
    if (a.early) wait_for_previous_after(next.j);
    sums<S, ALIKE> sum = {};
    add_rounds(sum, next, w.from, shelf, x.B + where.first, x.B_step, where);
    add_groups<S::LANES, TEAM>(sum);
    if (w.row < 0 || threadIdx.x % TEAM >= S::LANES) return;
#pragma unroll
    for (int r = 0; r < ALIKE; r++) store_row<S>(sum.x[r], x.C, x.C_step, w.row + r, where);
}

// Tiny rows: a team loads the nonzeros of all its rows, which are TEAMS apart in the list, before
// it multiplies those of the first, so that it waits for A once. A round is here as many nonzeros
// as a team has lanes, but no more than a tiny row has; a lane holds one of each.
template <typename S>
static __device__ __forceinline__ void tiny(const operands<typename S::T> &x, const lists &a,
                                            int32_t block, const columns<S> &where)
{
    const int LANES = S::LANES, TEAMS = THREADS / LANES, BATCH = tiny_batch<S>();
    const int ROUND = LANES < MOST_TINY ? LANES : MOST_TINY, ROUNDS = MOST_TINY / ROUND;
    const int lane = (int)(threadIdx.x % LANES);
    const int32_t first = block * a.turns * TEAMS + (int32_t)(threadIdx.x / LANES);
    int32_t row[TURNS], length[TURNS], columns = 0;
    nonzeros<typename S::T, 1> all[TURNS][ROUNDS];
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int32_t i = first + turn * TEAMS;
        struct piece piece = {-1, 0, 0, 0};
        if (turn < a.turns && i < a.count[TINY]) piece = a.list[TINY][i];
        row[turn] = piece.row, length[turn] = piece.length;
#pragma unroll
        for (int q = 0; q < ROUNDS; q++) {
            all[turn][q] = load_round<1>(stretch<typename S::T>{x.idx, x.val, 0,
                                                                piece.start + q * ROUND + lane,
                                                                piece.length - q * ROUND, 0},
                                         lane);
            columns |= all[turn][q].j;
        }
    }
    if (a.early) wait_for_previous_after(columns);
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn >= a.turns) break;
        sums<S, 1> sum = {};
#pragma unroll
        for (int q = 0; q < ROUNDS; q++) {
            const limits<S> of(length[turn] - q * ROUND, where);
#pragma unroll
            for (int e = 0; e < ROUND; e += BATCH)
                if (q + e == 0 || __any_sync(FULL_MASK, length[turn] > q * ROUND + e))
                    add_batch<false, true, BATCH>(sum, all[turn][q], e, of, x.B + where.first,
                                                  x.B_step, where);
        }
        if (row[turn] >= 0) store_row<S>(sum.x[0], x.C, x.C_step, row[turn], where);
    }
}

// BUNDLES: there may be some; then no row is tiny. BLOCKS: a multiprocessor has registers for them.
template <typename S, bool BUNDLES, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    multiply(const __grid_constant__ operands<typename S::T> x, const __grid_constant__ lists a)
{
    typedef typename S::T T;
    const int32_t block = (int32_t)blockIdx.x, slab = x.slab + (int32_t)blockIdx.y;
    const columns<S> where(slab, x.k);
    alignas(16) __shared__ int32_t shelf_j[THREADS];
    alignas(16) __shared__ T shelf_v[BUNDLES ? ALIKE : 1][THREADS];
    const shelf<T> shelf = {shelf_j, shelf_v[0]};
    start_next();
    if (BUNDLES && block >= a.at[MEDIUM_BUNDLE] && block < a.at[MEDIUM])
        return bundle<WARP>(x, a, MEDIUM_BUNDLE, block - a.at[MEDIUM_BUNDLE], shelf, where);
    if (BUNDLES && block >= a.at[SHORT_BUNDLE] && block < a.at[SHORT])
        return bundle<S::TEAM>(x, a, SHORT_BUNDLE, block - a.at[SHORT_BUNDLE], shelf, where);
    if constexpr (has_tiny<S, BUNDLES>())
        if (block >= a.at[TINY]) return tiny<S>(x, a, block - a.at[TINY], where);

    // Segments, medium and short pieces share a loop and differ in the size of the team.
    constexpr int LOG_BLOCK = log2_of(THREADS), LOG_WARP = log2_of(WARP),
                  LOG_TEAM = log2_of(S::TEAM);
    const bool cut = block < a.at[SEGMENT + 1], medium = !cut && block < a.at[SHORT_BUNDLE];
    const int log_team = cut ? LOG_BLOCK : medium ? LOG_WARP : LOG_TEAM;
    const int32_t of_kind = block - (cut ? 0 : medium ? a.at[MEDIUM] : a.at[SHORT]);
    const int32_t i = of_kind * (THREADS >> log_team) + (int32_t)(threadIdx.x >> log_team);
    const struct piece *list = cut ? a.list[SEGMENT] : medium ? a.list[MEDIUM] : a.list[SHORT];
    const int32_t count = cut ? a.count[SEGMENT] : medium ? a.count[MEDIUM] : a.count[SHORT];
    const work<T> w = find_work<S, false>(x, list, count, i, log_team);
    const nonzeros<T, 1> next = load_round<1>(w.from, (int)(threadIdx.x % S::LANES));
    if (a.early) wait_for_previous_after(next.j);
    sums<S, 1> sum = {};
    add_rounds(sum, next, w.from, shelf, x.B + where.first, x.B_step, where);
    if (cut) return finish_segment(sum, x, a, w.row, slab, where);
    add_groups<S::LANES, S::TEAM>(sum);
    if (medium) add_groups<S::TEAM, WARP>(sum);
    const int place = (int)threadIdx.x & ((1 << log_team) - 1);
    if (w.row >= 0 && place < S::LANES) store_row<S>(sum.x[0], x.C, x.C_step, w.row, where);
}

#endif
