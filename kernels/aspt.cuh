// Shared parts of the CUDA kernels on adaptive sparse tiles, SpMM and SDDMM.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, sections 4.3 and 5.
//
// The format is that of formats/aspt.h. The words for pieces of the work:
//
// group    8 neighbouring lanes, which go through the nonzeros of one row of A
// pack     VEC neighbouring elements of a row of a dense matrix, 16 bytes where rows allow it
// slice    neighbouring columns of the dense matrices: LOADS packs for each lane of a group, which
//          are GROUP packs apart
// band     the rows of a panel that a block has, one for each of its groups
// stage    the rows of B (Y in SDDMM) that a tile needs, a slice of them, in shared memory
// round    8 nonzeros of a part of a row, one loaded by each lane of the group
// batch    nonzeros of a round whose rows of B are loaded before the first of them is used
// segment  a piece of the light part of a long row, which a block of its own goes through
// shared   row whose light part is not that long, which a warp of its own goes through
// run      neighbouring tiles of a panel that has many, which blocks of their own go through
//
// A block stages tile after tile of its panel, and its groups go through their rows of each; then
// through the light parts, with the rows of B in memory. A sum over a row therefore stays in
// registers from the first tile to the last light nonzero. Segments, shared rows and runs are left
// out of that, as they would hold a block or a group for long. H200, SDDMM on ego-twitter, k = 128:
// 0.19 ms with shared rows, 0.31 ms without.
//
// Did not pay on an H200: groups of a warp that share the rest of the longest row inside the
// kernel. Their registers make SpMM 1.2 to 1.5 times as slow.
#ifndef ASPT_CUDA_H
#define ASPT_CUDA_H

#include "formats/aspt.h"
#include "kernel.cuh"

#define GROUP       8
#define QUAD        4     // nonzeros under one branch: what is past the end is left out by quads
#define MAX_THREADS 256   // of a block
#define SEGMENT     1024  // nonzeros of a segment, at most
#define STAGE_BYTES 32768 // as in the paper: two blocks of 1024 threads shared 64 KB there

// Pieces of rows or panels that are taken out.
struct pieces {
    int64_t count;
    int64_t *first; // piece of each owner, and behind the last one `count`
    int32_t *owner; // of each piece, size count
};

// How a kernel sees A.
struct tiles {
    int32_t m, panel, width;
    int32_t bands;                           // of a panel
    int32_t split;                           // nonzeros of a light part that a group goes through
    int32_t most;                            // tiles of a panel without runs, and of a run
    struct pieces segments, shared, runs;    // of rows, of rows, of panels
    int64_t shared_at, run_at, band_at;      // first block of each kind; before are segments
    const int64_t *panel_ptr, *tile_row_ptr; // these and the rest as in the format
    const int32_t *map_list, *idx, *place;
};

// One row of A as its group sees it.
struct part_row {
    int32_t i;           // its number; at most m - 1 where the group has none
    bool used;           // the group has a row
    int32_t tiles;       // of its panel
    const int64_t *at;   // its parts: at[t] .. at[t + 1], the last one is light
    const int32_t *list; // the columns of the panel's tiles
};

static __device__ __forceinline__ struct part_row find_row(const struct tiles &a, int64_t b,
                                                           int32_t r)
{
    const int64_t part = a.panel_ptr[b], parts = a.panel_ptr[b + 1] - part;
    struct part_row x;
    const int64_t i = b * a.panel + r;
    x.used = r < a.panel && i < a.m;
    x.i = x.used ? (int32_t)i : a.m - 1;
    if (!x.used) r = 0;
    x.tiles = (int32_t)parts - 1;
    x.at = a.tile_row_ptr + part * a.panel + r * parts;
    x.list = a.map_list + (part - b) * a.width;
    return x;
}

// Row i of A, of any panel.
static __device__ __forceinline__ struct part_row row_of(const struct tiles &a, int32_t i)
{
    return find_row(a, i / a.panel, i % a.panel);
}

// The place in its panel of the row of this thread's group.
static __device__ __forceinline__ int32_t row_of_band(int32_t band)
{
    return (band * (int32_t)blockDim.x + (int32_t)threadIdx.x) / GROUP;
}

// The nonzeros of part t of the row of this group, from *p on; 0 where the group has none.
static __device__ __forceinline__ int32_t part_length(const struct part_row &row, int32_t t,
                                                      int32_t *p)
{
    *p = (int32_t)row.at[t];
    return row.used ? (int32_t)row.at[t + 1] - *p : 0;
}

// A nonzero, in the lane that has loaded it: its column, its value, its place in CSR.
template <typename T> struct nonzero {
    int32_t j, place;
    T v;
};

// The nonzeros from p on, of `left`; lanes past the last one load that, and where there is none
// keep what they have. PLACED: with their places.
template <bool PLACED, typename T>
static __device__ __forceinline__ void load_round(nonzero<T> &to, const struct tiles &a,
                                                  const T *val, int32_t p, int32_t left)
{
    if (left <= 0) return;
    const int32_t q = p + min((int32_t)threadIdx.x % GROUP, left - 1);
    to.j = a.idx[q];
    to.v = val[q];
    if (PLACED) to.place = a.place[q];
}

// The packs that a lane has of a slice, as elements from the start of a row. WHOLE: all of them are
// in the row, LOADS packs from at[0] on; else one past column k has `in` false and lies at 0.
template <int VEC, int LOADS, bool WHOLE> struct packs {
    uint32_t at[LOADS];
    bool in[LOADS];

    __device__ __forceinline__ packs(int32_t slice, int lane, uint32_t k)
    {
        const uint32_t first = ((uint32_t)slice * LOADS * GROUP + (uint32_t)lane) * VEC;
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            at[l] = first + (uint32_t)l * GROUP * VEC;
            in[l] = WHOLE || at[l] < k;
            if (!in[l]) at[l] = 0;
        }
    }
};

