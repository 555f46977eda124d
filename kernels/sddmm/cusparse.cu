// NVIDIA's cuSPARSE: cusparseSDDMM in its two fast layouts, with and without
// cusparseSDDMM_preprocess.
//
// https://docs.nvidia.com/cuda/cusparse, "cusparseSDDMM". 32-bit indices. The library computes
// X * Y^T on the pattern of A and does not multiply by A's values. The layouts are X row-major
// times Y^T, or X^T column-major, transposed, times Y^T column-major. Both describe the same bytes:
// the elements of a row of X or Y are neighbours in memory.
#include "cusparse.cuh"

struct variant {
    bool columns; // X^T and Y^T, column-major
    bool preprocess;
};

struct state {
    struct cusparse_library lib;
    cusparseOperation_t X_op, Y_op;
    cusparseDnMatDescr_t X, Y;
    cusparseSpMatDescr_t C; // NULL: A has no nonzeros, and cuSPARSE is not called
    void *workspace;
};

static int describe_dense(const struct dense_dev *D, cudaDataType type, bool columns,
                          cusparseDnMatDescr_t *descr)
{
    if (columns) {
        CUSPARSE_TRY(cusparseCreateDnMat, descr, D->cols, D->rows, D->ld, D->val, type,
                     CUSPARSE_ORDER_COL);
    } else {
        CUSPARSE_TRY(cusparseCreateDnMat, descr, D->rows, D->cols, D->ld, D->val, type,
                     CUSPARSE_ORDER_ROW);
    }
    return OK;
}

static int describe(struct task *t, struct state *s, bool columns)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    s->X_op = columns ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    s->Y_op = columns ? CUSPARSE_OPERATION_NON_TRANSPOSE : CUSPARSE_OPERATION_TRANSPOSE;
    int err = describe_dense(&t->in[0], s->lib.in, columns, &s->X);
    if (!err) err = describe_dense(&t->in[1], s->lib.in, columns, &s->Y);
    if (err) return err;
    CUSPARSE_TRY(cusparseCreateCsr, &s->C, A->m, A->n, A->nnz, A->ptr, A->idx, t->val,
                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, s->lib.out);
    return OK;
}

// Arguments that the three functions of the product share.
#define PRODUCT(s)                                                                                 \
    (s)->lib.handle, (s)->X_op, (s)->Y_op, &(s)->lib.one, (s)->X, (s)->Y, &(s)->lib.zero, (s)->C,  \
        (s)->lib.sum, CUSPARSE_SDDMM_ALG_DEFAULT

static int prepare(struct task *t, const struct variant *v)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = s;
    int err = cusparse_open(t, prec_sum(t->prec), &s->lib);
    if (err || t->A[0]->nnz == 0) return err;

    size_t bytes = 0;
    err = describe(t, s, v->columns);
    if (err) return err;
    CUSPARSE_TRY(cusparseSDDMM_bufferSize, PRODUCT(s), &bytes);
    err = device_alloc(t->dev, (int64_t)bytes, 1, &s->workspace);
    if (err) return err;
    task_number(t, "workspace_bytes", (double)bytes);
    if (v->preprocess) {
        CUSPARSE_TRY(cusparseSDDMM_preprocess, PRODUCT(s), s->workspace);
        return device_sync(t->dev);
    }
    return OK;
}

// Writes all of C, as beta is 0.
extern "C" int sddmm_cusparse_cuda_run(struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    if (!s->C) return OK;
    CUSPARSE_TRY(cusparseSDDMM, PRODUCT(s), s->workspace);
    return launch_check(t->entry->name);
}

extern "C" void sddmm_cusparse_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    if (s->C) cusparseDestroySpMat(s->C);
    if (s->X) cusparseDestroyDnMat(s->X);
    if (s->Y) cusparseDestroyDnMat(s->Y);
    cusparse_close(&s->lib);
    device_free(t->dev, s->workspace);
    mem_free(s);
    t->state = NULL;
}

#define VARIANT(symbol, columns, preprocess)                                                       \
    static const struct variant symbol##_variant = {columns, preprocess};                          \
    extern "C" int sddmm_##symbol##_cuda_prepare(struct task *t)                                   \
    {                                                                                              \
        return prepare(t, &symbol##_variant);                                                      \
    }
CUSPARSE_SDDMM(VARIANT)
