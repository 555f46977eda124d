// Decisions and allocations of prepare() for a case by pieces, except the form of the kernel.
#ifndef GRADED_PLAN_H
#define GRADED_PLAN_H

#include "alike.cuh"
#include "form.cuh"
#include "grade.cuh"
#include "strips.h"

#define MOST_SHORT_BY_SIZE 32 // nonzeros of a short row, at most, unless plan_one_wave() finds more
#define SHARE_FULL         5.5 // nonzeros of a group from which on longer pieces cost nothing

struct plan {
    bool by_strips;       // run() uses strips; otherwise pieces, with all fields below
    struct strips strips; // by the end of prepare() there is but one of the two
    struct choice choice;
    double share; // group_share() of the form for rows that are no bundles, ahead of wider_pays()
    const struct form *form;
    const struct form *roomy; // with more registers, for plan_registers(); NULL: there is none
    const struct form *wider; // with wider slabs, for wider_pays(); NULL: there is none
    int32_t slabs;
    uint32_t B_step, C_step;
    struct lists lists;
    struct bundles bundles;
    void *partial;
    int32_t *arrived;
    int32_t long_nonzeros; // nonzeros of rows that are segments
};

// Returns the bounds of a bundle of this form.
static inline struct bundle_bounds bounds_of(const struct task *t, const struct choice *c,
                                             const struct form *rows, const struct form *f)
{
    return {(float)least_alike(t, c, rows, f), most_columns(t, c, f)};
}

// Finds the candidates that are bundles `within` these bounds, and sums over these bundles. Also
// sums over the bundles that only the bounds `wider` accept.
static inline int plan_candidates(struct task *t, struct bundle_bounds within,
                                  struct bundle_bounds wider, int32_t *columns,
                                  struct bundle_totals *x)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t candidates = A->m / ALIKE;
    struct device *d = t->dev;
    struct bundle_totals *totals = NULL;
    int err = device_alloc(d, 1, sizeof *totals, (void **)&totals);
    if (!err) err = device_fill(d, totals, 0, sizeof *totals);
    if (!err) {
        LAUNCH(find_bundles, (unsigned)ceil_div(candidates, THREADS / WARP), THREADS, 0, d->stream,
               candidates, (const int32_t *)A->ptr, A->idx, within, wider, columns, totals);
        err = wait_for(d, t->entry->name, totals, x, sizeof *x);
    }
    device_free(d, totals);
    return err;
}

// Finds the bundles. Sets *columns as described in struct grading, or to NULL if bundles have less
// than the fraction `bundled` of the nonzeros; `form` is then undefined. If the form has too few
// bundles, the first form with narrower slabs that has enough replaces it.
static inline int plan_bundles(struct task *t, const struct choice *c, const struct form *rows,
                               const struct form **form, int32_t **columns)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const double wanted = task_option(t, "bundle-share") * (double)A->nnz;
    const struct form *next = *form;
    struct bundle_bounds wider = bounds_of(t, c, rows, next);
    struct bundle_totals x = {};
    if (wider.alike == 0 || A->m < ALIKE || A->nnz < 4 * (int64_t)A->m) return OK;
    while ((next = narrower_for_bundles(t, c, next))) {
        const struct bundle_bounds of = bounds_of(t, c, rows, next);
        wider = {fminf(wider.alike, of.alike), max(wider.columns, of.columns)};
    }
    int err = device_alloc(t->dev, A->m / ALIKE, sizeof **columns, (void **)columns);
    for (next = *form; !err && next;) {
        *form = next;
        err = plan_candidates(t, bounds_of(t, c, rows, next), wider, *columns, &x);
        const bool short_of = (double)x.nonzeros < wanted;
        const bool others_do = (double)(x.nonzeros + x.others) >= wanted;
        next = short_of && others_do ? narrower_for_bundles(t, c, next) : NULL;
    }
    task_number(t, "bundle_share", A->nnz ? (double)x.nonzeros / (double)A->nnz : 0);
    if (err || !x.columns || (double)x.nonzeros < wanted) {
        device_free(t->dev, *columns);
        *columns = NULL;
    }
    return err;
}

