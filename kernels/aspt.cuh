// CUDA code that SpMM and SDDMM on adaptive sparse tiles (ASpT) share.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, sections 4.3 and 5.
//
// The format is described in formats/aspt.h. Words:
//
// group     8 neighbouring lanes, which compute one row of A
// pack      VEC neighbouring elements of a row of a dense matrix, 16 bytes if rows allow it
// slab      neighbouring columns of the dense matrices: LOADS packs per lane of a group. The packs
//           of a lane are GROUP packs apart. "Slice" in the paper
// band      rows of a panel that one block computes, one row per group
// stage     the rows of B (Y in SDDMM) that a tile needs, one slab of them, in shared memory
// round     8 nonzeros of a part of a row, one loaded by each lane of the group
// batch     nonzeros of a round whose rows of B are loaded before the first of them is used
// segment   a part of a long light part. A block of its own computes the segment
// warp row  row with a light part of medium length. A warp of its own computes the light part
// span      neighbouring tiles of a panel with many tiles. Blocks of their own compute the span
//
// A block stages one tile of its panel after the other, and its groups multiply their rows of the
// tile. The light parts follow, with the rows of B in memory. A sum over a row therefore stays in
// registers from the first tile to the last light nonzero. Segments, warp rows and spans are left
// out, because they would occupy a block or a group for long. H200, SDDMM on ego-twitter, k = 128:
// 0.19 ms with warp rows, 0.31 ms without.
//
// Did not pay on an H200: groups of a warp that share the rest of the longest row inside the
// kernel. The additional registers make SpMM 1.2 to 1.5 times as slow.
#ifndef ASPT_CUDA_H
#define ASPT_CUDA_H

#include "formats/aspt.h"
#include "kernel.cuh"
#include "option_limits.h"

#define GROUP       8
#define QUAD        4     // nonzeros under one branch. Quads past the end are skipped
#define SEGMENT     1024  // nonzeros of a segment, at most
#define STAGE_BYTES 32768 // as in the paper, where two blocks of 1024 threads had 64 KB

// Segments or warp rows of rows, or spans of panels: the pieces of each owner.
struct pieces {
    int64_t count;
    int64_t *first; // first piece of each owner, size owners + 1
    int32_t *owner; // row or panel of each piece, size count
};

// A, as a kernel reads the matrix.
struct tiles {
    int32_t m, panel, width;
    int32_t bands;                            // bands of a panel
    int32_t split;                            // longest light part that a group computes
    int32_t most;                             // most tiles of a span, and of a panel without spans
    struct pieces segments, warp_rows, spans; // owners: rows, rows, panels
    int64_t warp_row_at, span_at, band_at;    // first block of each kind; segments are first
    const int64_t *panel_ptr, *tile_row_ptr;  // this line and the next: as in the format
    const int32_t *map_list, *idx, *place;
};

