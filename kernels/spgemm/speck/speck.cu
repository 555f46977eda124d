// SpGEMM with an analysis, conditional load balancing, and several accumulators, C = A * S.
// Mathias Parger, Martin Winter, Daniel Mlakar, Markus Steinberger: spECK: Accelerating GPU Sparse
// Matrix-Matrix Multiplication through Lightweight Analysis, PPoPP 2020.
//
// Format: CSR. Rows of any length. Not deterministic: atomics add the values up in any order. The
// paper's B is S here.
//
// paper                                    here
// 1 analysis of the rows                   analysis.cuh: analyse_rows(); rows of A over 4096
//                                          nonzeros: analyse_long()
// 2 kernel sizes                           sizes.cuh, and set_sizes() in this file
// 3 conditional global load balancing      sizes.cuh: is_balanced()
//   rows merged into blocks                plan.cuh: merge_groups()
//   blocks queued by kernel, row starts    plan.cuh: plan_sums(), plan_list()
//   not balanced: one kernel for all       rows_of_block() in this file
// 4 choice of the accumulator              sizes.cuh: row_kernel()
//   hash                                   hash.cuh: symbolic_hash(), numeric_hash()
//   dense                                  dense.cuh: symbolic_dense(), numeric_dense()
//   direct: row of A with one nonzero      analyse_rows(), numeric_hash()
// 5 local load balancing                   rows.cuh: choose_lanes(), walk_rows()
// 6 sorting                                numeric_hash(), with spgemm/hash_sort.cuh
//
// A team of 32 to 1024 threads computes a block of up to 32 neighbouring rows. A group of lanes, a
// power of two, takes a nonzero of A at a time. A warp looks up the next nonzeros of its groups at
// once.
//
// The host waits twice: for the blocks of each kernel in the symbolic phase, and for those of the
// numeric phase with the nonzeros of C. Limits: a long row of C is computed by a single block.
#include "dense.cuh"
#include "hash.cuh"
#include "plan.cuh"
#include "spgemm/result.h"
#include "spgemm/streams.cuh"

struct state {
    struct totals *seen; // pinned; copy of the device's totals
    struct streams streams;
    int64_t largest_bytes;          // shared memory of the largest kernels
    struct table tables[2][HASHES]; // by phase
    struct rule rules[2];
};

// Device memory of one run.
struct scratch {
    struct totals *totals;
    struct row_facts *facts;  // size m
    struct block_rows *queue; // size m
    int64_t *sums;            // size SHARES_MOST
    int32_t *nz;              // nonzeros of each row of C, size m
    int32_t *long_rows;       // size nnz(A) / SEGMENT + 1
    int32_t *cursors;         // size 2 nnz(A), or NULL
};

static int scratch_alloc(struct task *t, struct scratch *w)
{
    const int64_t m = t->A[0]->m, longs = t->A[0]->nnz / SEGMENT + 1;
    const int64_t bytes = (int64_t)(sizeof *w->totals + SHARES_MOST * sizeof *w->sums) +
                          m * (int64_t)(sizeof *w->facts + sizeof *w->queue + sizeof *w->nz) +
                          longs * 4;
    static_assert(sizeof *w->totals % sizeof *w->facts == 0, "facts are aligned");
    int err = device_alloc(t->dev, bytes, 1, (void **)&w->totals);
    if (err) return err;
    w->facts = (struct row_facts *)(w->totals + 1);
    w->queue = (struct block_rows *)(w->facts + m);
    w->sums = (int64_t *)(w->queue + m);
    w->nz = (int32_t *)(w->sums + SHARES_MOST);
    w->long_rows = w->nz + m;
    CUDA_TRY(cudaMemsetAsync(w->totals, 0, sizeof *w->totals, (cudaStream_t)t->dev->stream));
    return OK;
}

static void scratch_free(struct task *t, struct scratch *w)
{
    device_free(t->dev, w->cursors);
    device_free(t->dev, w->totals);
}

// Step 1.
static void analyse(struct task *t, const struct scratch *w)
{
    const struct factors<float> x = factors_of<float>(t);
    const int64_t nnz = t->A[0]->nnz;
    const int lanes = (int)min64(next_power(max64(nnz / x.m / 2, 1)), WARP);
    const bool ranges = nnz > RANGES_LEAST;
    LAUNCH(analyse_rows, (unsigned)ceil_div((int64_t)x.m * lanes, BLOCK), BLOCK, 0, t->dev->stream,
           x, lanes, ranges, w->facts, w->nz, w->totals, w->long_rows);
    if (min64(nnz, t->A[0]->n) > SEGMENT)
        LAUNCH(analyse_long, (unsigned)t->dev->units * 2, BLOCK, 0, t->dev->stream, x, ranges,
               w->facts, w->totals, w->long_rows);
}

