// Host side of the staged method of tiled-tuned: columns of a slab, ranges of rows, launch. A
// predicted time decides on both.
#ifndef TILED_STAGED_PLAN_H
#define TILED_STAGED_PLAN_H

#include "staged.cuh"

// Fixed cost in microseconds, and rates per nanosecond and multiprocessor: fits to 8 matrices of
// 4,000 to 48,000 nonzeros on an H200, f32, k 64, with ranges that blocks compute in one step. Bank
// conflicts are a third of the loads of B: with random columns 2.6 of 8 lanes meet in one bank (3.1
// of 16 lanes with 8 bytes each).
#define STAGED_US       2.9 // row starts, B and nonzeros, sums, C
#define STAGED_BYTES    70  // bytes of B and of A from the L2
#define STAGED_VECTORS  3   // nonzeros, with 16 bytes of B each
#define STAGED_HALVES   5   // nonzeros, with 8 bytes of B each
#define STAGED_ROWS     4
#define STAGED_LEAST    128 // least threads of a block
#define STAGED_ROW_WORK 4   // nonzeros that take as long as a row

struct staged {
    int columns;      // columns of a slab; 0: B does not fit
    int ranges;       // ranges of rows
    int64_t rows_fit; // rows of B that fit, in the narrowest slabs
    double us;        // predicted time
    int least_bits;   // as in struct staging
    int threads;      // threads of a block
    int32_t first[MOST_RANGES + 1];
};

static double staged_us(const struct task *t, int columns, int ranges)
{
    const double width = (double)prec_bytes(t->prec), row = columns * width, each = 1.0 / ranges;
    const double nnz = (double)t->A[0]->nnz * each, rows = (double)t->C.rows * each;
    const double blocks = ceil((double)ceil_div(t->C.cols, columns) * ranges / t->dev->units);
    const double bytes = (double)t->in[0].rows * row + nnz * (width + sizeof(int32_t));
    const double ns = bytes / STAGED_BYTES + rows / STAGED_ROWS +
                      nnz / (row == 16 ? STAGED_VECTORS : STAGED_HALVES);
    return STAGED_US + blocks * ns * 1e-3;
}

// Sets *bytes to the shared memory that a block has for B.
template <typename T, int N> static int staged_bytes_most(const struct task *t, int64_t *bytes)
{
    struct cudaFuncAttributes facts;
    auto kernel = multiply_staged<T, N>;
    int err = allow_shared(t->dev, kernel);
    if (err) return err;
    CUDA_TRY(cudaFuncGetAttributes(&facts, kernel));
    *bytes = facts.maxDynamicSharedSizeBytes;
    return OK;
}

// Sets the best number of ranges for slabs of N columns, if B fits and the predicted time is less
// than that of the current plan.
template <typename T, int N> static int plan_columns(const struct task *t, struct staged *s)
{
    const int columns = (int)task_option(t, "columns"), ranges = (int)task_option(t, "row-ranges");
    int64_t bytes = 0;
    int err = staged_bytes_most<T, N>(t, &bytes);
    if (err) return err;
    if (columns && columns != N) return OK;
    s->rows_fit = bytes / (int64_t)sizeof(pack<T, N>);
    if (t->in[0].rows > s->rows_fit) return OK;
    for (int r = ranges ? ranges : 1; r <= (ranges ? ranges : MOST_RANGES); r++) {
        const double us = staged_us(t, N, r);
        if (s->columns && us >= s->us) continue;
        s->columns = N;
        s->ranges = r;
        s->us = us;
    }
    return OK;
}

template <typename T> static int plan_prec(const struct task *t, struct staged *s)
{
    int err = plan_columns<T, 16 / sizeof(T)>(t, s);
    return err ? err : plan_columns<T, 8 / sizeof(T)>(t, s);
}

static int plan_staged(const struct task *t, struct staged *s)
{
    *s = {};
    return BY_PREC(t, plan_prec, t, s);
}

