// SpGEMM with hash tables, C = A * S.
// Yusuke Nagasaka, Akira Nukada, Satoshi Matsuoka: High-performance and Memory-saving Sparse
// General Matrix-Matrix Multiplication for NVIDIA Pascal GPU, ICPP 2017, section III.
//
// Format: CSR. Rows of any length; values are added up by atomics, so their order varies.
//
// A run has four phases:
//
// analyse   the products of each row of C, and rows into bins by them
// symbolic  the nonzeros of each row, by a set of its columns
// allocate  row starts, rows into bins by nonzeros, and memory for C
// numeric   the columns in order, and the values
//
// The host waits twice for the sizes of the bins, and once more where rows may overflow their
// table. With the option streams bins run on streams of their own.
//
// Files, in reading order, and their rows. The bounds are those of table I: a row's products in the
// symbolic phase, its nonzeros in the numeric phase.
//
// walk.cuh    a team of threads goes over the products of its row
// table.cuh   hash tables (algorithm 5), bitmaps and their ranks
// bins.cuh    all rows: their products (algorithm 2), bins and starts
// sort.cuh    puts the columns of a row in order, which are in a table in shared memory
// merge.cuh   up to 8 nonzeros of A and 64 products: the rows of S are merged, no table
// overlay.cuh rows that are one row of S and little else: that row, and no table
// pwarp.cuh   up to 32 products or 16 nonzeros: a table in shared memory, four threads a row; twice
//             as many, eight threads a row, with the option deal-products
// team.cuh    up to 8192 products or 4096 nonzeros: a table in shared memory, a warp or a block a
//             row. Longer ones in the symbolic phase, too, which try the largest table or have a
//             bitmap
// long.cuh    longer ones in the numeric phase: a bitmap in shared memory, a block a row
// ranges.cuh  the same where shared memory has no room for bitmaps: a table there, a block a row,
//             for a range of columns after the other, with the option passes
// plan.cuh    which bin goes to which of these, with how much shared memory
// pool.cuh    memory for rows under way in global memory, and the sort of tables there
// global.cuh  giants, rows that overflowed their table, and those that are too long for the others:
//             a table or a bitmap in global memory, several blocks a row
// phases.cuh  the phases, and their streams
// this file   a run, what it needs, and the options
//
// `hash` has the paper's parameters, and with them all of table I's bins and tables. `hash-tuned`
// is the same code with
//
// deal-products
//          Products are dealt out evenly over the lanes of a team, not a warp for each nonzero of
//          A. Exception: rows of the symbolic phase with many products per nonzero. Rows of more
//          than 32 products or 16 nonzeros have eight threads up to 64 or 32, and a warp up to 256
//          or 128, not two. The products of all rows that share a warp are dealt out over the warp,
//          unless four threads have a row and none of them has a second nonzero of A.
// merge    Rows of few nonzeros of A are merged from rows of S, which are in order already. Where
//          eight are few, four threads never have a row with a table.
// products-per-nonzero
//          32 products count as a nonzero, down to 4 if the device has few products for each of its
//          threads. A row with many products for few nonzeros so gets more threads.
// slots    Tables have at least two slots per nonzero of a row if shared memory holds them, not as
//          many as the bin's longest row has columns. The figure slots_least is the least of all
//          bins. A warp that has a row alone then sorts its columns, up to 128 unless `scale` is
//          more, in its registers, not by comparing all with all.
// bitmap   Rows too long for the largest table, or with more than a quarter of all columns, are
//          bitmaps of their columns. So are, in the symbolic phase, all rows whose table would be
//          at least as large, and they have fewer threads. Without bitmaps that phase tries long
//          rows in the largest table, and does those that overflow again in global memory.
// passes   Where shared memory has no room for bitmaps, rows too long for its tables have one there
//          all the same, up to 7/8 full, for a range of their columns after the other, if they have
//          no more nonzeros than so many full tables hold. Longer rows go to global memory.
// overlay  A row that has no more products than this besides those with one row of S is that row,
//          with the others laid over it. That row of S has 512 to 32,768 nonzeros.
// shared-memory
//          Blocks have all the shared memory that there is.
// split    Several blocks share a giant, a row with many of all products.
#include "papers.h"
#include "phases.cuh"

template <typename T> static factors<T> factors_of(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    factors<T> x;
    x.A_ptr = (const int32_t *)A->ptr;
    x.A_idx = A->idx;
    x.S_ptr = (const int32_t *)S->ptr;
    x.S_idx = S->idx;
    x.A_val = (const T *)A->val;
    x.S_val = (const T *)S->val;
    x.m = A->m;
    x.n = S->n;
    x.even = s->even;
    x.slack = s->slack;
    x.bit_words = s->bit_words;
    return x;
}

