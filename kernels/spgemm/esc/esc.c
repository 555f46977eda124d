// Descriptor of esc: SpGEMM, C = A * S. The kernels are in esc.cu.
#include "algos/algo.h"

DECLARE_FUNCTIONS(spgemm_esc_cuda);

static const struct algo_option options[] = {
    {"memory", 4096, 0.001, 1 << 20, false,
     "MB for the products of a chunk, at most a quarter of what is free"},
    {0},
};

const struct algo spgemm_esc_cuda = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Bell, Dalton, Olson: Exposing Fine-Grained Parallelism in Algebraic Multigrid "
            "Methods, SIAM J. Sci. Comput. 34(4), 2012",
    .differs =
        "Row and column are one key of a single sort. Products are made in chunks of rows that "
        "fit in memory.",
    FUNCTIONS_OF(spgemm_esc_cuda),
};
