// Tiled SpMM, C = A * B, column-major: "Optimizing Tiled Sparse Matrix Multiplication with
// Performance Modeling on GPUs", sections 2.5 and 4. The words are those of formats/tiled.h.
//
// Format: tiled. Any k. A block takes a panel of A and R columns of B and C, a thread a segment: a
// row of A, or a piece of a long one. For each stage of the panel the block copies the stage's
// elements of those columns of B to shared memory, with zeros where there is none; then each warp
// goes through its slice, an entry of each segment at a time, which is read once for R columns. The
// R sums stay in registers until the last stage is done.
//
// The R elements of B that an entry needs lie side by side in shared memory, and are read as
// vectors of 16 bytes. Between those of two columns is a gap that makes their distance an odd
// number of vectors, so that any eight neighbouring columns lie in different banks.
//
// B is what many blocks read of, so the caches are left to it: A, which is read once for each slab,
// is marked as not to be kept, and so is C where whole lines of it are written.
//
// What comes next is read before it is needed, so that its latency is hidden: the columns of the
// next stage, and a lane's first entries in this one, before the block waits for the stage; entries
// behind them while those before are added.
//
// Padding adds 0 * 0: its place is behind the columns of a stage, where a zero stays. Sums of the
// parts of a cut row go to memory, and a second kernel adds them up.
//
// Limits: a stage and R must fit in the shared memory of a block.
//
// `tiled-tuned` is in turned.cu: it does without tiles.
#include "formats/tiled.h"
#include "kernel.cuh"
#include "papers.h"

#define MAX_ROWS 512        // threads of a block
static const int BATCH = 4; // entries of a lane that are read at a time
static const int AHEAD = 2; // columns of the next stage that a thread knows while it adds up

// How a column of a stage lies in shared memory.
template <typename T, int R> struct column {
    static const int VEC = R < (int)(16 / sizeof(T)) ? R : (int)(16 / sizeof(T));
    static const int PACKS = R / VEC;
    static const int STEP = PACKS % 2 ? PACKS : PACKS + 1; // packs from one column to the next
    pack<T, VEC> x[STEP];
};

// One slab of R columns of B and C, of which there are `cols`.
template <typename T> struct slab {
    const T *B;
    T *C, *parts;
    int64_t B_step, C_step, parts_step; // elements from one column to the next
    int cols;
};

// The elements of one column of A in the slab's columns of B.
template <typename T, int R>
static __device__ __forceinline__ void load_column(column<T, R> &to, int32_t col, const slab<T> &s)
{
    const int VEC = column<T, R>::VEC;
    const T *b = s.B + col;
    pack<T, VEC> x[column<T, R>::PACKS];
#pragma unroll
    for (int f = 0; f < R; f++) x[f / VEC].x[f % VEC] = f < s.cols ? b[f * s.B_step] : (T)0;
#pragma unroll
    for (int p = 0; p < column<T, R>::PACKS; p++) to.x[p] = x[p];
}

// The first columns of a stage that a thread loads, read while the stage before is added up.
struct ahead {
    int32_t col[AHEAD];
};

static __device__ __forceinline__ struct ahead read_ahead(const int32_t *__restrict__ map,
                                                          int count)
{
    struct ahead a;
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        const int n = (int)(threadIdx.x + i * blockDim.x);
        a.col[i] = n < count ? __ldcs(map + n) : 0;
    }
    return a;
}

// Elements of the columns map[0 .. count) of A, in the slab's columns of B.
template <typename T, int R>
static __device__ __forceinline__ void load_stage(column<T, R> *stage, const struct ahead &a,
                                                  const int32_t *__restrict__ map, int count,
                                                  const slab<T> &s)
{
    int n = (int)threadIdx.x;
#pragma unroll
    for (int i = 0; i < AHEAD; i++, n += (int)blockDim.x)
        if (n < count) load_column(stage[n], a.col[i], s);
    for (; n < count; n += (int)blockDim.x) load_column(stage[n], __ldcs(map + n), s);
}

// A lane's entries of a slice that are read at a time: from q on, 32 apart, as far as there are
// any.
template <typename T> struct batch {
    uint32_t place[BATCH];
    T val[BATCH];
};

