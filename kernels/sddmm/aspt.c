// SDDMM on adaptive sparse tiles, C = A .* (X * Y^T).
// Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P. Sadayappan: Adaptive Sparse
// Tiling for Sparse Matrix Multiplication, PPoPP 2019, section 5, listings 1 and 4.
//
// Format: aspt, see formats/aspt.h. Any k. A thread computes a panel of rows, tile by tile, and in
// a tile row by row. The rows of Y that a tile needs stay in the core's cache from one row to the
// next. The light part comes last. Values are written in the order of CSR.
#include "aspt.h"
#include "papers.h"

#define BODY "sddmm/aspt.inl"
#include "each_kind.inl"

static int run(struct task *t)
{
    BY_KIND(t, multiply, aspt_of(t->A[0]), &t->in[0], &t->in[1], t->val);
    return OK;
}

static const struct algo_option options[] = {ASPT_CPU_OPTIONS, {0}};

const struct algo sddmm_aspt_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = options,
    .cite = HONG_2019 ", section 5",
    .differs =
        "The columns of a tile are chosen by the modulo mapping that the paper has for GPUs, "
        "the size of tiles by this machine's caches, and values are written in the order of CSR.",
    .choose = aspt_choose_cpu,
    .run = run,
};

// The kernels for CUDA are in aspt.cu.
DECLARE_FUNCTIONS(sddmm_aspt_cuda);

static const struct algo_option cuda_options[] = {ASPT_CUDA_OPTIONS, {0}};

const struct algo sddmm_aspt_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_aspt},
    .arith = ARITH_PREC,
    .options = cuda_options,
    .cite = HONG_2019 ", section 5",
    .differs =
        "A block goes through up to 4 tiles of its rows and then through their light parts; 8 "
        "lanes share a row, with vectors, instead of 32, and sum up 8 dot products together; "
        "values are written in the order of CSR. Columns are heavy from 64 nonzeros of a panel on, "
        "not 16: with fewer, L1 is as fast.",
    .choose = sddmm_aspt_cuda_choose,
    FUNCTIONS_OF(sddmm_aspt_cuda),
};
