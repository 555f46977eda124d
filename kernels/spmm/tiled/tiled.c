// Tiled SpMM, C = A * B, column-major.
// "Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs", sections 2.5
// and 4, ported to a CPU. The words are those of formats/tiled.h.
//
// Format: tiled. Any k. A thread computes a panel and R columns of C, which are in vector
// registers. The thread copies the elements of B of a stage to a buffer that stays in the core's
// cache: R neighbouring elements per column of the stage. Each entry of A multiplies one such
// vector. A segment ends at its padding. The sums of a panel are in the same buffer until the last
// stage is done, and are then written column by column.
#include "cpu.h"
#include "formats/tiled.h"
#include "papers.h"
#include "slabs.h"

#include <omp.h>
#include <string.h>

struct state {
    int factor;   // R
    void *parts;  // sums of segments of cut rows, column-major
    char *buffer; // buffers of all threads: a stage and the sums of a panel each
    int64_t buffer_bytes;
};

#define BODY "spmm/tiled/tiled.inl"
#include "each_kind.inl"

static int prepare(struct task *t)
{
    const struct tiled *A = tiled_of(t->A[0]);
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    int64_t count;
    if (!s) return ERR_MEMORY;
    s->factor = (int)task_option(t, "factor");
    if (s->factor & (s->factor - 1))
        return fail(ERR_UNSUPPORTED, "tiled: factor=%d: must be a power of two", s->factor);
    t->order = A->order;
    s->buffer_bytes = ((int64_t)A->stage + A->rows) * s->factor * in_bytes(t) + 128;
    s->buffer_bytes -= s->buffer_bytes % 64; // each buffer begins at a cache line
    int err =
        device_alloc(t->dev, omp_get_max_threads(), (size_t)s->buffer_bytes, (void **)&s->buffer);
    if (!err) err = size_mul(A->parts, t->C.cols, &count);
    if (!err && A->cuts) err = device_alloc(t->dev, count, in_bytes(t), &s->parts);
    return err;
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (s) device_free(t->dev, s->parts);
    if (s) device_free(t->dev, s->buffer);
    task_free_state(t);
}

static int run(struct task *t)
{
    BY_KIND(t, multiply, t);
    return OK;
}

static const struct algo_option options[] = {
    {"factor", 16, 1, 32, true, "columns of C that are summed up at once, R: a power of two"},
    {0},
};

const struct algo spmm_tiled_cpu = {
    .layouts = COL_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_tiled},
    .arith = ARITH_PREC,
    .options = options,
    .cite = TILED_SPMM ", sections 2.5 and 4",
    .differs =
        "The paper's kernel runs on GPUs: a block computes a panel, a thread a row. Rows of C "
        "keep their order; permute=1 leaves them sorted, as in the paper. Rows are sorted if "
        "the saved loads of B exceed the added pieces of C; with permute=1 rho alone decides. "
        "In U, a block with few rows counts as a fraction. Rows are cut to U mu nonzeros if U "
        "times the number of slabs is under 0.65.",
    .model = MODEL_TILED,
    .choose = choose_slabs,
    ALGO_FUNCTIONS(prepare, run, teardown),
};

// The kernels for CUDA are in tiled.cu.
DECLARE_FUNCTIONS(spmm_tiled_cuda);

static const struct algo_option cuda_options[] = {
    {"factor", 16, 1, 16, true, "columns of C that a thread sums up at once, R: a power of two"},
    {0},
};

const struct algo spmm_tiled_cuda = {
    .layouts = COL_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_tiled},
    .arith = ARITH_PREC,
    .options = cuda_options,
    .cite = TILED_SPMM ", sections 2.5 and 4",
    .differs = "Rows of C keep their order; permute=1 leaves them sorted, as in the paper. Rows "
               "are sorted "
               "if the saved loads of B exceed the added pieces of C; with permute=1 rho alone "
               "decides. U is "
               "that of one slab of R columns; a block with few rows counts as a fraction. Rows "
               "are cut to U "
               "mu nonzeros if U times the number of slabs is under 0.65.",
    .model = MODEL_TILED,
    .choose = choose_slabs,
    FUNCTIONS_OF(spmm_tiled_cuda),
};
