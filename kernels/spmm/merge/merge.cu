// SpMM over equal shares of the nonzeros (merge-based, nonzero split), C = A * B, row-major. Long,
// because both the paper's kernels for partition and fix-up and their inlined forms are here.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.2 and algorithm 1.
//
// Format: CSR. Any k, any mix of row lengths. Deterministic: every sum has one fixed order.
//
// Each warp takes `share` nonzeros in a row of the matrix order and a slab of 32 columns of C, VEC
// a lane, 32 nonzeros at a time:
// - it finds the rows of its first and last nonzero, by a search with 33 ways a step (or takes them
//   from the paper's partition kernel), while its first loads of B are under way;
// - every lane loads one nonzero and finds its row, which flattens CSR to COO;
// - the nonzeros are broadcast by shuffle, and BATCH rows of B are loaded independently;
// - the products are summed up in order, and each sum is written where its row ends.
// A row that the end of a share cuts leaves partial sums. Those of one block's warps are joined in
// shared memory. Those that cross blocks (the carry-out) go to memory, two slots a block, and are
// added up in the order of the blocks by whichever of them arrives last (or by the paper's fix-up
// kernel). Besides, each block clears the empty ones among an equal share of all rows.
//
// `merge` has the paper's parameters: 32 nonzeros and 32 columns a warp, both extra kernels.
// `merge-tuned` is the same code with shares and vectors fitted to the case, in one launch.
#include "kernel.cuh"
#include "papers.h"

#define GROUP     4 // nonzeros whose loads of B share a branch
#define MAX_WARPS 8 // warps of a block

struct problem {
    int32_t m, nnz, k, slabs;
    uint32_t B_step, C_step; // bytes from one row to the next
    int32_t share;           // nonzeros of a warp, a multiple of 32
    int32_t rows;            // rows that a block clears where they are empty
    int32_t blocks;          // blocks that have nonzeros
};

// What the blocks tell each other.
struct scratch {
    int32_t *limits;  // rows of the first nonzero of every warp and of the last one, or NULL
    int32_t *arrived; // blocks that have left a part of the row cut at the end of a block, or NULL
    int32_t *cut;     // without `arrived`: the row that begins in a block and ends in a later one
    void *carry;      // partial sums: slot 0 of a block for a row that began before, slot 1 for
                      // one that began in it
};

template <typename T, int VEC> struct alignas(sizeof(T) * VEC) pack {
    T x[VEC];
};

template <typename T, int VEC>
static __device__ __forceinline__ void add(pack<T, VEC> &sum, const pack<T, VEC> &x)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) sum.x[i] += x.x[i];
}

template <typename T, int VEC>
static __device__ __forceinline__ void add_product(pack<T, VEC> &sum, T v, const pack<T, VEC> &x)
{
#pragma unroll
    for (int i = 0; i < VEC; i++) sum.x[i] += v * x.x[i];
}

// The rows that hold nonzeros p and q >= p. All lanes take part and get the same answer.
static __device__ __forceinline__ void find_rows(const int32_t *__restrict__ ptr, int32_t m,
                                                 int32_t p, int32_t q, int32_t &first,
                                                 int32_t &last)
{
    // The row lies in [first, first + width), and likewise for the last one.
    first = last = 0;
    for (int32_t width = m; width > 1;) {
        const int32_t step = (width - 1) / WARP + 1;
        const int64_t i = first + (int64_t)lane_id() * step, j = last + (int64_t)lane_id() * step;
        const int p_after = i < m && ptr[i] <= p, q_after = j < m && ptr[j] <= q;
        first += (__popc(__ballot_sync(FULL_MASK, p_after)) - 1) * step;
        last += (__popc(__ballot_sync(FULL_MASK, q_after)) - 1) * step;
        width = step;
    }
}

