// The format of TileSpGEMM (Niu et al., PPoPP 2022): a sparse matrix of 16 x 16 tiles. A tile is a
// small CSR matrix with 8-bit indices and a 16-bit mask for every row.
//
// Tiles are stored by tile rows, nonzeros tile by tile and in a tile by rows. Tile t has the
// nonzeros start[t] to start[t + 1]. Row r of tile t begins at start[t] + row_ptr[16 t + r] and
// ends where the next row begins. A product can have empty tiles, because tiles are found before
// nonzeros.
//
// Bytes over those of CSR, 33 matrices: 1.84 (geometric mean), 0.81 at best.
#ifndef TILE16_H
#define TILE16_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE 16 // rows and columns of a tile: local indices have 4 bits, masks 16
#define FIND_COLUMNS 131072 // tile columns of a range of tile_find.cuh: 32 KB of bits and ranks

struct tile16 {
    SPARSE_HEAD;
    int32_t tile_m, tile_n; // tile rows and tile columns, ceil(m / 16) and ceil(n / 16)
    int64_t tiles;
    int64_t *ptr;     // paper: tilePtr. First tile of each tile row, size tile_m + 1
    int32_t *col;     // tileColIdx. Tile columns, ascending in a tile row, size tiles
    int64_t *start;   // tileNnz. First nonzero of each tile, size tiles + 1
    uint8_t *row_ptr; // rowPtr. First nonzero of each row, counted in its tile, size 16 tiles
    uint16_t *mask;   // mask. Bit j of a row: it has a nonzero in column j, size 16 tiles
    uint8_t *idx;     // rowIdx and colIdx. Row << 4 | column in the tile, size nnz
    void *val;        // values, size nnz
    uint32_t *used;   // not in the paper: bits of the nonempty columns of a tile, and << 16 of its
                      // nonempty rows, size tiles; NULL for a product
};
extern const struct format format_tile16;

static inline const struct tile16 *tile16_of(const struct sparse *X)
{
    return (const struct tile16 *)X;
}

// The tiles of tile16 by tile columns. Fewer than 2^31 tiles.
struct tilecols {
    SPARSE_HEAD;
    int32_t tile_n;
    int64_t tiles;
    int32_t *ptr;   // first entry of each tile column, size tile_n + 1
    int32_t *row;   // tile rows, ascending in a tile column, size tiles
    int32_t *tile;  // number of the tile in tile16, size tiles
    uint16_t *used; // bits of the nonempty rows of the tile, size tiles
};
extern const struct format format_tilecols;

static inline const struct tilecols *tilecols_of(const struct sparse *X)
{
    return (const struct tilecols *)X;
}

// Returns the tiles that cover n rows or columns.
static inline int32_t tile_count(int32_t n) { return (int32_t)(((int64_t)n + TILE - 1) / TILE); }

#ifdef __cplusplus
}
#endif
#endif