// The longest short row, the longest medium one, and the length of a segment: less where the device
// is not full, as the longest piece then decides when a product ends. What a group goes through one
// after another grows with `share`, always that of the form for rows; how many groups a team has is
// as the form says that is taken. Where a group has very much to do, one of 16 lanes or more
// does twice as much of a medium row. Short bundles are shorter than short rows: three sums take
// longer, most of all in f64. H200, f64: short bundles of up to 16 in place of 8 take
// shallow_water1.k3 from 117 to 127 us.
static inline void plan_lengths(const struct task *t, const struct plan *s, struct grading *g)
{
    const struct form *form = s->form;
    const double share = s->share;
    const int wanted_short = (int)task_option(t, "short"),
              wanted_medium = (int)task_option(t, "medium"),
              wanted_segment = (int)task_option(t, "segment");
    const int lanes = max(form->lanes, 8);
    const bool longer_medium = lanes >= 16 && share >= 128 && !form->bundles;
    const int most_short = !form->bundles ? MOST_SHORT_BY_SIZE : t->prec == F64 ? 8 : 24;
    const double few = share < SHARE_FULL ? 8 : fmin(fmax(1.5 * share, 16), most_short);
    const double medium = fmin(fmax(2 * share, 16), longer_medium ? 128 : 64);
    const double segment = fmin(fmax(1.5 * share, 16), 8 * lanes);
    g->short_most = wanted_short >= 0 ? wanted_short : (int)few;
    g->medium_most = wanted_medium ? wanted_medium : (int)fmax(medium * WARP / lanes, 32);
    g->segment = wanted_segment ? wanted_segment : (int)segment * (THREADS / lanes);
    g->uncut = wanted_segment ? wanted_segment : max(g->segment, 32 * (THREADS / lanes));
}

// Takes a form, but not yet the lengths of rows that go with it.
static inline void take_form(const struct task *t, struct plan *s, const struct form *form)
{
    s->form = form;
    s->roomy = roomy_form(&s->choice, form);
    s->slabs = (int32_t)form_slabs(form, t->C.cols);
}

// Takes a form and the lengths.
static inline void plan_form(const struct task *t, struct plan *s, const struct form *form,
                             struct grading *g)
{
    take_form(t, s, form);
    plan_lengths(t, s, g);
    s->lists.segment = g->segment;
    s->lists.uncut = g->uncut;
}

// Blocks of each kind, one kind behind the other: where each begins, and how many there are.
static inline int64_t plan_blocks(const struct plan *s, const int32_t *count, int64_t *at)
{
    const int team = s->form->team;
    const int of_block[KINDS] = {1,
                                 THREADS / WARP,
                                 THREADS / WARP,
                                 THREADS / team,
                                 THREADS / team,
                                 s->lists.turns * THREADS / team};
    at[0] = 0;
    for (int kind = 0; kind < KINDS; kind++)
        at[kind + 1] = at[kind] + ceil_div(count[kind], of_block[kind]);
    return at[KINDS];
}

