// Adaptive sparse tiles (Hong et al., PPoPP 2019): unordered CSR, whose rows begin with the
// nonzeros of 2D tiles and end with the rest.
//
// panel  `panel` rows
// heavy  a column with at least `threshold` nonzeros in a panel
// slot   of a tile: slot s takes columns j with j % width = s. So a kernel finds the copy of a row
//        of B in shared memory without a table
// tile   heavy columns of a panel, at most one per slot. In each slot the heavy columns go,
//        ascending, to tile 0, 1, ... of the panel. A tile with fewer than `least` columns is not
//        made, and its columns are light
// part   a tile, or, as the last part of a panel, its light columns
//
// The nonzeros of a row have the same range of idx[] and val[] as in CSR, sorted by parts and in a
// part by columns. Part t of row r of panel b is tile_row_ptr[x] to tile_row_ptr[x + 1], with
// x = panel_ptr[b] * panel + r * parts + t and parts = panel_ptr[b + 1] - panel_ptr[b]. The last
// panel has `panel` rows too. Rows below the matrix are empty.
#ifndef ASPT_H
#define ASPT_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct aspt {
    SPARSE_HEAD;
    int32_t panel;        // rows of a panel
    int32_t width;        // slots of a tile
    int32_t threshold;    // least nonzeros of a heavy column in a panel
    int32_t least;        // least columns of a tile
    int32_t panels;       // ceil(m / panel)
    int64_t tiles;        // tiles of all panels
    int64_t tiled;        // nonzeros in tiles
    int64_t tile_columns; // columns of all tiles
    int64_t *panel_ptr;   // first part of each panel, size panels + 1
    // First nonzero of each part of each row, size (tiles + panels) * panel + 1.
    int64_t *tile_row_ptr;
    // Column in each slot of each tile, or -1, size tiles * width. Tile t of panel b has number
    // panel_ptr[b] - b + t, because each earlier panel has a light part.
    int32_t *map_list;
    int32_t *idx;   // columns, size nnz
    void *val;      // values, size nnz
    int32_t *place; // index of the nonzero in its row of CSR, size nnz
};
extern const struct format format_aspt;

static inline const struct aspt *aspt_of(const struct sparse *X) { return (const struct aspt *)X; }

// Sets the fields that follow from the options.
void aspt_set_shape(struct aspt *A, const double *opt);
// Sets *count to the parts of all rows, the size of tile_row_ptr less 1. ERR_MEMORY: the number
// does not fit in 63 bits.
int aspt_row_parts(const struct aspt *A, int64_t *count);

#ifdef __cplusplus
}
#endif
#endif
