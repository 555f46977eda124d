// Decisions and allocations of prepare().
#ifndef GRADED_PLAN_H
#define GRADED_PLAN_H

#include <math.h>

#include "alike.cuh"
#include "choose.cuh"
#include "lists.cuh"

// Returns log2 of x, or of the next power of two.
static inline int log2_of(int64_t x)
{
    int log = 0;
    while ((int64_t)1 << log < x) log++;
    return log;
}

static inline void copies_free(struct device *d, struct graded_plan *s)
{
    device_free(d, s->B);
    device_free(d, s->C);
    s->B = s->C = NULL;
}

// Returns the least nonzeros per column of a bundle, or 0 for no bundles, and the most columns. A
// bundle needs more registers, so narrow values or packs need more nonzeros per column. A device
// that is not full gains nothing from fewer loads.
static inline struct bundle_bounds bounds_of(const struct task *t, const struct graded_plan *s,
                                             const struct choice *c)
{
    const double wanted = task_option(t, "bundle-min");
    const bool wide = t->prec != F64 && c->form->vec * in_bytes(t) == 16;
    const double share = group_share(t, &s->facts, s->view.k, c);
    const double alike = wanted >= 0 ? wanted : s->share < 3 ? 0 : wide ? 1.6 : 2.4;
    return {(float)alike, (int32_t)(fmin(fmax(2 * share, 16), 128) * WARP / max(c->lanes, 8))};
}

// Finds the bundles. Sets *columns as described in struct grading, or to NULL if bundles have less
// than the fraction `bundle-share` of the nonzeros.
static inline int plan_bundles(struct task *t, const struct graded_plan *s, const struct choice *c,
                               int32_t **columns)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    struct device *d = t->dev;
    const int32_t candidates = A->m / ALIKE;
    const struct bundle_bounds within = bounds_of(t, s, c);
    unsigned long long *bundled = NULL, nonzeros = 0;
    *columns = NULL;
    if (within.alike == 0 || candidates == 0 || A->nnz < 4 * (int64_t)A->m) return OK;
    int err = device_alloc(d, candidates, sizeof **columns, (void **)columns);
    if (!err) err = device_alloc(d, 1, sizeof *bundled, (void **)&bundled);
    if (!err) err = device_fill(d, bundled, 0, sizeof *bundled);
    if (!err) {
        LAUNCH(find_bundles, (unsigned)ceil_div(candidates, THREADS / WARP), THREADS, 0, d->stream,
               candidates, (const int32_t *)A->ptr, A->idx, within, *columns, bundled);
        err = wait_for(d, t->entry->name, bundled, &nonzeros, sizeof nonzeros);
    }
    device_free(d, bundled);
    const double share = A->nnz ? (double)nonzeros / (double)A->nnz : 0;
    task_number(t, "bundle_share", share);
    if (err || !nonzeros || share < task_option(t, "bundle-share")) {
        device_free(d, *columns);
        *columns = NULL;
    }
    return err;
}

// Lengths of the longest short row and the longest medium row, in nonzeros.
struct lengths {
    double short_most, medium_most;
};

// Returns the cost of a choice of lengths: the waves of warps, and CHAIN for each eight nonzeros of
// the longest sum of a group. `room`: warps that the device holds at once. A long row costs as much
// as 8 medium rows. H100, 22 matrices, f32, k = 32 to 128, time over that of the best of six
// choices, geometric mean; worst:
//
//     CHAIN 0.3                              1.013; 1.09
//     CHAIN 0.2                              1.015; 1.19
//     CHAIN 0.1                              1.020; 1.26
//     short rows of up to 32 nonzeros        1.041; 1.26
#define CHAIN 0.3
static inline double cost_of_lengths(const struct graded_plan *s, int team, double room, struct lengths x)
{
    const int64_t *longer = s->facts.longer;
    const double lanes = s->choice.lanes, rows = s->choice.form->bundles ? ALIKE : 1;
    const double not_short = (double)longer[length_bound((int64_t)x.short_most)],
                 segments = (double)longer[length_bound((int64_t)x.medium_most)];
    const double warps =
        ((double)s->facts.used - not_short) * team / WARP + not_short + 7 * segments;
    const double longest = fmax(x.short_most * lanes / team, x.medium_most * lanes / WARP);
    return warps / rows * s->slabs / room + CHAIN * longest / 8;
}