// The lane's packs of a row of D. Those past column k are zero if ZERO, else the row's first.
template <bool ZERO, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void load_row(pack<T, VEC> (&x)[LOADS], const T *D, uint32_t step,
                                                int32_t row, const packs<VEC, LOADS, WHOLE> &where)
{
    opaque(step);
    const T *from = row_at<const T>(WHOLE ? D + where.at[0] : D, step, (uint32_t)row);
#pragma unroll
    for (int l = 0; l < LOADS; l++) {
        const T *p = from + (WHOLE ? l * GROUP * VEC : where.at[l]);
        x[l] = !ZERO || where.in[l] ? *(const pack<T, VEC> *)p : pack<T, VEC>{};
    }
}

// Copies the rows of D that tile t needs, by all threads of the block, which meet before and after.
template <bool ZERO, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
fill_stage(pack<T, VEC> *stage, const struct tiles &a, const struct part_row &row, int32_t t,
           const T *D, uint32_t step, const packs<VEC, LOADS, WHOLE> &where)
{
    const int32_t *list = row.list + (int64_t)t * a.width;
    __syncthreads(); // nobody reads the tile before
    for (int32_t s = (int32_t)threadIdx.x / GROUP; s < a.width; s += (int32_t)blockDim.x / GROUP) {
        const int32_t j = list[s];
        if (j < 0) continue;
        pack<T, VEC> x[LOADS];
        load_row<ZERO>(x, D, step, j, where);
#pragma unroll
        for (int l = 0; l < LOADS; l++)
            stage[(s * LOADS + l) * GROUP + (int32_t)threadIdx.x % GROUP] = x[l];
    }
    __syncthreads();
}

// The lane's packs of the row in slot s of the stage.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void load_staged(pack<T, VEC> (&x)[LOADS],
                                                   const pack<T, VEC> *stage, int32_t s, int lane)
{
#pragma unroll
    for (int l = 0; l < LOADS; l++) x[l] = stage[(s * LOADS + l) * GROUP + lane];
}

// The slot that the modulo mapping has for column j.
static __device__ __forceinline__ int32_t slot_of(int32_t j, int32_t width)
{
    return width & (width - 1) ? j % width : j & (width - 1);
}

// Nonzeros of a batch: for each lane 8 packs of B are under way, 4 where they come from the stage.
template <bool STAGED, int LOADS> static __host__ __device__ constexpr int batch_of()
{
    return (STAGED ? QUAD : GROUP) / LOADS > 0 ? (STAGED ? QUAD : GROUP) / LOADS : 1;
}

// A light part is its group's, or cut into segments, or a shared row.
static __device__ __forceinline__ bool is_cut(const struct tiles &a, int64_t light)
{
    return light > a.split && light > SEGMENT;
}
static __device__ __forceinline__ bool is_shared(const struct tiles &a, int64_t light)
{
    return light > a.split && light <= SEGMENT;
}

// A group's share of a light part. Its first round begins at nonzero p. `left` is the number of
// nonzeros from p on; 0 or less: none. The groups of a shared row take its rounds in turn, so
// `left` includes the rounds of the other groups.
struct share {
    int32_t p, left;
};

// Returns the row of segment s, and a group's part of that segment in *mine. Segments of a row have
// equal lengths, and so have the parts of the groups of a block.
static __device__ __forceinline__ struct part_row find_segment(const struct tiles &a, int64_t s,
                                                               struct share *mine)
{
    const int32_t i = a.segments.owner[s];
    const struct part_row row = row_of(a, i);
    const int64_t first = a.segments.first[i], low = row.at[row.tiles],
                  high = row.at[row.tiles + 1];
    const int64_t length = ceil_div(high - low, a.segments.first[i + 1] - first);
    const int64_t from = low + (s - first) * length,
                  to = from + length < high ? from + length : high;
    const int64_t part = ceil_div(length, blockDim.x) * GROUP; // of one of the groups
    const int64_t begin = from + threadIdx.x / GROUP * part;
    *mine = {(int32_t)begin, (int32_t)((begin + part < to ? begin + part : to) - begin)};
    return row;
}

// Returns shared row s, and a group's part in *mine: each of the warp's four groups has every
// fourth round. Past the last shared row, `left` is 0.
static __device__ __forceinline__ struct part_row find_shared(const struct tiles &a, int64_t s,
                                                              struct share *mine)
{
    const bool used = s < a.shared.count;
    const int32_t i = a.shared.owner[used ? s : 0], from = lane_id() / GROUP * GROUP;
    const struct part_row row = row_of(a, i);
    const int64_t low = row.at[row.tiles], high = row.at[row.tiles + 1];
    *mine = {(int32_t)low + from, used ? (int32_t)(high - low) - from : 0};
    return row;
}

// A run: tiles [first, end) of panel b. Those of a panel have equal shares of its tiles.
struct tile_run {
    int64_t b;
    int32_t first, end;
};

static __device__ __forceinline__ struct tile_run find_run(const struct tiles &a, int64_t q)
{
    const int64_t b = a.runs.owner[q], before = a.runs.first[b],
                  runs = a.runs.first[b + 1] - before;
    const int64_t tiles = a.panel_ptr[b + 1] - a.panel_ptr[b] - 1;
    return {b, (int32_t)((q - before) * tiles / runs), (int32_t)((q - before + 1) * tiles / runs)};
}

#endif