// Step 3. Waits until the host has the totals.
template <int PHASE, typename P>
static int plan(struct task *t, struct state *s, const struct scratch *w)
{
    const int32_t *A_ptr = (const int32_t *)csr_of(t->A[0])->ptr, m = t->A[0]->m;
    const int32_t share = (int32_t)(ceil_div(ceil_div(m, SHARES_MOST), BLOCK) * BLOCK);
    const unsigned shares = (unsigned)ceil_div(m, share);
    const auto sums = plan_sums<PHASE>;
    const auto list = plan_list<PHASE, P>;
    LAUNCH(sums, shares, BLOCK, 0, t->dev->stream, A_ptr, w->facts, w->nz, share, s->rules[PHASE],
           w->totals, w->sums);
    LAUNCH(list, shares, BLOCK, 0, t->dev->stream, A_ptr, w->facts, w->nz, share, s->rules[PHASE],
           w->totals, w->sums, (P *)t->R.ptr, w->queue, s->seen);
    int err = launch_check(t->entry->name);
    return err ? err : device_sync(t->dev);
}

// Returns the rows of a block if one kernel computes all rows: a power of two, up to longest /
// mean, that is certain to fit in the table.
static int32_t rows_of_block(const struct state *s, int phase, int kernel)
{
    const struct rule *rule = &s->rules[phase];
    const int64_t sum = (int64_t)(phase == SYMBOLIC ? s->seen->products : s->seen->nnz);
    const int32_t *most = s->seen->most[phase];
    int log = 0;
    while (log < ROWS_LOG && most[log + 1] <= rule->limit[kernel] &&
           (sum << (log + 1)) <= (int64_t)most[0] * rule->m &&
           (int64_t)rule->n << (log + 1) < INT32_MAX)
        log++;
    return 1 << log;
}

// Calls launch(kernel, stream, blocks) for each kernel that has blocks.
template <typename F>
static int run_kernels(struct task *t, struct state *s, int phase, struct scratch *w, F launch)
{
    const struct totals *seen = s->seen;
    const int32_t m = s->rules[phase].m;
    const bool balanced = is_balanced(phase, s->rules[phase], seen);
    int32_t counts[KERNELS] = {}, starts[KERNELS] = {}, rows = 0, err = OK;
    task_number(t, phase == SYMBOLIC ? "balanced_symbolic" : "balanced_numeric", balanced);
    if (!balanced && seen->most[phase][0]) {
        const int kernel = hash_kernel(s->rules[phase], seen->most[phase][0]);
        rows = rows_of_block(s, phase, kernel);
        counts[kernel] = (int32_t)ceil_div(m, rows);
    }
    for (int k = 0, start = 0; k < KERNELS && balanced; k++) {
        counts[k] = seen->blocks[phase][k];
        starts[k] = start;
        start += counts[k];
    }
    if (phase == NUMERIC) task_number(t, "dense_rows", counts[DENSE] + counts[DENSE_LARGEST]);
    if (counts[DENSE_LARGEST] && seen->windows[phase] && !w->cursors)
        err = device_alloc(t->dev, 2 * t->A[0]->nnz, sizeof *w->cursors, (void **)&w->cursors);
    if (err) return err;
    return run_in_streams(
        t, &s->streams, counts, KERNELS, false,
        [&](int k, cudaStream_t stream) {
            launch(k, stream,
                   team_blocks{balanced ? w->queue + starts[k] : NULL, counts[k], rows, m});
        },
        []() { return (int)OK; });
}

static struct cursors cursors_of(const struct task *t, const struct scratch *w)
{
    return {w->cursors, w->cursors ? w->cursors + t->A[0]->nnz : NULL};
}

// Hash kernels with fewer than 1024 threads, and their threads.
#define FOR_SMALLER(X) X(0, 32) X(1, 64) X(2, 128) X(3, 256) X(4, 512)

