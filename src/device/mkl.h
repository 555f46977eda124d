// Intel's MKL, the library that kernels on the CPU are compared with. It is found when the program
// runs: MKL_RT= names a libmkl_rt, else the loader looks for one. Nothing of it is needed to build;
// what is called of it is declared here, as its reference has it ("Inspector-Executor Sparse BLAS
// Routines", "Support Functions"), with 32-bit indices.
//
// MKL gets its memory from mem_alloc(), which refuses what the system cannot give, and which counts
// for the device.
//
// MKL runs its generic code on processors of other makers, see `library` of a record. `bundled`
// takes 0.38 to 0.48 of MKL's time on an EPYC, 0.86 on a Xeon.
#ifndef MKL_H
#define MKL_H

#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MKL_NON_TRANSPOSE = 10 };
enum { MKL_GENERAL = 20 };
enum { MKL_ROW_MAJOR = 101, MKL_COL_MAJOR = 102 };
struct mkl_descr {
    int type, mode, diag; // the last two mean nothing for MKL_GENERAL
};
typedef struct mkl_sparse *mkl_matrix;

// FUNCTION(type, name, arguments). Of a CSR matrix row i is idx[start[i]] ... idx[end[i] - 1].
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
    FUNCTION(int, mkl_sparse_optimize, (mkl_matrix A))                                             \
    FUNCTION(int, mkl_sparse_s_mm,                                                                 \
             (int operation, float alpha, mkl_matrix A, struct mkl_descr descr, int layout,        \
              const float *B, int cols, int ldb, float beta, float *C, int ldc))                   \
    FUNCTION(int, mkl_sparse_d_mm,                                                                 \
             (int operation, double alpha, mkl_matrix A, struct mkl_descr descr, int layout,       \
              const double *B, int cols, int ldb, double beta, double *C, int ldc))                \
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

// NULL if it is there, else why not, in one line.
const char *mkl_missing(void);
// "MKL 2025.1 (GNU threads, AVX2)": its version, who makes its threads, and for which instructions
// its code is. NULL: it is missing.
const char *mkl_library(void);
// Makes it ready for a case, with as many threads as OpenMP has. ERR_UNSUPPORTED if it is missing.
int mkl_use(const struct mkl **mkl);
// What a status that is not 0 means: a case that it refuses is unsupported.
int mkl_fail(int status, const char *function);

// The bytes that it holds; what follows counts from here.
int64_t mkl_memory_start(void);
// Tells the device the most that it held since the last call of either, and what it holds now, both
// over `start`.
void mkl_memory_count(struct device *d, int64_t start);

#ifdef __cplusplus
}
#endif
#endif
