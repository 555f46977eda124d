// SpGEMM with hash tables, C = A * S. Its parts are in spgemm_hash_*.cuh; here the phases are led.
// Yusuke Nagasaka, Akira Nukada, Satoshi Matsuoka: High-performance and Memory-saving Sparse
// General Matrix-Matrix Multiplication for NVIDIA Pascal GPU, ICPP 2017, section III.
//
// Format: CSR. Rows of any length; values are added up by atomics, so their order varies.
//
// analyse:  the products of each row (algorithm 2), and rows into groups by them (table I).
// symbolic: the nonzeros of each row of C. Four threads (PWARP), a warp, or a block take a row, by
//           its group, and put its columns into a hash table in shared memory (algorithm 5).
// allocate: row starts of C by a scan, rows into groups by nonzeros, and C itself.
// numeric:  the same tables with values; what they hold is put in order and written to C.
// The host waits twice, for the sizes of the groups. Groups run on streams of their own.
//
// Where this leaves the paper, by default (the paper's parameters are even=0 repeats=0 slack=1
// bitmap=0 shared=48 split=2147483647, with which all of table I's tables and groups are its own):
// - Products are dealt out evenly over the lanes of a team instead of a warp for each nonzero of A,
//   but for rows of the symbolic phase with many products per nonzero (even=0: for all rows, in
//   both phases). Rows of up to 256 products or 128 nonzeros take one warp (even=0: two).
// - A row's numeric group is that of its nonzeros or, if that is larger, of a 32nd of its products,
//   so that many products for few nonzeros get more threads (repeats=0: that of its nonzeros).
// - Tables have at least twice the places that a row needs, but in the group of the longest rows
//   where shared memory does not hold that (slack_least in the record: the least there was;
//   slack=1: as many places as the group's longest row has columns, as in the paper).
// - Up to 16 (PWARP) and 128 columns are put in order by comparing all with all, as in the paper.
//   That is quadratic: longer rows sort a bitmap of their range of columns, or bitonically.
// - Rows too long for the largest table, or with more than a quarter of all columns, are bitmaps of
//   their columns, in shared memory while it holds them (bitmap=0: tables). So are, in the symbolic
//   phase, all rows whose table would be no smaller, with fewer threads than table I has for them.
//   Without bitmaps the symbolic phase tries such rows in the largest table and redoes those that
//   overflow.
// - Giant rows, and those redone, are shared by many blocks, in global memory: a pool of bounded
//   size (pool=MB), rows in waves.
#include "papers.h"
#include "wave.cuh"

// Work on the stream of group i begins after what is on the main stream now, and ends before what
// comes there after join_stream().
static int fork_stream(struct task *t, struct state *s, int i, bool first, cudaStream_t *stream)
{
    *stream = s->streams[i];
    if (first) CUDA_TRY(cudaEventRecord(s->fork, (cudaStream_t)t->dev->stream));
    CUDA_TRY(cudaStreamWaitEvent(*stream, s->fork));
    return OK;
}

static int join_stream(struct task *t, struct state *s, int i)
{
    CUDA_TRY(cudaEventRecord(s->joined[i], s->streams[i]));
    CUDA_TRY(cudaStreamWaitEvent((cudaStream_t)t->dev->stream, s->joined[i]));
    return OK;
}

// Waits for the device's counters.
static int look(struct task *t, struct state *s, const struct scratch *w)
{
    return wait_for(t->dev, "hash", w->counters, s->seen, sizeof *s->seen);
}

// Launches the groups of a phase, the longest rows first, each on a stream of its own but the last,
// which takes the main stream. launch(group, stream, rows) is called for each that has rows which
// are not giants; these are for rest(), on the main stream.
template <typename F, typename G>
static int run_groups(struct task *t, struct state *s, int phase, const struct scratch *w, F launch,
                      G rest)
{
    const int last = s->grouping[phase].count - 1;
    int32_t counts[GROUP_MOST], end = 0;
    int first = -1, forked = 0, err = OK;
    for (int g = 0; g <= last; g++) {
        counts[g] = s->seen->rows[phase][g] - (g == last ? s->seen->giants[phase] : 0);
        end += counts[g];
    }
    for (int g = last; g >= 0; g--)
        if (counts[g] && !s->seen->giants[phase]) first = g;
    bool used[GROUP_MOST] = {};
    for (int g = last; g >= 0 && !err; g--) {
        const struct group *group = &s->groups[phase][g];
        end -= counts[g];
        if (!counts[g]) continue;
        const struct rows rows = {w->list + end, counts[g], group->size, group->limit};
        cudaStream_t stream = (cudaStream_t)t->dev->stream;
        used[g] = s->streams_wanted && g != first;
        if (used[g]) err = fork_stream(t, s, g, forked++ == 0, &stream);
        if (!err) launch(group, stream, rows);
    }
    if (!err) err = rest();
    for (int g = 0; g <= last; g++)
        if (used[g]) {
            int joined = join_stream(t, s, g);
            if (!err) err = joined;
        }
    return err;
}

