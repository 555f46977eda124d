// SpMM by rows (row split), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.1, ported to a CPU. In the paper a warp has a row and the lanes
// have the columns of B. Here a thread has a row and vector registers have the columns.
//
// Format: CSR. Any k. A share is some rows of about equal work. A thread computes neighbouring
// shares, the same in every run, and then takes shares that other threads have left (cpu/shares.h).
// Values of fewer bits than their sums have a loop of their own (rowsplit_half.inl). The values are
// widened to f32 when they are loaded, without prefetches and streaming stores.
//
// Limits: a row is never cut. A row that is longer than a share costs balance.
#include "cpu.h"
#include "option_limits.h"
#include "papers.h"
#include "spmm/cpu/ahead.h"
#include "spmm/cpu/product.h"
#include "spmm/cpu/shares.h"
#include "spmm/cpu/stream.h"

struct state {
    int64_t share; // rows and nonzeros of a share
    struct shares shares;
    int64_t prefetch; // prefetch distance in nonzeros, 0: none
    bool stream;      // streaming stores of C
};

#define BODY "spmm/rowsplit.inl"
#include "each_kind.inl"

// Operands whose values have fewer bits than f32.
struct halves {
    const int64_t *ptr;
    const int32_t *idx;
    const void *val, *B;
    void *C;
    int64_t k, B_ld, C_ld;
    enum prec in, out;
};
typedef float eight __attribute__((vector_size(32)));
typedef uint32_t eight_words __attribute__((vector_size(32)));
typedef uint16_t eight_halves __attribute__((vector_size(16)));

#define KIND_BODY "spmm/rowsplit_half.inl"
#include "base/each_kind.inl"
#define KIND

static void multiply_halves(struct task *t)
{
    struct state *s = t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct halves x = {A->ptr,    A->idx,      A->val,  t->in[0].val,     t->C.val,
                             t->C.cols, t->in[0].ld, t->C.ld, prec_in(t->prec), prec_out(t->prec)};
    shares_reset(&s->shares);
#pragma omp parallel num_threads(s->shares.threads)
    {
        int empty = 0;
        for (int64_t i; (i = shares_take(&s->shares, &empty)) >= 0;) CPU_OF_KIND(rows_of_halves)
        (&x, row_at(x.ptr, A->m, i * s->share), row_at(x.ptr, A->m, (i + 1) * s->share));
    }
}

static bool has_halves(const struct task *t) { return prec_in(t->prec) != prec_sum(t->prec); }

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    const struct csr_dev *A = csr_of(t->A[0]);
    const bool halves = has_halves(t);
    if (halves && (task_option(t, "prefetch") > 0 || task_option(t, "stream") > 0))
        return fail(ERR_UNSUPPORTED, "rowsplit: prefetch and stream are options of f32 and f64");
    s->share = share_steps(t);
    int err = shares_make(t, (A->m + A->nnz + s->share - 1) / s->share, t->C.cols, &s->shares);
    if (err || halves) return err;
    s->stream = cpu_stream(t);
    return cpu_ahead(t, A->idx, A->nnz, t->C.cols, &s->prefetch);
}

static int run(struct task *t)
{
    if (has_halves(t))
        multiply_halves(t);
    else
        BY_KIND(t, multiply, t);
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (!s) return;
    device_free(t->dev, s->shares.ranges);
    task_free_state(t);
}

static const struct algo_option options[] = {
    CPU_SHARE_OPTION,
    CPU_AHEAD_OPTION,
    CPU_STREAM_OPTION,
    {0},
};

const struct algo spmm_rowsplit_cpu = {
    .layouts = ROW_MAJOR,
    .precs = EVERY_PREC,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = YANG_2018 ", section 4.1",
    .differs = "The paper's kernel runs on GPUs: a row belongs to a warp, and the columns of B to "
               "its lanes.",
    ALGO_FUNCTIONS(prepare, run, teardown),
};

// The kernels for CUDA are in rowsplit.cu.
DECLARE_FUNCTIONS(spmm_rowsplit_cuda);

// `batch`: 32 as in the paper. H200: 8 is faster on short rows (USA-road-d.NY 80 us in place of
// 109) and slower on long rows.
static const struct algo_option cuda_options[] = {
    {"batch", 32, 4, 32, true, "independent loads of B in flight per thread, T: 4, 8, 16 or 32"},
    {"rows", 4, 1, ROWSPLIT_ROWS, true, "rows of A per block, one warp each"},
    {0},
};

const struct algo spmm_rowsplit_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = cuda_options,
    .cite = YANG_2018 ", section 4.1",
    .differs =
        "The last batch of a row is not padded with dummy columns: whole groups of 4 past the "
        "end of the row are left out.",
    ALGO_FUNCTIONS(spmm_rowsplit_cuda_prepare, spmm_rowsplit_cuda_run, task_free_state),
};
