// SpMM with k = 1 by NVIDIA's cuSPARSE: every algorithm of cusparseSpMV for CSR and COO, and the two
// of cusparseSpMVOp.
//
// https://docs.nvidia.com/cuda/cusparse, "cusparseSpMV". 32-bit indices, sums in f32 or f64. Vectors
// have no gaps. CSR_ALG2 and COO_ALG2 are deterministic, unless A is transposed. A preprocessed
// workspace belongs to the descriptor of A, so both stay until the end.
//
// cusparseSpMVOp computes Z = alpha * A * X + beta * Y, for CSR in f32 and f64. The program calls
// the function with Y = Z and beta = 0. The function is experimental, so its declarations here are
// those of cuSPARSE 12.8.1 to 12.9.4, and the library is searched for them at run time. Other
// versions have other arguments: 12.7 has none for the algorithm.
#include "cusparse.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct variant {
    cusparseSpMVAlg_t alg;
    bool preprocess;
};

struct state {
    struct cusparse_library lib;
    cusparseOperation_t op;      // of A
    cusparseConstSpMatDescr_t A; // NULL: the product is empty, and cuSPARSE is not called
    cusparseConstDnVecDescr_t B;
    cusparseDnVecDescr_t C;
    void *workspace;
    struct spmvop_descr *descr; // NULL for cusparseSpMV
    struct spmvop_plan *plan;
};

// FUNCTION(name without cusparse, arguments). An algorithm is an enum in cusparse.h.
#define SPMVOP_FUNCTIONS(FUNCTION)                                                                 \
    FUNCTION(SpMVOp_bufferSize,                                                                    \
             (cusparseHandle_t handle, cusparseOperation_t op, cusparseConstSpMatDescr_t A,        \
              cusparseConstDnVecDescr_t X, cusparseDnVecDescr_t Y, cusparseDnVecDescr_t Z,         \
              cudaDataType sum, int alg, size_t *bytes))                                           \
    FUNCTION(SpMVOp_createDescr,                                                                   \
             (cusparseHandle_t handle, struct spmvop_descr * *descr, cusparseOperation_t op,       \
              cusparseConstSpMatDescr_t A, cusparseConstDnVecDescr_t X, cusparseDnVecDescr_t Y,    \
              cusparseDnVecDescr_t Z, cudaDataType sum, int alg, void *workspace))                 \
    FUNCTION(SpMVOp_destroyDescr, (struct spmvop_descr * descr))                                   \
    FUNCTION(SpMVOp_createPlan,                                                                    \
             (cusparseHandle_t handle, struct spmvop_descr * descr, struct spmvop_plan * *plan,    \
              const void *code, size_t code_bytes))                                                \
    FUNCTION(SpMVOp_destroyPlan, (struct spmvop_plan * plan))                                      \
    FUNCTION(SpMVOp,                                                                               \
             (cusparseHandle_t handle, struct spmvop_plan * plan, const void *alpha,               \
              const void *beta, cusparseConstDnVecDescr_t X, cusparseConstDnVecDescr_t Y,          \
              cusparseDnVecDescr_t Z))

static struct {
#define SPMVOP_FIELD(name, args) cusparseStatus_t(CUSPARSEAPI *name) args;
    SPMVOP_FUNCTIONS(SPMVOP_FIELD)
} spmvop;
#define SPMVOP_TRY(name, ...) CUSPARSE_TRY_NAMED("cusparse" #name, spmvop.name, __VA_ARGS__)

// Returns NULL if `spmvop` has the functions of the library that runs, else the reason why not.
extern "C" const char *cusparse_spmvop_missing(void)
{
    static char missing[128];
    const int release = cusparse_release();
    if (release < 120801 || release > 120904) {
        snprintf(missing, sizeof missing,
                 "cusparseSpMVOp is called in cuSPARSE 12.8.1 to 12.9.4; this is %s",
                 cusparse_library_text());
        return missing;
    }
#define SPMVOP_FIND(name, args)                                                                    \
    void *const name = dlsym(RTLD_DEFAULT, "cusparse" #name);                                      \
    if (!name) return "the library has no cusparse" #name;                                         \
    memcpy(&spmvop.name, &name, sizeof name);
    SPMVOP_FUNCTIONS(SPMVOP_FIND)
    return NULL;
}

// Creates handle and descriptors. (*out)->A is NULL if the product is empty.
static int open_state(struct task *t, struct state **out)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    t->state = *out = s;
    s->op = t->transposed ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
    int err = task_refuse_gaps(t);
    if (!err) err = cusparse_open(t, prec_sum(t->prec), &s->lib);
    if (err || t->C.rows == 0 || t->A[0]->nnz == 0) return err;
    err = cusparse_describe_sparse(&s->lib, t->A[0], &s->A);
    if (err) return err;
    CUSPARSE_TRY(cusparseCreateConstDnVec, &s->B, t->in[0].rows, t->in[0].val, s->lib.in);
    CUSPARSE_TRY(cusparseCreateDnVec, &s->C, t->C.rows, t->C.val, s->lib.out);
    return OK;
}

