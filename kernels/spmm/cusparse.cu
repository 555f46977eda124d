// NVIDIA's cuSPARSE: every algorithm that cusparseSpMM offers for CSR and COO, in both layouts of
// the dense matrices, and with cusparseSpMM_preprocess where the library documents that it has an
// effect: CSR_ALG1 and CSR_ALG3.
//
// https://docs.nvidia.com/cuda/cusparse, "cusparseSpMM". 32-bit indices. Some algorithms need a
// workspace; it is allocated once, and counts in the peak memory of the case. A preprocessed
// workspace belongs to the descriptor of A until the end, so both stay as they are.
#include "cusparse.cuh"

struct variant {
    cusparseSpMMAlg_t alg;
    bool preprocess;
};

struct cusparse {
    struct cusparse_library lib;
    cusparseConstSpMatDescr_t A; // NULL: the product is empty, and cuSPARSE is not called
    cusparseConstDnMatDescr_t B;
    cusparseDnMatDescr_t C;
    void *workspace;
};

static int describe(struct task *t, struct cusparse *s)
{
    cusparseOrder_t order = t->layout == LAYOUT_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    const cudaDataType type = s->lib.type;
    if (t->algo->formats & FORMAT_COO) {
        CUSPARSE_TRY(cusparseCreateConstCoo, &s->A, t->coo.m, t->coo.n, t->coo.nnz, t->coo.row,
                     t->coo.col, t->coo.val, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type);
    } else {
        int err = cusparse_describe(&s->lib, &t->A, &s->A);
        if (err) return err;
    }
    CUSPARSE_TRY(cusparseCreateConstDnMat, &s->B, t->B.rows, t->B.cols, t->B.ld, t->B.val, type,
                 order);
    CUSPARSE_TRY(cusparseCreateDnMat, &s->C, t->C.rows, t->C.cols, t->C.ld, t->C.val, type, order);
    return OK;
}

// Zero-size matrices do not go to the library, which refuses some of them.
static bool is_empty(const struct task *t)
{
    return t->B.rows == 0 || t->C.rows == 0 || t->C.cols == 0 || t->in->A->nnz == 0;
}

// What the three functions of the product have in common.
#define PRODUCT(s, v)                                                                              \
    (s)->lib.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,           \
        &(s)->lib.one, (s)->A, (s)->B, &(s)->lib.zero, (s)->C, (s)->lib.type, (v)->alg