static __global__ void partition(struct problem a, const int32_t *__restrict__ ptr,
                                 int32_t *__restrict__ limits)
{
    const int64_t w = (int64_t)blockIdx.x * blockDim.y + warp_broadcast(threadIdx.y, 0);
    if (w * a.share >= a.nnz) return;
    const int32_t p = (int32_t)(w * a.share);
    int32_t first, last;
    find_rows(ptr, a.m, p, p + min(a.share, a.nnz - p) - 1, first, last);
    if (lane_id() == 0) {
        limits[2 * w] = first;
        limits[2 * w + 1] = last;
    }
}

// What the warps of a block leave for the join.
template <typename T, int VEC> struct warp_parts {
    pack<T, VEC> head[MAX_WARPS][WARP]; // of the first row, where it began before and ends here
    pack<T, VEC> tail[MAX_WARPS][WARP]; // of the last row, where it goes on after
    int32_t first[MAX_WARPS], last[MAX_WARPS]; // rows
    int flags[MAX_WARPS];
};
enum { ACTIVE = 1, BEGAN_BEFORE = 2, ENDS_ROW = 4, GOES_ON = 8 };

template <typename T, int VEC>
static __device__ __forceinline__ pack<T, VEC> *row_of_C(const struct problem &a, T *C, int32_t i,
                                                         int32_t j)
{
    uint32_t step = a.C_step;
    opaque(step);
    return (pack<T, VEC> *)((char *)(C + j) + (uint64_t)(uint32_t)i * step);
}

// Multiplies nonzeros [p, end) by the lane's columns, from j on.
template <typename T, int VEC, int BATCH>
static __device__ __forceinline__ void
multiply(const struct problem &a, const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
         const T *__restrict__ val, const T *__restrict__ B, T *__restrict__ C, int32_t j,
         const int32_t *limits, int32_t p, int32_t end, warp_parts<T, VEC> &parts, int warp)
{
    const int lane = lane_id();
    const T *b = B + (j < a.k ? j : 0); // lanes past the last column load the first ones
    int32_t next_col = 0;
    T next_v = 0;
    if (lane < end - p) {
        next_col = idx[p + lane];
        next_v = val[p + lane];
    }
    int32_t row = -1, last_row = -1, head_row = -1; // rows of the next and the last nonzero
    unsigned ends = 0;
    int flags = ACTIVE;
    pack<T, VEC> sum = {};
    for (int32_t left = end - p; left > 0; left -= WARP) {
        // Lanes past the last nonzero keep a column that is inside the matrix. Their products
        // come after the end of the last row, so nobody sees them.
        const int32_t col = next_col;
        const T v = next_v;
        if (lane < left - WARP) {
            next_col = idx[end - left + WARP + lane];
            next_v = val[end - left + WARP + lane];
        }
        int32_t my_row = 0;
#pragma unroll 1
        for (int g = 0; g < WARP && g < left; g += BATCH) {
            pack<T, VEC> x[BATCH];
#pragma unroll
            for (int q = 0; q < BATCH; q += GROUP) {
                if (g + q >= left) break;
                uint32_t step = a.B_step;
                opaque(step);
#pragma unroll
                for (int e = q; e < q + GROUP; e++)
                    x[e] = *(const pack<T, VEC> *)((const char *)b +
                                                   (uint64_t)(uint32_t)warp_broadcast(col, g + e) *
                                                       step);
            }
            if (g == 0) {
                if (row < 0) {
                    if (limits) {
                        row = warp_broadcast(limits[0], 0);
                        last_row = warp_broadcast(limits[1], 0);
                    } else {
                        find_rows(ptr, a.m, p, end - 1, row, last_row);
                    }
                    if (warp_broadcast(ptr[row], 0) < p) {
                        head_row = row;
                        flags |= BEGAN_BEFORE;
                    }
                    if (lane == 0) {
                        parts.first[warp] = row;
                        parts.last[warp] = last_row;
                    }
                }
                const int32_t mine = end - left + min(lane, left - 1);
                my_row = row;
                if (last_row > row)
                    for (int32_t step = 1 << (31 - __clz(last_row - row)); step; step /= 2)
                        if (step <= last_row - my_row && ptr[my_row + step] <= mine) my_row += step;
                ends = __ballot_sync(FULL_MASK, lane < left && ptr[my_row + 1] == mine + 1);
                if (ends) flags |= ENDS_ROW;
                row = warp_broadcast(my_row, WARP - 1);
            }
#pragma unroll
            for (int q = 0; q < BATCH; q += GROUP) {
                if (g + q >= left) break;
                T v_e[GROUP];
#pragma unroll
                for (int e = 0; e < GROUP; e++) v_e[e] = warp_broadcast(v, g + q + e);
                const unsigned ends_here = ends >> (g + q);
                if (!(ends_here & ((1u << GROUP) - 1))) {
#pragma unroll
                    for (int e = 0; e < GROUP; e++) add_product(sum, v_e[e], x[q + e]);
                    continue;
                }
#pragma unroll
                for (int e = 0; e < GROUP; e++) {
                    add_product(sum, v_e[e], x[q + e]);
                    if (!(ends_here >> e & 1)) continue;
                    const int32_t i = warp_broadcast(my_row, g + q + e);
                    pack<T, VEC> *to = row_of_C<T, VEC>(a, C, i, j);
                    if (i == head_row) to = &parts.head[warp][lane];
                    if (j < a.k) *to = sum;
                    sum = {};
                }
            }
        }
    }
    parts.tail[warp][lane] = sum;
    // The last 32 nonzeros were (end - p - 1) % 32 + 1.
    if (!(ends >> (end - p - 1) % WARP & 1)) flags |= GOES_ON;
    if (lane == 0) parts.flags[warp] = flags;
}