// What lies at the end of the last group's part of the list.
static const int32_t *giants_of(const struct state *s, int phase, const struct scratch *w)
{
    int32_t end = 0;
    for (int g = 0; g < s->grouping[phase].count; g++) end += s->seen->rows[phase][g];
    return w->list + end - s->seen->giants[phase];
}

static int symbolic(struct task *t, struct state *s, const struct factors<float> &x,
                    struct scratch *w)
{
    const int last = s->grouping[SYMBOLIC].count - 1;
    const int32_t giants = s->seen->giants[SYMBOLIC], longest = s->seen->longest[SYMBOLIC];
    const int32_t tried = s->bit_words ? 0 : s->seen->rows[SYMBOLIC][last] - giants;
    struct overflow overflow = {};
    const result<float> none = {};
    int err = OK;
    if (tried) {
        err = device_alloc(t->dev, tried, sizeof(int32_t), (void **)&w->overflowed);
        overflow = {w->overflowed, &w->counters->overflowed};
    }
    auto launch = [&](const struct group *g, cudaStream_t stream, const struct rows &rows) {
        const bool is_last = g == &s->groups[SYMBOLIC][last];
        launch_symbolic(g, stream, x, rows, is_last ? overflow : (struct overflow){}, w);
    };
    auto rest = [&]() {
        if (!giants) return (int)OK;
        return run_global<false>(t, x, giants_of(s, SYMBOLIC, w), giants, longest, none, w);
    };
    if (!err) err = run_groups(t, s, SYMBOLIC, w, launch, rest);
    if (!err && tried) err = look(t, s, w);
    if (!err && tried && s->seen->overflowed)
        err = run_global<false>(t, x, w->overflowed, s->seen->overflowed, longest, none, w);
    return err;
}

template <typename T>
static int numeric(struct task *t, struct state *s, const struct factors<T> &x,
                   const struct scratch *w)
{
    const result<T> c = {t->R.ptr, t->R.ptr_bytes == 8, t->R.idx, (T *)t->R.val};
    const int last = s->grouping[NUMERIC].count - 1;
    // Without numeric_long all rows of the last group go where the giants go.
    if (!s->groups[NUMERIC][last].is_long) s->seen->giants[NUMERIC] = s->seen->rows[NUMERIC][last];
    const int32_t giants = s->seen->giants[NUMERIC];
    auto launch = [&](const struct group *g, cudaStream_t stream, const struct rows &rows) {
        launch_numeric<T>(g, stream, x, rows, c, w);
    };
    auto rest = [&]() {
        if (!giants) return (int)OK;
        return run_global<true>(t, x, giants_of(s, NUMERIC, w), giants, s->seen->longest[NUMERIC],
                                c, w);
    };
    return run_groups(t, s, NUMERIC, w, launch, rest);
}

// Algorithm 2, and the rows' groups.
static int analyse(struct task *t, struct state *s, const struct factors<float> &x,
                   const struct scratch *w)
{
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const auto count = count_products<float>;
    const auto pieces = count_pieces<float>;
    const int64_t mean = t->A.nnz / x.m;
    const int lanes = (int)min64(next_power(max64(mean / 2, 1)), WARP);
    CUDA_TRY(cudaMemsetAsync(w->counters, 0, sizeof *w->counters, stream));
    LAUNCH(count, (unsigned)ceil_div((int64_t)x.m * lanes, BLOCK), BLOCK, 0, stream, x, lanes,
           s->grouping[SYMBOLIC], w->counters, w->products, w->pieces);
    if (min64(t->A.nnz, t->A.n) > LONG_ROW)
        LAUNCH(pieces, (unsigned)t->dev->units * 2, BLOCK, 0, stream, x, w->counters, w->products,
               w->pieces);
    LAUNCH(list_by_products, (unsigned)ceil_div(x.m, BLOCK), BLOCK, 0, stream, x.A_ptr, x.m,
           s->grouping[SYMBOLIC], w->counters, w->products, w->nz, w->list);
    return look(t, s, w);
}

