// SpMM by NVIDIA's cuSPARSE: every algorithm of cusparseSpMM for CSR and COO, in both layouts of
// the dense matrices. CSR_ALG1 and CSR_ALG3 also run with cusparseSpMM_preprocess, which has an
// effect for these two as documented. CSR_ALG3 and COO_ALG2 are deterministic.
//
// https://docs.nvidia.com/cuda/cusparse, "cusparseSpMM". 32-bit indices. Some algorithms need a
// workspace, which is allocated once and counts in the peak memory of the case. A preprocessed
// workspace belongs to the descriptor of A, so both stay until the end. With -trans flag the
// library gets CUSPARSE_OPERATION_TRANSPOSE, which CSR_ALG3 does not support.
//
// cuSPARSE 12.9.4: CSR_ALG3 with preprocess does not keep the order of the stream. A product begins
// before the previous kernel has ended (check.in_order). Its results are right if runs are kept
// apart. Its time back to back is not the time of a chain of products.
#include "cusparse.cuh"

#include <stdio.h>

struct variant {
    cusparseSpMMAlg_t alg;
    bool preprocess;
};

struct state {
    struct cusparse_library lib;
    cusparseOperation_t op;      // of A
    cusparseConstSpMatDescr_t A; // NULL: the product is empty, and cuSPARSE is not called
    cusparseConstDnMatDescr_t B;
    cusparseDnMatDescr_t C;
    void *workspace;
};

static int describe(struct task *t, struct state *s)
{
    cusparseOrder_t order = t->C.layout == LAYOUT_ROW ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    int err = cusparse_describe_sparse(&s->lib, t->A[0], &s->A);
    if (err) return err;
    CUSPARSE_TRY(cusparseCreateConstDnMat, &s->B, B->rows, B->cols, B->ld, B->val, s->lib.in,
                 order);
    CUSPARSE_TRY(cusparseCreateDnMat, &s->C, C->rows, C->cols, C->ld, C->val, s->lib.out, order);
    return OK;
}

// Returns true if cuSPARSE is not called. The library refuses some matrices of size zero.
static bool is_empty(const struct task *t)
{
    return t->in[0].rows == 0 || t->C.rows == 0 || t->C.cols == 0 || t->A[0]->nnz == 0;
}

// Returns true if the library is safe for D. CSR_ALG3 (12.6.3) uses vectors if the length of a line
// allows vectors, and faults if such lines are further apart and not aligned. With 16 bits other
// algorithms write between such lines.
static bool is_aligned(const struct dense_dev *D, int64_t bytes)
{
    const int64_t length = D->layout == LAYOUT_ROW ? D->cols : D->rows;
    return D->ld == length || D->ld * bytes % 16 == 0;
}

// The common arguments of the three functions of the product.
#define PRODUCT(s, v)                                                                              \
    (s)->lib.handle, (s)->op, CUSPARSE_OPERATION_NON_TRANSPOSE, &(s)->lib.one, (s)->A, (s)->B,     \
        &(s)->lib.zero, (s)->C, (s)->lib.sum, (v)->alg

static int prepare(struct task *t, const struct variant *v)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = s;
    s->op = t->transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    int err = cusparse_open(t, prec_sum(t->prec), &s->lib);
    if (err || is_empty(t)) return err;
    const bool vectors = v->alg == CUSPARSE_SPMM_CSR_ALG3 || result_is_narrow(t);
    if (vectors && !(is_aligned(&t->in[0], in_bytes(t)) && is_aligned(&t->C, out_bytes(t))))
        return fail(ERR_UNSUPPORTED,
                    "cuSPARSE: lines of B and C with gaps must be aligned to 16 bytes");

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

// Returns ERR_UNSUPPORTED if a graph cannot capture the call. Without preprocess, CSR_ALG3 analyses
// A in each call and, after 12.6, waits for the analysis.
static int refuse_capture(const struct task *t, const struct variant *v)
{
    cudaStreamCaptureStatus status;
    if (v->alg != CUSPARSE_SPMM_CSR_ALG3 || v->preprocess || cusparse_release() < 120700) return OK;
    CUDA_TRY(cudaStreamIsCapturing((cudaStream_t)t->dev->stream, &status));
    if (status == cudaStreamCaptureStatusNone) return OK;
    return fail(ERR_UNSUPPORTED, "CSR_ALG3 waits for its analysis in each call");
}

// beta is 0, so C is written in full.
static int run(struct task *t, const struct variant *v)
{
    struct state *s = (struct state *)t->state;
    const struct dense_dev *C = &t->C;
    if (s->A) {
        int err = refuse_capture(t, v);
        if (err) return err;
        CUSPARSE_TRY(cusparseSpMM, PRODUCT(s, v), s->workspace);
        return launch_check(t->entry->name);
    }
    const size_t width = (size_t)out_bytes(t);
    const size_t lines = (size_t)(C->layout == LAYOUT_ROW ? C->rows : C->cols);
    const size_t length = (size_t)(C->layout == LAYOUT_ROW ? C->cols : C->rows);
    if (lines > 0 && length > 0)
        CUDA_TRY(cudaMemset2DAsync(C->val, (size_t)C->ld * width, 0, length * width, lines,
                                   (cudaStream_t)t->dev->stream));
    return OK;
}

extern "C" void spmm_cusparse_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    if (s->A) cusparseDestroySpMat(s->A);
    if (s->B) cusparseDestroyDnMat(s->B);
    if (s->C) cusparseDestroyDnMat(s->C);
    cusparse_close(&s->lib);
    device_free(t->dev, s->workspace);
    mem_free(s);
    t->state = NULL;
}

#define VARIANT(symbol, format, alg, preprocess, transposed, rounding)                             \
    static const struct variant symbol##_variant = {alg, preprocess};                              \
    extern "C" int spmm_##symbol##_cuda_prepare(struct task *t)                                    \
    {                                                                                              \
        return prepare(t, &symbol##_variant);                                                      \
    }                                                                                              \
    extern "C" int spmm_##symbol##_cuda_run(struct task *t) { return run(t, &symbol##_variant); }
CUSPARSE_SPMM(VARIANT)

extern "C" const char *cusparse_library_text(void)
{
    static char text[64];
    int major = 0, minor = 0, patch = 0;
    cusparseGetProperty(MAJOR_VERSION, &major);
    cusparseGetProperty(MINOR_VERSION, &minor);
    cusparseGetProperty(PATCH_LEVEL, &patch);
    snprintf(text, sizeof text, "cuSPARSE %d.%d.%d", major, minor, patch);
    return text;
}

// The version that this program is built with. Another version may run.
#define CUSPARSE_TEXT(x) #x
#define CUSPARSE_DOTS(major, minor, n)                                                             \
    CUSPARSE_TEXT(major) "." CUSPARSE_TEXT(minor) "." CUSPARSE_TEXT(n)
extern "C" const char cusparse_built[] =
    CUSPARSE_DOTS(CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH);
