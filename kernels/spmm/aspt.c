// SpMM on adaptive sparse tiles (ASpT), C = A * B, row-major.
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 4.2, listing 1.
//
// listing 1                     here
// line 2: panels to threads     multiply(): one dynamic iteration per panel
// lines 7-13: tiles and rows    panel_in()
// lines 14-21: nonzeros         part(), with row() of cpu/row.inl for the loop over k
//
// Format: aspt, see formats/aspt.h. Any k. A thread computes a panel: one tile after the other, and
// in a tile one row after the other. The rows of B that a tile needs stay in the core's cache from
// one row to the next. The light part comes last, as in CSR.
#include "aspt.h"
#include "papers.h"
#include "spmm/cpu/ahead.h"

struct state {
    int64_t prefetch; // prefetch distance in nonzeros of the light part, 0: none
};

#define BODY "spmm/aspt.inl"
#include "each_kind.inl"

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    const struct aspt *A = aspt_of(t->A[0]);
    return cpu_ahead(t, A->idx, A->nnz, t->C.cols, &s->prefetch);
}

static int run(struct task *t)
{
    const int64_t prefetch = ((const struct state *)t->state)->prefetch;
    BY_KIND(t, multiply, aspt_of(t->A[0]), &t->in[0], &t->C, prefetch);
    return OK;
}

static const struct algo_option options[] = {
    ASPT_CPU_OPTIONS,
    CPU_AHEAD_OPTION,
    {0},
};

const struct algo spmm_aspt_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = options,
    .cite = HONG_2019 ", section 4.2",
    .differs =
        "The columns of a tile are chosen by the modulo mapping that the paper has for GPUs, and "
        "the size of tiles by this machine's caches.",
    .choose = aspt_choose_cpu,
    ALGO_FUNCTIONS(prepare, run, task_free_state),
};

// The kernels for CUDA are in aspt.cu.
DECLARE_FUNCTIONS(spmm_aspt_cuda);

static const struct algo_option cuda_options[] = {ASPT_CUDA_OPTIONS, {0}};

const struct algo spmm_aspt_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = cuda_options,
    .cite = HONG_2019 ", section 4.3",
    .differs =
        "A block goes through up to 4 tiles of its rows and then through their light parts, where "
        "the paper's takes one tile and adds to C; 8 lanes share a row, with vectors, instead of "
        "32. Columns are heavy from 64 nonzeros of a panel on, not 16: with fewer, L1 is as fast.",
    .choose = spmm_aspt_cuda_choose,
    FUNCTIONS_OF(spmm_aspt_cuda),
};
