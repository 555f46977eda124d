// The 16 x 16 tiles of paper 5 (Niu et al., TileSpGEMM): a matrix as a sparse matrix of tiles, each
// of them a small CSR matrix with 8-bit indices and a 16-bit mask for every row.
//
// Tiles are stored by tile rows, their nonzeros tile after tile, in a tile by rows. Tile t has the
// nonzeros start[t] .. start[t + 1]; its row r has those from start[t] + row_ptr[16 t + r] to the
// next row's. A tile may be empty: a product has tiles that only might have held something.
#ifndef TILE16_H
#define TILE16_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TILE 16 // rows and columns of a tile: local indices have 4 bits, masks 16

struct tile16 {
    int32_t m, n;
    int64_t nnz;
    int32_t tile_m, tile_n; // tile rows and tile columns, ceil(m / 16) and ceil(n / 16)
    int64_t tiles;
    int64_t *ptr;     // paper: tilePtr. First tile of each tile row, size tile_m + 1
    int32_t *col;     // tileColIdx. Tile columns, ascending in a tile row, size tiles
    int64_t *start;   // tileNnz. First nonzero of each tile, size tiles + 1
    uint8_t *row_ptr; // rowPtr. First nonzero of each row, counted in its tile, size 16 tiles
    uint16_t *mask;   // mask. Bit j of a row: it has a nonzero in column j, size 16 tiles
    uint8_t *idx;     // rowIdx and colIdx. Row << 4 | column in the tile, size nnz
    double *val;      // values, size nnz
};

// The same tiles by tile columns.
struct tile16_columns {
    int64_t *ptr;  // first entry of each tile column, size tile_n + 1
    int32_t *row;  // tile rows, ascending in a tile column, size tiles
    int64_t *tile; // where the tile is in the order of tile rows, size tiles
};

int tile16_from_csr(const struct csr *A, struct tile16 *out);
int tile16_to_csr(const struct tile16 *A, struct csr *out);
void tile16_free(struct tile16 *A);
// NULL if every invariant holds, else what is broken.
const char *tile16_check(const struct tile16 *A);
// Of the seven arrays, with values of this size.
int64_t tile16_bytes(const struct tile16 *A, size_t value_bytes);

int tile16_columns_make(const struct tile16 *A, struct tile16_columns *out);
void tile16_columns_free(struct tile16_columns *C);

#ifdef __cplusplus
}
#endif
#endif
