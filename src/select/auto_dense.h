// The rule of `auto` for SpMM and SDDMM on CUDA.
//
//     SpMM, row-major      rowsplit for few warps and short rows, else graded
//     SpMM, column-major   graded
//     SDDMM                balanced
//
// rowsplit has a warp for each row and slab of 32 columns. Few warps run at once, and the latency
// of their loads is the time of the product. graded has to load lists of rows first. With more
// warps, or a long row, the even work of graded pays. Near the border both are timed. If graded
// lacks memory, column-major SpMM takes naive, which needs no memory of its own.
//
// The borders are from records of shared and generated matrices. Least time of graded and rowsplit
// over the time of the choice, geometric mean; worst:
//
//                                      H100, 29 matrices,     H200, 69 matrices, f32
//                                      f32, k = 1 to 512      k = 32, 128, f64 k = 64
//     graded always                    0.988; 0.65            0.940; 0.70
//     rowsplit: nnz * k values < 4 MB  0.923; 0.13            0.994; 0.75
//     this rule without trials         0.998; 0.85            0.998; 0.83
//     this rule                        0.999; 0.94            1.000; 0.99
//     with AUTO_WARPS 8                0.998; 0.85            0.998; 0.83
//     with AUTO_WARPS 32               0.999; 0.88            1.000; 1.00
//
// SDDMM against the best cuSPARSE, H100, 98 matrices: balanced 2.40, worst 1.03. A choice of
// balanced or aspt, always right, gains 0.7 %, and 31 % on a mesh at k = 128.
#ifndef AUTO_DENSE_H
#define AUTO_DENSE_H

#include "select/pick.h"

#define AUTO_WARPS   16 // warps of rowsplit per multiprocessor
#define AUTO_NEAR    2  // a number of warps within this factor of the border is near
#define AUTO_LONGEST 40 // nonzeros; worst cases with 20: 0.65, 0.76; with 80: 0.94, 0.91

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
