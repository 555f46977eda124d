// Rule for strips: predicted times of strips and of pieces, and the number of rows per warp.
#ifndef GRADED_STRIPS_PAY_H
#define GRADED_STRIPS_PAY_H

#include "strips_list.cuh"

// Clocks of a multiprocessor by strips: for a launch, a block, a nonzero of its panel, and a row of
// B. Fitted to 12 matrices on an H100. On an H200 the times of 22 matrices are within 15 % of the
// model.
struct strip_clocks {
    double launch, block, nonzero, row;
};
static const struct strip_clocks clocks_f32 = {1400, 2150, 1.53, 2.5},
                                 clocks_f64 = {1200, 1900, 2.14, 3.05},
                                 clocks_halves = {1300, 2000, 2, 2.5};

static const struct strip_clocks *clocks_of(enum prec prec)
{
    return prec == F64 ? &clocks_f64 : prec == F32 ? &clocks_f32 : &clocks_halves;
}

// Bytes of B that a multiprocessor fetches per clock by pieces, for dense enough matrices. Three
// cases are slower: rows of B of 128 bytes or less (SHORT), a B with too many rows for L1 (FAR),
// and few long rows of A, which are cut in segments (CUT). The model ignores occupancy, so the
// clocks by pieces may be off by a half.
#define GATHER_BYTES       53
#define GATHER_BYTES_SHORT 42
#define GATHER_BYTES_FAR   33
#define GATHER_BYTES_CUT   38
#define FAR_ROWS           8192 // rows of B above which few loads of B hit in L1
#define CUT_ROWS           8    // most rows of A per multiprocessor
#define CUT_LENGTH         512  // least mean of nonzeros per row of A

// Bounds of the predicted clocks by strips over the predicted clocks by pieces. Between the bounds
// both ways are timed. H200, 132 cases: strips are faster in all 19 cases below the first bound,
// and by 7 % at most above the second. Without trials, a bound of 0.93 costs up to 1.40 times the
// time.
#define STRIPS_SURE  0.75
#define STRIPS_NEVER 1.5
#define CLOCKS_ALONE 8 // for a nonzero of a warp whose neighbours are idle

// Raises *most to the nonzeros of the fullest panel. If one warp of a panel takes longest, the
// panel counts as `alone` times the nonzeros of that warp.
static __global__ void __launch_bounds__(STRIP_THREADS)
    find_fullest(struct cutting c, int32_t alone, int32_t *__restrict__ most)
{
    __shared__ int32_t sum, longest;
    const int warp = (int)threadIdx.x / WARP;
    if (threadIdx.x == 0) sum = longest = 0;
    __syncthreads();
    if (lane_id() == 0) {
        int32_t own = 0;
        for (int r = 0; r < c.rows; r++) {
            const int64_t i = strip_row(r, warp, (int32_t)blockIdx.x, c.panels);
            if (i < c.m) own += c.ptr[i + 1] - c.ptr[i];
        }
        atomicAdd(&sum, own);
        atomicMax(&longest, own);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicMax(most,
                  (int32_t)min((int64_t)INT32_MAX, max((int64_t)sum, (int64_t)longest * alone)));
}

static int fullest_panel(struct task *t, const struct strips *s, int32_t alone, int32_t *out)
{
    struct device *d = t->dev;
    int32_t *most = NULL;
    int err = device_alloc(d, 1, sizeof *most, (void **)&most);
    if (!err) err = device_fill(d, most, 0, sizeof *most);
    if (!err) {
        LAUNCH(find_fullest, (unsigned)s->panels, STRIP_THREADS, 0, d->stream, cutting_of(t, s),
               alone, most);
        err = wait_for(d, t->entry->name, most, out, sizeof *out);
    }
    device_free(d, most);
    return err;
}

static double clocks_by_strips(const struct task *t, const struct strips *s, double nonzeros)
{
    const struct strip_clocks *of = clocks_of(t->prec);
    const double turns = (double)ceil_div((int64_t)s->panels * s->slabs, t->dev->units);
    return of->launch + turns * (of->block + of->nonzero * nonzeros + of->row * (double)t->A[0]->n);
}

static int gather_bytes(const struct task *t, int64_t row)
{
    const int64_t m = t->A[0]->m;
    if (row <= STRIP_SLAB) return GATHER_BYTES_SHORT;
    if (t->A[0]->n > FAR_ROWS) return GATHER_BYTES_FAR;
    const bool cut = m <= CUT_ROWS * t->dev->units && t->A[0]->nnz >= CUT_LENGTH * m;
    return cut ? GATHER_BYTES_CUT : GATHER_BYTES;
}

static double clocks_by_pieces(const struct task *t)
{
    const int64_t row = t->C.cols * in_bytes(t);
    return (double)t->A[0]->nnz * (double)row / t->dev->units / gather_bytes(t, row);
}

static void take_rows(const struct task *t, struct strips *s, int rows)
{
    s->rows = rows;
    s->panels = (int32_t)ceil_div(t->A[0]->m, (int64_t)rows * STRIP_WARPS);
}

// Chooses the rows per warp with the least predicted clocks, or none if pieces are certainly
// faster. A panel size is counted in detail only if its mean predicts less time.
static int choose_rows(struct task *t, struct strips *s)
{
    const int32_t alone = (int32_t)(CLOCKS_ALONE / clocks_of(t->prec)->nonzero);
    const double pieces = clocks_by_pieces(t);
    double least = STRIPS_NEVER * pieces;
    int best = 0, err = OK;
    for (int rows = 1; rows <= 4 && !err; rows *= 2) {
        int32_t fullest = 0;
        take_rows(t, s, rows);
        if (clocks_by_strips(t, s, (double)t->A[0]->nnz / s->panels) >= least) continue;
        err = fullest_panel(t, s, alone, &fullest);
        const double clocks = clocks_by_strips(t, s, fullest);
        if (clocks < least) best = rows, least = clocks;
    }
    s->unsure = best && least > STRIPS_SURE * pieces;
    if (best)
        take_rows(t, s, best);
    else
        s->rows = 0;
    return err;
}

#endif