// Writes row i, cut by the ends of blocks first to last - 1, from its parts.
template <typename T, int VEC>
static __device__ __forceinline__ void finish(const struct problem &a, T *__restrict__ C, int32_t i,
                                              int32_t j, const pack<T, VEC> *carry, int32_t first,
                                              int32_t last)
{
    const int batch = 32 / VEC;
    const int lane = lane_id();
    pack<T, VEC> sum = carry[(2 * (int64_t)first + 1) * WARP + lane];
    for (int32_t b = first + 1; b <= last; b += batch) {
        pack<T, VEC> x[batch];
#pragma unroll
        for (int q = 0; q < batch; q++) x[q] = carry[2 * (int64_t)min(b + q, last) * WARP + lane];
#pragma unroll
        for (int q = 0; q < batch; q++)
            if (b + q <= last) add(sum, x[q]);
    }
    if (j < a.k) *row_of_C<T, VEC>(a, C, i, j) = sum;
}

// One warp joins what the warps of its block left, and passes on what other blocks have a part in.
template <typename T, int VEC>
static __device__ __forceinline__ void
join(const struct problem &a, const int32_t *__restrict__ ptr, T *__restrict__ C, int32_t j,
     int32_t slab, const struct scratch &s, const warp_parts<T, VEC> &parts)
{
    const int lane = lane_id(), warps = (int)blockDim.y;
    const int32_t block = (int32_t)blockIdx.x, block_share = a.share * warps;
    const int64_t slab_start = (int64_t)slab * a.blocks;
    pack<T, VEC> *carry = (pack<T, VEC> *)s.carry + slab_start * 2 * WARP;
    pack<T, VEC> sum = {};
    bool outside = parts.flags[0] & BEGAN_BEFORE; // the row of `sum` began in an earlier block
    int32_t ended = -1, open = -1;                // cut rows: that ends here, that goes on
    for (int w = 0; w < warps; w++) {
        const int flags = parts.flags[w];
        if (!(flags & ACTIVE)) break;
        if (flags & ENDS_ROW) {
            if (flags & BEGAN_BEFORE) {
                add(sum, parts.head[w][lane]);
                if (outside) {
                    ended = parts.first[w];
                    carry[2 * (int64_t)block * WARP + lane] = sum;
                } else if (j < a.k) {
                    *row_of_C<T, VEC>(a, C, parts.first[w], j) = sum;
                }
            }
            outside = false;
            sum = {};
        }
        if (flags & GOES_ON) add(sum, parts.tail[w][lane]);
        open = flags & GOES_ON ? parts.last[w] : -1;
    }
    if (open >= 0) carry[(2 * (int64_t)block + !outside) * WARP + lane] = sum;
    if (!s.arrived) {
        if (slab == 0 && lane == 0) s.cut[block] = outside ? -1 : open;
        return;
    }
    if (ended < 0 && open < 0) return;

    // The counter of a cut row is that of the block in which it begins. The last block to arrive
    // sets it back for the next run.
    __syncwarp();
    const int32_t i = lane == 0 ? ended : lane == 1 ? open : -1;
    int32_t first = 0, last = 0;
    bool complete = false;
    if (i >= 0) {
        first = ptr[i] / block_share;
        last = (ptr[i + 1] - 1) / block_share;
        complete = atomic_add_release(&s.arrived[slab_start + first], 1) == last - first;
        if (complete) s.arrived[slab_start + first] = 0;
    }
    const unsigned done = __ballot_sync(FULL_MASK, complete);
    if (!done) return;
    __threadfence();
    __syncwarp(); // all lanes read what others left, after the lane that saw them arrive
    for (int w = 0; w < 2; w++)
        if (done >> w & 1)
            finish<T, VEC>(a, C, warp_broadcast(i, w), j, carry, warp_broadcast(first, w),
                           warp_broadcast(last, w));
}

