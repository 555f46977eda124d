// SpGEMM with hash tables, C = A * S, for GPUs with more shared memory than the paper's.
// After Yusuke Nagasaka, Akira Nukada, Satoshi Matsuoka: High-performance and Memory-saving Sparse
// General Matrix-Matrix Multiplication for NVIDIA Pascal GPU, ICPP 2017; see spgemm/hash.
//
// Format: CSR. Rows of any length. Not deterministic: atomics add the values up in any order.
//
// A run has four phases:
//
// analyse   counts the products of each row of C, sorts the rows into bins by products
// symbolic  counts the nonzeros of each row, by a set of its columns
// allocate  computes row starts, sorts the rows into bins by nonzeros, allocates C
// numeric   writes columns in order, and values
//
// The host waits twice for the sizes of the bins. If rows may overflow their table, the host waits
// once more.
//
// Files, in reading order, and the rows that they compute. A bound on rows is a number of products
// in the symbolic phase, of nonzeros in the numeric phase.
//
// spgemm/hash_table.cuh    operands, result, hash table
// spgemm/bins.cuh          products, lists of rows by bin, row starts; bins_host.cuh: host part
// spgemm/hash_sort.cuh     sorts of the columns of a table; sort.cuh: two more
// binning.cuh  the bin of a row
// walk.cuh     the loop of a team of threads over the products of its row
// bitmap.cuh   bitmaps of columns and their ranks
// merge.cuh    up to 8 nonzeros of A and 64 products: merges the rows of S, no table
// overlay.cuh  one long row of S and few other products: copies the long row, no table
// pwarp.cuh    up to 64 products or 32 nonzeros: a table in shared memory, eight threads per row
// team.cuh     up to 8192 products or 4096 nonzeros: a table in shared memory, a warp or a block
//              per row. In the symbolic phase longer rows have a bitmap, or try the largest table
// long.cuh     longer rows in the numeric phase: a bitmap in shared memory, a block per row
// ranges.cuh   longer rows if bitmaps do not fit in shared memory: a table there, a block per row
//              computes one column range at a time
// global.cuh   giants, rows that overflowed their table, and rows too long for the other kernels:
//              a table or a bitmap in global memory, several blocks per row
// plan.cuh     the kernel and the shared memory of each bin
// phases.cuh   the symbolic and the numeric phase
// this file    a run, and the options
//
// Differences from `hash`:
//
// - Products are shared evenly among the threads of a row. Exception: rows of the symbolic phase
//   with many products per nonzero of A.
// - Rows of up to 64 products or 32 nonzeros have eight threads, rows of up to 256 or 128 a warp.
// - Tables have at least two places per nonzero of a row if shared memory holds them. A warp with
//   a row of its own sorts the columns in registers.
// - Rows too long for the largest table, or with more than a quarter of all columns, have a bitmap
//   of their columns. In the symbolic phase a bitmap also replaces each table that is at least as
//   large, and such rows have fewer threads.
// - Several blocks share a row with a large part of all products (option split).
#include "phases.cuh"

// Returns the least slack of the bins with rows.
static int32_t slack_least(const struct state *s)
{
    int32_t least = SLOTS;
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++)
        for (int g = 0; g < s->plan.binning[phase].count; g++)
            if (s->host.seen->rows[phase][g] && s->plan.bins[phase][g].slack)
                least = min(least, s->plan.bins[phase][g].slack);
    return least;
}

// Returns the number of rows that the numeric phase computes in this way.
static int32_t rows_by(const struct state *s, enum way way)
{
    int32_t rows = 0;
    for (int g = 0; g < s->plan.binning[NUMERIC].count; g++)
        if (s->plan.bins[NUMERIC][g].way == way) rows += s->host.seen->rows[NUMERIC][g];
    return rows;
}

static void report(struct task *t, const struct state *s)
{
    const struct counters *seen = s->host.seen;
    task_number(t, "long_rows_symbolic", seen->rows[SYMBOLIC][s->plan.binning[SYMBOLIC].count - 1]);
    task_number(t, "long_rows_numeric", seen->rows[NUMERIC][s->plan.binning[NUMERIC].count - 1]);
    task_number(t, "merged_rows", rows_by(s, MERGE));
    task_number(t, "overlaid_rows", rows_by(s, OVERLAY));
    task_number(t, "ranged_rows", rows_by(s, RANGES));
    task_number(t, "giant_rows", seen->giants[SYMBOLIC]);
    task_number(t, "overflowed_rows", seen->overflowed);
    task_number(t, "slots_least", slack_least(s));
}

extern "C" int spgemm_hash_tuned_cuda_run(struct task *t)
{
    struct state *s = (struct state *)t->state;
    return bins_run(
        t, &s->host, s->plan.binning[SYMBOLIC], s->plan.binning[NUMERIC],
        [=](struct scratch *w) { return symbolic(t, s, w); }, [=]() { report(t, s); },
        [=](struct scratch *w) { return BY_PREC(t, numeric, t, s, w); });
}

template <typename T> static int prepare_for(struct task *t, struct state *s)
{
    struct device *d = t->dev;
    int most, unit, threads;
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&unit, cudaDevAttrMaxSharedMemoryPerMultiprocessor, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, d->index));
    // The largest static array of a kernel is a round. The system reserves 1 KB for each block.
    const int64_t own = (int64_t)sizeof(struct team_round<LONG_BLOCK, double>) + 1024;
    struct room room = {most - own, most - own};
    const int64_t shared = (int64_t)task_option(t, "shared-memory");
    if (shared) room.block = min64(room.block, max64(shared, 32) * 1024);
    room.third = min64(room.block, unit / 3 - own - 1024);
    room.warp = unit / (threads / WARP);
    const struct choices o = {
        task_option(t, "bitmap") != 0,
        (int32_t)task_option(t, "passes"),
        (int32_t)task_option(t, "overlay"),
        (int32_t)task_option(t, "merge"),
    };
    make_plan<T>(&s->plan, t->S[0]->n, &o, &room);
    s->bitmap = o.bitmap;
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++) {
        s->plan.binning[phase].giant_least = (int32_t)task_option(t, "split");
        s->plan.binning[phase].giant_parts = 4 * d->units;
    }
    return allow_all_shared<T>(d);
}

extern "C" int spgemm_hash_tuned_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    int err = bins_create(t, &s->host);
    return err ? err : BY_PREC(t, prepare_for, t, s);
}

extern "C" void spgemm_hash_tuned_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) bins_destroy(&s->host);
    task_free_state(t);
}