template <typename T>
static __device__ __forceinline__ batch<T> read_batch(const struct tiled &A, int64_t q, int64_t end)
{
    batch<T> b;
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        const bool there = q + i * WARP < end;
        b.place[i] = there ? __ldcs(A.idx + q + i * WARP) : 0;
        b.val[i] = there ? __ldcs((const T *)A.val + q + i * WARP) : (T)0;
    }
    return b;
}

// Adds the products of a lane's entries of one slice, those from q on; `b` has the first of them.
template <typename T, int R>
static __device__ __forceinline__ void add_slice(T (&sum)[R], const column<T, R> *stage,
                                                 const struct tiled &A, batch<T> b, int64_t q,
                                                 int64_t end)
{
    const int VEC = column<T, R>::VEC;
    while (q < end) {
        const batch<T> next = read_batch<T>(A, q + BATCH * WARP, end);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            if (q + i * WARP >= end) break; // for all lanes
            const column<T, R> &c = stage[b.place[i]];
#pragma unroll
            for (int p = 0; p < column<T, R>::PACKS; p++) {
                const pack<T, VEC> x = c.x[p];
#pragma unroll
                for (int e = 0; e < VEC; e++) sum[p * VEC + e] += b.val[i] * x.x[e];
            }
        }
        q += BATCH * WARP;
        b = next;
    }
}

// All stages of the block's panel, for one slab.
template <typename T, int R>
static __device__ __forceinline__ void multiply_panel(const struct tiled &A, column<T, R> *stage,
                                                      const slab<T> &s)
{
    const int warps = (int)blockDim.x / WARP, warp = warp_broadcast((int)threadIdx.x / WARP, 0);
    const int64_t segment = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = A.panel[blockIdx.x], last = A.panel[blockIdx.x + 1];
    const int32_t *map = A.map + A.map_ptr[first]; // of this stage; the next one's lies behind it
    int columns = (int)(A.map_ptr[last] - A.map_ptr[first]); // from this stage on
    struct ahead a = read_ahead(map, columns);
    T sum[R] = {};
    for (int64_t x = first; x < last; x++) {
        const int64_t slice = x * warps + warp, end = A.slice[slice + 1];
        const int64_t q = A.slice[slice] + lane_id();
        const batch<T> b = read_batch<T>(A, q, end);
        load_stage(stage, a, map, columns < A.stage ? columns : A.stage, s);
        map += A.stage;
        columns -= A.stage;
        a = read_ahead(map, columns);
        __syncthreads();
        add_slice(sum, stage, A, b, q, end);
        __syncthreads(); // the next stage takes its place
    }
    if (segment >= A.segments) return;
    const int64_t to = A.to ? A.to[segment] : segment;
    T *c = to >= 0 ? s.C + to : s.parts + (-1 - to);
    const int64_t step = to >= 0 ? s.C_step : s.parts_step;
    if (A.to) {
#pragma unroll
        for (int f = 0; f < R; f++)
            if (f < s.cols) c[f * step] = sum[f];
    } else {
#pragma unroll
        for (int f = 0; f < R; f++)
            if (f < s.cols) __stcs(c + f * step, sum[f]);
    }
}

template <typename T, int R>
static __global__ void __launch_bounds__(MAX_ROWS)
    multiply(struct tiled A, int32_t k, const T *__restrict__ B, int64_t B_step, T *__restrict__ C,
             int64_t C_step, T *__restrict__ parts)
{
    typedef column<T, R> column_t;
    SHARED_DYNAMIC(column_t, stage); // and one column of zeros
    for (int p = (int)threadIdx.x; p < column_t::STEP; p += (int)blockDim.x)
        stage[A.stage].x[p] = {};
    const int64_t slabs = ceil_div(k, R);
    for (int64_t y = blockIdx.y; y < slabs; y += gridDim.y) {
        const int64_t j = y * R;
        const slab<T> s = {B + j * B_step, C + j * C_step, parts + j * A.parts,         B_step,
                           C_step,         A.parts,        k - j < R ? (int)(k - j) : R};
        multiply_panel(A, stage, s);
    }
}

#define ADD_BLOCK 128
#define ADD_LONG  32 // rows of more parts have a whole warp

