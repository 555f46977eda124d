// SpMM on padded sliced ELLPACK (SELL-P), C = A * B, row-major.
// Hartwig Anzt, Stanimire Tomov, Jack Dongarra: Implementing a Sparse Matrix Vector Product for the
// SELL-C/SELL-C-sigma formats on NVIDIA GPUs, 2014. MAGMA's SpMM on this format is a baseline of
// Yang, Buluc, Owens, Euro-Par 2018.
//
// Format: SELL-P, see sellp.h. Any k. On a GPU each row of a slice has its own threads, which
// compute the padding too. Here a thread's share is a slice, and a row ends at its padding. Vectors
// run along the rows of B.
#include "cpu.h"
#include "formats/sellp.h"
#include "spmm/cpu/ahead.h"
#include "spmm/cpu/stream.h"

// Returns the length of a row without padding, by binary search.
static int64_t row_length(const int32_t *idx, int64_t slice, int64_t width)
{
    int64_t low = 0, high = width;
    while (low < high) {
        int64_t j = low + (high - low) / 2;
        if (idx[j * slice] >= 0) {
            low = j + 1;
        } else {
            high = j;
        }
    }
    return low;
}

struct state {
    int64_t prefetch; // prefetch distance in nonzeros, 0: none
    bool stream;      // streaming stores of C
};

#define BODY "spmm/sellp.inl"
#include "each_kind.inl"

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    const struct sellp *A = sellp_of(t->A[0]);
    s->stream = cpu_stream(t);
    return cpu_ahead(t, A->idx, A->stored, t->C.cols, &s->prefetch);
}

static int run(struct task *t)
{
    BY_KIND(t, multiply, t);
    return OK;
}

static const struct algo_option options[] = {
    CPU_AHEAD_OPTION,
    CPU_STREAM_OPTION,
    {0},
};

const struct algo spmm_sellp_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_sellp},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Anzt, Tomov, Dongarra: Implementing a Sparse Matrix Vector Product for the "
            "SELL-C/SELL-C-sigma formats on NVIDIA GPUs, 2014",
    .differs =
        "The paper's kernel runs on GPUs, whose threads walk through the padding of a slice in step; "
        "here a row ends where its padding begins.",
    ALGO_FUNCTIONS(prepare, run, task_free_state),
};

// The kernels for CUDA are in sellp.cu.
DECLARE_FUNCTIONS(spmm_sellp_cuda);

const struct algo spmm_sellp_cuda = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_sellp},
    .arith = ARITH_PREC,
    .cite = "Anzt, Tomov, Dongarra: Accelerating the LOBPCG method on GPUs using a blocked sparse "
            "matrix vector product, HPC 2015",
    .differs = "A warp leaves its row where the padding begins, instead of walking through it.",
    ALGO_FUNCTIONS(spmm_sellp_cuda_prepare, spmm_sellp_cuda_run, task_free_state),
};
