// The lists of pieces, made on the device. A row block is ROW_BLOCK rows, one row per thread.
// count_pieces() counts the pieces of each row block, add_up() makes prefix sums of the counts, and
// list_pieces() writes the pieces. Within a row block short pieces are sorted by length, so that
// the teams of a warp have about the same work. All other pieces keep the order of the rows.
#ifndef GRADED_LISTS_H
#define GRADED_LISTS_H

#include "pieces.cuh"

#define ROW_BLOCK  512 // rows
#define MOST_SHORT 64  // nonzeros of a short piece in a list

// Counts of a row block; after add_up(), of all row blocks before it.
struct counts {
    int32_t of[KINDS]; // pieces
    int32_t entries;   // entries of bundles
};
#define COUNTS (KINDS + 1)
static_assert(sizeof(struct counts) == COUNTS * sizeof(int32_t), "add_up() takes it for an array");

// Kinds of rows by their lengths.
struct grading {
    int32_t m;
    const int32_t *ptr;
    // Columns of each candidate of ALIKE rows; 0: no bundle. NULL: no bundles at all.
    const int32_t *bundle_columns;
    int32_t tiny_most; // most nonzeros of a tiny row; -1: no row is tiny
    int32_t short_most, medium_most;
    int32_t segment, uncut; // see struct lists
    bool in_order;          // short rows are not listed
};

// Pieces that begin with a row.
struct grade {
    int kind; // KINDS: none, the row belongs to a bundle that begins before it
    int32_t start, length, count;
};

static __device__ __forceinline__ struct grade grade_of(const struct grading &g, int64_t i)
{
    struct grade x = {KINDS, 0, 0, 0};
    if (i >= g.m) return x;
    const int64_t w = i / ALIKE;
    const int32_t columns = g.bundle_columns && w < g.m / ALIKE ? g.bundle_columns[w] : 0;
    if (columns && i % ALIKE) return x;
    x.start = g.ptr[i];
    x.length = columns ? columns : g.ptr[i + 1] - x.start;
    x.count = 1;
    if (!columns && x.length <= g.tiny_most) {
        x.kind = TINY;
    } else if (x.length <= g.short_most) {
        x.kind = columns ? SHORT_BUNDLE : SHORT;
        if (g.in_order) x.kind = KINDS;
    } else if (columns || x.length <= g.medium_most) {
        x.kind = columns ? MEDIUM_BUNDLE : MEDIUM;
    } else {
        x.kind = SEGMENT;
        x.count = segments_of(x.length, g.segment, g.uncut);
    }
    return x;
}

// Returns the entries of a bundle with padding, or 0.
static __device__ __forceinline__ int32_t entries_of(const struct grade &x)
{
    const bool is_bundle = x.kind == MEDIUM_BUNDLE || x.kind == SHORT_BUNDLE;
    return is_bundle ? whole_quads(x.length) : 0;
}

static __global__ void __launch_bounds__(ROW_BLOCK)
    count_pieces(struct grading g, struct counts *__restrict__ counts)
{
    __shared__ struct counts sum;
    if (threadIdx.x < COUNTS) ((int32_t *)&sum)[threadIdx.x] = 0;
    __syncthreads();
    const struct grade x = grade_of(g, (int64_t)blockIdx.x * ROW_BLOCK + threadIdx.x);
    for (int kind = 0; kind < KINDS; kind++) {
        const int32_t count = warp_sum(x.kind == kind ? x.count : 0);
        if (lane_id() == 0 && count) atomicAdd(&sum.of[kind], count);
    }
    const int32_t entries = warp_sum(entries_of(x));
    if (lane_id() == 0 && entries) atomicAdd(&sum.entries, entries);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

// Replaces each row block's counts by the sums over the row blocks before it. The sums over all row
// blocks come last. One block runs this kernel.
static __global__ void __launch_bounds__(1024)
    add_up(struct counts *__restrict__ counts, int32_t row_blocks)
{
    __shared__ int32_t sums[WARP];
    for (int c = 0; c < COUNTS; c++) {
        int32_t before = 0;
        for (int32_t first = 0; first <= row_blocks; first += (int32_t)blockDim.x) {
            const int32_t w = first + (int32_t)threadIdx.x;
            int32_t *at = (int32_t *)&counts[min(w, row_blocks)] + c, total;
            const int32_t sum = team_scan<0>(w < row_blocks ? *at : 0, sums, total);
            if (w <= row_blocks) *at = before + sum;
            before += total;
        }
    }
}

// Returns the position of a short piece in its row block. Bundles come before rows; both are
// ordered by length, then by row. So tiny rows come before short rows. `key` is -1 for threads
// without such a piece.
static __device__ __forceinline__ int32_t place_short(int key, int keys)
{
    const int WARPS = ROW_BLOCK / WARP;
    __shared__ int32_t bins[2 * (MOST_SHORT + 1) * WARPS], sums[WARP];
    const int warp = (int)threadIdx.x / WARP;
    for (int b = (int)threadIdx.x; b < keys * WARPS; b += ROW_BLOCK) bins[b] = 0;
    __syncthreads();
    const unsigned same = __match_any_sync(FULL_MASK, key);
    const int32_t rank = __popc(same & bits_below(lane_id()));
    if (key >= 0 && rank == 0) bins[key * WARPS + warp] = __popc(same);
    __syncthreads();
    int32_t before = 0;
    for (int first = 0; first < keys * WARPS; first += ROW_BLOCK) {
        const int b = first + (int)threadIdx.x;
        int32_t total;
        const int32_t sum = team_scan<0>(b < keys * WARPS ? bins[b] : 0, sums, total);
        if (b < keys * WARPS) bins[b] = before + sum;
        before += total;
    }
    __syncthreads();
    return key < 0 ? 0 : bins[key * WARPS + warp] + rank;
}

static __global__ void __launch_bounds__(ROW_BLOCK)
    list_pieces(struct grading g, const struct counts *__restrict__ counts, struct lists to)
{
    __shared__ int32_t sums[WARP];
    const int64_t i = (int64_t)blockIdx.x * ROW_BLOCK + threadIdx.x;
    const struct grade x = grade_of(g, i);
    const struct counts before = counts[blockIdx.x], after = counts[blockIdx.x + 1];
    int32_t total, place = 0;
    const int32_t entries = entries_of(x), ahead = team_scan<0>(entries, sums, total);
    const int32_t start = entries ? before.entries + ahead : x.start;
    if (!g.in_order) {
        const int keys = max(g.short_most, g.tiny_most) + 1; // below: bundles, from there on: rows
        const bool is_short = x.kind >= SHORT_BUNDLE && x.kind < KINDS;
        place = place_short(is_short ? (x.kind != SHORT_BUNDLE) * keys + x.length : -1, 2 * keys);
        if (x.kind > SHORT_BUNDLE) place -= after.of[SHORT_BUNDLE] - before.of[SHORT_BUNDLE];
        if (x.kind == SHORT) place -= after.of[TINY] - before.of[TINY];
    }
    for (int kind = 0; kind < SHORT_BUNDLE; kind++) {
        const int32_t among = team_scan<0>(x.kind == kind ? x.count : 0, sums, total);
        if (x.kind == kind) place = among;
    }
    if (x.kind == KINDS) return;
    place += before.of[x.kind];
    for (int32_t c = 0; c < x.count; c++) { // segments, else one piece
        const int32_t done = c * g.segment;
        to.list[x.kind][place + c] = {(int32_t)i, start + done,
                                      x.count > 1 ? min(g.segment, x.length - done) : x.length,
                                      place};
    }
}

#endif