// Adds up the parts of the cut rows: a thread a row and a column of C.
template <typename T>
static __global__ void __launch_bounds__(ADD_BLOCK)
    add_few(struct tiled A, int32_t k, const T *__restrict__ parts, T *__restrict__ C,
            int64_t C_step)
{
    const int64_t c = (int64_t)blockIdx.x * ADD_BLOCK + threadIdx.x;
    const int lane = lane_id();
    const bool mine = c < A.cuts;
    const int64_t begin = mine ? A.cut_part[c] : 0, end = mine ? A.cut_part[c + 1] : 0;
    for (int64_t j = blockIdx.y; j < k; j += gridDim.y) {
        const T *part = parts + j * A.parts;
        T sum = 0;
        for (int64_t p = begin; p < end && end - begin <= ADD_LONG; p++) sum += part[p];
        for (unsigned rest = __ballot_sync(FULL_MASK, end - begin > ADD_LONG); rest;
             rest &= rest - 1) {
            const int owner = __ffs((int)rest) - 1;
            const int64_t last = warp_broadcast(end, owner);
            T share = 0;
            for (int64_t p = warp_broadcast(begin, owner) + lane; p < last; p += WARP)
                share += part[p];
            share = warp_sum(share);
            if (lane == owner) sum = share;
        }
        if (mine) C[A.cut_row[c] + j * C_step] = sum;
    }
}

// The same where they are many: a team a row and a column of C.
template <typename T, int TEAM>
static __global__ void __launch_bounds__(ADD_BLOCK)
    add_many(struct tiled A, int32_t k, const T *__restrict__ parts, T *__restrict__ C,
             int64_t C_step)
{
    __shared__ T sums[ADD_BLOCK / WARP];
    const int64_t c = ((int64_t)blockIdx.x * ADD_BLOCK + threadIdx.x) / TEAM;
    if (c >= A.cuts) return;
    const int64_t begin = A.cut_part[c], end = A.cut_part[c + 1];
    for (int64_t j = blockIdx.y; j < k; j += gridDim.y) {
        const T *part = parts + j * A.parts;
        T share = 0, sum;
#pragma unroll 4
        for (int64_t p = begin + team_rank<TEAM>(); p < end; p += TEAM) share += part[p];
        team_scan<TEAM>(share, sums, sum);
        if (team_rank<TEAM>() == 0) C[A.cut_row[c] + j * C_step] = sum;
    }
}

struct state {
    int factor;  // R
    void *parts; // of cut rows, column-major
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

// Whether a stage fits in the shared memory of a block.
template <typename T, int R> static int make_room(const struct task *t)
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
    return BY_FACTOR(T, make_room, t, s->factor);
}

template <typename T> static void start_adding(const struct task *t)
{
    const struct tiled *A = tiled_of(t->A[0]);
    const T *parts = (const T *)((const struct state *)t->state)->parts;
    const int32_t k = (int32_t)t->C.cols;
    const int64_t mean = A->parts / A->cuts;
    const int team = mean < WARP / 4 ? 1 : mean < WARP * 8 ? WARP : ADD_BLOCK;
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

static int prepare(struct task *t)
{
    const struct tiled *A = tiled_of(t->A[0]);
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    int64_t parts;
    t->state = s;
    if (!s) return ERR_MEMORY;
    s->factor = (int)task_option(t, "factor");
    if (s->factor & (s->factor - 1))
        return fail(ERR_UNSUPPORTED, "tiled: factor=%d: it is a power of two", s->factor);
    t->order = A->order;
    int err = BY_PREC(t, prepare_prec, t, s);
    if (!err) err = size_mul(A->parts, t->C.cols, &parts);
    if (!err && A->cuts) err = device_alloc(t->dev, parts, prec_bytes(t->prec), &s->parts);
    return err;
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) device_free(t->dev, s->parts);
    task_free_state(t);
}

static int run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_PREC(t, start, t);
    return launch_check(t->entry->name);
}

static const struct param options[] = {
    {"factor", 16, 1, 16, true, "columns of C that a thread sums up at once, R: a power of two"},
    {},
};

extern const struct algo spmm_tiled_cuda = {
    .layouts = COL_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_tiled},
    .arith = ARITH_PREC,
    .options = options,
    .about = "B staged in shared memory by panels of rows, R columns of C in registers",
    .cite = TILED_SPMM ", sections 2.5 and 4",
    .differs =
        "The rows of C are in their own order unless permute=1 asks for the paper's; so rows are "
        "sorted where that saves more loads of B than it adds pieces of C, by rho alone with "
        "permute=1. U counts the blocks of one slab of R columns, and of a block with few rows the "
        "part that they are.",
    .model = MODEL_TILED,
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
