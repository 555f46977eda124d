// Descriptor of bhsparse: SpGEMM, C = A * S. The kernels are in bhsparse.cu.
#include "algos/algo.h"

DECLARE_FUNCTIONS(spgemm_bhsparse_cuda);

const struct algo spgemm_bhsparse_cuda = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .cite = "Liu, Vinter: A Framework for General Sparse Matrix-Matrix Multiplication on GPUs and "
            "Heterogeneous Processors, JPDC 85, 2015",
    .differs = "The bins are the 38 of the paper. The authors' code has a bin for each number of "
               "products up to 121. A place in C~ has at most as many entries as the row has "
               "products. Lists in global memory are merged in place, from their end.",
    FUNCTIONS_OF(spgemm_bhsparse_cuda),
};