// Allocates one block of memory, the widest elements first.
static int scratch_alloc(struct task *t, struct scratch *w)
{
    const int64_t m = t->A[0]->m, segments = t->A[0]->nnz / SEGMENT * 2 + 1;
    const int64_t bytes = (int64_t)(sizeof *w->counters + SCAN_SHARES * sizeof *w->sums) +
                          segments * (int64_t)sizeof *w->segments + 3 * m * (int64_t)sizeof *w->nz;
    int err = device_alloc(t->dev, bytes, 1, (void **)&w->counters);
    if (err) return err;
    w->sums = (int64_t *)(w->counters + 1);
    w->segments = (struct segment *)(w->sums + SCAN_SHARES);
    w->products = (int32_t *)(w->segments + segments);
    w->nz = w->products + m;
    w->list = w->nz + m;
    return OK;
}

static void scratch_free(struct task *t, struct scratch *w)
{
    device_free(t->dev, w->overflowed);
    device_free(t->dev, w->counters);
}

// Returns the least slack of the bins that have rows.
static int32_t slack_least(const struct state *s)
{
    int32_t least = s->slack;
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++)
        for (int g = 0; g < s->binning[phase].count; g++)
            if (s->seen->rows[phase][g] && s->bins[phase][g].slack)
                least = min(least, s->bins[phase][g].slack);
    return least;
}

// Rows of the bins of the numeric phase for which is(bin).
template <typename F> static int32_t rows_where(const struct state *s, F is)
{
    int32_t rows = 0;
    for (int g = 0; g < s->binning[NUMERIC].count; g++)
        if (is(s->bins[NUMERIC][g])) rows += s->seen->rows[NUMERIC][g];
    return rows;
}

static void report(struct task *t, const struct state *s)
{
    const int symbolic_last = s->binning[SYMBOLIC].count - 1;
    const int numeric_last = s->binning[NUMERIC].count - 1;
    task_number(t, "long_rows_symbolic", s->seen->rows[SYMBOLIC][symbolic_last]);
    task_number(t, "long_rows_numeric", s->seen->rows[NUMERIC][numeric_last]);
    task_number(t, "merged_rows", rows_where(s, [](const bin &g) { return g.lists > 0; }));
    task_number(t, "overlaid_rows", rows_where(s, [](const bin &g) { return g.overlay; }));
    task_number(t, "ranged_rows", rows_where(s, [](const bin &g) { return g.ranges; }));
    task_number(t, "giant_rows", s->seen->giants[SYMBOLIC]);
    task_number(t, "overflowed_rows", s->seen->overflowed);
    task_number(t, "slots_least", slack_least(s));
}

static int multiply(struct task *t, struct state *s, struct scratch *w)
{
    const struct factors<float> pattern = factors_of<float>(t);
    int err = task_phase(t, "analyse");
    if (!err) err = scratch_alloc(t, w);
    if (!err) err = analyse(t, s, pattern, w);
    if (!err) err = task_phase(t, "symbolic");
    if (!err) err = symbolic(t, s, pattern, w);
    if (!err) err = task_phase(t, "allocate");
    // The products are a bound on the nonzeros.
    if (!err) err = result_begin(t, s->seen->products > INT32_MAX ? 8 : 4, &t->R);
    if (!err) err = allocate(t, s, pattern.A_ptr, w);
    if (err) return err;
    report(t, s);
    err = task_phase(t, "numeric");
    if (err) return err;
    return t->prec == F32 ? numeric(t, s, factors_of<float>(t), w)
                          : numeric(t, s, factors_of<double>(t), w);
}

static int run(struct task *t)
{
    struct state *s = (struct state *)t->state;
    struct scratch w = {};
    if (t->A[0]->m == 0) {
        int err = result_begin(t, 4, &t->R);
        return err ? err : device_fill(t->dev, t->R.ptr, 0, 4);
    }
    int err = multiply(t, s, &w);
    scratch_free(t, &w);
    // Also after an error, so that no one else is blamed.
    int launched = launch_check(t->entry->name);
    return err ? err : launched;
}

static int create_streams(struct state *s)
{
    CUDA_TRY(cudaMallocHost((void **)&s->seen, sizeof *s->seen));
    CUDA_TRY(cudaEventCreateWithFlags(&s->fork, cudaEventDisableTiming));
    for (int i = 0; i < STREAMS; i++) {
        CUDA_TRY(cudaStreamCreateWithFlags(&s->streams[i], cudaStreamNonBlocking));
        CUDA_TRY(cudaEventCreateWithFlags(&s->joined[i], cudaEventDisableTiming));
    }
    return OK;
}

template <typename T> static int make_plan(struct task *t, struct state *s)
{
    struct device *d = t->dev;
    int most, unit, threads;
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&unit, cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, d->index));
    // The largest of the kernels' own arrays is a round; the system keeps 1 KB of each block.
    const int64_t own = (int64_t)sizeof(struct team_round<LONG_BLOCK, double>) + 1024;
    int64_t room = s->room_most = most - own;
    const int64_t shared = (int64_t)task_option(t, "shared-memory");
    if (shared) room = min64(room, max64(shared, 32) * 1024);
    const int64_t third = min64(room, unit / 3 - own - 1024), warp_room = unit / (threads / WARP);
    s->threads = (int64_t)d->units * threads;
    plan<T>(s, t->S[0]->n, (int)task_option(t, "scale"), room, third, warp_room);
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++) {
        s->binning[phase].repeats = (int32_t)task_option(t, "products-per-nonzero");
        s->binning[phase].giant = (int32_t)task_option(t, "split");
        s->binning[phase].giant_parts = 4 * d->units;
    }
    return allow_all_shared<T>(d);
}

