// Facts about a matrix that explain how fast it can be multiplied.
#ifndef STATS_H
#define STATS_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STATS_TILE   16 // rows and columns of a tile, as in TileSpGEMM
#define STATS_PANELS 3
extern const int32_t stats_panel_rows[STATS_PANELS]; // 32, 64, 128

// What is not known is -1.
struct matrix_stats {
    // From stats_rows.
    double row_mean; // nonzeros a row, 0 if there are no rows
    int64_t row_min, row_max;
    double row_cv; // standard deviation of the row lengths over their mean; 0 if empty
    int64_t empty_rows;
    // From stats_structure.
    int64_t empty_cols;
    int64_t bandwidth;     // the largest |row - column| of a nonzero
    int64_t products_aa;   // multiplications in A * A; only if square
    int64_t products_aat;  // multiplications in A * A^T
    int64_t nnz_aa;        // nonzeros of A * A, by structure; only if the products are few enough
    double compression_aa; // products_aa / nnz_aa
    int64_t tiles;         // tiles that hold a nonzero
    double tile_mean;      // nonzeros in each of these
    // Nonzeros over the distinct columns they are in, counted panel by panel of
    // stats_panel_rows[] rows. This is how often a row of B is used for each time it is fetched, if
    // one panel is worked on at a time: 1 means no reuse, the panel's height is a dense panel.
    double reuse[STATS_PANELS];
};

// Above this many products nnz_aa is left out: it takes about a second of one core for each 10^9.
#define STATS_PRODUCTS_LIMIT ((int64_t)5000000000)

// Sets the cheap facts (one pass over the row starts) and everything else to unknown.
void stats_rows(const struct csr *A, struct matrix_stats *s);
// Sets the others. Each takes a pass over the nonzeros, and nnz_aa one over the products. A product
// count past 63 bits is unknown.
int stats_structure(const struct csr *A, int64_t products_limit, struct matrix_stats *s);

#ifdef __cplusplus
}
#endif
#endif