static int symbolic(struct task *t, struct state *s, struct scratch *w)
{
    const struct factors<float> x = factors_of<float>(t);
    return run_kernels(
        t, s, SYMBOLIC, w, [&](int k, cudaStream_t stream, const struct team_blocks &blocks) {
            if (k >= DENSE) {
                const int64_t bytes = k == DENSE ? WINDOW_BYTES : s->largest_bytes;
                LAUNCH(symbolic_dense, (unsigned)blocks.count, DENSE_BLOCK, (size_t)bytes, stream,
                       x, blocks, s->rules[SYMBOLIC].window[k - DENSE], cursors_of(t, w), w->facts,
                       w->nz);
                return;
            }
            const struct table table = s->tables[SYMBOLIC][k];
#define START(TEAM)                                                                                \
    LAUNCH(symbolic_hash<TEAM>, (unsigned)ceil_div(blocks.count, TEAMS_OF(TEAM)),                  \
           THREADS_OF(TEAM), TEAMS_OF(TEAM) * 4 * (size_t)table.size, stream, x, blocks, table,    \
           w->facts, w->nz);
#define CASE(K, TEAM)                                                                              \
    if (k == K) START(TEAM)
            FOR_SMALLER(CASE)
            if (k >= LARGEST - 1) START(1024)
#undef CASE
#undef START
        });
}

template <typename T> static int numeric(struct task *t, struct state *s, struct scratch *w)
{
    const struct factors<T> x = factors_of<T>(t);
    const struct result<T> c = result_of<T>(t);
    return run_kernels(
        t, s, NUMERIC, w, [&](int k, cudaStream_t stream, const struct team_blocks &blocks) {
            if (k >= DENSE) {
                const int64_t bytes = k == DENSE ? WINDOW_BYTES : s->largest_bytes;
                const auto dense = numeric_dense<T>;
                LAUNCH(dense, (unsigned)blocks.count, DENSE_BLOCK, (size_t)bytes, stream, x, blocks,
                       s->rules[NUMERIC].window[k - DENSE], cursors_of(t, w), w->facts, c);
                return;
            }
            const struct table table = s->tables[NUMERIC][k];
            const size_t bytes = (size_t)team_bytes<T>(table.size, table.limit);
#define START(TEAM)                                                                                \
    {                                                                                              \
        const auto hash = numeric_hash<TEAM, T>;                                                   \
        LAUNCH(hash, (unsigned)ceil_div(blocks.count, TEAMS_OF(TEAM)), THREADS_OF(TEAM),           \
               TEAMS_OF(TEAM) * bytes, stream, x, blocks, table, w->facts, w->nz, c);              \
    }
#define CASE(K, TEAM)                                                                              \
    if (k == K) START(TEAM)
            FOR_SMALLER(CASE)
            if (k >= LARGEST - 1) START(1024)
#undef CASE
#undef START
        });
}

static int run_phases(struct task *t, struct state *s, struct scratch *w)
{
    int err = task_phase(t, "analyse");
    if (!err) err = scratch_alloc(t, w);
    if (err) return err;
    analyse(t, w);
    err = plan<SYMBOLIC, int32_t>(t, s, w);
    if (!err) err = task_phase(t, "symbolic");
    if (!err) err = symbolic(t, s, w);
    if (!err) err = task_phase(t, "allocate");
    if (err) return err;
    // The number of products bounds the number of nonzeros.
    const int ptr_bytes = s->seen->products > INT32_MAX ? 8 : 4;
    err = result_begin(t, ptr_bytes, &t->R);
    if (!err)
        err = ptr_bytes == 8 ? plan<NUMERIC, int64_t>(t, s, w) : plan<NUMERIC, int32_t>(t, s, w);
    if (err) return err;
    t->R.nnz = (int64_t)s->seen->nnz;
    err = result_alloc(t->dev, &t->R);
    if (!err) err = task_phase(t, "numeric");
    return err ? err : BY_PREC(t, numeric, t, s, w);
}

extern "C" int spgemm_speck_cuda_run(struct task *t)
{
    struct state *s = (struct state *)t->state;
    struct scratch w = {};
    if (t->A[0]->m == 0) {
        int err = result_begin(t, 4, &t->R);
        return err ? err : device_fill(t->dev, t->R.ptr, 0, 4);
    }
    int err = run_phases(t, s, &w);
    scratch_free(t, &w);
    // Checked after an error too, so that a later launch does not report this error.
    int launched = launch_check(t->entry->name);
    return err ? err : launched;
}

