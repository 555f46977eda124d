// SpMM on adaptive sparse tiles, C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 4.2, listing 1.
//
// Format: aspt, see formats/aspt.h. Any k. A thread takes a panel of rows and goes through its
// tiles, in a tile row by row: the rows of B that a tile needs stay in the core's cache from one
// row to the next. The light part comes last, as in CSR. The columns of B are in vector registers.
#include "aspt.h"
#include "papers.h"

#define BODY "spmm/aspt.inl"
#include "each_prec.inl"

static int run(struct task *t)
{
    BY_PREC(t, multiply, aspt_of(t->A[0]), &t->in[0], &t->C, (int)task_option(t, "prefetch"));
    return OK;
}

static const struct param options[] = {
    ASPT_CPU_OPTIONS,
    {"prefetch", 32, 0, 1024, true,
     "nonzeros of the light part that rows of B are fetched ahead of their use"},
    {0},
};

const struct algo spmm_aspt_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = options,
    .about = "tiles of the heavy columns of row panels, a panel per thread, the rest as CSR",
    .cite = HONG_2019 ", section 4.2",
    .differs =
        "The columns of a tile are chosen by the modulo mapping that the paper has for GPUs, and "
        "the size of tiles by this machine's caches.",
    .choose = aspt_choose_cpu,
    .run = run,
};