// Row starts, groups by nonzeros, and memory for C.
static int allocate(struct task *t, struct state *s, const struct scratch *w)
{
    cudaStream_t stream = (cudaStream_t)t->dev->stream;
    const auto narrow = list_by_nonzeros<int32_t>;
    const auto wide = list_by_nonzeros<int64_t>;
    const int32_t m = t->R.m;
    const int32_t tile = (int32_t)(ceil_div(ceil_div(m, SCAN_TILES), BLOCK) * BLOCK);
    const unsigned tiles = (unsigned)ceil_div(m, tile);
    LAUNCH(sum_tiles, tiles, BLOCK, 0, stream, m, tile, s->grouping[NUMERIC], w->counters, w->nz,
           w->products, w->tiles);
    if (t->R.ptr_bytes == 8)
        LAUNCH(wide, tiles, BLOCK, 0, stream, m, tile, s->grouping[NUMERIC], w->counters, w->nz,
               w->products, w->tiles, (int64_t *)t->R.ptr, w->list);
    else
        LAUNCH(narrow, tiles, BLOCK, 0, stream, m, tile, s->grouping[NUMERIC], w->counters, w->nz,
               w->products, w->tiles, (int32_t *)t->R.ptr, w->list);
    int err = look(t, s, w);
    t->R.nnz = s->seen->nnz;
    if (!err) err = device_alloc(t->dev, t->R.nnz, sizeof *t->R.idx, (void **)&t->R.idx);
    if (!err) err = device_alloc(t->dev, t->R.nnz, prec_bytes(t->in->prec), &t->R.val);
    return err;
}

template <typename T> static factors<T> factors_of(const struct task *t)
{
    const struct state *s = (const struct state *)t->state;
    factors<T> x;
    x.A_ptr = (const int32_t *)t->A.ptr;
    x.A_idx = t->A.idx;
    x.S_ptr = (const int32_t *)t->S.ptr;
    x.S_idx = t->S.idx;
    x.A_val = (const T *)t->A.val;
    x.S_val = (const T *)t->S.val;
    x.m = t->A.m;
    x.n = t->S.n;
    x.even = s->even;
    x.slack = s->slack;
    x.bit_words = s->bit_words;
    return x;
}

// One block, the widest elements first.
static int scratch_alloc(struct task *t, struct scratch *w)
{
    const int64_t m = t->A.m, pieces = t->A.nnz / LONG_ROW * 2 + 1;
    const int64_t bytes = (int64_t)(sizeof *w->counters + SCAN_TILES * sizeof *w->tiles) +
                          pieces * (int64_t)sizeof *w->pieces + 3 * m * (int64_t)sizeof *w->nz;
    int err = device_alloc(t->dev, bytes, 1, (void **)&w->counters);
    if (err) return err;
    w->tiles = (int64_t *)(w->counters + 1);
    w->pieces = (struct piece *)(w->tiles + SCAN_TILES);
    w->products = (int32_t *)(w->pieces + pieces);
    w->nz = w->products + m;
    w->list = w->nz + m;
    return OK;
}

static void scratch_free(struct task *t, struct scratch *w)
{
    device_free(t->dev, w->overflowed);
    device_free(t->dev, w->counters);
}

// Of the groups that have rows.
static int32_t slack_least(const struct state *s)
{
    int32_t least = s->slack;
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++)
        for (int g = 0; g < s->grouping[phase].count; g++)
            if (s->seen->rows[phase][g] && s->groups[phase][g].slack)
                least = min(least, s->groups[phase][g].slack);
    return least;
}

static void report(struct task *t, const struct state *s)
{
    const int symbolic_last = s->grouping[SYMBOLIC].count - 1;
    const int numeric_last = s->grouping[NUMERIC].count - 1;
    task_number(t, "long_rows_symbolic", s->seen->rows[SYMBOLIC][symbolic_last]);
    task_number(t, "long_rows_numeric", s->seen->rows[NUMERIC][numeric_last]);
    task_number(t, "giant_rows", s->seen->giants[SYMBOLIC]);
    task_number(t, "overflowed_rows", s->seen->overflowed);
    task_number(t, "slack_least", slack_least(s));
}