// Returns a table of `size` places, used up to 4/5 (symbolic) or 2/3 (numeric).
static struct table make_table(int phase, int64_t size)
{
    const int64_t used = phase == SYMBOLIC ? size * 4 / 5 : size * 2 / 3;
    return {(int32_t)size, (uint32_t)((1ull << 32) / (uint64_t)size), (int32_t)(used / 4 * 4)};
}

// Step 2. Sets the tables and the rules of both phases. Returns ERR_UNSUPPORTED if the device has
// too little shared memory.
template <typename T> static int set_sizes(struct task *t, struct state *s)
{
    struct table *keys = s->tables[SYMBOLIC], *pairs = s->tables[NUMERIC];
    for (int k = 0; k < LARGEST; k++) {
        const int64_t places = NUMERIC_BYTES / (int64_t)(sizeof(int32_t) + sizeof(T));
        keys[k] = make_table(SYMBOLIC, SYMBOLIC_KEYS >> (LARGEST - 1 - k));
        pairs[k] = make_table(NUMERIC, ceil_div(places >> (LARGEST - 1 - k), 4) * 4);
    }
    const struct table &before = pairs[LARGEST - 1];
    const int64_t least = team_bytes<T>(before.size, before.limit);
    const int64_t wanted = (int64_t)(task_option(t, "shared-memory") * 1024);
    if (s->largest_bytes < least)
        return fail(ERR_UNSUPPORTED, "speck: a block needs %lld bytes of shared memory",
                    (long long)least);
    if (wanted) s->largest_bytes = max64(least, min64(s->largest_bytes, wanted));
    s->largest_bytes = s->largest_bytes / 16 * 16;
    keys[LARGEST] = make_table(SYMBOLIC, s->largest_bytes / 16 * 4);
    pairs[LARGEST] = before;
    for (int64_t size = before.size;; size += 4) {
        const struct table table = make_table(NUMERIC, size);
        if (team_bytes<T>(table.size, table.limit) > s->largest_bytes) break;
        pairs[LARGEST] = table;
    }
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++) {
        struct rule *rule = &s->rules[phase];
        const int value_bytes = phase == NUMERIC ? (int)sizeof(T) : 0;
        for (int k = 0; k < HASHES; k++) rule->limit[k] = s->tables[phase][k].limit;
        rule->window[0] = window_columns(WINDOW_BYTES, value_bytes);
        rule->window[1] = window_columns(s->largest_bytes, value_bytes);
        rule->balance = (int32_t)task_option(t, "balance");
        rule->m = t->A[0]->m;
        rule->n = t->S[0]->n;
        rule->nnz = t->A[0]->nnz;
    }
    return OK;
}

// Allows a kernel all shared memory, and lowers *bytes to the most dynamic shared memory that the
// kernel can have.
template <typename K> static int allow_largest(struct device *d, K *kernel, int64_t *bytes)
{
    struct cudaFuncAttributes facts;
    int err = allow_shared(d, kernel);
    if (err) return err;
    CUDA_TRY(cudaFuncGetAttributes(&facts, kernel));
    *bytes = min64(*bytes, facts.maxDynamicSharedSizeBytes);
    return OK;
}

template <typename T> static int prepare_kernels(struct task *t, struct state *s)
{
    s->largest_bytes = INT32_MAX;
    int err = allow_largest(t->dev, symbolic_hash<1024>, &s->largest_bytes);
    if (!err) err = allow_largest(t->dev, symbolic_dense, &s->largest_bytes);
    if (!err) err = allow_largest(t->dev, numeric_hash<1024, T>, &s->largest_bytes);
    if (!err) err = allow_largest(t->dev, numeric_dense<T>, &s->largest_bytes);
#define ALLOW(K, TEAM)                                                                             \
    if (!err) err = allow_shared(t->dev, symbolic_hash<TEAM>);                                     \
    if (!err) err = allow_shared(t->dev, numeric_hash<TEAM, T>);
    FOR_SMALLER(ALLOW)
#undef ALLOW
    return err ? err : set_sizes<T>(t, s);
}

extern "C" int spgemm_speck_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    CUDA_TRY(cudaMallocHost((void **)&s->seen, sizeof *s->seen));
    int err = streams_create(t, &s->streams);
    return err ? err : BY_PREC(t, prepare_kernels, t, s);
}

extern "C" void spgemm_speck_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) {
        streams_destroy(&s->streams);
        cudaFreeHost(s->seen);
    }
    task_free_state(t);
}
