// CSB: compressed sparse blocks. Aydin Buluc, Jeremy T. Fineman, Matteo Frigo, John R. Gilbert,
// Charles E. Leiserson: Parallel Sparse Matrix-Vector and Matrix-Transpose-Vector Multiplication
// Using Compressed Sparse Blocks, SPAA 2009, section 3.
//
// The matrix is cut into square blocks of `beta` rows and columns. The blocks lie in memory row by
// row, empty ones too. The nonzeros of a block are in Morton order: by the interleaved bits of row
// and column. So the nonzeros of each quadrant of a block are neighbours, down to single elements.
#ifndef CSB_H
#define CSB_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CSB_BETA_MAX 65536 // a place has 16 bits for a row and 16 for a column

struct csb {
    SPARSE_HEAD;
    int32_t beta;       // rows and columns of a block, a power of two
    int32_t block_rows; // ceil(m / beta)
    int32_t block_cols; // ceil(n / beta)
    int64_t *ptr;       // block starts, size block_rows * block_cols + 1
    uint32_t *place;    // row << 16 | column, both from the block's corner, size nnz
    void *val;          // size nnz
};
extern const struct format format_csb;

static inline const struct csb *csb_of(const struct sparse *X) { return (const struct csb *)X; }
static inline int32_t csb_row(uint32_t place) { return (int32_t)(place >> 16); }
static inline int32_t csb_col(uint32_t place) { return (int32_t)(place & 0xffff); }

#ifdef __cplusplus
}
#endif
#endif
