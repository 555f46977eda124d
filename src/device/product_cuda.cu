// Compares a sparse product C = A * S with the sums of its products, on the device that made C.
//
// The kernel shares no code with kernels/. Its arithmetic is that of the reference on the host
// (base/rounding.h). A warp owns a segment of a row of C, with columns and sums in shared memory.
// For each nonzero a_il of the row the warp reads row l of S, within the segment's range of
// columns. A binary search finds each column in the segment. Faults are a column that is not found,
// and an entry of C without a product.
//   The columns of a row of S differ, so no two lanes add to one sum at a time. The nonzeros of A
// follow one another. Each sum has the order and the bits of the host's, without atomics. Only
// `bucket` is summed in another order. The memory of a batch does not depend on the size of C.
//
// Cost, by p products, z nonzeros of C of w bytes in s segments, and q nonzeros in an average row
// of A:
//   reads       12 p bytes of S, (4 + w) z of C, 28 s q of A and of row starts of S
//   shared      8 loads of the search and 76 bytes of sums per product
//   arithmetic  12 f64 operations per product, 200 per nonzero of C
//
// Predicted for p = 1e10, z = 3.5e9, f32, on an H100:
//   reads       50 ms         120 GB of S and 28 GB of C at 3 TB/s
//   steps       0.2 to 0.6 s  1e9 to 3e9 steps of a warp, 100 instructions each
//   host        0.7 s         sums of 1.5e7 parts of 96 bytes, copies included
//   long rows   0.2 s         1e6 nonzeros, 1e6 columns in C: each segment reads the row of A again
#include "device/product_cuda.h"
#include "device/warp.cuh"

#define WARPS 4 // per block: 40 KB of shared memory

// The segment that a warp works on.
struct segment_sums {
    int32_t col[PRODUCT_SEGMENT];
    int32_t terms[PRODUCT_SEGMENT];
    struct sum sum[PRODUCT_SEGMENT];
};

// Fills in the columns, and sets the sums to 0. Returns true if the columns exist and ascend, from
// the segment before on. Called by all lanes.
static __device__ bool load_columns(const struct product *p, const struct product_segment *g,
                                    struct segment_sums *s)
{
    bool right = true;
    for (int32_t e = lane_id(); e < g->count; e += WARP) {
        const int64_t at = g->begin + e;
        const int32_t j = p->idx[at], before = e || !g->first ? p->idx[at - 1] : -1;
        right &= j >= 0 && j < p->S.n && before < j;
        s->col[e] = j;
        s->terms[e] = 0;
        s->sum[e].ref = s->sum[e].low = s->sum[e].mag = s->sum[e].plain = 0;
    }
    __syncwarp();
    return __all_sync(FULL_MASK, right);
}

// Adds a times the entries y to end - 1 of S to the sums of their columns. Returns true if each
// column is in the segment.
static __device__ bool add_products(const struct product *p, const struct product_segment *g,
                                    double a, int64_t y, int64_t end, struct segment_sums *s)
{
    bool right = true;
    for (y += lane_id(); y < end; y += WARP) {
        const int32_t j = p->S.idx[y];
        const int32_t e = lower_bound(s->col, 0, g->count, j);
        const bool found = e < g->count && s->col[e] == j;
        right &= found;
        if (!found) continue;
        s->terms[e]++;
        sum_add(&s->sum[e], p->sum == F32, a * type_round(p->in, p->S.val[y]));
    }
    return right;
}

