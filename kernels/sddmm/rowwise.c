// Descriptor of rowwise: SDDMM, C = A .* (X * Y^T). The kernel is in rowwise.cu.
#include "algos/algo.h"

DECLARE_FUNCTIONS(sddmm_rowwise_cuda);

const struct algo sddmm_rowwise_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .cite = "Own work",
    .run = sddmm_rowwise_cuda_run,
};
