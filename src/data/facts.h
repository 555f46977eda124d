// Facts about a matrix that explain the speed of its products.
#ifndef FACTS_H
#define FACTS_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FACTS_TILE   16 // rows and columns of a tile, as in TileSpGEMM
#define FACTS_PANELS 3
extern const int32_t facts_panel_rows[FACTS_PANELS]; // 32, 64, 128

// An unknown fact is -1.
struct matrix_facts {
    // Set by facts_rows().
    double row_mean; // nonzeros a row, 0 if there are no rows
    int64_t row_min, row_max;
    double row_cv; // standard deviation of the row lengths over their mean; 0 if empty
    int64_t empty_rows;
    // Set by facts_structure().
    int64_t empty_cols;
    int64_t bandwidth;     // the largest |row - column| of a nonzero
    int64_t products_aa;   // multiplications in A * A; only if square
    int64_t products_aat;  // multiplications in A * A^T
    int64_t nnz_aa;        // nonzeros of A * A, by structure; only if the products are few enough
    double compression_aa; // products_aa / nnz_aa
    int64_t tiles;         // tiles that hold a nonzero
    double tile_mean;      // nonzeros per tile
    // nnz over the number of distinct columns, summed over panels of facts_panel_rows[] rows: the
    // uses of a row of B per fetch, if panels are computed one after the other. 1: no reuse. A
    // dense panel has its number of rows.
    double reuse[FACTS_PANELS];
};

// Most products for which nnz_aa is computed: 10^9 products take a core about a second.
#define FACTS_PRODUCTS_LIMIT ((int64_t)5000000000)

// Sets the facts of row lengths, in a pass over the row starts. Sets all other facts to unknown.
void facts_rows(const struct csr *A, struct matrix_facts *s);
// Sets the other facts, each in a pass over the nonzeros; nnz_aa in a pass over the products. A
// number of products above 63 bits is unknown.
int facts_structure(const struct csr *A, int64_t products_limit, struct matrix_facts *s);

#ifdef __cplusplus
}
#endif
#endif