// Writes zeros to the empty rows among rows [i, end), by all warps of the block.
template <typename T, int VEC>
static __device__ __forceinline__ void clear(const struct problem &a,
                                             const int32_t *__restrict__ ptr, T *__restrict__ C,
                                             int32_t j, int64_t i, int64_t end, int warp)
{
    const int lane = lane_id();
    for (i += warp * WARP; i < end; i += (int64_t)blockDim.y * WARP) {
        const bool empty = i + lane < end && ptr[i + lane] == ptr[i + lane + 1];
        for (unsigned rest = __ballot_sync(FULL_MASK, empty); rest; rest &= rest - 1)
            if (j < a.k)
                *row_of_C<T, VEC>(a, C, (int32_t)i + __ffs((int)rest) - 1, j) = pack<T, VEC>{};
    }
}

template <typename T, int VEC, int BATCH>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, sizeof(T) == 8 ? 3 : 4)
    compute(struct problem a, const int32_t *__restrict__ ptr, const int32_t *__restrict__ idx,
            const T *__restrict__ val, const T *__restrict__ B, T *__restrict__ C, struct scratch s)
{
    __shared__ warp_parts<T, VEC> parts;
    // Broadcast: tells the compiler that all lanes agree, which spares it guards at each shuffle.
    const int warp = warp_broadcast((int)threadIdx.y, 0), lane = lane_id();
    const int64_t w = (int64_t)blockIdx.x * blockDim.y + warp, first = w * a.share;
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y) {
        const int32_t j = (slab * WARP + lane) * VEC;
        if (first < a.nnz) {
            const int32_t p = (int32_t)first, end = p + min(a.share, a.nnz - p);
            multiply<T, VEC, BATCH>(a, ptr, idx, val, B, C, j, s.limits ? s.limits + 2 * w : NULL,
                                    p, end, parts, warp);
        } else if (lane == 0) {
            parts.flags[warp] = 0;
        }
        __syncthreads();
        if (warp == 0 && first < a.nnz) join<T, VEC>(a, ptr, C, j, slab, s, parts);
        const int64_t row = (int64_t)blockIdx.x * a.rows;
        clear<T, VEC>(a, ptr, C, j, row, row + a.rows < a.m ? row + a.rows : a.m, warp);
        __syncthreads(); // the next slab writes to `parts` again
    }
}