// How many blocks these pieces are, of all slabs.
static inline int64_t blocks_with(const struct plan *s, const int32_t *count)
{
    int64_t at[KINDS + 1];
    return plan_blocks(s, count, at) * s->slabs;
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

// Counts the pieces if rows of up to `most` nonzeros are short.
static inline int plan_short(struct task *t, const struct plan *s, int most, struct grading *g,
                             struct counts *counts, struct counts *x, int64_t *blocks)
{
    g->short_most = most;
    int err = plan_count(t, g, counts, x);
    *blocks = blocks_with(s, x->of);
    return err;
}

// Returns true if wider slabs pay. If each row is about one warp's work and only narrow slabs fill
// the device, wide slabs have more loads in flight. Longer rows exclude them, since those rows
// would take longer still. Measured on an H200.
static inline bool wider_pays(const struct task *t, const struct plan *s, const struct counts *x)
{
    const int32_t *of = x->of;
    if (!s->wider || mean_length(t, &s->choice) < 16 || of[SEGMENT] ||
        of[MEDIUM] < 3 * (of[SHORT] + of[TINY]))
        return false;
    struct plan wider = *s;
    take_form(t, &wider, s->wider);
    const bool roomy = wider.roomy && task_option(t, "more-registers") != 0;
    const struct form *f = roomy ? wider.roomy : wider.form;
    const int64_t units = t->dev->units;
    return 10 * blocks_with(s, of) > 9 * s->form->blocks * units &&
           blocks_with(&wider, of) <= f->blocks * units;
}

// Takes the form that has two groups for a short row if all blocks fit by it, with a few to spare;
// no row is tiny then. Two groups are done sooner than one, and two rows of a warp take less room
// than a warp for each. `fit`: whether it was taken. Measured on an H200.
static inline int plan_pairs(struct task *t, struct plan *s, struct grading *g,
                             struct counts *counts, struct counts *x, bool *fit)
{
    const struct form *single = s->form, *paired = paired_form(&s->choice, single);
    const struct grading before = *g;
    *fit = false;
    if (!paired || task_option(t, "more-registers") == 0) return OK;
    const int64_t room = (int64_t)paired->blocks * t->dev->units * 19 / 20;
    int64_t blocks = ceil_div(g->m, THREADS / paired->team) * s->slabs; // if no row is longer
    if (blocks > room) return OK;
    take_form(t, s, paired);
    g->tiny_most = -1;
    int err = plan_short(t, s, MOST_SHORT, g, counts, x, &blocks);
    *fit = !err && blocks <= room;
    if (err || *fit) return err;
    take_form(t, s, single);
    *g = before;
    return plan_count(t, g, counts, x);
}

// Raises the bound of short rows so that all blocks fit on the device at once; otherwise most of
// the device idles while the last blocks run. The bound is 64 nonzeros if all blocks fit with two
// groups per row. Otherwise the bound is the least of 32, 48 and 64 with which all blocks fit with
// one group. If none fits, the bound stays. Bundles take longer and stay as they are, as do all
// rows if an option sets the bound of short or medium rows. Measured on an H200.
static inline int plan_one_wave(struct task *t, struct plan *s, struct grading *g,
                                struct counts *counts, struct counts *x)
{
    static const int bounds[] = {MOST_SHORT, MOST_SHORT_BY_SIZE, 48, MOST_SHORT};
    const double wanted = task_option(t, "more-registers");
    const bool roomy = s->roomy && (wanted < 0 ? lane_bytes(t, s->form) <= 16 : wanted != 0);
    const int64_t room = (int64_t)(roomy ? s->roomy : s->form)->blocks * t->dev->units;
    const int before = g->short_most;
    int64_t blocks = blocks_with(s, x->of);
    int32_t all_short[KINDS] = {};
    all_short[TINY] = x->of[TINY];
    all_short[SHORT] = g->m - x->of[TINY];
    if (s->form->bundles || task_option(t, "short") >= 0 || task_option(t, "medium") > 0 ||
        blocks <= room || blocks_with(s, all_short) > room)
        return OK;
    bool fit;
    int err = plan_pairs(t, s, g, counts, x, &fit);
    if (err || fit) return err;
    for (int i = 0; i < COUNT(bounds); i++) { // the greatest first: do all blocks fit by any?
        if (bounds[i] <= before) continue;
        err = plan_short(t, s, bounds[i], g, counts, x, &blocks);
        if (err) return err;
        if (i == 0 && blocks > room) return plan_short(t, s, before, g, counts, x, &blocks);
        if (i > 0 && blocks <= room) break;
    }
    return OK;
}

// Grades rows anew that are somewhat longer than a medium one, unless an option says which are.
// Such a row is better a warp's than a block's, which has little more to do than to begin and to
// end; but a few such rows would be the last to end, so there must be many, and the device must be
// full, or fewer pieces would leave it idle. H200: Trefethen_2000.sq takes 5.4 us, 8.3 us without
// this rule; vibrobox.sq takes 1.03 of the time without. The bound of 15 % takes
// ca-AstroPh-cc1.perm from 24.0 to 21.7 us.
static inline int plan_longer(struct task *t, const struct plan *s, struct grading *g,
                              struct counts *counts, struct counts *x)
{
    const bool many = x->longer_nonzeros > 0.15 * (double)t->A[0]->nnz && s->share >= SHARE_FULL;
    if (!many || task_option(t, "medium") != 0) return OK;
    g->medium_most = longer_than_medium(g->medium_most);
    return plan_count(t, g, counts, x);
}

// Takes the wider slabs, by which a warp's rows are shorter; so where most would then be segments,
// the narrow ones again, by which none is.
static inline int plan_wider(struct task *t, struct plan *s, struct grading *g,
                             struct counts *counts, struct counts *x)
{
    const struct form *narrow = s->form;
    plan_form(t, s, s->wider, g);
    int err = plan_count(t, g, counts, x);
    if (!err) err = plan_longer(t, s, g, counts, x);
    if (err || 2 * x->of[SEGMENT] <= x->of[MEDIUM]) return err;
    plan_form(t, s, narrow, g);
    return plan_count(t, g, counts, x);
}

// Counts the pieces, and grades rows anew where other slabs or another bound pay.
static inline int plan_grades(struct task *t, struct plan *s, struct grading *g,
                              struct counts *counts, struct counts *x)
{
    int err = plan_count(t, g, counts, x);
    if (err) return err;
    err = wider_pays(t, s, x) ? plan_wider(t, s, g, counts, x) : plan_longer(t, s, g, counts, x);
    return err ? err : plan_one_wave(t, s, g, counts, x);
}

// Lists the pieces, and allocates what they need.
static inline int plan_lists(struct task *t, struct plan *s, struct grading *g, int32_t *columns)
{
    struct device *d = t->dev;
    const int32_t row_blocks = (int32_t)ceil_div(g->m, ROW_BLOCK);
    struct counts *counts = NULL, x = {};
    int err = device_alloc(d, row_blocks + 1, sizeof *counts, (void **)&counts);
    if (!err) err = plan_grades(t, s, g, counts, &x);
    for (int kind = 0; kind < KINDS && !err; kind++) {
        s->lists.count[kind] = x.of[kind];
        err = device_alloc(d, x.of[kind], sizeof(struct piece), (void **)&s->lists.list[kind]);
    }
    if (!err && row_blocks) {
        LAUNCH(list_pieces, (unsigned)row_blocks, ROW_BLOCK, 0, d->stream, *g, counts, s->lists);
        err = launch_check(t->entry->name);
    }
    device_free(d, counts);
    *columns = x.columns;
    s->long_nonzeros = x.long_nonzeros;
    return err;
}

template <typename T> static void start_filling(const struct task *t, int kind)
{
    const struct plan *s = (const struct plan *)t->state;
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t count = s->lists.count[kind];
    auto kernel = fill_bundles<T>;
    LAUNCH(kernel, (unsigned)ceil_div(count, THREADS / WARP), THREADS, 0, t->dev->stream,
           (const struct piece *)s->lists.list[kind], count, (const int32_t *)A->ptr, A->idx,
           (const T *)A->val, s->bundles.idx, (T *)s->bundles.val);
}

static inline int plan_fill(struct task *t, struct plan *s, int32_t columns)
{
    static const int kinds[] = {MEDIUM_BUNDLE, SHORT_BUNDLE};
    struct device *d = t->dev;
    int err = device_alloc(d, columns, sizeof *s->bundles.idx, (void **)&s->bundles.idx);
    if (!err) err = device_alloc(d, (int64_t)columns * ALIKE, prec_bytes(t->prec), &s->bundles.val);
    for (int k = 0; k < 2 && !err; k++) {
        if (s->lists.count[kinds[k]]) BY_PREC(t, start_filling, t, kinds[k]);
        err = launch_check(t->entry->name);
    }
    return err;
}

// Room for what segments leave.
static inline int plan_segments(struct task *t, struct plan *s)
{
    struct device *d = t->dev;
    int64_t sums, values;
    int err = size_mul(s->lists.count[SEGMENT], s->slabs, &sums);
    if (!err) err = size_mul(sums, form_slab(s->form), &values);
    if (!err) err = device_alloc(d, values, prec_bytes(t->prec), &s->partial);
    if (!err) err = device_alloc(d, sums, sizeof *s->arrived, (void **)&s->arrived);
    if (!err) err = device_fill(d, s->arrived, 0, sums * (int64_t)sizeof *s->arrived);
    return err;
}

static inline int plan_grid(const struct task *t, struct plan *s)
{
    int64_t at[KINDS + 1];
    if (plan_blocks(s, s->lists.count, at) > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%s: more than %d blocks", t->entry->name, INT32_MAX);
    for (int kind = 0; kind <= KINDS; kind++) s->lists.at[kind] = (int32_t)at[kind];
    return OK;
}

// Returns true if blocks start before the previous kernel has ended. An early start costs a
// separate product 0.24 us. Products back to back save a third to a half on a device that is far
// from full, and less on a fuller device. An early start does not pay if blocks are fewer than the
// device holds and have much work: early blocks are distributed unevenly, and a product back to
// back took up to 1.7 times as long. If over half of the nonzeros are in segments, the blocks of
// segments count. Measured on an H200.
static inline bool plan_early(const struct task *t, const struct plan *s)
{
    const double wanted = task_option(t, "early-start"), share = s->share;
    if (wanted >= 0) return wanted != 0;
    const struct lists *l = &s->lists;
    const double room = 1.1 * s->form->blocks * t->dev->units;
    const bool cut = s->long_nonzeros > t->A[0]->nnz / 2;
    const double blocks = (double)(cut ? l->count[SEGMENT] : l->at[KINDS]) * s->slabs;
    return share < 3 || (share < 25 && blocks > room);
}

// Returns true if nearly all pieces that are not tiny are of one kind and segments have few
// nonzeros, so that blocks end at about the same time.
static inline bool pieces_are_even(const struct task *t, const struct plan *s)
{
    const int64_t medium = s->lists.count[MEDIUM], shorts = s->lists.count[SHORT];
    return 25 * max(shorts, medium) > 24 * (shorts + medium) &&
           25 * (int64_t)s->long_nonzeros < t->A[0]->nnz;
}

// More registers than must be let a thread have more loads under way, at the price of blocks. With
// 16 bytes of a row of B in a lane that pays unless nearly all pieces are tiny rows, which have no
// more to load. With 32 bytes it pays where rows are not short and all blocks are on the device at
// once all the same. Where they are not, it pays in f64 with 16 lanes, whose loads else wait for
// each other, unless two thirds of the pieces or more are tiny and none is a segment. But where
// with fewer registers all blocks would be there, for which plan_one_wave() may have made rows
// short, it pays only if pieces are not even, or are medium rows that are not long. Measured on an
// H200.
static inline void plan_registers(const struct task *t, struct plan *s)
{
    const struct form *roomy = s->roomy;
    const double wanted = task_option(t, "more-registers");
    if (!roomy) return;
    const struct lists *l = &s->lists;
    const double mean = mean_length(t, &s->choice);
    const int64_t tiny = l->count[TINY], segments = l->count[SEGMENT];
    const int64_t not_tiny = segments + l->count[MEDIUM] + l->count[SHORT];
    const int64_t blocks = (int64_t)l->at[KINDS] * s->slabs, units = t->dev->units;
    bool pays;
    if (lane_bytes(t, roomy) <= 16) {
        pays = 40 * not_tiny > tiny;
    } else if (blocks <= roomy->blocks * units) {
        pays = mean >= 12;
    } else {
        const bool fit_else = blocks <= s->form->blocks * units;
        const bool not_long = l->count[MEDIUM] > l->count[SHORT] && mean < 64;
        pays = t->prec == F64 && roomy->lanes == 16 && (segments || 2 * not_tiny > tiny) &&
               (!fit_else || not_long || !pieces_are_even(t, s));
    }
    if (wanted < 0 ? pays : wanted != 0) s->form = roomy;
}

static inline int plan_pieces(struct task *t, struct plan *s, const struct form *forms, int count)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct form *rows, *for_bundles;
    struct grading g = {};
    int32_t *bundle_columns = NULL, columns;
    g.m = A->m;
    g.ptr = (const int32_t *)A->ptr;
    const struct choice *c = &s->choice;
    s->choice = {forms, count};
    int err = count_used_rows(t, &s->choice.used_rows);
    if (!err) err = form_for_rows(t, c, &rows);
    if (err) return err;
    s->share = group_share(t, c, rows);
    for_bundles = form_for_bundles(t, c, rows);
    err = row_step(t, &t->in[0], &s->B_step);
    if (!err) err = row_step(t, &t->C, &s->C_step);
    if (!err && for_bundles) err = plan_bundles(t, c, rows, &for_bundles, &bundle_columns);
    g.bundle_columns = bundle_columns;
    g.tiny_most = bundle_columns || !rows->tiny ? -1 : (int)task_option(t, "tiny");
    // A team computes one tiny row if the device is not full.
    s->lists.turns = s->share < 3 ? 1 : TURNS;
    s->wider = bundle_columns ? NULL : wider_for_rows(t, c, rows);
    plan_form(t, s, bundle_columns ? for_bundles : rows, &g);
    if (!err) err = plan_lists(t, s, &g, &columns);
    if (!err && bundle_columns) err = plan_fill(t, s, columns);
    if (!err) err = plan_segments(t, s);
    if (!err) err = plan_grid(t, s);
    if (!err) plan_registers(t, s);
    if (!err) s->lists.early = plan_early(t, s) && can_launch_early(count_pieces);
    device_free(t->dev, bundle_columns);
    task_number(t, "short_most", g.short_most);
    task_number(t, "medium_most", g.medium_most);
    task_number(t, "segment_length", g.segment);
    return err;
}

static inline void pieces_free(struct device *d, struct plan *s)
{
    for (int kind = 0; kind < KINDS; kind++) device_free(d, s->lists.list[kind]);
    device_free(d, s->bundles.idx);
    device_free(d, s->bundles.val);
    device_free(d, s->partial);
    device_free(d, s->arrived);
    s->lists = {};
    s->bundles = {};
    s->partial = NULL;
    s->arrived = NULL;
}

#endif
