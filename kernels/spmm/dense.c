// Descriptor of dense: SpMM, C = A * B, by cuBLAS. The code is in dense.cu.
#include "algos/algo.h"
#include "device/cublas.h"

DECLARE_FUNCTIONS(spmm_dense_cuda);

const struct algo spmm_dense_cuda = {
    .layouts = BOTH_LAYOUTS,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .cite = "NVIDIA, cuBLAS library, cublasGemmEx",
    .missing = cublas_missing,
    .vendor = "cuBLAS",
    .call = "cublasGemmEx",
    .library = cublas_library,
    .dense = true,
    .keeps_values = true,
    .tensor = true,
    FUNCTIONS_OF(spmm_dense_cuda),
};