template <typename T, int VEC>
static __global__ void fix_up(struct problem a, const int32_t *__restrict__ ptr, T *__restrict__ C,
                              struct scratch s, int32_t block_share)
{
    const int64_t b = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
    if (b >= a.blocks) return;
    const int32_t i = s.cut[b];
    if (i < 0) return;
    for (int32_t slab = (int32_t)blockIdx.y; slab < a.slabs; slab += (int32_t)gridDim.y)
        finish<T, VEC>(a, C, i, (slab * WARP + lane_id()) * VEC,
                       (pack<T, VEC> *)s.carry + (int64_t)slab * a.blocks * 2 * WARP, (int32_t)b,
                       (ptr[i + 1] - 1) / block_share);
}

// What prepare() decides and allocates.
struct state {
    struct problem a;
    struct scratch s;
    int warps, vec;
    int64_t grid;
};

template <typename T, int VEC, int BATCH> static void start_vec(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct problem a = s->a;
    const int32_t *ptr = (const int32_t *)t->A.ptr;
    const dim3 block(WARP, (unsigned)s->warps);
    const unsigned slabs = (unsigned)min64(a.slabs, 65535);
    if (s->s.limits && a.nnz)
        LAUNCH(partition, dim3((unsigned)a.blocks), block, 0, t->dev->stream, a, ptr, s->s.limits);
    auto kernel = compute<T, VEC, BATCH>;
    LAUNCH(kernel, dim3((unsigned)s->grid, slabs), block, 0, t->dev->stream, a, ptr, t->A.idx,
           (const T *)t->A.val, (const T *)t->B.val, (T *)t->C.val, s->s);
    if (s->s.arrived || !a.nnz) return;
    auto kernel_fix_up = fix_up<T, VEC>;
    LAUNCH(kernel_fix_up, dim3((unsigned)ceil_div(a.blocks, s->warps), slabs), block, 0,
           t->dev->stream, a, ptr, (T *)t->C.val, s->s, a.share * s->warps);
}

static int run(struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    if (t->in->prec == F32) {
        if (s->vec == 4) {
            start_vec<float, 4, 8>(t);
        } else if (s->vec == 2) {
            start_vec<float, 2, 16>(t);
        } else {
            start_vec<float, 1, 32>(t);
        }
    } else if (s->vec == 2) {
        start_vec<double, 2, 8>(t);
    } else {
        start_vec<double, 1, 16>(t);
    }
    return launch_check("merge");
}

// The widest vector that a row of B fills and that loads allow.
static int choose_vec(const struct task *t)
{
    const int wanted = (int)task_option(t, "columns");
    const int widest = (int)(16 / prec_bytes(t->in->prec));
    for (int vec = wanted ? wanted : 4; vec > 1; vec /= 2)
        if (vec <= widest && t->C.cols % vec == 0 && t->B.ld % vec == 0 && t->C.ld % vec == 0 &&
            (wanted || t->C.cols > WARP * vec / 2))
            return vec;
    return 1;
}

// Long shares have few cut rows, short ones make many warps. Measured on an H200: 20 warps for each
// multiprocessor are enough of them, and past 256 nonzeros nothing is gained; the wider a lane's
// part of a row, the dearer is a row's end, and the earlier that point. Under 64 the search and the
// join cost more than the nonzeros.
static int32_t choose_share(const struct task *t, int64_t slabs, int64_t lane_bytes)
{
    const int64_t wanted = (int64_t)task_option(t, "share");
    if (wanted) return (int32_t)(ceil_div(wanted, WARP) * WARP);
    const int64_t share = t->A.nnz * slabs / ((int64_t)t->dev->units * 20);
    const int64_t most = lane_bytes <= 4 ? 256 : lane_bytes <= 8 ? 128 : 96;
    return (int32_t)max64(2 * WARP, min64(most, share / WARP * WARP));
}

