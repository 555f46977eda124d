// SpMM over equal shares of the nonzeros (merge-based, nonzero split), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.2 and algorithm 1.
//
// Format: CSR. Any k, any mix of row lengths. Deterministic: every sum has one fixed order. The
// words are those of ../operands.cuh. The paper's A is m x k and its B k x n. Here A is m x n and B
// n x k.
//
// algorithm 1                               here
// line 2, PartitionSpmm                     paper.cuh: partition(), or share.cuh: enter()
// line 3, a CTA has a share                 compute(): a warp has a share, share.cuh: multiply()
// lines 4-5, GlobalToShared                 left out: rows are searched in global memory
// lines 6-13, a nonzero per thread          ../operands.cuh: load_round(), without dummies
// lines 14-20, broadcasts, rows of B        ../operands.cuh: load_batch(); values are broadcast
//                                           and multiplied in share.cuh: add_quad()
// line 21, PrepareSpmm, CSR to COO          share.cuh: flatten()
// line 22, ReduceToGlobalSpmm, sums         share.cuh: add_quad(); cut rows: join.cuh: join_warps()
// line 24, FixCarryOut                      paper.cuh: fix_up(), or join.cuh: arrive()
//
// A warp's share is a fixed number of consecutive nonzeros, and a slab of C with VEC columns per
// lane. What a warp does:
//
// 1. Find the rows of the first and the last nonzero of the share (search.cuh).
// 2. Load a round of nonzeros, one per lane, and find their rows (share.cuh).
// 3. Broadcast the nonzeros, load a batch of rows of B, and add the products in order. Write the
//    sum at the end of a row.
// 4. Store the sums of the two rows that the ends of the share cut (parts.cuh).
// 5. In one warp of each block, add the sums of cut rows (join.cuh). Sums of rows that cross blocks
//    go to memory, and the block that arrives last adds them.
// 6. Write zeros to empty rows (this file).
//
// `merge` has the paper's parameters: 32 nonzeros and 32 columns per warp, and both extra kernels.
// `merge-tuned` is the same code with shares and vectors chosen for the case, in one launch. H200,
// 39 matrices: 1.4 to 1.8 times the speed of `merge`.
//
// Limits: the join of a block and its atomic take 4 us. H200, k = 32: CSR_ALG3 of cuSPARSE with
// preprocess is faster under 100,000 nonzeros, with 4.1 us to 8.5 on poly512_hamiltonian.
#include "join.cuh"
#include "paper.cuh"
#include "share.cuh"

// Writes zeros to the empty rows among rows [i, end), by all warps of the block.
template <typename T, int VEC>
static __device__ __forceinline__ void clear(const struct sizes &a, const int32_t *__restrict__ ptr,
                                             void *__restrict__ C, int32_t j, int64_t i,
                                             int64_t end, int warp)
{
    const int lane = lane_id();
    for (i += warp * WARP; i < end; i += (int64_t)blockDim.y * WARP) {
        const bool empty = i + lane < end && ptr[i + lane] == ptr[i + lane + 1];
        for (unsigned rest = __ballot_sync(FULL_MASK, empty); rest; rest &= rest - 1)
            if (j < a.k) store_row<T, VEC>(a, C, (int32_t)i + __ffs((int)rest) - 1, j, {});
    }
}

template <typename T, int VEC>
static __global__ void __launch_bounds__(MERGE_WARPS *WARP, sizeof(T) == 8 ? 3 : 4)
    compute(struct sizes a, struct split s, const int32_t *__restrict__ ptr,
            const int32_t *__restrict__ idx, const T *__restrict__ val, const T *__restrict__ B,
            void *__restrict__ C, struct scratch x)
{
    __shared__ warp_parts<sum_type<T>, VEC> parts;
    // A broadcast tells the compiler that all lanes have the same value, and saves guards at each
    // shuffle.
    const int warp = warp_broadcast((int)threadIdx.y, 0), lane = lane_id();
    const int64_t w = (int64_t)blockIdx.x * blockDim.y + warp, first = w * s.share;
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int32_t j = (slab * WARP + lane) * VEC;
        if (first < s.nnz) {
            const int32_t p = (int32_t)first, end = p + min(s.share, s.nnz - p);
            multiply<T, VEC>(a, ptr, idx, val, B, C, j, x.limits ? x.limits + 2 * w : NULL, p, end,
                             parts, warp);
        } else if (lane == 0) {
            parts.flags[warp] = 0;
        }
        __syncthreads();
        if (warp == 0 && first < s.nnz) join<T, VEC>(a, s, ptr, C, j, slab, x, parts);
        const int64_t row = (int64_t)blockIdx.x * s.rows;
        clear<T, VEC>(a, ptr, C, j, row, row + s.rows < a.m ? row + s.rows : a.m, warp);
        __syncthreads(); // the next slab writes to `parts` again
    }
}

// Decisions and allocations of prepare().
struct state {
    struct sizes sizes;
    struct split split;
    struct scratch scratch;
    int warps;    // warps of a block
    int vec;      // columns per lane
    int64_t grid; // blocks
};

