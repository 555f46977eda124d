// cuBLAS, NVIDIA's library for dense matrices, loaded at run time. The build does not need cuBLAS:
// its functions are declared here as in its reference.
#ifndef CUBLAS_H
#define CUBLAS_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cublas_context *cublas_handle;
enum { CUBLAS_NO_TRANSPOSE = 0, CUBLAS_TRANSPOSE = 1 };
enum { CUBLAS_SUMS_F32 = 68, CUBLAS_SUMS_F64 = 70 }; // cublasComputeType_t
enum { CUBLAS_DEFAULT = -1 };                        // cublasGemmAlgo_t
enum { CUBLAS_ALLOC_FAILED = 3, CUBLAS_NOT_SUPPORTED = 15 };
// cublasMath_t: sums of parts of a 16-bit product stay in f32.
enum { CUBLAS_FULL_SUMS = 16 };

// FUNCTION(name, arguments). All return a status, 0 if they succeed. Matrices are column-major.
#define CUBLAS_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(cublasGetProperty, (int property, int *value))                                        \
    FUNCTION(cublasCreate_v2, (cublas_handle * handle))                                            \
    FUNCTION(cublasDestroy_v2, (cublas_handle handle))                                             \
    FUNCTION(cublasSetStream_v2, (cublas_handle handle, void *stream))                             \
    FUNCTION(cublasSetMathMode, (cublas_handle handle, int mode))                                  \
    FUNCTION(cublasGemmEx_64,                                                                      \
             (cublas_handle handle, int op_A, int op_B, int64_t m, int64_t n, int64_t k,           \
              const void *alpha, const void *A, int A_type, int64_t lda, const void *B,            \
              int B_type, int64_t ldb, const void *beta, void *C, int C_type, int64_t ldc,         \
              int compute, int algo))

struct cublas {
#define CUBLAS_FIELD(name, args) int(*name) args;
    CUBLAS_FUNCTIONS(CUBLAS_FIELD)
#undef CUBLAS_FIELD
};

// Returns NULL if cuBLAS is loaded, else the reason why not.
const char *cublas_missing(void);
// Returns "cuBLAS 13.1.0", or NULL.
const char *cublas_library(void);
// Sets *cublas to the functions of cuBLAS. ERR_UNSUPPORTED: cuBLAS is missing.
int cublas_use(const struct cublas **cublas);
// Returns the `enum err` of a nonzero status of `function`, with a text.
int cublas_fail(int status, const char *function);

#ifdef __cplusplus
}
#endif
#endif
