// tiled-tuned: SpMM, C = A * B, column-major, by one of four methods ("ways").
//
// Format: CSR, and tiles made from CSR if the method needs tiles. Any k. In column-major B the k
// elements that a nonzero needs are far apart. Each costs a sector of 32 bytes, unless neighbouring
// rows need neighbouring elements. The four methods:
//
// tiles   Tiled SpMM (tiled.cu). Fastest if panels reuse B, as on meshes, and rows have similar
//         lengths
// turned  B is copied to row-major in each run, which reads and writes B once more in whole lines
// direct  one kernel on column-major B, with few dependent loads, for the smallest matrices
// staged  one kernel that copies some columns of B to shared memory, row by row, for small matrices
//
// prepare() selects the method by the bytes that each method moves and by fixed costs of its
// launches. Deterministic: every sum has one fixed order.
//
// ways.cuh          the selection
// direct.cuh        direct: kernel and launch
// staged.cuh        staged: kernel
// staged_plan.cuh   staged: sizes and launch
// turned.cuh        turned: kernel, pieces of panels, launch
// turn.cuh          turned: the row-major copy
// turned_panel.cuh  turned: rows and nonzeros of a block, words
// turned_sum.cuh    turned: sums of a block
// turned_write.cuh  turned: C from the sums, cut rows
// tuned.cu          options, preparation, run
#include "direct.cuh"
#include "papers.h"
#include "slabs.h"
#include "turned.cuh"
#include "ways.cuh"

#include <string.h>

extern const struct algo spmm_tiled_cuda;

struct state {
    enum way way;
    struct direct direct;
    struct turned turned;
    struct staged staged;
    struct sparse *tiles;
    struct task inner; // task of `tiled` on the tiles
};

// Prepares the method `tiles`. The tiles are those of `tiled`, except for their size.
static int tiles_prepare(struct task *t, struct state *s, const double *opt)
{
    int err = sparse_make(t->dev, &format_tiled, t->A[0], opt, &s->tiles);
    if (!err) err = device_sync(t->dev);
    if (err) return err;
    device_peak_reset(t->dev); // memory of the conversion does not count, as with any format
    format_tiled.describe(s->tiles, &t->figures);
    task_number(t, "tiles_bytes", (double)sparse_bytes(s->tiles));
    s->inner = *t;
    s->inner.algo = &spmm_tiled_cuda;
    s->inner.A[0] = s->tiles;
    s->inner.state = NULL;
    algo_defaults(s->inner.algo, s->inner.opt);
    return s->inner.algo->prepare(&s->inner);
}

// Halves panels and stages if that costs few additional bytes. Twice as many blocks balance better.
static int choose_panels(struct task *t, double factor, const struct ways *ways, double *opt)
{
    double halved[PARAMS_MAX];
    struct ways finer;
    memcpy(halved, opt, sizeof halved);
    halved[TILED_ROWS] /= 2;
    halved[TILED_STAGE] /= 2;
    int err = compare_ways(t, halved, factor, &finer);
    if (!err && finer.tiles < ways->tiles * HALVES_DEARER) memcpy(opt, halved, sizeof halved);
    return err;
}

// Sets the method, and the parameters of the tiles if the method is `tiles`.
static int choose_way(struct task *t, double *opt, enum way *way)
{
    const int wanted = (int)task_option(t, "method");
    struct task tiled = {};
    struct ways ways;
    *way = wanted < 0 ? WAY_DIRECT : (enum way)wanted;
    if (wanted > WAY_TILES || !t->A[0]->nnz) return OK;
    tiled.entry = t->entry;
    tiled.algo = &spmm_tiled_cuda;
    algo_defaults(tiled.algo, tiled.opt);
    const double factor = task_option(&tiled, "factor");
    opt[TILED_SLABS] = slabs_of(t->C.cols, (int64_t)factor);
    int err = compare_ways(t, opt, factor, &ways);
    if (err) return err;
    if (wanted < 0) *way = fastest_way(&ways);
    task_number(t, "whole_rows", ways.even);
    task_number(t, "tiles_traffic", ways.tiles);
    task_number(t, "turned_traffic", ways.turned);
    task_number(t, "tiles_us", ways.us[WAY_TILES]);
    task_number(t, "turned_us", ways.us[WAY_TURNED]);
    task_number(t, "direct_us", ways.us[WAY_DIRECT]);
    if (isfinite(ways.us[WAY_STAGED])) task_number(t, "staged_us", ways.us[WAY_STAGED]);
    return *way == WAY_TILES ? choose_panels(t, factor, &ways, opt) : OK;
}

static int prepare(struct task *t)
{
    static const char *const names[] = {"tiles", "turned", "direct", "staged"}; // by enum way
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    double opt[PARAMS_MAX] = {};
    t->state = s;
    if (!s) return ERR_MEMORY;
    for (int i = 0; format_tiled.params[i].name; i++) opt[i] = format_tiled.params[i].value;
    int err = choose_way(t, opt, &s->way);
    if (err) return err;
    task_text(t, "method", names[s->way]);
    if (s->way == WAY_TILES) return tiles_prepare(t, s, opt);
    if (s->way == WAY_TURNED) return turned_prepare(t, &s->turned);
    if (s->way == WAY_STAGED) return staged_prepare(t, &s->staged);
    direct_prepare(t, &s->direct);
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    if (s->inner.algo) s->inner.algo->teardown(&s->inner);
    sparse_free(t->dev, s->tiles);
    turned_free(t->dev, &s->turned);
    task_free_state(t);
}

static int run(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (t->C.rows == 0 || t->C.cols == 0) return OK;
    if (s->way == WAY_TILES) return s->inner.algo->run(&s->inner);
    if (s->way == WAY_TURNED) {
        BY_PREC(t, turned_start, t, &s->turned);
    } else if (s->way == WAY_STAGED) {
        BY_PREC(t, staged_start, t, &s->staged);
    } else {
        BY_PREC(t, direct_start, t, &s->direct);
    }
    return launch_check(t->entry->name);
}

// `block-nonzeros`: on an H200 no other length is faster than 512, on all matrices but one.
// `early-start`: an early start hides the launch latency of the turned kernel. The direct and the
// staged kernel do not start early, see direct.cuh.
static const struct param options[] = {
    {"method", -1, -1, 3, true,
     "0: tiled; 1: row-major copy of B (turned); 2: plain CSR (direct); 3: columns of B in shared "
     "memory (staged); -1: the fastest by a rule"},
    {"block-rows", 0, 0, MAX_ROWS, true,
     "turned: rows per block, a power of two from 8; 0: by the size"},
    {"threads", 0, 0, STAGED_THREADS, true,
     "turned, staged: threads per block, a multiple of 32, turned at most 256; 0: by the size"},
    {"block-nonzeros", 512, 1, 1 << 20, true, "turned: most nonzeros per block"},
    {"columns", 0, 0, 4, true, "staged: columns of B per block, 16 or 8 bytes of each row; 0: by the size"},
    {"row-ranges", 0, 0, MOST_RANGES, true,
     "staged: number of ranges of rows, each with blocks of its own; 0: by the size"},
    {"early-start", 1, 0, 1, true,
     "turned: 1: blocks start before the previous kernel has ended, sm_90 and later"},
    {},
};

extern const struct algo spmm_tiled_tuned_cuda = {
    .layouts = COL_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "after " TILED_SPMM,
    .differs = "Where panels share little of B there are no tiles: B is made row-major in each run "
               "instead of being staged. Small matrices are multiplied without either, or with "
               "whole columns of B staged.",
    .tuned_of = "tiled",
    ALGO_FUNCTIONS(prepare, run, teardown),
};
