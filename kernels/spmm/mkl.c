// SpMM by Intel's MKL: the inspector-executor routines, with hints about the calls to come.
//
// https://www.intel.com/content/www/us/en/docs/onemkl, "Inspector-Executor Sparse BLAS Routines":
// prepare() calls mkl_sparse_set_mm_hint and mkl_sparse_optimize once, run() calls mkl_sparse_?_mm.
// `mkl-mv` has k = 1, and calls mkl_sparse_set_mv_hint and mkl_sparse_?_mv. Format: CSR. Both
// layouts; with -trans flag as MKL_TRANSPOSE. The library is loaded at run time, see device/mkl.h.
#include "cpu.h"
#include "mkl_csr.h"

#include <string.h>

#define MANY_CALLS 1000 // expected calls, told to MKL: enough for any analysis

struct state {
    const struct mkl *mkl;
    struct mkl_csr A;
    int op; // of A
    int layout;
};

static const struct mkl_descr general = {.type = MKL_GENERAL};

// Returns true if MKL is not called. The library refuses some matrices of size zero.
static bool is_empty(const struct task *t)
{
    return t->in[0].rows == 0 || t->C.rows == 0 || t->C.cols == 0 || t->A[0]->nnz == 0;
}

static int analyse(struct state *s, const struct task *t)
{
    if (t->algo->columns)
        MKL_TRY(s->mkl, mkl_sparse_set_mv_hint, s->A.A, s->op, general, MANY_CALLS);
    else
        MKL_TRY(s->mkl, mkl_sparse_set_mm_hint, s->A.A, s->op, general, s->layout, (int)t->C.cols,
                MANY_CALLS);
    MKL_TRY(s->mkl, mkl_sparse_optimize, s->A.A);
    return OK;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    int err = mkl_use(&s->mkl);
    if (!err && t->algo->columns) err = task_refuse_gaps(t);
    if (err || is_empty(t)) return err;
    if (t->C.cols > INT32_MAX || t->in[0].ld > INT32_MAX || t->C.ld > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "lines of 2^31 elements; MKL's sizes have 32 bits");
    s->op = t->transposed ? MKL_TRANSPOSE : MKL_NON_TRANSPOSE;
    s->layout = t->C.layout == LAYOUT_ROW ? MKL_ROW_MAJOR : MKL_COL_MAJOR;
    int64_t start = mkl_memory_start();
    err = mkl_csr_make(s->mkl, t, csr_of(t->A[0]), &s->A);
    if (!err) err = analyse(s, t);
    mkl_memory_count(t->dev, start);
    return err;
}

static void clear(const struct task *t)
{
    const struct dense_dev *C = &t->C;
    const int64_t width = in_bytes(t);
    const int64_t lines = C->layout == LAYOUT_ROW ? C->rows : C->cols;
    const int64_t length = C->layout == LAYOUT_ROW ? C->cols : C->rows;
    for (int64_t l = 0; l < lines; l++)
        memset((char *)C->val + l * C->ld * width, 0, (size_t)(length * width));
}

// beta is 0, so C is written in full.
static int run(struct task *t)
{
    const struct state *s = t->state;
    const struct dense_dev *B = &t->in[0], *C = &t->C;
    const int k = (int)C->cols, ldb = (int)B->ld, ldc = (int)C->ld;
    if (!s->A.A)
        clear(t);
    else if (t->algo->columns && prec_is_f32(t->prec))
        MKL_TRY(s->mkl, mkl_sparse_s_mv, s->op, 1, s->A.A, general, B->val, 0, C->val);
    else if (t->algo->columns)
        MKL_TRY(s->mkl, mkl_sparse_d_mv, s->op, 1, s->A.A, general, B->val, 0, C->val);
    else if (prec_is_f32(t->prec))
        MKL_TRY(s->mkl, mkl_sparse_s_mm, s->op, 1, s->A.A, general, s->layout, B->val, k, ldb, 0,
                C->val, ldc);
    else
        MKL_TRY(s->mkl, mkl_sparse_d_mm, s->op, 1, s->A.A, general, s->layout, B->val, k, ldb, 0,
                C->val, ldc);
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (!s) return;
    mkl_csr_free(s->mkl, t, &s->A);
    device_count_foreign(t->dev, 0);
    task_free_state(t);
}

// Fields that both descriptors share. `function`: mm or mv.
#define MKL_FIELDS(function)                                                                       \
    .layouts = BOTH_LAYOUTS, .precs = BOTH_PRECS, .A = {&format_csr}, .transposes = true,          \
    .keeps_values = true, .arith = ARITH_PREC,                                                     \
    .cite = "Intel, oneAPI Math Kernel Library, mkl_sparse_s_" #function                           \
            " and mkl_sparse_d_" #function,                                                        \
    .missing = mkl_missing, .vendor = "MKL",                                                       \
    .call = "mkl_sparse_?_" #function " after mkl_sparse_set_" #function                           \
            "_hint and mkl_sparse_optimize",                                                       \
    .library = mkl_library, ALGO_FUNCTIONS(prepare, run, teardown)
const struct algo spmm_mkl_mv_cpu = {.columns = 1, MKL_FIELDS(mv)};
const struct algo spmm_mkl_cpu = {MKL_FIELDS(mm)};