// A row of A, as its group reads the row.
struct part_row {
    int32_t i;           // number of the row; m - 1 if the group has none
    bool used;           // the group has a row
    int32_t tiles;       // tiles of the panel
    const int64_t *at;   // part t is at[t] .. at[t + 1]; the last part is light
    const int32_t *list; // columns of the panel's tiles
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

// Returns row i of A.
static __device__ __forceinline__ struct part_row row_of(const struct tiles &a, int32_t i)
{
    return find_row(a, i / a.panel, i % a.panel);
}

// Returns the row, counted from the start of the panel, that this thread's group has in `band`.
static __device__ __forceinline__ int32_t row_of_band(int32_t band)
{
    return (band * (int32_t)blockDim.x + (int32_t)threadIdx.x) / GROUP;
}

// Sets *p to the first nonzero of part t of the row. Returns the number of nonzeros, or 0 if the
// group has no row.
static __device__ __forceinline__ int32_t part_length(const struct part_row &row, int32_t t,
                                                      int32_t *p)
{
    *p = (int32_t)row.at[t];
    return row.used ? (int32_t)row.at[t + 1] - *p : 0;
}

// A nonzero in the register of a lane: column, place in CSR, value.
template <typename T> struct nonzero {
    int32_t j, place;
    T v;
};

// Loads a round: nonzeros from p on, of which `left` are left. Lanes past the end load the last
// nonzero. Lanes keep their nonzero if none is left. PLACED: loads the places in CSR too.
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

// The packs of a lane in a slab, as elements from the start of a row. WHOLE: all packs are inside
// the row, LOADS packs from at[0] on. Otherwise a pack past column k has `in` false and position 0.
template <int VEC, int LOADS, bool WHOLE> struct packs {
    uint32_t at[LOADS];
    bool in[LOADS];

    __device__ __forceinline__ packs(int32_t slab, int lane, uint32_t k)
    {
        const uint32_t first = ((uint32_t)slab * LOADS * GROUP + (uint32_t)lane) * VEC;
#pragma unroll
        for (int l = 0; l < LOADS; l++) {
            at[l] = first + (uint32_t)l * GROUP * VEC;
            in[l] = WHOLE || at[l] < k;
            if (!in[l]) at[l] = 0;
        }
    }
};

// Loads the lane's packs of a row of D. Packs past column k become zero if ZERO, else the first
// pack of the row.
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

// Copies the rows of D that tile t needs to the stage. All threads of the block call this function,
// which starts and ends with a barrier.
template <bool ZERO, typename T, int VEC, int LOADS, bool WHOLE>
static __device__ __forceinline__ void
fill_stage(pack<T, VEC> *stage, const struct tiles &a, const struct part_row &row, int32_t t,
           const T *D, uint32_t step, const packs<VEC, LOADS, WHOLE> &where)
{
    const int32_t *list = row.list + (int64_t)t * a.width;
    __syncthreads(); // all threads are done with the tile before
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

// Loads the lane's packs of the row in slot s of the stage.
template <typename T, int VEC, int LOADS>
static __device__ __forceinline__ void load_staged(pack<T, VEC> (&x)[LOADS],
                                                   const pack<T, VEC> *stage, int32_t s, int lane)
{
#pragma unroll
    for (int l = 0; l < LOADS; l++) x[l] = stage[(s * LOADS + l) * GROUP + lane];
}

// Returns the slot of column j: the modulo mapping of the paper.
static __device__ __forceinline__ int32_t slot_of(int32_t j, int32_t width)
{
    return width & (width - 1) ? j % width : j & (width - 1);
}

// Returns the nonzeros of a batch. A lane then loads 8 packs of B at once, or 4 packs of the stage.
template <bool STAGED, int LOADS> static __host__ __device__ constexpr int batch_of()
{
    return (STAGED ? QUAD : GROUP) / LOADS > 0 ? (STAGED ? QUAD : GROUP) / LOADS : 1;
}

// Return true if a light part is cut into segments, or belongs to a warp row. Its group computes
// all other light parts.
static __device__ __forceinline__ bool is_cut(const struct tiles &a, int64_t light)
{
    return light > a.split && light > SEGMENT;
}
static __device__ __forceinline__ bool is_warp_row(const struct tiles &a, int64_t light)
{
    return light > a.split && light <= SEGMENT;
}

// A group's share of a light part, whose first round begins at nonzero p. `left` is the number of
// nonzeros from p on, or at most 0 if there are none. The groups of a warp row take its rounds in
// turn, so `left` includes the rounds of the other groups.
struct share {
    int32_t p, left;
};

// Returns the row of segment s, and sets *mine to the group's share of the segment. Segments of a
// row have equal lengths, and so have the shares of the groups of a block.
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
    const int64_t part = ceil_div(length, blockDim.x) * GROUP; // nonzeros of a group
    const int64_t begin = from + threadIdx.x / GROUP * part;
    *mine = {(int32_t)begin, (int32_t)((begin + part < to ? begin + part : to) - begin)};
    return row;
}

// Returns warp row s, and sets *mine to the group's share: each of the warp's four groups has every
// fourth round. Past the last warp row, `left` is 0.
static __device__ __forceinline__ struct part_row find_warp_row(const struct tiles &a, int64_t s,
                                                                struct share *mine)
{
    const bool used = s < a.warp_rows.count;
    const int32_t i = a.warp_rows.owner[used ? s : 0], from = lane_id() / GROUP * GROUP;
    const struct part_row row = row_of(a, i);
    const int64_t low = row.at[row.tiles], high = row.at[row.tiles + 1];
    *mine = {(int32_t)low + from, used ? (int32_t)(high - low) - from : 0};
    return row;
}

// A span: tiles [first, end) of panel b. The spans of a panel have equal numbers of tiles.
struct tile_span {
    int64_t b;
    int32_t first, end;
};

static __device__ __forceinline__ struct tile_span find_span(const struct tiles &a, int64_t q)
{
    const int64_t b = a.spans.owner[q], before = a.spans.first[b],
                  spans = a.spans.first[b + 1] - before;
    const int64_t tiles = a.panel_ptr[b + 1] - a.panel_ptr[b] - 1;
    return {b, (int32_t)((q - before) * tiles / spans),
            (int32_t)((q - before + 1) * tiles / spans)};
}

#endif