// Sums up all products of the segment. Returns true if all of their columns are in the segment.
// Called by all lanes.
static __device__ bool sum_products(const struct product *p, const struct product_segment *g,
                                    struct segment_sums *s)
{
    const int64_t stop = p->A.ptr[g->row + 1];
    const int32_t low = g->first ? 0 : s->col[0],
                  high = g->last ? p->S.n : p->idx[g->begin + g->count];
    bool right = true;
    for (int64_t x0 = p->A.ptr[g->row]; x0 < stop; x0 += WARP) {
        const int64_t x = x0 + lane_id();
        int64_t begin = 0, end = 0;
        double a = 0;
        if (x < stop) {
            const int32_t l = p->A.idx[x];
            begin = p->S.ptr[l], end = p->S.ptr[l + 1];
            a = type_round(p->in, p->A.val[x]);
            if (!g->first) begin = lower_bound(p->S.idx, begin, end, low);
            if (!g->last) end = lower_bound(p->S.idx, begin, end, high);
        }
        uint32_t left = __ballot_sync(FULL_MASK, begin < end);
        for (; left; left &= left - 1) {
            const int from = __ffs((int)left) - 1;
            right &= add_products(p, g, warp_broadcast(a, from), warp_broadcast(begin, from),
                                  warp_broadcast(end, from), s);
            __syncwarp();
        }
    }
    return __all_sync(FULL_MASK, right);
}

static __device__ double from_lane(double x, int step)
{
    return __shfl_xor_sync(FULL_MASK, x, step);
}

static __device__ void gather_squares(struct squares *s, int step)
{
    struct squares other;
    other.scale = from_lane(s->scale, step);
    other.sum = from_lane(s->sum, step);
    squares_add_all(s, &other);
}

// Adds up the parts of the first `lanes` lanes in lane 0. Called by all lanes.
static __device__ void gather(struct product_part *part, int lanes)
{
    for (int step = 1; step < lanes; step *= 2) {
        struct bucket *b = &part->bucket;
        b->count += __shfl_xor_sync(FULL_MASK, b->count, step);
        b->off2 += from_lane(b->off2, step);
        gather_squares(&b->off, step);
        gather_squares(&b->allowed, step);
        gather_squares(&b->should_be, step);
        part->worst = fmax(part->worst, from_lane(part->worst, step));
        part->terms = max(part->terms, __shfl_xor_sync(FULL_MASK, part->terms, step));
        part->faults |= __shfl_xor_sync(FULL_MASK, part->faults, step);
    }
}

// Compares the entries of C with the sums. Called by all lanes; each gets the part of its entries.
static __device__ void compare(const struct product *p, const struct product_segment *g,
                               const struct segment_sums *s, struct product_part *part)
{
    for (int32_t e = lane_id(); e < g->count; e += WARP) {
        const double c = type_load(p->out, p->val, g->begin + e), ref = sum_value(&s->sum[e]);
        const double error = sum_size(&s->sum[e], p->unit, s->terms[e]);
        const struct tolerance t = tolerance_make(&p->roundoff, s->terms[e], ref, error);
        bucket_add(&part->bucket, fabs(c - ref), ref, &t);
        part->worst = fmax(part->worst, error_ratio(c, ref, t.element));
        part->terms = max(part->terms, s->terms[e]);
        if (!s->terms[e]) part->faults = PRODUCT_OTHERS;
    }
}

static __global__ void check_segments(const struct product p,
                                      const struct product_segment *segments, int64_t count,
                                      struct product_part *parts)
{
    __shared__ struct segment_sums sums[WARPS];
    struct segment_sums *s = &sums[threadIdx.x / WARP];
    const int64_t at = (int64_t)blockIdx.x * WARPS + threadIdx.x / WARP;
    if (at >= count) return;
    const struct product_segment g = segments[at];
    struct product_part part = {};
    if (!load_columns(&p, &g, s)) {
        part.faults = PRODUCT_DISORDER;
    } else if (!sum_products(&p, &g, s)) {
        part.faults = PRODUCT_OTHERS;
    } else {
        compare(&p, &g, s, &part);
        gather(&part, min(g.count, WARP));
    }
    if (lane_id() == 0) parts[at] = part;
}

int check_product_cuda(struct device *d, const struct product *p,
                       const struct product_segment *segments, int64_t count,
                       struct product_part *parts)
{
    if (count)
        LAUNCH(check_segments, (int)ceil_div(count, WARPS), WARPS * WARP, 0, d->stream, *p,
               segments, count, parts);
    return launch_check("the check of a product");
}
