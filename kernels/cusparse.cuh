// Code that the cuSPARSE algorithms share: errors, handle, scalars.
#ifndef SPBENCH_CUSPARSE_H
#define SPBENCH_CUSPARSE_H

#include "cusparse_variants.h"
#include "formats/coo.h"
#include "kernel.cuh"

#include <cusparse.h>
#include <exception>

// Sets the error of a failed call. A refused case is ERR_UNSUPPORTED, a case that is too large is
// ERR_MEMORY, anything else is ERR_DEVICE.
static inline int cusparse_fail(cusparseStatus_t status, const char *call)
{
    enum err code = status == CUSPARSE_STATUS_NOT_SUPPORTED            ? ERR_UNSUPPORTED
                    : status == CUSPARSE_STATUS_ALLOC_FAILED           ? ERR_MEMORY
                    : status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES ? ERR_MEMORY
                                                                       : ERR_DEVICE;
    cudaGetLastError(); // clear it, unless it is sticky
    return fail(code, "%s: %s (%s)", call, cusparseGetErrorString(status),
                cusparseGetErrorName(status));
}

// Calls a function of cuSPARSE and returns from the calling function on an error. Some functions
// throw an exception (12.9.4), which must not end the program.
#define CUSPARSE_TRY(function, ...) CUSPARSE_TRY_NAMED(#function, function, __VA_ARGS__)
#define CUSPARSE_TRY_NAMED(name, function, ...)                                                    \
    do {                                                                                           \
        try {                                                                                      \
            cusparseStatus_t cusparse_try_status = function(__VA_ARGS__);                          \
            if (cusparse_try_status != CUSPARSE_STATUS_SUCCESS)                                    \
                return cusparse_fail(cusparse_try_status, name);                                   \
        } catch (const std::exception &e) {                                                        \
            cudaGetLastError();                                                                    \
            return fail(ERR_DEVICE, "%s: %s", name, e.what());                                     \
        }                                                                                          \
    } while (0)

// Returns the name and the version of the library that runs.
extern "C" const char *cusparse_library_text(void);

// Returns the version of the library that runs: 120603 for 12.6.3.
static inline int cusparse_release(void)
{
    int major = 0, minor = 0, patch = 0;
    cusparseGetProperty(MAJOR_VERSION, &major);
    cusparseGetProperty(MINOR_VERSION, &minor);
    cusparseGetProperty(PATCH_LEVEL, &patch);
    return 10000 * major + 100 * minor + patch;
}

// A handle of the library for a task, the task's types, and alpha and beta in the type of sums.
struct cusparse_library {
    cusparseHandle_t handle;
    cudaDataType in, out, sum;
    union {
        uint16_t half;
        float f32;
        double f64;
    } one, zero;
};

static inline int cusparse_open(struct task *t, enum prec sum, struct cusparse_library *lib)
{
    lib->in = (cudaDataType)cuda_data_type(prec_in(t->prec));
    lib->out = (cudaDataType)cuda_data_type(prec_out(t->prec));
    lib->sum = (cudaDataType)cuda_data_type(sum);
    type_store(sum, &lib->one, 0, 1);
    type_store(sum, &lib->zero, 0, 0);
    CUSPARSE_TRY(cusparseLoggerForceDisable); // refusals go to stdout otherwise
    CUSPARSE_TRY(cusparseCreate, &lib->handle);
    CUSPARSE_TRY(cusparseSetStream, lib->handle, (cudaStream_t)t->dev->stream);
    return OK;
}

static inline void cusparse_close(struct cusparse_library *lib)
{
    if (lib->handle) cusparseDestroy(lib->handle);
    lib->handle = NULL;
}

// Creates the descriptor of an input matrix: CSR with 32-bit indices.
static inline int cusparse_describe(const struct cusparse_library *lib, const struct csr_dev *A,
                                    cusparseConstSpMatDescr_t *descr)
{
    CUSPARSE_TRY(cusparseCreateConstCsr, descr, A->m, A->n, A->nnz, A->ptr, A->idx, A->val,
                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, lib->in);
    return OK;
}

// Creates the descriptor of X, which is in COO or CSR.
static inline int cusparse_describe_sparse(const struct cusparse_library *lib,
                                           const struct sparse *X, cusparseConstSpMatDescr_t *descr)
{
    if (X->format != &format_coo) return cusparse_describe(lib, csr_of(X), descr);
    const struct coo_dev *A = coo_of(X);
    CUSPARSE_TRY(cusparseCreateConstCoo, descr, A->m, A->n, A->nnz, A->row, A->col, A->val,
                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, lib->in);
    return OK;
}

#endif