static int prepare(struct task *t)
{
    const int64_t width = (int64_t)prec_bytes(t->in->prec);
    const int columns = (int)task_option(t, "columns");
    if (columns == 3 || columns > 16 / width)
        return fail(ERR_UNSUPPORTED, "merge: columns=%d: it is 0, 1, 2 or, in f32, 4", columns);
    if (max64(t->B.ld, t->C.ld) * width > UINT32_MAX)
        return fail(ERR_UNSUPPORTED, "merge: a row of B has more than 4 GB");
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    s->vec = choose_vec(t);
    s->warps = (int)task_option(t, "threads") / WARP;
    const int64_t slabs = ceil_div(t->C.cols, WARP * s->vec);
    const int32_t share = choose_share(t, slabs, s->vec * width);
    const int64_t block_share = (int64_t)share * s->warps, blocks = ceil_div(t->A.nnz, block_share);
    // A block clears no more rows than it has nonzeros, so that empty rows do not tip the balance.
    s->grid = max64(1, max64(blocks, ceil_div(t->A.m, block_share)));
    s->a = {t->A.m,
            (int32_t)t->A.nnz,
            (int32_t)t->C.cols,
            (int32_t)slabs,
            (uint32_t)(t->B.ld * width),
            (uint32_t)(t->C.ld * width),
            share,
            (int32_t)ceil_div(t->A.m, s->grid),
            (int32_t)blocks};
    task_number(t, "share", share);
    task_number(t, "columns", s->vec);

    int64_t slots;
    if (size_mul(max64(1, blocks) * 2 * WARP * s->vec, slabs, &slots)) return ERR_MEMORY;
    int code = device_alloc(t->dev, slots, (size_t)width, &s->s.carry);
    if (code) return code;
    int32_t **counters = task_option(t, "fixup") ? &s->s.cut : &s->s.arrived;
    const int64_t count = max64(1, blocks * slabs);
    code = device_alloc(t->dev, count, sizeof(int32_t), (void **)counters);
    if (!code) code = device_fill(t->dev, *counters, 0, count * (int64_t)sizeof(int32_t));
    if (!code && task_option(t, "partition"))
        code = device_alloc(t->dev, 2 * blocks * s->warps, sizeof(int32_t), (void **)&s->s.limits);
    return code;
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    device_free(t->dev, s->s.limits);
    device_free(t->dev, s->s.arrived);
    device_free(t->dev, s->s.cut);
    device_free(t->dev, s->s.carry);
    mem_free(s);
    t->state = NULL;
}

#define OPTIONS(share, columns, partition, fixup)                                                  \
    {"share", share, 0, 4096, true, "nonzeros per warp, rounded up to 32s; 0: by the size"},       \
        {"threads", 128, 32, MAX_WARPS * WARP, true, "threads per block"},                         \
        {"columns", columns, 0, 4, true, "columns of C per thread, 0: as many as k fills"},        \
        {"partition", partition, 0, 1, true, "rows found by: 1 a kernel of its own, 0 each warp"}, \
        {"fixup", fixup, 0, 1, true, "cut rows added up by: 1 a kernel, 0 the last to arrive"},    \
    {                                                                                              \
    }

static const struct algo_option options[] = {OPTIONS(32, 1, 1, 1)};
static const struct algo_option tuned_options[] = {OPTIONS(0, 0, 0, 0)};

extern const struct algo spmm_merge_cuda = {
    .name = "merge",
    .op = OP_SPMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "equal shares of the nonzeros per warp, cut rows fixed up in a fixed order",
    .cite = YANG_2018 ", section 4.2",
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};

extern const struct algo spmm_merge_tuned_cuda = {
    .name = "merge-tuned",
    .op = OP_SPMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = tuned_options,
    .about = "merge in one kernel, with shares and columns per thread fitted to the case",
    .cite = "after Yang, Buluc, Owens, Euro-Par 2018, section 4.2",
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