// Sets first[r] to the row before which r parts of the work are.
static __global__ void __launch_bounds__(MOST_RANGES + 1)
    find_ranges(int32_t m, const int32_t *__restrict__ ptr, int ranges, int32_t *__restrict__ first)
{
    const int64_t total = ptr[m] + (int64_t)m * STAGED_ROW_WORK;
    const int64_t wanted = total * threadIdx.x / ranges;
    int32_t low = 0, high = m;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (ptr[middle] + (int64_t)middle * STAGED_ROW_WORK < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    first[threadIdx.x] = low;
}

static int make_ranges(struct task *t, struct staged *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int count = s->ranges + 1;
    int32_t *first = NULL;
    int err = device_alloc(t->dev, count, sizeof *first, (void **)&first);
    if (!err) {
        LAUNCH(find_ranges, 1, (unsigned)count, 0, t->dev->stream, A->m, (const int32_t *)A->ptr,
               s->ranges, first);
        err = wait_for(t->dev, t->entry->name, first, s->first, (size_t)count * sizeof *first);
    }
    device_free(t->dev, first);
    return err;
}

static int refuse_staged(const struct task *t, const struct staged *s)
{
    const int most = 16 / (int)prec_bytes(t->prec);
    const double columns = task_option(t, "columns");
    if (columns && columns != most && columns != most / 2)
        return fail(ERR_UNSUPPORTED, "%s: columns=%g: of %s it is %d or %d", t->entry->name,
                    columns, prec_name(t->prec), most / 2, most);
    return fail(ERR_UNSUPPORTED,
                "%s: B has %lld rows; method=3 takes up to %lld, all that fit in shared memory",
                t->entry->name, (long long)t->in[0].rows, (long long)s->rows_fit);
}

// Sets lanes and threads for about STAGED_BATCH nonzeros per lane, in a row of average length and
// in a range. Fewer lanes leave most rows to warps, one by one. Each further thread costs hundreds
// of instructions.
static void choose_teams(const struct task *t, struct staged *s)
{
    const double nnz = (double)t->A[0]->nnz, most = fmax(nnz / s->ranges, (double)t->in[0].rows);
    const int given = (int)task_option(t, "threads") / WARP * WARP;
    s->least_bits = 0;
    while (1 << s->least_bits < WARP && (STAGED_BATCH << s->least_bits) * (double)t->C.rows < nnz)
        s->least_bits++;
    s->threads = STAGED_LEAST;
    while (s->threads < STAGED_THREADS && STAGED_BATCH * s->threads < most) s->threads *= 2;
    if (given) s->threads = given;
}

static int staged_prepare(struct task *t, struct staged *s)
{
    int err = plan_staged(t, s);
    if (err) return err;
    if (!s->columns) return refuse_staged(t, s);
    choose_teams(t, s);
    task_number(t, "columns", s->columns);
    task_number(t, "row_ranges", s->ranges);
    task_number(t, "threads", s->threads);
    return make_ranges(t, s);
}

template <typename T, int N> static void start_columns(const struct task *t, const struct staged *s)
{
    const dim3 grid((unsigned)ceil_div(t->C.cols, N), (unsigned)s->ranges);
    const size_t bytes = (size_t)t->in[0].rows * sizeof(pack<T, N>);
    staging<T> x = {direct_operands_of<T>(t), (int32_t)t->in[0].rows, s->least_bits, {}};
    for (int r = 0; r <= s->ranges; r++) x.first[r] = s->first[r];
    auto kernel = multiply_staged<T, N>;
    LAUNCH(kernel, grid, (unsigned)s->threads, bytes, t->dev->stream, x);
}

template <typename T> static void staged_start(const struct task *t, const struct staged *s)
{
    if (s->columns * sizeof(T) == 16) {
        start_columns<T, 16 / sizeof(T)>(t, s);
    } else {
        start_columns<T, 8 / sizeof(T)>(t, s);
    }
}

#endif
