// Tiled SpMM, C = A * B, column-major.
// "Optimizing Tiled Sparse Matrix Multiplication with Performance Modeling on GPUs", sections 2.5
// and 4. The words are those of formats/tiled.h.
//
// Format: tiled. Any k. A block has a panel of A and R columns of B and C. A thread has a segment:
// a row of A or a part of a long row. What a block does:
//
// 1. Copy the elements of B of a stage to shared memory (panel.cuh: load_stage()).
// 2. Each warp multiplies its slice (add_slice()), one entry of each segment at a time. An entry is
//    read once for R columns. The R sums stay in registers until the last stage.
// 3. After the last stage, write the sums to C, column by column. Sums of segments of cut rows go
//    to memory. A second kernel adds them (parts.cuh).
//
// The R elements of B of one column are neighbours in shared memory and are read as vectors of 16
// bytes. A gap makes the distance of two columns an odd number of vectors, so that eight
// neighbouring columns are in different banks.
//
// Caches are for B, which many blocks read. A is read once per slab and bypasses the caches. So
// does C if whole lines are written.
//
// Loads are ahead of their use: the columns of the next stage and a lane's first entries are loaded
// before the barrier of the stage, and further entries while entries are added.
//
// Padding adds 0 * 0: its position is behind the columns of a stage, where a zero is kept.
//
// Limits: a stage of R columns must fit in the shared memory of a block.
//
// panel.cuh  the work of a block on its panel
// parts.cuh  the second kernel
// slabs.h    the format's option that depends on k
#include "panel.cuh"
#include "parts.cuh"
#include "slabs.h"

struct state {
    int factor;  // R
    void *parts; // sums of segments of cut rows, column-major
};

static dim3 grid_of(int64_t blocks, int64_t slabs)
{
    return dim3((unsigned)blocks, (unsigned)min64(slabs, 65535));
}

template <typename T, int R> static void start_factor(const struct task *t)
{
    const struct tiled *A = tiled_of(t->A[0]);
    const int32_t k = (int32_t)t->C.cols;
    auto kernel = multiply<T, R>;
    LAUNCH(kernel, grid_of(A->panels, ceil_div(k, R)), (unsigned)A->rows,
           ((size_t)A->stage + 1) * sizeof(column<T, R>), t->dev->stream, *A, k,
           (const T *)t->in[0].val, t->in[0].ld, (T *)t->C.val, t->C.ld,
           (T *)((const struct state *)t->state)->parts);
}

// Returns ERR_UNSUPPORTED if a stage does not fit in the shared memory of a block.
template <typename T, int R> static int check_stage(const struct task *t)
{
    struct cudaFuncAttributes facts;
    const struct tiled *A = tiled_of(t->A[0]);
    const int64_t need = ((int64_t)A->stage + 1) * (int64_t)sizeof(column<T, R>);
    auto kernel = multiply<T, R>;
    int err = allow_shared(t->dev, kernel);
    if (err) return err;
    CUDA_TRY(cudaFuncGetAttributes(&facts, kernel));
    if (need <= facts.maxDynamicSharedSizeBytes) return OK;
    return fail(ERR_UNSUPPORTED,
                "%s: stage=%d factor=%d take %lld bytes of shared memory, a block has %d",
                t->entry->name, A->stage, R, (long long)need, facts.maxDynamicSharedSizeBytes);
}

// Calls function<T, R>(t) for the R of the task.
#define BY_FACTOR(T, function, t, factor)                                                          \
    ((factor) == 16  ? function<T, 16>(t)                                                          \
     : (factor) == 8 ? function<T, 8>(t)                                                           \
     : (factor) == 4 ? function<T, 4>(t)                                                           \
     : (factor) == 2 ? function<T, 2>(t)                                                           \
                     : function<T, 1>(t))

template <typename T> static int prepare_prec(struct task *t, const struct state *s)
{
    return BY_FACTOR(T, check_stage, t, s->factor);
}

template <typename T> static void start_adding(const struct task *t)
{
    const struct tiled *A = tiled_of(t->A[0]);
    const T *parts = (const T *)((const struct state *)t->state)->parts;
    const int32_t k = (int32_t)t->C.cols;
    const int64_t mean = A->parts / A->cuts;
    const int team = mean <= ADD_LONG ? 1 : mean <= ADD_LONG * 8 ? WARP : ADD_BLOCK;
    void (*add)(struct tiled, int32_t, const T *, T *, int64_t) = add_few<T>;
    if (team == WARP) add = add_many<T, WARP>;
    if (team == ADD_BLOCK) add = add_many<T, ADD_BLOCK>;
    LAUNCH(add, grid_of(ceil_div(A->cuts, ADD_BLOCK / team), k), ADD_BLOCK, 0, t->dev->stream, *A,
           k, parts, (T *)t->C.val, t->C.ld);
}

template <typename T> static void start(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    BY_FACTOR(T, start_factor, t, s->factor);
    if (tiled_of(t->A[0])->cuts) start_adding<T>(t);
}

extern "C" int spmm_tiled_cuda_prepare(struct task *t)
{
    const struct tiled *A = tiled_of(t->A[0]);
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    int64_t parts;
    t->state = s;
    if (!s) return ERR_MEMORY;
    s->factor = (int)task_option(t, "factor");
    if (s->factor & (s->factor - 1))
        return fail(ERR_UNSUPPORTED, "tiled: factor=%d: must be a power of two", s->factor);
    t->order = A->order;
    int err = BY_PREC(t, prepare_prec, t, s);
    if (!err) err = size_mul(A->parts, t->C.cols, &parts);
    if (!err && A->cuts) err = device_alloc(t->dev, parts, in_bytes(t), &s->parts);
    return err;
}

extern "C" void spmm_tiled_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) device_free(t->dev, s->parts);
    task_free_state(t);
}

extern "C" int spmm_tiled_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}