template <typename T, int VEC> static void start_vec(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t *ptr = (const int32_t *)A->ptr;
    const dim3 block(WARP, (unsigned)s->warps);
    void *C = t->C.val;
    if (s->scratch.limits && s->split.nnz)
        LAUNCH(partition, dim3((unsigned)s->split.blocks), block, 0, t->dev->stream, s->sizes,
               s->split, ptr, s->scratch.limits);
    auto kernel = compute<T, VEC>;
    LAUNCH(kernel, slab_grid(s->grid, &s->sizes), block, 0, t->dev->stream, s->sizes, s->split, ptr,
           A->idx, (const T *)A->val, (const T *)t->in[0].val, C, s->scratch);
    if (s->scratch.arrived || !s->split.nnz) return;
    auto kernel_fix_up = fix_up<T, VEC>;
    LAUNCH(kernel_fix_up, slab_grid(ceil_div(s->split.blocks, s->warps), &s->sizes), block, 0,
           t->dev->stream, s->sizes, s->split, ptr, C, s->scratch, s->split.share * s->warps);
}

template <typename T> static void start(const struct task *t)
{
    const int vec = ((const struct state *)t->state)->vec;
    if (vec == 1) {
        start_vec<T, 1>(t);
    } else if (vec == 2) {
        start_vec<T, 2>(t);
    } else {
        start_vec<T, 16 / sizeof(sum_type<T>)>(t);
    }
}

extern "C" int spmm_merge_cuda_run(struct task *t)
{
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    BY_TYPE(t, start, t);
    return launch_check(t->entry->name);
}

// Returns the widest vector that the rows and their alignment allow, if k fills more than half of a
// slab. H200: k = 33, without vectors, takes 1.7 to 1.9 times the time of k = 32.
static int choose_vec(const struct task *t, int wanted)
{
    const int widest = t->prec == F64 ? 2 : 4;
    for (int vec = wanted ? wanted : 4; vec > 1; vec /= 2)
        if (vec <= widest && t->C.cols % vec == 0 && t->in[0].ld % vec == 0 && t->C.ld % vec == 0 &&
            (wanted || t->C.cols > WARP * vec / 2))
            return vec;
    return 1;
}

// Returns the nonzeros of a share. Long shares have few cut rows, short shares make many warps, and
// 20 warps per multiprocessor are enough. H200, stencil:1000, k = 32, one launch: shares of 32
// nonzeros take 266 us, of 64 189 us, of 128 156 us. Shares over 256 gain nothing. With more bytes
// per lane the end of a row costs more, so the limit is lower.
static int32_t choose_share(const struct task *t, int64_t slabs, int64_t lane_bytes)
{
    const int64_t wanted = (int64_t)task_option(t, "share");
    if (wanted) return (int32_t)(ceil_div(wanted, WARP) * WARP);
    const int64_t share = t->A[0]->nnz * slabs / ((int64_t)t->dev->units * 20);
    const int64_t most = lane_bytes <= 4 ? 256 : lane_bytes <= 8 ? 128 : 96;
    return (int32_t)max64(2 * WARP, min64(most, share / WARP * WARP));
}

// Sets everything but the scratch.
static int choose(const struct task *t, struct state *s)
{
    const int64_t width = in_bytes(t), m = t->C.rows, nnz = t->A[0]->nnz;
    const int columns = (int)task_option(t, "columns");
    if (columns == 3 || columns > (t->prec == F64 ? 2 : 4))
        return fail(ERR_UNSUPPORTED, "%s: columns=%d is not 0, 1, 2 or, except in f64, 4",
                    t->entry->name, columns);
    s->vec = choose_vec(t, columns);
    s->warps = (int)task_option(t, "threads") / WARP;
    int err = sizes_set(t, s->vec, &s->sizes);
    if (err) return err;
    const int32_t share = choose_share(t, s->sizes.slabs, s->vec * width);
    const int64_t block_share = (int64_t)share * s->warps, blocks = ceil_div(nnz, block_share);
    // A block clears at most as many rows as it has nonzeros, so that empty rows do not unbalance
    // blocks.
    s->grid = max64(1, max64(blocks, ceil_div(m, block_share)));
    s->split = {(int32_t)nnz, share, (int32_t)blocks, (int32_t)ceil_div(m, s->grid)};
    return OK;
}

extern "C" int spmm_merge_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    int err = choose(t, s);
    if (err) return err;
    task_number(t, "share", s->split.share);
    task_number(t, "columns", s->vec);

    const int64_t blocks = s->split.blocks, slabs = s->sizes.slabs;
    int64_t values;
    err = size_mul(max64(1, blocks) * 2 * WARP * s->vec, slabs, &values);
    if (!err) err = device_alloc(t->dev, values, type_bytes(prec_sum(t->prec)), &s->scratch.carry);
    if (err) return err;
    int32_t **counters = task_option(t, "fixup") ? &s->scratch.cut : &s->scratch.arrived;
    const int64_t count = max64(1, blocks * slabs);
    err = device_alloc(t->dev, count, sizeof(int32_t), (void **)counters);
    if (!err) err = device_fill(t->dev, *counters, 0, count * (int64_t)sizeof(int32_t));
    if (!err && task_option(t, "partition"))
        err = device_alloc(t->dev, 2 * blocks * s->warps, sizeof(int32_t),
                           (void **)&s->scratch.limits);
    return err;
}

extern "C" void spmm_merge_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    device_free(t->dev, s->scratch.limits);
    device_free(t->dev, s->scratch.arrived);
    device_free(t->dev, s->scratch.cut);
    device_free(t->dev, s->scratch.carry);
    mem_free(s);
    t->state = NULL;
}
