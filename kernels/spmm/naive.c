// Descriptor of naive: SpMM, C = A * B. The kernel is in naive.cu.
#include "algos/algo.h"

DECLARE_FUNCTIONS(spmm_naive_cuda);

const struct algo spmm_naive_cuda = {
    .layouts = COL_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .cite =
        "Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs, figure 3",
    .differs = "Past 65,535 columns a thread computes several elements of its row.",
    .model = MODEL_NAIVE,
    .run = spmm_naive_cuda_run,
};