static int alloc_workspace(struct task *t, struct state *s, size_t bytes)
{
    task_number(t, "workspace_bytes", (double)bytes);
    return device_alloc(t->dev, (int64_t)bytes, 1, &s->workspace);
}

// C = 0, for an empty product.
static int clear(const struct task *t)
{
    if (t->C.rows == 0) return OK;
    CUDA_TRY(cudaMemsetAsync(t->C.val, 0, (size_t)(t->C.rows * out_bytes(t)),
                             (cudaStream_t)t->dev->stream));
    return OK;
}

// The common arguments of the three functions of cusparseSpMV. beta is 0, so C is written in full.
#define PRODUCT(s, v)                                                                              \
    (s)->lib.handle, (s)->op, &(s)->lib.one, (s)->A, (s)->B, &(s)->lib.zero, (s)->C,               \
        (s)->lib.sum, (v)->alg

static int prepare(struct task *t, const struct variant *v)
{
    struct state *s;
    size_t bytes = 0;
    int err = open_state(t, &s);
    if (err || !s->A) return err;
    CUSPARSE_TRY(cusparseSpMV_bufferSize, PRODUCT(s, v), &bytes);
    err = alloc_workspace(t, s, bytes);
    if (err || !v->preprocess) return err;
    // CUDA 12.4 and later have the function, with the arguments of cusparseSpMV.
    const auto preprocess =
        (decltype(&cusparseSpMV))dlsym(RTLD_DEFAULT, "cusparseSpMV_preprocess");
    if (!preprocess) return fail(ERR_UNSUPPORTED, "the library has no cusparseSpMV_preprocess");
    CUSPARSE_TRY_NAMED("cusparseSpMV_preprocess", preprocess, PRODUCT(s, v), s->workspace);
    return device_sync(t->dev);
}

static int run(struct task *t, const struct variant *v)
{
    const struct state *s = (const struct state *)t->state;
    if (!s->A) return clear(t);
    CUSPARSE_TRY(cusparseSpMV, PRODUCT(s, v), s->workspace);
    return launch_check(t->entry->name);
}

// The common arguments of the two functions of cusparseSpMVOp that take the product.
#define OP_PRODUCT(s, alg) (s)->op, (s)->A, (s)->B, (s)->C, (s)->C, (s)->lib.sum, alg

static int prepare_op(struct task *t, int alg)
{
    struct state *s;
    size_t bytes = 0;
    const char *missing = cusparse_spmvop_missing();
    if (missing) return fail(ERR_UNSUPPORTED, "%s", missing);
    int err = open_state(t, &s);
    if (err || !s->A) return err;
    SPMVOP_TRY(SpMVOp_bufferSize, s->lib.handle, OP_PRODUCT(s, alg), &bytes);
    err = alloc_workspace(t, s, bytes);
    if (err) return err;
    SPMVOP_TRY(SpMVOp_createDescr, s->lib.handle, &s->descr, OP_PRODUCT(s, alg), s->workspace);
    SPMVOP_TRY(SpMVOp_createPlan, s->lib.handle, s->descr, &s->plan, NULL, 0);
    return device_sync(t->dev);
}

static int run_op(struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    if (!s->A) return clear(t);
    SPMVOP_TRY(SpMVOp, s->lib.handle, s->plan, &s->lib.one, &s->lib.zero, s->B, s->C, s->C);
    return launch_check(t->entry->name);
}

extern "C" void spmm_cusparse_spmv_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    if (s->plan) spmvop.SpMVOp_destroyPlan(s->plan);
    if (s->descr) spmvop.SpMVOp_destroyDescr(s->descr);
    if (s->A) cusparseDestroySpMat(s->A);
    if (s->B) cusparseDestroyDnVec(s->B);
    if (s->C) cusparseDestroyDnVec(s->C);
    cusparse_close(&s->lib);
    device_free(t->dev, s->workspace);
    mem_free(s);
    t->state = NULL;
}

#define VARIANT(symbol, format, alg, preprocess)                                                   \
    static const struct variant symbol##_variant = {alg, preprocess};                              \
    extern "C" int spmm_##symbol##_cuda_prepare(struct task *t)                                    \
    {                                                                                              \
        return prepare(t, &symbol##_variant);                                                      \
    }                                                                                              \
    extern "C" int spmm_##symbol##_cuda_run(struct task *t) { return run(t, &symbol##_variant); }
CUSPARSE_SPMV(VARIANT)
#undef VARIANT

#define VARIANT(symbol, number, keeps)                                                             \
    extern "C" int spmm_##symbol##_cuda_prepare(struct task *t) { return prepare_op(t, number); }  \
    extern "C" int spmm_##symbol##_cuda_run(struct task *t) { return run_op(t); }
CUSPARSE_SPMVOP(VARIANT)
