// SDDMM over equal shares of the nonzeros, C = A .* (X * Y^T).
//
// Format: CSR. Any k, any mix of row lengths. A share may begin and end inside a row. One thread
// writes each nonzero, so no sums have to be joined.
#include "cpu.h"
#include "option_limits.h"
#include "formats/coo.h"

struct state {
    int64_t share; // nonzeros that a thread takes at a time
};

// Returns the row of nonzero p: the last row that does not begin after p.
static int64_t row_of(const int64_t *ptr, int64_t m, int64_t p)
{
    int64_t low = 0, high = m;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (ptr[middle] <= p) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

#define BODY "sddmm/balanced/balanced.inl"
#include "each_kind.inl"

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    s->share = (int64_t)task_option(t, "share");
    return OK;
}

static int run(struct task *t)
{
    BY_KIND(t, multiply, t);
    return OK;
}

static const struct algo_option options[] = {
    {"share", 1024, 1, 1 << 30, true, "nonzeros that a thread takes at a time"},
    {0},
};

const struct algo sddmm_balanced_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    ALGO_FUNCTIONS(prepare, run, task_free_state),
};

// The kernels for CUDA are in balanced.cu.
DECLARE_FUNCTIONS(sddmm_balanced_cuda);

static const struct algo_option cuda_options[] = {
    {"share", 0, 0, 32, true, "nonzeros per warp without strips: 8, 16 or 32; 0: by the sizes"},
    {"early-start", 1, 0, 1, true, "1: blocks start before the previous kernel has ended"},
    {"strips", -1, -1, 1, true,
     "1: computes C strip by strip, so that rows of Y stay in L1; 0: never; -1: if that is faster"},
    {"width", 0, 0, 1 << 30, true, "columns of a strip; 0: by the sizes"},
    {"threads", 0, 0, STRIPS_THREADS, true,
     "threads per block, in whole warps, at most 256 without strips; 0: by the sizes"},
    {0},
};

const struct algo sddmm_balanced_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BY_TYPE_PRECS,
    .A = {&format_coo},
    .keeps_values = true, // in strips
    .arith = ARITH_PREC,
    .options = cuda_options,
    .cite = "Own work",
    FUNCTIONS_OF(sddmm_balanced_cuda),
};