// Returns the lengths of least cost: powers of two times `least`, with short rows of at most
// `most_short` nonzeros. A group has at most 80 nonzeros of a medium row, unless `least` has more.
static inline struct lengths choose_lengths(const struct graded_plan *s, int team, double room,
                                            struct lengths least, double most_short)
{
    const double most_medium = fmax(least.medium_most, 80.0 * WARP / s->choice.lanes);
    struct lengths best = least;
    double cost = INFINITY;
    for (struct lengths x = least; x.medium_most <= most_medium; x.medium_most *= 2)
        for (x.short_most = least.short_most;; x.short_most = fmin(2 * x.short_most, most_short)) {
            const double own = cost_of_lengths(s, team, room, x);
            if (own < cost) best = x, cost = own;
            if (x.short_most >= most_short) break;
        }
    return best;
}

// Sets the longest short row, the longest medium row, and the length of a segment. All are shorter
// if the device is not full, as the longest piece then decides when a product ends. Rows of narrow
// B have a team of lanes with up to 5.5 nonzeros each, or 2 on a device that is not full. Short
// bundles are shorter than short rows: a bundle has three sums, which take longer, most of all in
// f64.
static inline void plan_lengths(const struct task *t, struct graded_plan *s, struct grading *g)
{
    const int wanted_short = (int)task_option(t, "short"),
              wanted_medium = (int)task_option(t, "medium"),
              wanted_segment = (int)task_option(t, "segment");
    const struct form *f = s->choice.form;
    const int lanes = s->choice.lanes, groups = WARP / lanes, all = THREADS / lanes;
    const double share = s->share;
    const double room = (double)f->blocks * t->dev->units * (THREADS / WARP);
    int team = lanes;
    if (!f->lanes)
        while (team < WARP && team * (share < 3 ? 2 : 5.5) < s->facts.typical) team *= 2;
    g->in_order = !g->bundle_columns && lanes < 4;
    g->tiny_most = f->lanes && !f->bundles ? (int)task_option(t, "tiny") : -1;
    const double most_short = !f->lanes     ? (team == WARP ? 128 : max(32, 8 * team))
                              : !f->bundles ? 32
                                            : fmin(fmax(1.5 * share, 16), t->prec == F64 ? 8 : 24);
    const bool longer = lanes >= 16 && share >= 128 && !f->bundles;
    const struct lengths least = {lanes < 4 ? most_short : fmin(8, most_short),
                                  fmin(fmax(2 * share, 16), longer ? 128 : 64) * groups};
    const struct lengths x = choose_lengths(s, team, room, least, most_short);
    const double segment = fmin(fmax(1.5 * share, lanes < 8 ? 8 : 16), 8 * max(lanes, 8)) * all;
    g->short_most = wanted_short >= 0 ? wanted_short : (int)x.short_most;
    if (!g->in_order) g->short_most = min(g->short_most, MOST_SHORT);
    g->medium_most = wanted_medium ? wanted_medium : (int)fmax(x.medium_most, 32);
    g->segment = wanted_segment ? wanted_segment : (int)segment;
    g->uncut = wanted_segment ? wanted_segment : max(g->segment, 32 * all);
    struct lists *l = &s->lists;
    l->segment = g->segment;
    l->uncut = g->uncut;
    l->short_most = g->short_most;
    l->turns = share < 3 ? 1 : TURNS;
    l->log_lanes = log2_of(lanes);
    l->log_team = log2_of(team);
}

// Counts the pieces of each row block, and waits for the total counts.
static inline int plan_count(struct task *t, const struct grading *g, struct counts *counts,
                             struct counts *all)
{
    struct device *d = t->dev;
    const int32_t row_blocks = (int32_t)ceil_div(g->m, ROW_BLOCK);
    *all = {};
    if (row_blocks == 0) return OK;
    LAUNCH(count_pieces, (unsigned)row_blocks, ROW_BLOCK, 0, d->stream, *g, counts);
    LAUNCH(add_up, 1, 1024, 0, d->stream, counts, row_blocks);
    return wait_for(d, t->entry->name, counts + row_blocks, all, sizeof *all);
}

