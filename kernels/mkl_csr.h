// Code that the MKL algorithms share: error handling, and a CSR matrix as an MKL matrix.
#ifndef MKL_CSR_H
#define MKL_CSR_H

#include "algos/algo.h"
#include "device/mkl.h"

// Calls a function of struct mkl and returns from the calling function on an error.
#define MKL_TRY(mkl, function, ...)                                                                \
    do {                                                                                           \
        int mkl_try_status = (mkl)->function(__VA_ARGS__);                                         \
        if (mkl_try_status) return mkl_fail(mkl_try_status, #function);                            \
    } while (0)

// An MKL matrix that reads the columns and values of A in place. The caller frees the fields with
// mkl_csr_free(), also after an error.
struct mkl_csr {
    mkl_matrix A;
    int32_t *starts; // row starts with 32 bits, as MKL takes them, size m + 1
};

static inline int mkl_csr_make(const struct mkl *mkl, struct task *t, const struct csr_dev *A,
                               struct mkl_csr *out)
{
    const int64_t *ptr = A->ptr;
    if (A->nnz > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%lld nonzeros; MKL's indices have 32 bits",
                    (long long)A->nnz);
    int err = device_alloc(t->dev, (int64_t)A->m + 1, sizeof *out->starts, (void **)&out->starts);
    if (err) return err;
    int32_t *starts = out->starts, m = A->m;
    for (int64_t i = 0; i <= m; i++) starts[i] = (int32_t)ptr[i];
    if (prec_is_f32(t->prec))
        MKL_TRY(mkl, mkl_sparse_s_create_csr, &out->A, 0, m, A->n, starts, starts + 1, A->idx,
                A->val);
    else
        MKL_TRY(mkl, mkl_sparse_d_create_csr, &out->A, 0, m, A->n, starts, starts + 1, A->idx,
                A->val);
    return OK;
}

static inline void mkl_csr_free(const struct mkl *mkl, struct task *t, struct mkl_csr *x)
{
    if (x->A) mkl->mkl_sparse_destroy(x->A);
    device_free(t->dev, x->starts);
    *x = (struct mkl_csr){0};
}

#endif
