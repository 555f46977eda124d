// The kernel: all pieces of A in one launch. Each kind of piece has a range of blocks of the grid.
#ifndef GRADED_MULTIPLY_H
#define GRADED_MULTIPLY_H

#include "gather.cuh"

#define LOG_WARP    5
#define LOG_THREADS 7

// Returns piece i of a kind, or an empty piece.
static __device__ __forceinline__ struct piece find_piece(const struct lists &a, int kind,
                                                          int32_t i, const int32_t *ptr)
{
    struct piece piece = {-1, 0, 0, 0};
    if (i >= a.count[kind]) return piece;
    if (a.list[kind]) return a.list[kind][i];
    piece.start = ptr[i];
    piece.length = ptr[i + 1] - piece.start;
    piece.row = piece.length <= a.short_most ? i : -1;
    if (piece.row < 0) piece.length = 0;
    return piece;
}

// Sums up a group's nonzeros of a piece of ALL rows: every `groups`-th quad.
template <typename S, int ALL>
static __device__ __forceinline__ void
sum_quads(typename S::SUM (&sum)[ALL][S::SUMS], const operands<typename S::T> &x,
             const struct piece &piece, int group, int log_groups, bool early,
             const rows_of_B<S> &B)
{
    typedef typename S::T T;
    typedef typename S::SUM SUM;
    // A quad may begin ahead of the piece.
    const int skip = ALL == 1 ? piece.start & (QUAD - 1) : 0;
    const int64_t begin = piece.start - skip;
    const arrays<T> from = {(ALL == 1 ? x.idx : x.bundle_idx) + begin,
                            ALL == 1 ? x.val + begin : x.bundle_val + begin * ALL,
                            whole_quads(piece.length)};
    const int32_t length = piece.length, end = length ? length + skip : 0,
                  stride = QUAD << log_groups;
    int32_t p = group * QUAD;
    nonzeros<SUM, ALL, QUAD> next;
    load_nonzeros(next, from, p, p < end);
    if (early) wait_for_previous_after(next.j[0] & ~MARK);
    if constexpr (ALL == 1) {
#pragma unroll 1
        while (p < end) {
            const nonzeros<SUM, ALL, QUAD> now = next;
            const int32_t place = p - skip;
            p += stride;
            load_nonzeros(next, from, p, p < end);
            add_quad<S>(sum, now, place, length, B);
        }
    } else {
#pragma unroll 1
        while (__any_sync(FULL_MASK, p < end)) {
            const nonzeros<SUM, ALL, QUAD> now = next;
            p += stride;
            load_nonzeros(next, from, p, p < end);
            const bool marked = (now.j[0] | now.j[1] | now.j[2] | now.j[3]) < 0;
            if (__any_sync(FULL_MASK, marked))
                add_quad<false, S>(sum, now, B);
            else
                add_quad<true, S>(sum, now, B);
        }
    }
}

// Sums up the nonzeros of a group by rounds. Few nonzeros are shared evenly among the groups. With
// more nonzeros the groups take rounds in turn.
template <typename S, int ALL>
static __device__ __forceinline__ void
sum_rounds(typename S::SUM (&sum)[ALL][S::SUMS], const operands<typename S::T> &x,
           const struct piece &piece, int group, int log_groups, bool early, const rows_of_B<S> &B)
{
    typedef typename S::T T;
    typedef typename S::SUM SUM;
    const int LANES = S::LANES, lane = (int)threadIdx.x % LANES, FEW = ALL > 1 ? 4 : 2;
    const arrays<T> from = {(ALL == 1 ? x.idx : x.bundle_idx) + piece.start,
                            ALL == 1 ? x.val + piece.start
                                     : x.bundle_val + (int64_t)piece.start * ALL,
                            whole_quads(piece.length)};
    int32_t part = LANES, end = piece.length, stride = LANES << log_groups;
    if (log_groups > 0 && piece.length <= FEW * stride) {
        part = (piece.length + (1 << log_groups) - 1) >> log_groups;
        end = min(piece.length, (group + 1) * part);
        stride = LANES;
    }
    int32_t p = group * part + lane, left = end - group * part;
    nonzeros<SUM, ALL, 1> next;
    load_nonzeros(next, from, p, lane < left);
    if (early) wait_for_previous_after(next.j[0] & ~MARK);
#pragma unroll 1
    while (__any_sync(FULL_MASK, left > 0)) {
        const nonzeros<SUM, ALL, 1> now = next;
        const int32_t current = left;
        p += stride;
        left -= stride;
        load_nonzeros(next, from, p, lane < left);
        const bool full = __all_sync(FULL_MASK, B.whole && current >= LANES);
        const int32_t count = max(current, 0);
        const bool plain = ALL == 1 || !__any_sync(FULL_MASK, now.j[0] < 0);
        if constexpr (ALL > 1 && LANES > 8) {
            __shared__ shelf<SUM> shelf;
            put_on_shelf(shelf, now);
            if (plain && full)
                add_shelf<true, true, S>(sum, shelf, count, B);
            else if (plain)
                add_shelf<false, true, S>(sum, shelf, count, B);
            else if (full)
                add_shelf<true, false, S>(sum, shelf, count, B);
            else
                add_shelf<false, false, S>(sum, shelf, count, B);
        } else if (plain && full) {
            add_round<true, true, LANES, ALL, S>(sum, now, count, B);
        } else if (plain) {
            add_round<false, true, LANES, ALL, S>(sum, now, count, B);
        } else if (full) {
            add_round<true, false, LANES, ALL, S>(sum, now, count, B);
        } else {
            add_round<false, false, LANES, ALL, S>(sum, now, count, B);
        }
    }
}

