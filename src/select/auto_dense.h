// The rule of `auto` for SpMM and SDDMM on CUDA.
//
//     SpMM, row-major      rowsplit for few warps and short rows, else graded
//     SpMM, column-major   graded
//     SDDMM                balanced
//
// rowsplit has a warp for each row and slab of 32 columns. Few warps all run at once. The latency
// of their loads then determines the time. graded also loads lists of rows. graded is faster with
// more warps or a long row, because its work is balanced. Near AUTO_WARPS both are timed if rows
// are short. If graded lacks memory, column-major SpMM takes naive, which needs none of its own.
//
// The borders are from shared and generated matrices. Least time of graded and rowsplit over the
// time of the choice, H100, 29 matrices, f32, k = 1 to 512, geometric mean; worst:
//
//     graded always                         0.995; 0.75
//     rowsplit if nnz * k values < 4 MB     0.923; 0.13
//     this rule without trials              0.997; 0.88
//     this rule                             1.000; 0.93
//     with AUTO_WARPS 8                     0.999; 0.90
//     with AUTO_WARPS 32                    0.998; 0.88
//     with AUTO_LONGEST 20                  0.997; 0.75
//     with AUTO_LONGEST 80                  1.000; 0.93
//
// SDDMM against the best cuSPARSE, H100, 98 matrices: balanced 2.40, worst 1.03. The better of
// balanced and aspt would gain 0.7 %, on a mesh at k = 128 31 %.
#ifndef AUTO_DENSE_H
#define AUTO_DENSE_H

#include "select/pick.h"

#define AUTO_WARPS   16 // warps of rowsplit per multiprocessor
#define AUTO_NEAR    2  // a number of warps within this factor of the border is near
#define AUTO_LONGEST 40 // nonzeros

// `longest`: nonzeros of the longest row. `units`: multiprocessors.
static inline struct pick_order auto_spmm_row(int64_t rows, int64_t k, int64_t longest, int units)
{
    const int64_t warps = rows * ((k + 31) / 32), border = (int64_t)AUTO_WARPS * units;
    const bool short_rows = longest <= AUTO_LONGEST;
    const bool near_border = AUTO_NEAR * warps > border && warps <= AUTO_NEAR * border;
    struct pick_order order = {{"graded", "rowsplit"}, short_rows && near_border};
    if (short_rows && warps <= border) order.names[0] = "rowsplit", order.names[1] = "graded";
    return order;
}

static inline struct pick_order auto_spmm_col(void)
{
    struct pick_order order = {{"graded", "naive"}, false};
    return order;
}

static inline struct pick_order auto_sddmm(void)
{
    struct pick_order order = {{"balanced", NULL}, false};
    return order;
}

#endif