static int prepare(struct task *t, const struct variant *v)
{
    struct cusparse *s = (struct cusparse *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = s;
    int err = cusparse_open(t, &s->lib);
    if (err || is_empty(t)) return err;

    size_t bytes = 0;
    err = describe(t, s);
    if (err) return err;
    CUSPARSE_TRY(cusparseSpMM_bufferSize, PRODUCT(s, v), &bytes);
    err = device_alloc(t->dev, (int64_t)bytes, 1, &s->workspace);
    if (err) return err;
    task_number(t, "workspace_bytes", (double)bytes);
    if (v->preprocess) {
        CUSPARSE_TRY(cusparseSpMM_preprocess, PRODUCT(s, v), s->workspace);
        return device_sync(t->dev);
    }
    return OK;
}

// beta is 0, so C is written in full.
static int run(struct task *t, const struct variant *v)
{
    struct cusparse *s = (struct cusparse *)t->state;
    if (s->A) {
        CUSPARSE_TRY(cusparseSpMM, PRODUCT(s, v), s->workspace);
        return OK;
    }
    int64_t lines = t->layout == LAYOUT_ROW ? t->C.rows : t->C.cols;
    int64_t length = t->layout == LAYOUT_ROW ? t->C.cols : t->C.rows;
    if (lines == 0 || length == 0) return OK;
    int64_t span = (lines - 1) * t->C.ld + length;
    return t->dev->ops->fill(t->dev, t->C.val, 0, span * (int64_t)prec_bytes(t->in->prec));
}

static void teardown(struct task *t)
{
    struct cusparse *s = (struct cusparse *)t->state;
    if (!s) return;
    if (s->A) cusparseDestroySpMat(s->A);
    if (s->B) cusparseDestroyDnMat(s->B);
    if (s->C) cusparseDestroyDnMat(s->C);
    cusparse_close(&s->lib);
    device_free(t->dev, s->workspace);
    mem_free(s);
    t->state = NULL;
}

// One line per descriptor: symbol, name, format of A, algorithm, preprocess, about.
#define VARIANT(symbol, name_text, format_bit, alg, preprocess, about_text)                        \
    static const struct variant symbol##_variant = {alg, preprocess};                              \
    static int symbol##_prepare(struct task *t) { return prepare(t, &symbol##_variant); }          \
    static int symbol##_run(struct task *t) { return run(t, &symbol##_variant); }                  \
    extern "C" const struct algo spmm_##symbol##_cuda = {                                          \
        .name = name_text,                                                                         \
        .op = OP_SPMM,                                                                             \
        .device = DEVICE_CUDA,                                                                     \
        .layouts = BIT(LAYOUT_ROW) | BIT(LAYOUT_COL),                                              \
        .precs = BOTH_PRECS,                                                                       \
        .formats = format_bit,                                                                     \
        .arith = ARITH_PREC,                                                                       \
        .options = NULL,                                                                           \
        .about = about_text,                                                                       \
        .cite = "NVIDIA, cuSPARSE library, cusparseSpMM",                                          \
        .prepare = symbol##_prepare,                                                               \
        .run = symbol##_run,                                                                       \
        .teardown = teardown,                                                                      \
    }

VARIANT(cusparse, "cusparse", FORMAT_CSR, CUSPARSE_SPMM_ALG_DEFAULT, false,
        "cuSPARSE on CSR, the algorithm that it chooses itself");
VARIANT(cusparse_csr1, "cusparse-csr1", FORMAT_CSR, CUSPARSE_SPMM_CSR_ALG1, false,
        "cuSPARSE CSR_ALG1, made for column-major");
VARIANT(cusparse_csr1_pre, "cusparse-csr1-pre", FORMAT_CSR, CUSPARSE_SPMM_CSR_ALG1, true,
        "cuSPARSE CSR_ALG1 after its preprocess step");
VARIANT(cusparse_csr2, "cusparse-csr2", FORMAT_CSR, CUSPARSE_SPMM_CSR_ALG2, false,
        "cuSPARSE CSR_ALG2, made for row-major");
VARIANT(cusparse_csr3, "cusparse-csr3", FORMAT_CSR, CUSPARSE_SPMM_CSR_ALG3, false,
        "cuSPARSE CSR_ALG3, deterministic");
VARIANT(cusparse_csr3_pre, "cusparse-csr3-pre", FORMAT_CSR, CUSPARSE_SPMM_CSR_ALG3, true,
        "cuSPARSE CSR_ALG3 after its preprocess step, deterministic");
VARIANT(cusparse_coo1, "cusparse-coo1", FORMAT_COO, CUSPARSE_SPMM_COO_ALG1, false,
        "cuSPARSE COO_ALG1, for few nonzeros, made for column-major");
VARIANT(cusparse_coo2, "cusparse-coo2", FORMAT_COO, CUSPARSE_SPMM_COO_ALG2, false,
        "cuSPARSE COO_ALG2, deterministic, made for column-major");
VARIANT(cusparse_coo3, "cusparse-coo3", FORMAT_COO, CUSPARSE_SPMM_COO_ALG3, false,
        "cuSPARSE COO_ALG3, for many nonzeros, made for column-major");
VARIANT(cusparse_coo4, "cusparse-coo4", FORMAT_COO, CUSPARSE_SPMM_COO_ALG4, false,
        "cuSPARSE COO_ALG4, made for row-major");