static int run(struct task *t)
{
    struct state *s = (struct state *)t->state;
    struct scratch w = {};
    t->R = {};
    t->R.m = t->A.m;
    t->R.n = t->S.n;
    t->R.ptr_bytes = 4;
    if (t->A.m == 0) {
        int err = device_alloc(t->dev, 1, 4, &t->R.ptr);
        return err ? err : device_fill(t->dev, t->R.ptr, 0, 4);
    }
    int err = task_phase(t, "analyse");
    if (!err) err = scratch_alloc(t, &w);
    const struct factors<float> pattern = factors_of<float>(t);
    if (!err) err = analyse(t, s, pattern, &w);
    if (!err) err = task_phase(t, "symbolic");
    if (!err) err = symbolic(t, s, pattern, &w);
    if (!err) err = task_phase(t, "allocate");
    // The products are a bound on the nonzeros.
    if (!err && s->seen->products > INT32_MAX) t->R.ptr_bytes = 8;
    if (!err) err = device_alloc(t->dev, (int64_t)t->R.m + 1, t->R.ptr_bytes, &t->R.ptr);
    if (!err) err = allocate(t, s, &w);
    if (!err) report(t, s);
    if (!err) err = task_phase(t, "numeric");
    if (!err && t->in->prec == F32) err = numeric(t, s, factors_of<float>(t), &w);
    if (!err && t->in->prec == F64) err = numeric(t, s, factors_of<double>(t), &w);
    scratch_free(t, &w);
    int launched = launch_check("hash"); // also after an error, so that no one else is blamed
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

static int prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    const bool f32 = t->in->prec == F32;
    const int scale = (int)task_option(t, "scale");
    int most, unit, threads;
    CUDA_TRY(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, t->dev->index));
    CUDA_TRY(
        cudaDeviceGetAttribute(&unit, cudaDevAttrMaxSharedMemoryPerMultiprocessor, t->dev->index));
    CUDA_TRY(
        cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, t->dev->index));
    // The largest of the kernels' own arrays is a chunk; the system keeps 1 KB of each block.
    const int64_t own = (int64_t)sizeof(struct chunk<LONG_BLOCK, double>) + 1024;
    int64_t room = s->room_most = most - own;
    const int64_t shared = (int64_t)task_option(t, "shared");
    if (shared) room = min64(room, max64(shared, 32) * 1024);
    const int64_t third = min64(room, unit / 3 - own - 1024), warp_room = unit / (threads / WARP);
    s->slack = (int32_t)task_option(t, "slack");
    s->even = task_option(t, "even") != 0;
    s->bitmap = task_option(t, "bitmap") != 0;
    s->streams_wanted = task_option(t, "streams") != 0;
    s->pool_bytes = (int64_t)(task_option(t, "pool") * (1 << 20));
    if (f32)
        plan<float>(s, t->S.n, scale, room, third, warp_room);
    else
        plan<double>(s, t->S.n, scale, room, third, warp_room);
    for (int phase = SYMBOLIC; phase <= NUMERIC; phase++) {
        s->grouping[phase].repeats = (int32_t)task_option(t, "repeats");
        s->grouping[phase].giant = (int32_t)task_option(t, "split");
        s->grouping[phase].giant_share = 4 * t->dev->units;
    }
    int err = create_streams(s);
    if (!err) err = f32 ? allow_all_shared<float>(t->dev) : allow_all_shared<double>(t->dev);
    return err;
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

static const struct algo_option options[] = {
    {"scale", 1, 1, 4, true, "table I's bounds and tables times this"},
    {"slack", 2, 1, 4, true,
     "places of a table per column that it may get, where they fit: see slack_least (paper: 1)"},
    {"shared", 0, 0, 1024, true,
     "KB of a block's tables or bitmap, at least 32; 0: all there is (paper: 48)"},
    {"even", 1, 0, 1, true,
     "1: products dealt out as serves best; 0: always a warp per nonzero of A (paper)"},
    {"repeats", 32, 0, INT32_MAX, true,
     "products that earn a row the threads of one nonzero of C; 0: none do (paper)"},
    {"bitmap", 1, 0, 1, true, "1: long rows as bitmaps; 0: tables tried and redone (paper)"},
    {"streams", 1, 0, 1, true, "1: a stream for each group (paper); 0: one for all"},
    {"split", 65536, 1, INT32_MAX, true,
     "products from which on several blocks may share a row (paper: 2147483647, none)"},
    {"pool", POOL_MB, 0, 1 << 20, false, "MB of tables in global memory at a time, one at least"},
    {},
};

extern const struct algo spgemm_hash_cuda = {
    .name = "hash",
    .op = OP_SPGEMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about = "hash tables in shared memory, rows in groups by size, counted and then multiplied",
    .cite = NAGASAKA_2017,
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
