// SpMM by rows (row split), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.1, carried over to a CPU: the paper gives a row to a warp and the
// columns of B to its lanes; here a row belongs to a thread and the columns to vector registers.
//
// Format: CSR. Any k. A thread's share is some rows, and it takes another as it gets free. Rows of
// very different lengths still cost balance: one row is never cut.
#include "cpu.h"
#include "papers.h"

#include <omp.h>

struct state {
    int64_t share; // rows that a thread takes at a time
    int prefetch;
};

#define BODY "spmm/rowsplit.inl"
#include "each_prec.inl"

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    // Fewer at a time where there are few rows, so that every thread gets some.
    int64_t most = t->A[0]->m / (8 * omp_get_max_threads());
    s->share = max64(1, min64((int64_t)task_option(t, "share"), most));
    s->prefetch = (int)task_option(t, "prefetch");
    return OK;
}

static int run(struct task *t)
{
    BY_PREC(t, multiply, t);
    return OK;
}

static const struct param options[] = {
    {"share", 64, 1, 1 << 20, true, "rows that a thread takes at a time, at most"},
    {"prefetch", 32, 0, 1024, true, "nonzeros that rows of B are fetched ahead of their use"},
    {0},
};

const struct algo spmm_rowsplit_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .about = "a row per thread, vectorised over the columns of B",
    .cite = YANG_2018 ", section 4.1",
    .differs =
        "The paper's is for GPUs: a row belongs to a warp, and the columns of B to its lanes.",
    .prepare = prepare,
    .run = run,
    .teardown = task_free_state,
};