// Lists the pieces.
static inline int plan_lists(struct task *t, struct graded_plan *s, struct grading *g, int32_t *entries)
{
    struct device *d = t->dev;
    const int32_t row_blocks = (int32_t)ceil_div(g->m, ROW_BLOCK);
    struct counts *counts = NULL, x = {};
    int err = device_alloc(d, row_blocks + 1, sizeof *counts, (void **)&counts);
    if (!err) err = plan_count(t, g, counts, &x);
    for (int kind = 0; kind < KINDS && !err; kind++) {
        s->lists.count[kind] = x.of[kind];
        if (kind != SHORT || !g->in_order)
            err = device_alloc(d, x.of[kind], sizeof(struct piece), (void **)&s->lists.list[kind]);
    }
    if (g->in_order) s->lists.count[SHORT] = g->m;
    if (!err && row_blocks) {
        LAUNCH(list_pieces, (unsigned)row_blocks, ROW_BLOCK, 0, d->stream, *g, counts, s->lists);
        err = launch_check(t->entry->name);
    }
    device_free(d, counts);
    *entries = x.entries;
    return err;
}

template <typename T> static void start_filling(const struct task *t, int kind)
{
    const struct graded_plan *s = (const struct graded_plan *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t count = s->lists.count[kind];
    auto kernel = fill_bundles<T>;
    LAUNCH(kernel, (unsigned)ceil_div(count, THREADS / WARP), THREADS, 0, t->dev->stream,
           (const struct piece *)s->lists.list[kind], count, (const int32_t *)A->ptr, A->idx,
           (const T *)A->val, s->bundles.idx, (T *)s->bundles.val);
}

static inline int plan_fill(struct task *t, struct graded_plan *s, int32_t entries)
{
    static const int kinds[] = {MEDIUM_BUNDLE, SHORT_BUNDLE};
    struct device *d = t->dev;
    int err = device_alloc(d, entries, sizeof *s->bundles.idx, (void **)&s->bundles.idx);
    if (!err) err = device_alloc(d, (int64_t)entries * ALIKE, in_bytes(t), &s->bundles.val);
    for (int k = 0; k < 2 && !err; k++) {
        if (s->lists.count[kinds[k]]) BY_TYPE(t, start_filling, t, kinds[k]);
        err = launch_check(t->entry->name);
    }
    return err;
}

// Allocates memory for the sums of segments.
static inline int plan_segments(struct task *t, struct graded_plan *s)
{
    struct device *d = t->dev;
    int64_t sums, values;
    int err = size_mul(s->lists.count[SEGMENT], s->slabs, &sums);
    if (!err) err = size_mul(sums, slab_of(&s->choice), &values);
    if (!err) err = device_alloc(d, values, type_bytes(prec_sum(t->prec)), &s->partial);
    if (!err) err = device_alloc(d, sums, sizeof *s->arrived, (void **)&s->arrived);
    if (!err) err = device_fill(d, s->arrived, 0, sums * (int64_t)sizeof *s->arrived);
    return err;
}

// Sets the first block of each kind.
static inline int plan_grid(const struct task *t, struct graded_plan *s)
{
    struct lists *l = &s->lists;
    const int team = 1 << l->log_team;
    const int of_block[KINDS] = {1,
                                 THREADS / WARP,
                                 THREADS / WARP,
                                 THREADS / team,
                                 THREADS / team,
                                 l->turns * THREADS / team};
    int64_t at = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        l->at[kind] = (int32_t)at;
        at += ceil_div(l->count[kind], of_block[kind]);
        if (at > INT32_MAX)
            return fail(ERR_UNSUPPORTED, "%s: more than %d blocks", t->entry->name, INT32_MAX);
    }
    l->at[KINDS] = (int32_t)at;
    return OK;
}

// Allocates the row-major copies of B and C, with rows of whole packs of 16 bytes. Sets the view.
static inline int plan_copies(struct task *t, struct graded_plan *s)
{
    const int64_t pack = 16 / in_bytes(t), width = ceil_div(t->C.cols, pack) * pack;
    int64_t of_B, of_C;
    int err = size_mul(t->in[0].rows, width, &of_B);
    if (!err) err = size_mul(t->C.rows, width, &of_C);
    if (!err) err = device_alloc(t->dev, of_B, (size_t)in_bytes(t), &s->B);
    if (!err) err = device_alloc(t->dev, of_C, (size_t)out_bytes(t), &s->C);
    s->view = {LAYOUT_ROW, width, width, width};
    return err;
}

