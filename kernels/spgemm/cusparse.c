// Descriptors of cuSPARSE's SpGEMM, C = A * S. The calls are in cusparse.cu.
#include "cusparse_variants.h"

static const struct algo_option chunk_options[] = {
    {"chunk", 0.2, 0.01, 1, false, "fraction of the intermediate products that are made at once"},
    {0},
};

// Fields that all descriptors share.
#define FIELDS                                                                                     \
    .A = {&format_csr}, .S = {&format_csr}, .precs = BY_TYPE_PRECS, .arith = ARITH_RESULT,         \
    CUSPARSE_FIELDS("cusparseSpGEMM")

#define VARIANT(symbol, alg, estimate, prepare_function, option_list)                              \
    DECLARE_FUNCTIONS(spgemm_##symbol##_cuda);                                                     \
    const struct algo spgemm_##symbol##_cuda = {                                                   \
        FIELDS,                                                                                    \
        .options = option_list,                                                                    \
        .call = "cusparseSpGEMM, " #alg,                                                           \
        ALGO_FUNCTIONS(prepare_function, spgemm_##symbol##_cuda_run,                               \
                       spgemm_cusparse_cuda_teardown),                                             \
    };
CUSPARSE_SPGEMM(VARIANT)

DECLARE_FUNCTIONS(spgemm_cusparse_reuse_cuda);
const struct algo spgemm_cusparse_reuse_cuda = {
    FIELDS,
    .call = "cusparseSpGEMMreuse_compute, CUSPARSE_SPGEMM_DEFAULT",
    .partial = "C's structure and memory, which are prepared",
    ALGO_FUNCTIONS(spgemm_cusparse_reuse_cuda_prepare, spgemm_cusparse_reuse_cuda_run,
                   spgemm_cusparse_cuda_teardown),
    .release = spgemm_cusparse_reuse_cuda_release,
};