// Tiny rows: a group loads the nonzeros of TURNS rows before it multiplies those of the first row.
// So the group waits for A once.
template <typename S>
static __device__ __forceinline__ void tiny(const operands<typename S::T> &x, const lists &a,
                                            int32_t block, int32_t slab)
{
    typedef typename S::T T;
    typedef typename S::SUM SUM;
    const int TEAMS = THREADS / S::LANES, lane = (int)threadIdx.x % S::LANES;
    const columns<S> where(slab, x.k, log_lanes_of<S>(a));
    const rows_of_B<S> B(x, where);
    const int32_t first = block * a.turns * TEAMS + (int32_t)threadIdx.x / S::LANES;
    struct piece piece[TURNS];
    nonzeros<SUM, 1, 1> all[TURNS];
    int32_t columns = 0;
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        const int32_t i = first + turn * TEAMS;
        piece[turn] = {-1, 0, 0, 0};
        if (turn < a.turns && i < a.count[TINY]) piece[turn] = a.list[TINY][i];
        const arrays<T> from = {x.idx + piece[turn].start, x.val + piece[turn].start, 0};
        load_nonzeros(all[turn], from, lane, lane < piece[turn].length);
        columns |= all[turn].j[0];
    }
    if (a.early) wait_for_previous_after(columns);
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn >= a.turns) break;
        SUM sum[1][S::SUMS] = {};
        add_round<false, true, MOST_TINY, 1, S>(sum, all[turn], piece[turn].length, B);
        if (piece[turn].row >= 0) store_sums<S>(sum[0], 0, x, piece[turn].row, where);
    }
}

// Adds up `count` lines of 1 << log_width sums in a fixed order, and writes the result to row i of
// C from column `first` on. `own`: shared memory with an element per thread. By all threads of a
// block.
template <typename S>
static __device__ __forceinline__ void
add_lines(typename S::SUM *own, const typename S::SUM *lines, int32_t count, int log_width,
          const operands<typename S::T> &x, int32_t i, int64_t first)
{
    const int32_t thread = (int32_t)threadIdx.x, width = 1 << log_width,
                  column = thread & (width - 1);
    typename S::SUM all = 0;
#pragma unroll 4
    for (int32_t s = thread >> log_width; s < count; s += THREADS >> log_width)
        all += lines[((int64_t)s << log_width) + column];
    own[thread] = all;
    __syncthreads();
    if (thread >= width || first + column >= x.k) return;
    for (int32_t t = column + width; t < THREADS; t += width) all += own[t];
    store_at<S, 1>(x, i, first + column, {{all}});
}