// Sets the view of B and C. Column-major B and C of one column have rows of one element. Without
// memory for the copies, B and C are used in place, unless the option `turned` is 1.
static inline int plan_view(struct task *t, struct graded_plan *s)
{
    const int64_t k = t->C.cols;
    if (choose_turned(t, &s->facts)) {
        const int err = plan_copies(t, s);
        if (err != ERR_MEMORY || task_option(t, "turned") > 0) return err;
        fail_drop();
        copies_free(t->dev, s);
    }
    s->view = {t->C.layout, k, t->in[0].ld, t->C.ld};
    if (s->view.layout == LAYOUT_COL && k <= 1) s->view = {LAYOUT_ROW, k, 1, 1};
    return OK;
}

// Sets the bytes between rows of B.
static inline int plan_step(const struct task *t, struct graded_plan *s)
{
    const int64_t row = s->view.layout == LAYOUT_ROW ? s->view.B_ld : 1;
    const int64_t bytes = row * in_bytes(t);
    s->B_step = (uint32_t)bytes;
    if (bytes <= UINT32_MAX) return OK;
    return fail(ERR_UNSUPPORTED, "%s: a row of a dense matrix has more than 4 GB", t->entry->name);
}

// Returns true if blocks start before the previous kernel has ended. Measured on an H200: an early
// start costs a separate product 0.24 us. Products back to back save a third to a half if the
// device is far from full. An early start costs more than its gain if all blocks fit at once and
// have much work. Early blocks are distributed unevenly, so that a product back to back took up to
// 1.7 times as long.
static inline bool plan_early(const struct task *t, const struct graded_plan *s)
{
    const double wanted = task_option(t, "early-start");
    if (wanted >= 0) return wanted != 0;
    const double room = 1.1 * s->choice.form->blocks * t->dev->units;
    const double blocks = s->lists.at[KINDS] * (double)s->slabs;
    return s->B || s->share < 3 || (s->share < 25 && blocks > room);
}

// Finds bundles for the widest slabs with enough bundles, and sets the choice. With narrower slabs
// a bundle has more groups, so bundles may be longer. In f64 bundles are not faster with narrow
// slabs.
static inline int plan_bundle_choice(struct task *t, struct graded_plan *s, const struct forms *forms,
                                     int32_t **columns)
{
    const int64_t bytes = in_bytes(t);
    struct bounds within = s->wanted;
    const bool free = t->prec != F64 && !within.slab && !within.lanes;
    for (;;) {
        const struct choice c = choose(t, forms, &s->view, true, within);
        int err = OK;
        *columns = NULL;
        if (!c.form) return OK;
        if (c.lanes <= 2 * s->choice.lanes) err = plan_bundles(t, s, &c, columns);
        if (*columns) s->choice = c;
        within.slab = slab_of(&c) * bytes / 2;
        if (err || *columns || !free || within.slab < 128) return err;
    }
}

static inline int plan_pieces(struct task *t, struct graded_plan *s, const struct forms *forms)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    struct grading g = {};
    int32_t *columns = NULL, entries;
    g.m = A->m;
    g.ptr = (const int32_t *)A->ptr;
    int err = find_facts(t, &s->facts);
    if (!err) err = plan_view(t, s);
    if (!err) err = plan_step(t, s);
    if (err) return err;
    s->wanted = wanted_bounds(t, forms, &s->view);
    s->choice = choose_for_rows(t, forms, &s->view, &s->facts, s->wanted);
    s->share = group_share(t, &s->facts, s->view.k, &s->choice);
    err = plan_bundle_choice(t, s, forms, &columns);
    g.bundle_columns = columns;
    s->slabs = (int32_t)slabs_of(&s->choice, s->view.k);
    plan_lengths(t, s, &g);
    if (!err) err = plan_lists(t, s, &g, &entries);
    if (!err && columns) err = plan_fill(t, s, entries);
    if (!err) err = plan_segments(t, s);
    if (!err) err = plan_grid(t, s);
    if (!err) s->lists.early = plan_early(t, s) && can_launch_early(count_pieces);
    device_free(t->dev, columns);
    task_number(t, "short_most", g.short_most);
    task_number(t, "medium_most", g.medium_most);
    task_number(t, "segment_length", g.segment);
    return err;
}

static inline void pieces_free(struct device *d, struct graded_plan *s)
{
    for (int kind = 0; kind < KINDS; kind++) device_free(d, s->lists.list[kind]);
    device_free(d, s->bundles.idx);
    device_free(d, s->bundles.val);
    copies_free(d, s);
    device_free(d, s->partial);
    device_free(d, s->arrived);
}

#endif
