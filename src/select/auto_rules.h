// The rules of `auto`.
//
//     SpMM, CUDA, row-major      rowsplit for few warps and short rows, else graded. narrow
//                                replaces graded for rows of B of up to 8 bytes in f32 and f64
//     SpMM, CUDA, column-major   narrow at k = 1 in f32 and f64, else graded; naive, which needs
//                                no memory, if graded lacks memory
//     SDDMM, CUDA                balanced; rowwise, which needs no memory, if that lacks memory
//     SpGEMM, CUDA               few long rows: esc or hash-tuned, by trial. Else few products:
//                                speck. Else hash-tuned, or tile-tuned by trial if tiles are full
//     SpMM, CPU, row-major       bundled, rowsplit or merge
//     SpMM, CPU, column-major    bundled
//     SDDMM, CPU                 balanced or aspt
//     SpGEMM, CPU                onepass; gustavson, which needs less memory, if that lacks memory
//
// SpMM: rowsplit has a warp for each row and slab of 32 columns. Few warps all run at once. The
// latency of their loads then determines the time. graded also loads lists of rows. graded is
// faster with more warps or a long row, because its work is balanced. Near AUTO_WARPS both are
// timed if rows are short.
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
// Time of graded over time of narrow, H200, geometric mean; worst:
//
//     f32, k = 1    1.07; 0.88    33 matrices
//     f64, k = 1    1.06; 0.86    33 matrices
//     f32, k = 2    1.04; 0.95    10 matrices
//     f64, k = 2    1.01; 0.91    10 matrices: graded is taken
//
// SDDMM against the best cuSPARSE, H100, 87 matrices, f32, k = 64: balanced 2.87, worst 1.08. The
// better of balanced and aspt would gain 0.7 %, on a mesh at k = 128 31 %.
//
// SpGEMM, least time of all our algorithms over the time of the choice, H200, 86 matrices, f64:
//
//     hash-tuned always                     0.947; 0.27
//     both timed from AUTO_FILL 12          0.999; 0.85, 40 matrices with trials
//     both timed from AUTO_FILL 20          0.998; 0.85, 23 matrices with trials
//     both timed from AUTO_FILL 40          0.994; 0.79, 15 matrices with trials
//
// Few products: the time is that of the launches. speck has fewer phases. Few long rows: hash-tuned
// gives most rows to one block or less, esc shares all products evenly. On many products of few
// rows esc is slower, so trials decide. The same measure over both products, H100, results/h100,
// trials taken as right; second column: the 55 cases with at least 6 samples of all four
// algorithms:
//
//     hash-tuned, tile-tuned                134 cases: 0.906; 0.07    0.968; 0.66
//     with esc for few long rows            0.947; 0.37               0.968; 0.66
//     and speck up to 100,000 products      0.961; 0.38               0.984; 0.80
//     this rule: up to 200,000              0.962; 0.38               0.991; 0.92
//     up to 800,000                         0.937; 0.28               0.990; 0.89
//
// The worst cases of the first column have one sample each.
//
// CPU, the same measure over the candidates, EPYC with AVX2, 2 threads, 35 matrices; 27 of SpGEMM:
//
//     SpMM      bundled                      0.933; 0.41
//               bundled, rowsplit            0.973; 0.71
//               bundled, rowsplit, merge     1; 1
//     SDDMM     balanced                     0.945; 0.63
//               balanced, aspt               1; 1
//     SpGEMM    onepass                      0.996; 0.89
#ifndef AUTO_RULES_H
#define AUTO_RULES_H

#include "select/pick.h"

#define AUTO_WARPS   16     // warps of rowsplit per multiprocessor
#define AUTO_NEAR    2      // a number of warps within this factor of the border is near
#define AUTO_LONGEST 40     // nonzeros
#define AUTO_NARROW  8      // bytes of a row of B
#define AUTO_FILL    20     // nonzeros of a 16 x 16 tile that has any, on average
#define AUTO_FEW     200000 // products
#define AUTO_ROWS    4      // rows per multiprocessor
#define AUTO_LONG    512    // nonzeros of a row of A, on average

// Returns true if narrow takes the place of graded. `size`: bytes of a value. With k = 1 both
// layouts are the same.
static inline bool auto_is_narrow(int64_t k, int64_t size, bool row_major)
{
    return size >= 4 && k * size <= AUTO_NARROW && (k == 1 || row_major);
}

// `longest`: nonzeros of the longest row. `units`: multiprocessors. `narrow`: see auto_is_narrow().
static inline struct pick_order auto_spmm_row(int64_t rows, int64_t k, int64_t longest, int units,
                                              bool narrow)
{
    const int64_t warps = rows * ((k + 31) / 32), border = (int64_t)AUTO_WARPS * units;
    const bool short_rows = longest <= AUTO_LONGEST;
    const bool near_border = AUTO_NEAR * warps > border && warps <= AUTO_NEAR * border;
    const char *const balanced = narrow ? "narrow" : "graded";
    if (!short_rows || (warps > border && !near_border))
        return (struct pick_order){{balanced, narrow ? "graded" : "rowsplit"}, false};
    if (warps > border) return (struct pick_order){{balanced, "rowsplit"}, true};
    return (struct pick_order){{"rowsplit", balanced}, near_border};
}

// `rows` and `nonzeros` of A. `fill`: nonzeros of a tile, on average. `products`: of all rows.
// `units`: multiprocessors.
static inline struct pick_order auto_spgemm(int64_t rows, int64_t nonzeros, double fill,
                                            double products, int units)
{
    const struct pick_order few_rows = {{"esc", "hash-tuned"}, true},
                            few_products = {{"speck", "hash-tuned"}, false},
                            others = {{"hash-tuned", "tile-tuned"}, fill >= AUTO_FILL};
    const bool few = rows <= (int64_t)AUTO_ROWS * units;
    if (few && rows > 0 && nonzeros >= AUTO_LONG * rows) return few_rows;
    return products < AUTO_FEW ? few_products : others;
}

// The rules that depend on no count.
static const struct pick_order auto_spmm_narrow = {{"narrow", "graded", "naive"}, false},
                               auto_spmm_col = {{"graded", "naive"}, false},
                               auto_sddmm = {{"balanced", "rowwise"}, false},
                               auto_cpu_spmm_row = {{"bundled", "rowsplit", "merge"}, true},
                               auto_cpu_spmm_col = {{"bundled"}, false},
                               auto_cpu_sddmm = {{"balanced", "aspt"}, true},
                               auto_cpu_spgemm = {{"onepass", "gustavson"}, false};

#endif
