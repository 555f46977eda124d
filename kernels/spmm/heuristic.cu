// SpMM by whichever of row split and merge suits the rows, C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 5.4.
//
// Format: CSR. Any k. The choice looks at the mean row length d = nnz / m alone: merge below the
// threshold, row split from it on. Both run with their default options.
#include "kernel.cuh"
#include "papers.h"

extern const struct algo spmm_rowsplit_cuda, spmm_merge_cuda;

// In the order of their names in the descriptor.
static const struct algo *const picks[] = {&spmm_merge_cuda, &spmm_rowsplit_cuda};

// The state is a task of the algorithm that is picked, on the same operands. The figures that it
// tells are handed over.
static int prepare(struct task *t)
{
    const double d = t->C.rows ? (double)t->A[0]->nnz / (double)t->C.rows : 0;
    const int pick = d < task_option(t, "threshold") ? 0 : 1;
    struct task *picked = (struct task *)mem_alloc(1, sizeof *picked);
    t->state = picked;
    if (!picked) return ERR_MEMORY;
    *picked = *t;
    picked->algo = picks[pick];
    picked->state = NULL;
    algo_defaults(picked->algo, picked->opt);
    int err = picked->algo->prepare(picked);
    t->figures = picked->figures;
    task_text(t, "picked", t->algo->picks[pick]);
    return err;
}

static int run(struct task *t)
{
    struct task *picked = (struct task *)t->state;
    return picked->algo->run(picked);
}

static void teardown(struct task *t)
{
    struct task *picked = (struct task *)t->state;
    if (!picked) return;
    picked->algo->teardown(picked);
    mem_free(picked);
    t->state = NULL;
}

static const struct param options[] = {
    {"threshold", 9.35, 0, 1e9, false, "mean row length from which row split is picked"},
    {},
};

extern const struct algo spmm_heuristic_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .about = "merge for short rows, row split for long ones, by the mean row length",
    .cite = YANG_2018 ", section 5.4",
    .picks = {"merge", "rowsplit"},
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
