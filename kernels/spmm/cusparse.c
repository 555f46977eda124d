// Descriptors of cuSPARSE's SpMM, C = A * B. The calls are in cusparse.cu.
#include "cusparse_variants.h"
#include "formats/coo.h"

#define VARIANT(symbol, format, alg, preprocess, transposed, rounding)                             \
    DECLARE_FUNCTIONS(spmm_##symbol##_cuda);                                                       \
    const struct algo spmm_##symbol##_cuda = {                                                     \
        .layouts = BOTH_LAYOUTS,                                                                   \
        .A = {&format},                                                                            \
        .transposes = transposed,                                                                  \
        .arith = rounding,                                                                         \
        .precs = BY_TYPE_PRECS,                                                                    \
        CUSPARSE_FIELDS("cusparseSpMM"),                                                           \
        .call = "cusparseSpMM, " #alg PREPROCESS_##preprocess("cusparseSpMM"),                     \
        ALGO_FUNCTIONS(spmm_##symbol##_cuda_prepare, spmm_##symbol##_cuda_run,                     \
                       spmm_cusparse_cuda_teardown),                                               \
    };
CUSPARSE_SPMM(VARIANT)
