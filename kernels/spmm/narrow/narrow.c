// Descriptor of narrow: SpMM, C = A * B, for k = 1 and, in f32, 2. The kernels are in
// narrow.cu.
#include "algos/algo.h"

DECLARE_FUNCTIONS(spmm_narrow_cuda);

static const struct algo_option options[] = {
    {"shape", 0, 0, 2, true,
     "nonzeros of a lane: 4 for 1, 8 for 2; 0: by the size and the longest row"},
    {"early-start", -1, -1, 1, true,
     "1: blocks start before the previous kernel has ended, sm_90 and later; -1: if that is "
     "faster"},
    {0},
};

const struct algo spmm_narrow_cuda = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .columns = 2,
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    FUNCTIONS_OF(spmm_narrow_cuda),
};
