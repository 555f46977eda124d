// Descriptor of narrow: SpMM, C = A * B, of at most 8 columns. The kernels are in narrow.cu.
#include "algos/algo.h"

DECLARE_FUNCTIONS(spmm_narrow_cuda);

static const struct algo_option options[] = {
    {"shape", 0, 0, 3, true,
     "nonzeros of a lane x threads of a block: 1: 4 x 128; 2: 8 x 128; 3: 4 x 256, k = 1; 0, or an "
     "unsupported number: by the size"},
    {"early-start", -1, -1, 1, true,
     "1: blocks start before the previous kernel has ended, sm_90 and later; -1: if that is "
     "faster"},
    {0},
};

const struct algo spmm_narrow_cuda = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .columns = 8,
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    FUNCTIONS_OF(spmm_narrow_cuda),
};
