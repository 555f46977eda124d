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

static const struct param options[] = {ASPT_CPU_OPTIONS, {0}};

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
