// Algorithms of cuSPARSE, for the descriptors and for the code that calls the library.
#ifndef CUSPARSE_VARIANTS_H
#define CUSPARSE_VARIANTS_H

#include "algos/algo.h"

// Lines: symbol, format of A, algorithm, preprocess, A may be transposed, arithmetic. With C in 16
// bits most algorithms round sums of parts of a row to 16 bits (12.6.3).
#define CUSPARSE_SPMM(VARIANT)                                                                     \
    VARIANT(cusparse, format_csr, CUSPARSE_SPMM_ALG_DEFAULT, false, true, ARITH_RESULT)            \
    VARIANT(cusparse_csr1, format_csr, CUSPARSE_SPMM_CSR_ALG1, false, true, ARITH_RESULT)          \
    VARIANT(cusparse_csr1_pre, format_csr, CUSPARSE_SPMM_CSR_ALG1, true, true, ARITH_RESULT)       \
    VARIANT(cusparse_csr2, format_csr, CUSPARSE_SPMM_CSR_ALG2, false, true, ARITH_RESULT)          \
    VARIANT(cusparse_csr3, format_csr, CUSPARSE_SPMM_CSR_ALG3, false, false, ARITH_PREC)           \
    VARIANT(cusparse_csr3_pre, format_csr, CUSPARSE_SPMM_CSR_ALG3, true, false, ARITH_PREC)        \
    VARIANT(cusparse_coo1, format_coo, CUSPARSE_SPMM_COO_ALG1, false, true, ARITH_RESULT)          \
    VARIANT(cusparse_coo2, format_coo, CUSPARSE_SPMM_COO_ALG2, false, true, ARITH_PREC)            \
    VARIANT(cusparse_coo3, format_coo, CUSPARSE_SPMM_COO_ALG3, false, true, ARITH_RESULT)          \
    VARIANT(cusparse_coo4, format_coo, CUSPARSE_SPMM_COO_ALG4, false, true, ARITH_RESULT)

// Lines: symbol, format of A, algorithm, preprocess. NVIDIA documents an effect of preprocess for
// CSR only. A may be transposed; CSR_ALG2 and COO_ALG2 then run as ALG1, which adds to C
// atomically.
#define CUSPARSE_SPMV(VARIANT)                                                                     \
    VARIANT(cusparse_spmv, format_csr, CUSPARSE_SPMV_ALG_DEFAULT, false)                           \
    VARIANT(cusparse_spmv_pre, format_csr, CUSPARSE_SPMV_ALG_DEFAULT, true)                        \
    VARIANT(cusparse_spmv_csr1, format_csr, CUSPARSE_SPMV_CSR_ALG1, false)                         \
    VARIANT(cusparse_spmv_csr1_pre, format_csr, CUSPARSE_SPMV_CSR_ALG1, true)                      \
    VARIANT(cusparse_spmv_csr2, format_csr, CUSPARSE_SPMV_CSR_ALG2, false)                         \
    VARIANT(cusparse_spmv_csr2_pre, format_csr, CUSPARSE_SPMV_CSR_ALG2, true)                      \
    VARIANT(cusparse_spmv_coo1, format_coo, CUSPARSE_SPMV_COO_ALG1, false)                         \
    VARIANT(cusparse_spmv_coo2, format_coo, CUSPARSE_SPMV_COO_ALG2, false)

// Lines: symbol, number of the algorithm, keeps values of A. NVIDIA names ALG1 as the algorithm
// that follows changes of the values.
#define CUSPARSE_SPMVOP(VARIANT)                                                                   \
    VARIANT(cusparse_spmvop1, 1, false)                                                            \
    VARIANT(cusparse_spmvop2, 2, true)

// Lines: symbol, X^T and Y^T are column-major, preprocess.
#define CUSPARSE_SDDMM(VARIANT)                                                                    \
    VARIANT(cusparse, false, false)                                                                \
    VARIANT(cusparse_pre, false, true)                                                             \
    VARIANT(cusparse_col, true, false)                                                             \
    VARIANT(cusparse_col_pre, true, true)

// Lines: symbol, algorithm, calls cusparseSpGEMM_estimateMemory, prepare(), options.
#define CUSPARSE_SPGEMM(VARIANT)                                                                   \
    VARIANT(cusparse, CUSPARSE_SPGEMM_DEFAULT, false, spgemm_cusparse_cuda_prepare, NULL)          \
    VARIANT(cusparse_alg1, CUSPARSE_SPGEMM_ALG1, false, spgemm_cusparse_cuda_prepare, NULL)        \
    VARIANT(cusparse_alg2, CUSPARSE_SPGEMM_ALG2, true, spgemm_cusparse_cuda_prepare, NULL)         \
    VARIANT(cusparse_alg3, CUSPARSE_SPGEMM_ALG3, true, spgemm_cusparse_alg3_cuda_prepare,          \
            chunk_options)

#ifndef __cplusplus
WEAK const char *cusparse_library_text(void);
extern WEAK const char cusparse_built[];

// Fields that all descriptors share.
#define CUSPARSE_FIELDS(function)                                                                  \
    .cite = "NVIDIA, cuSPARSE library, " function, .vendor = "cuSPARSE",                           \
    .library = cusparse_library_text, .built = cusparse_built

// The end of a call's text, by `preprocess`.
#define PREPROCESS_false(function) ""
#define PREPROCESS_true(function)  " after " function "_preprocess"
#endif

#endif
