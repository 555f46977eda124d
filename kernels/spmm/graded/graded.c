// Descriptor of graded: SpMM, C = A * B. The kernels are in graded.cu.
#include "algos/algo.h"
#include "option_limits.h"

DECLARE_FUNCTIONS(spmm_graded_cuda);

static const struct algo_option options[] = {
    {"tiny", MOST_TINY, -1, MOST_TINY, true,
     "most nonzeros of a tiny row of wide B; -1: no row is tiny"},
    {"short", -1, -1, 1 << 20, true, "most nonzeros of a row for a few lanes; -1: by the size"},
    {"medium", 0, 0, 1 << 20, true, "most nonzeros of a row for a warp; 0: by the size"},
    {"segment", 0, 0, 1 << 20, true, "nonzeros of a longer row per block; 0: by the size"},
    {"slab", 0, 0, 1 << 20, true,
     "most bytes of a row of B that a block reads; 0, or an unsupported number: by the size"},
    {"lanes", 0, 0, WARP, true,
     "lanes that load a row of B together; 0, or an unsupported number: by the size"},
    {"turned", -1, -1, 1, true,
     "column-major: 1: each run copies B to row-major order and C back; 0: in place; -1: by the "
     "size "
     "and the columns of A"},
    {"bundle-min", -1, -1, ALIKE, false,
     "least nonzeros for each column of a bundle; 0: no bundles; -1: by k and the size"},
    {"bundle-share", 0.6, 0, 1, false, "least share of the nonzeros in bundles; below: no bundles"},
    {"early-start", -1, -1, 1, true,
     "1: blocks start before the previous kernel has ended, sm_90 and later; -1: if that is "
     "faster"},
    {0},
};

const struct algo spmm_graded_cuda = {
    .layouts = BOTH_LAYOUTS,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .keeps_values = true, // in bundles
    .options = options,
    .cite = "Own work",
    FUNCTIONS_OF(spmm_graded_cuda),
};
