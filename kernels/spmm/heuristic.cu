// SpMM by whichever of row split and merge suits the rows, C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 5.4.
//
// Format: CSR. Any k. The choice looks at the mean row length d = nnz / m alone: merge below the
// threshold, row split from it on. Both run with their default options.
#include "kernel.cuh"
#include "papers.h"

#include <string.h>

extern "C" const struct algo spmm_rowsplit_cuda, spmm_merge_cuda;

static int prepare(struct task *t)
{
    const double d = t->A.m ? (double)t->A.nnz / t->A.m : 0;
    const struct algo *algo =
        d < task_option(t, "threshold") ? &spmm_merge_cuda : &spmm_rowsplit_cuda;
    struct task *picked = (struct task *)mem_alloc(1, sizeof *picked);
    if (!picked) return ERR_MEMORY;
    *picked = *t;
    t->state = picked;
    picked->algo = algo;
    picked->state = NULL;
    for (int i = 0; algo->options[i].name; i++) picked->opt[i] = algo->options[i].value;
    int code = algo->prepare(picked);
    memcpy(t->figures, picked->figures, sizeof t->figures);
    t->figure_count = picked->figure_count;
    task_text(t, "picked", algo->name);
    return code;
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
    if (picked->algo->teardown) picked->algo->teardown(picked);
    mem_free(picked);
    t->state = NULL;
}

static const struct algo_option options[] = {
    {"threshold", 9.35, 0, 1e9, false, "mean row length from which row split is picked"},
    {},
};

extern const struct algo spmm_heuristic_cuda = {
    .name = "heuristic",
    .op = OP_SPMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "merge for short rows, row split for long ones, by the mean row length",
    .cite = YANG_2018 ", section 5.4",
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
