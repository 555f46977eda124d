// Adaptive sparse tiles (Hong et al., PPoPP 2019): unordered CSR, whose rows begin with the
// nonzeros of 2D tiles and end with the rest.
//
// Rows are cut into panels of `panel` rows. A column that has at least `threshold` nonzeros in a
// panel is heavy there. Slot s of a tile takes columns j with j % width = s: so a kernel finds the
// copy of a row of B in shared memory without a table. In each slot the heavy columns go,
// ascending, to tile 0, 1, ... of the panel; tiles that would have fewer than `least` columns are
// not made, and their columns are light. A panel's parts are its tiles and, last, everything light.
//
// Columns keep their numbers, and a row of A takes the same places of idx[] and val[] as in CSR:
// its nonzeros are only sorted by parts, in each part by columns. Part t of row r of panel b is
// from tile_row_ptr[x] up to tile_row_ptr[x + 1], where x = panel_ptr[b] * panel + r * parts + t
// and `parts` is how many the panel has, panel_ptr[b + 1] - panel_ptr[b]. The last panel has
// `panel` rows, too; those below the matrix are empty.
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
    int32_t threshold;    // nonzeros in a panel from which on a column is heavy
    int32_t least;        // columns that a tile has at least
    int32_t panels;       // ceil(m / panel)
    int64_t tiles;        // of all panels
    int64_t tiled;        // nonzeros in tiles
    int64_t tile_columns; // columns in tiles, one counted in each panel where it is heavy
    int64_t *panel_ptr;   // first part of each panel, size panels + 1
    // First nonzero of each part of each row, size (tiles + panels) * panel + 1.
    int64_t *tile_row_ptr;
    // Column in each slot of each tile, -1 where there is none, size tiles * width; tile t of panel
    // b is number panel_ptr[b] - b + t, as each panel before it has a part that is no tile.
    int32_t *map_list;
    int32_t *idx;   // columns, size nnz
    void *val;      // values, size nnz
    int32_t *place; // which nonzero of its row in CSR it is, from 0 on, size nnz
};
extern const struct format format_aspt;

static inline const struct aspt *aspt_of(const struct sparse *X) { return (const struct aspt *)X; }

// What the makers share: fields that follow from the values of the parameters.
void aspt_set_shape(struct aspt *A, const double *opt);
// The parts of all rows: how long tile_row_ptr is, but for its last element. ERR_MEMORY where that
// does not fit in 63 bits.
int aspt_row_parts(const struct aspt *A, int64_t *count);
// The format's check().
const char *aspt_check(const struct sparse *X);

#ifdef __cplusplus
}
#endif
#endif