static int prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    s->slack = (int32_t)task_option(t, "slots");
    s->ranges = (int32_t)task_option(t, "passes");
    s->overlay = (int32_t)task_option(t, "overlay");
    s->merge = (int32_t)task_option(t, "merge");
    s->even = task_option(t, "deal-products") != 0;
    s->bitmap = task_option(t, "bitmap") != 0;
    s->streams_wanted = task_option(t, "streams") != 0;
    s->pool_bytes = (int64_t)(task_option(t, "pool") * (1 << 20));
    int err = create_streams(s);
    return err ? err : BY_PREC(t, make_plan, t, s);
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    for (int i = 0; i < STREAMS; i++) {
        if (s->streams[i]) cudaStreamDestroy(s->streams[i]);
        if (s->joined[i]) cudaEventDestroy(s->joined[i]);
    }
    if (s->fork) cudaEventDestroy(s->fork);
    cudaFreeHost(s->seen);
    mem_free(s);
    t->state = NULL;
}

#define ABOUT_SLOTS  "least slots of a table per nonzero of a row, if such a table fits"
#define ABOUT_SHARED "KB of a block's tables, at least 32; 0: all shared memory"
#define ABOUT_DEAL   "1: shares products evenly among threads; 0: a warp per nonzero of A"
#define ABOUT_PER_NONZERO                                                                          \
    "products that count as a nonzero of C in the number of a row's threads, down to 4 on small "  \
    "matrices; 0: nonzeros alone count"
#define ABOUT_PASSES                                                                               \
    "without bitmaps: most full tables in shared memory, one after the other, for a long row; "    \
    "0: none"
#define ABOUT_OVERLAY                                                                              \
    "one long row of S: most other products of the row that are added to it without a table; "     \
    "0: off"
#define ABOUT_MERGE                                                                                \
    "most nonzeros of a row of A whose rows of S are merged, not put in a table; 0: off"
#define OPTIONS(slots, shared, deal, per_nonzero, bitmap, passes, overlay, merge, split)           \
    {"scale", 1, 1, 4, true, "factor of table I's bounds and tables"},                             \
        {"slots", slots, 1, 4, true, ABOUT_SLOTS},                                                 \
        {"shared-memory", shared, 0, 1024, true, ABOUT_SHARED},                                    \
        {"deal-products", deal, 0, 1, true, ABOUT_DEAL},                                           \
        {"products-per-nonzero", per_nonzero, 0, INT32_MAX, true, ABOUT_PER_NONZERO},              \
        {"bitmap", bitmap, 0, 1, true, "1: long rows as bitmaps; 0: by tables, with retries"},     \
        {"passes", passes, 0, 64, true, ABOUT_PASSES},                                             \
        {"overlay", overlay, 0, OVERLAY_MOST, true, ABOUT_OVERLAY},                                \
        {"streams", 1, 0, 1, true, "1: a stream for each bin; 0: one for all"},                    \
        {"merge", merge, 0, 8, true, ABOUT_MERGE},                                                 \
        {"split", split, 1, INT32_MAX, true, "products from which blocks may share a row"},        \
        {"pool", 256, 0, 1 << 20, false, "MB of tables in global memory, at least one table"},     \
    {                                                                                              \
    }

static const struct param options[] = {OPTIONS(1, 48, 0, 0, 0, 0, 0, 0, INT32_MAX)};
static const struct param tuned_options[] = {OPTIONS(2, 0, 1, 32, 1, 4, OVERLAY_MOST, 8, 65536)};

static const char differs[] =
    "Columns of rows of up to 16 nonzeros (hash-tuned: 32) are sorted by comparing all with all, as in "
    "the paper. Longer rows are sorted by a bitmap if their range of columns is short. Other rows of "
    "more than 128 nonzeros are sorted by buckets, or bitonically if a bucket is too full. hash-tuned "
    "sorts rows of a warp bitonically. Tables in global memory are sorted as a whole, come from a pool "
    "of bounded size, and several blocks fill each.";

// Descriptors: symbol, options, name of the algorithm that this one is a tuned form of.
#define DESCRIPTOR(symbol, option_list, paper)                                                     \
    extern const struct algo spgemm_##symbol##_cuda = {                                            \
        .precs = BOTH_PRECS,                                                                       \
        .A = {&format_csr},                                                                        \
        .S = {&format_csr},                                                                        \
        .arith = ARITH_PREC,                                                                       \
        .options = option_list,                                                                    \
        .cite = NAGASAKA_2017,                                                                     \
        .differs = differs,                                                                        \
        .tuned_of = paper,                                                                         \
        ALGO_FUNCTIONS(prepare, run, teardown),                                                    \
    }

DESCRIPTOR(hash, options, NULL);
DESCRIPTOR(hash_tuned, tuned_options, "hash");
