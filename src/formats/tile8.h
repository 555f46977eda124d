// The format of tSparse (Zachariadis et al., 2020): a sparse matrix of 8 x 8 tiles. A tile has a
// 64-bit mask of its nonzeros and the place of its values.
//
// Tiles are stored by tile rows, values tile by tile and in a tile by rows. Element (r, j) of a
// tile is bit 8 r + j of its mask. The number of mask bits below this bit is the place of the
// element's value in the tile. A tile of a product is empty if all of its sums are 0.
#ifndef TILE8_H
#define TILE8_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE8 8 // rows and columns of a tile

struct tile8 {
    SPARSE_HEAD;
    int32_t tile_m, tile_n; // tile rows and tile columns, ceil(m / 8) and ceil(n / 8)
    int64_t tiles;
    int64_t *ptr;   // first tile of each tile row, size tile_m + 1
    int32_t *row;   // tile rows, size tiles
    int32_t *col;   // tile columns, ascending in a tile row, size tiles
    int64_t *start; // first nonzero of each tile, size tiles + 1
    uint64_t *mask; // bit 8 r + j: element (r, j) is a nonzero, size tiles
    void *val;      // values, size nnz
};
extern const struct format format_tile8;

static inline const struct tile8 *tile8_of(const struct sparse *X)
{
    return (const struct tile8 *)X;
}

// Returns the number of tiles that cover n rows or columns.
static inline int32_t tile8_count(int32_t n) { return (int32_t)(((int64_t)n + TILE8 - 1) / TILE8); }

#ifdef __cplusplus
}
#endif
#endif
