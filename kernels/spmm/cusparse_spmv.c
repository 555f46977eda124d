// Descriptors of cuSPARSE's products of a matrix and a vector. The calls are in cusparse_spmv.cu.
#include "cusparse_variants.h"
#include "formats/coo.h"

#define VARIANT(symbol, format, alg, preprocess)                                                   \
    DECLARE_FUNCTIONS(spmm_##symbol##_cuda);                                                       \
    const struct algo spmm_##symbol##_cuda = {                                                     \
        .layouts = BOTH_LAYOUTS,                                                                   \
        .A = {&format},                                                                            \
        .transposes = true,                                                                        \
        .columns = 1,                                                                              \
        .arith = ARITH_RESULT,                                                                     \
        .precs = BY_TYPE_PRECS,                                                                    \
        CUSPARSE_FIELDS("cusparseSpMV"),                                                           \
        .call = "cusparseSpMV, " #alg PREPROCESS_##preprocess("cusparseSpMV"),                     \
        ALGO_FUNCTIONS(spmm_##symbol##_cuda_prepare, spmm_##symbol##_cuda_run,                     \
                       spmm_cusparse_spmv_cuda_teardown),                                          \
    };
CUSPARSE_SPMV(VARIANT)
#undef VARIANT

WEAK const char *cusparse_spmvop_missing(void);

#define VARIANT(symbol, number, keeps)                                                             \
    DECLARE_FUNCTIONS(spmm_##symbol##_cuda);                                                       \
    const struct algo spmm_##symbol##_cuda = {                                                     \
        .layouts = BOTH_LAYOUTS,                                                                   \
        .A = {&format_csr},                                                                        \
        .columns = 1,                                                                              \
        .arith = ARITH_PREC,                                                                       \
        .keeps_values = keeps,                                                                     \
        .missing = cusparse_spmvop_missing,                                                        \
        CUSPARSE_FIELDS("cusparseSpMVOp"),                                                         \
        .precs = BOTH_PRECS,                                                                       \
        .call = "cusparseSpMVOp, CUSPARSE_SPMVOP_ALG" #number,                                     \
        ALGO_FUNCTIONS(spmm_##symbol##_cuda_prepare, spmm_##symbol##_cuda_run,                     \
                       spmm_cusparse_spmv_cuda_teardown),                                          \
    };
CUSPARSE_SPMVOP(VARIANT)