// Adds up the sums of the block of a segment. The last block of a row to finish adds up all
// segments of the row. A row of one segment is written at once.
template <typename S>
static __device__ __forceinline__ void
finish_segment(typename S::SUM (&sum)[S::SUMS], const operands<typename S::T> &x, const lists &a,
               const struct piece &piece, int32_t slab, const columns<S> &where)
{
    typedef typename S::SUM SUM;
    const int WARPS = THREADS / WARP;
    __shared__ SUM sums[WARPS * SLAB_MAX], own[THREADS];
    __shared__ bool last;
    const int log_width = log_lanes_of<S>(a) + S::LOG_SUMS;
    const int32_t width = 1 << log_width, warp = (int32_t)threadIdx.x / WARP;
    const int64_t first = where.first - where.offset;
    const int32_t length = x.ptr[piece.row + 1] - x.ptr[piece.row];
    const int32_t segments = segments_of(length, a.segment, a.uncut);
    const int lanes = 1 << log_lanes_of<S>(a);
    add_groups(sum, lanes, WARP / lanes, 0, [&](auto &y, int from, bool owner) {
        if (owner)
            for (int w = 0; w < (int)(sizeof y / sizeof *y); w++)
                sums[warp * width + where.in_slab(from + w)] = y[w];
    });
    __syncthreads();
    if (segments == 1) return add_lines<S>(own, sums, WARPS, log_width, x, piece.row, first);
    const int64_t begin = (int64_t)slab * a.count[SEGMENT] + piece.first;
    SUM *const partial = x.partial + begin * width;
    const int32_t i = (int32_t)blockIdx.x - piece.first; // segments come first in the grid
    for (int32_t c = (int32_t)threadIdx.x; c < width; c += THREADS) {
        SUM all = sums[c];
        for (int w = 1; w < WARPS; w++) all += sums[w * width + c];
        partial[(int64_t)i * width + c] = all;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomic_add_release(x.arrived + begin, 1) == segments - 1;
        if (last) {
            x.arrived[begin] = 0;
            __threadfence();
        }
    }
    __syncthreads();
    if (last) add_lines<S>(own, partial, segments, log_width, x, piece.row, first);
}

// Sums up a piece of ALL rows by 1 << log_team lanes, and writes its rows of C.
template <typename S, int ALL>
static __device__ __forceinline__ void multiply_piece(const operands<typename S::T> &x,
                                                      const lists &a, const struct piece &piece,
                                                      int kind, int log_team, int32_t slab)
{
    const int log_lanes = log_lanes_of<S>(a), lanes = 1 << log_lanes;
    const columns<S> where(slab, x.k, log_lanes);
    const int log_groups = log_team - log_lanes;
    const int group = (int)(threadIdx.x >> log_lanes) & ((1 << log_groups) - 1);
    const rows_of_B<S> B(x, where);
    typename S::SUM sum[ALL][S::SUMS] = {};
    if constexpr (S::LANES > 0)
        sum_rounds<S, ALL>(sum, x, piece, group, log_groups, a.early, B);
    else
        sum_quads<S, ALL>(sum, x, piece, group, log_groups, a.early, B);
    if (ALL == 1 && kind == SEGMENT) return finish_segment<S>(sum[0], x, a, piece, slab, where);
#pragma unroll
    for (int r = 0; r < ALL; r++)
        add_groups(sum[r], lanes, 1 << log_groups, 0, [&](auto &y, int first, bool owner) {
            if (owner && piece.row >= 0) store_sums<S>(y, first, x, piece.row + r, where);
        });
}

template <typename S, int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    multiply(const __grid_constant__ operands<typename S::T> x, const __grid_constant__ lists a)
{
    const int32_t block = (int32_t)blockIdx.x, slab = x.slab + (int32_t)blockIdx.y;
    start_next();
    if constexpr (S::LANES && !S::BUNDLES)
        if (block >= a.at[TINY]) return tiny<S>(x, a, block - a.at[TINY], slab);
    int kind = SHORT;
    while (block < a.at[kind]) kind--;
    const bool is_short = kind == SHORT || kind == SHORT_BUNDLE;
    const int log_team = kind == SEGMENT ? LOG_THREADS : is_short ? a.log_team : LOG_WARP;
    const int32_t i =
        ((block - a.at[kind]) << (LOG_THREADS - log_team)) + (int32_t)(threadIdx.x >> log_team);
    const struct piece piece = find_piece(a, kind, i, x.ptr);
    if (S::BUNDLES && (kind == MEDIUM_BUNDLE || kind == SHORT_BUNDLE))
        multiply_piece<S, ALIKE>(x, a, piece, kind, log_team, slab);
    else
        multiply_piece<S, 1>(x, a, piece, kind, log_team, slab);
}

#endif
