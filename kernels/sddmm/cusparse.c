// Descriptors of cuSPARSE's SDDMM, C = X * Y^T on the pattern of A. The calls are in cusparse.cu.
#include "algos/op_sddmm.h"
#include "cusparse_variants.h"

#define ORDER_false ", CUSPARSE_ORDER_ROW"
#define ORDER_true  ", CUSPARSE_ORDER_COL"

#define VARIANT(symbol, columns, preprocess)                                                       \
    DECLARE_FUNCTIONS(sddmm_##symbol##_cuda);                                                      \
    const struct algo sddmm_##symbol##_cuda = {                                                    \
        .layouts = ROW_MAJOR,                                                                      \
        .A = {&format_csr},                                                                        \
        .arith = ARITH_PREC,                                                                       \
        .variant = SDDMM_UNSCALED,                                                                 \
        .precs = BY_TYPE_PRECS,                                                                    \
        CUSPARSE_FIELDS("cusparseSDDMM"),                                                          \
        .call =                                                                                    \
            "cusparseSDDMM, CUSPARSE_SDDMM_ALG_DEFAULT" ORDER_##columns PREPROCESS_##preprocess(   \
                "cusparseSDDMM"),                                                                  \
        ALGO_FUNCTIONS(sddmm_##symbol##_cuda_prepare, sddmm_cusparse_cuda_run,                     \
                       sddmm_cusparse_cuda_teardown),                                              \
    };
CUSPARSE_SDDMM(VARIANT)
