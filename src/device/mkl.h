// Intel MKL, the vendor library for CPU kernels. Loaded at run time: libmkl_rt of MKL_RT=, else of
// the loader's folders. The build needs no MKL: its functions are declared here, with 32-bit
// indices. MKL's reference has them in "Inspector-Executor Sparse BLAS Routines" and "Support
// Functions".
//
// MKL allocates by mem_alloc(), so its memory is limited and counted for the device.
//
// On processors of other makers MKL runs its generic code; see `library` of a record. `bundled`
// takes 0.38 to 0.48 of MKL's time on an EPYC, 0.86 on a Xeon.
#ifndef MKL_H
#define MKL_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MKL_NON_TRANSPOSE = 10, MKL_TRANSPOSE = 11 };
enum { MKL_GENERAL = 20 };
enum { MKL_ROW_MAJOR = 101, MKL_COL_MAJOR = 102 };
struct mkl_descr {
    int type, mode, diag; // mode and diag are unused for MKL_GENERAL
};
typedef struct mkl_sparse *mkl_matrix;

// FUNCTION(type, name, arguments). Row i of a CSR matrix is idx[start[i]] ... idx[end[i] - 1].
#define MKL_FUNCTIONS(FUNCTION)                                                                    \
    FUNCTION(int, MKL_Set_Interface_Layer, (int layer))                                            \
    FUNCTION(int, MKL_Set_Threading_Layer, (int layer))                                            \
    FUNCTION(void, MKL_Set_Num_Threads, (int count))                                               \
    FUNCTION(void, MKL_Set_Dynamic, (int fewer))                                                   \
    FUNCTION(void, MKL_Get_Version, (struct mkl_version * version))                                \
    FUNCTION(void, MKL_Get_Version_String, (char *text, int size))                                 \
    FUNCTION(int, mkl_sparse_s_create_csr,                                                         \
             (mkl_matrix * A, int base, int rows, int cols, int *start, int *end, int *idx,        \
              float *val))                                                                         \
    FUNCTION(int, mkl_sparse_d_create_csr,                                                         \
             (mkl_matrix * A, int base, int rows, int cols, int *start, int *end, int *idx,        \
              double *val))                                                                        \
    FUNCTION(int, mkl_sparse_s_export_csr,                                                         \
             (mkl_matrix A, int *base, int *rows, int *cols, int **start, int **end, int **idx,    \
              float **val))                                                                        \
    FUNCTION(int, mkl_sparse_d_export_csr,                                                         \
             (mkl_matrix A, int *base, int *rows, int *cols, int **start, int **end, int **idx,    \
              double **val))                                                                       \
    FUNCTION(int, mkl_sparse_destroy, (mkl_matrix A))                                              \
    FUNCTION(                                                                                      \
        int, mkl_sparse_set_mm_hint,                                                               \
        (mkl_matrix A, int operation, struct mkl_descr descr, int layout, int cols, int calls))    \
    FUNCTION(int, mkl_sparse_set_mv_hint,                                                          \
             (mkl_matrix A, int operation, struct mkl_descr descr, int calls))                     \
    FUNCTION(int, mkl_sparse_optimize, (mkl_matrix A))                                             \
    FUNCTION(int, mkl_sparse_s_mm,                                                                 \
             (int operation, float alpha, mkl_matrix A, struct mkl_descr descr, int layout,        \
              const float *B, int cols, int ldb, float beta, float *C, int ldc))                   \
    FUNCTION(int, mkl_sparse_d_mm,                                                                 \
             (int operation, double alpha, mkl_matrix A, struct mkl_descr descr, int layout,       \
              const double *B, int cols, int ldb, double beta, double *C, int ldc))                \
    FUNCTION(int, mkl_sparse_s_mv,                                                                 \
             (int operation, float alpha, mkl_matrix A, struct mkl_descr descr, const float *x,    \
              float beta, float *y))                                                               \
    FUNCTION(int, mkl_sparse_d_mv,                                                                 \
             (int operation, double alpha, mkl_matrix A, struct mkl_descr descr, const double *x,  \
              double beta, double *y))                                                             \
    FUNCTION(int, mkl_sparse_spmm, (int operation, mkl_matrix A, mkl_matrix B, mkl_matrix *C))     \
    FUNCTION(int, mkl_sparse_order, (mkl_matrix A))

struct mkl_version {
    int major, minor, update;
    char *status, *build, *processor, *platform;
};
struct mkl {
#define MKL_FIELD(type, name, args) type(*name) args;
    MKL_FUNCTIONS(MKL_FIELD)
#undef MKL_FIELD
};

// Returns NULL if MKL is loaded, else the reason why not.
const char *mkl_missing(void);
// Returns "MKL 2025.1 (GNU threads, AVX2)": version, threading layer, instruction set. NULL:
// missing.
const char *mkl_library(void);
// Sets *mkl to the functions of MKL, which then use as many threads as OpenMP. ERR_UNSUPPORTED: MKL
// is missing.
int mkl_use(const struct mkl **mkl);
// Returns the `enum err` of a nonzero status of `function`, with a text.
int mkl_fail(int status, const char *function);

// Returns the bytes that MKL has allocated. Resets their maximum.
int64_t mkl_memory_start(void);
// Counts foreign memory of the device: the maximum since the last call of either function, then the
// bytes now, both minus `start`.
void mkl_memory_count(struct device *d, int64_t start);

#ifdef __cplusplus
}
#endif
#endif
