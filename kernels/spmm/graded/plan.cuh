// How a case is computed: what prepare() decides and allocates.
#ifndef GRADED_PLAN_H
#define GRADED_PLAN_H

#include "alike.cuh"
#include "grade.cuh"

// A shape that the kernel is compiled for; `whole`: for full slabs; `bundles`: for bundles, too.
struct form {
    int vec, lanes, packs, team;
    int blocks; // that a multiprocessor holds, at least
    bool whole, bundles, tiny;
    void (*start)(const struct task *t);
};

// Columns of a slab.
static inline int64_t form_slab(const struct form *f)
{
    return (int64_t)f->lanes * f->packs * f->vec;
}

static inline int64_t form_slabs(const struct form *f, int64_t k)
{
    return ceil_div(k, form_slab(f));
}

struct plan {
    const struct form *form;
    int32_t slabs;
    bool early;
    uint32_t B_step, C_step;
    struct lists lists;
    struct bundles bundles;
    void *partial;
    int32_t *arrived;
    int32_t long_rows; // nonzeros of rows that are segments
};

// The widest pack that rows of B and C are made of.
static inline int plan_vec(const struct task *t)
{
    int vec = (int)(16 / prec_bytes(t->prec));
    while (t->C.cols % vec || t->in[0].ld % vec || t->C.ld % vec) vec /= 2;
    return vec;
}

// What bounds the choice of a form; 0: nothing does.
struct bounds {
    int64_t slab; // bytes of a slab, at most
    int lanes;    // exactly
    bool bundles; // of forms for bundles, or of the others
};

// The form of the kernel that covers a row with the least idle lanes; a slab more costs about as
// much as 96 bytes of a row. NULL: none is within the bounds.
static inline const struct form *plan_form(const struct task *t, const struct form *forms,
                                           int count, struct bounds within)
{
    const int vec = plan_vec(t);
    const int64_t bytes = vec * (int64_t)prec_bytes(t->prec), k = t->C.cols;
    const struct form *best = NULL;
    int64_t least = INT64_MAX;
    for (const struct form *f = forms; f < forms + count; f++) {
        const int64_t slab = f->lanes * f->packs; // in packs
        const int64_t cost = ceil_div(k / vec, slab) * (slab * bytes + 96);
        const bool fits = f->vec == vec && f->bundles == within.bundles &&
                          (!f->whole || k % (slab * vec) == 0) &&
                          (!within.slab || slab * bytes <= within.slab) &&
                          (!within.lanes || f->lanes == within.lanes);
        if (fits && cost < least) best = f, least = cost;
    }
    return best;
}

// How many nonzeros a group would have if all groups that the device holds at once shared them.
static inline double plan_share(const struct task *t, const struct form *f)
{
    const double groups = (double)t->dev->units * 8 * THREADS / f->lanes;
    return (double)t->A[0]->nnz * (double)form_slabs(f, t->C.cols) / groups;
}

// Nonzeros for each column of a bundle from which on it pays, 0: it never does. Three sums take
// more registers and more shuffles, so fewer loads must make up for more where values are wide or
// packs narrow; and a device that is not full has no use for fewer loads.
static inline double plan_alike(const struct task *t, const struct form *rows)
{
    const double wanted = task_option(t, "alike");
    if (wanted >= 0) return wanted;
    return plan_share(t, rows) < 3 ? 0 : t->prec == F32 && plan_vec(t) == 4 ? 1.6 : 2.4;
}

// Columns of a bundle, at most: a warp goes through it, which must not take longer than all else.
static inline int32_t plan_most_columns(const struct task *t, const struct form *f)
{
    const int lanes = max(f->lanes, 8);
    return (int32_t)(fmin(fmax(2 * plan_share(t, f), 16), 128) * WARP / lanes);
}

// Which windows of rows are bundles of this form: `columns` gets what struct grading says of them,
// and stays NULL where there are too few.
static inline int plan_bundles(struct task *t, const struct form *f, double least,
                               int32_t **columns)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int32_t windows = A->m / ALIKE;
    struct device *d = t->dev;
    struct bundle_totals *totals = NULL, x = {};
    if (least == 0 || windows == 0 || A->nnz < 4 * (int64_t)A->m) return OK;
    int err = device_alloc(d, windows, sizeof **columns, (void **)columns);
    if (!err) err = device_alloc(d, 1, sizeof *totals, (void **)&totals);
    if (!err) err = device_fill(d, totals, 0, sizeof *totals);
    if (!err) {
        LAUNCH(find_bundles, (unsigned)ceil_div(windows, THREADS / WARP), THREADS, 0, d->stream,
               windows, (const int32_t *)A->ptr, A->idx, (float)least, plan_most_columns(t, f),
               *columns, totals);
        err = wait_for(d, t->entry->name, totals, &x, sizeof x);
    }
    device_free(d, totals);
    task_number(t, "bundled", A->nnz ? (double)x.nonzeros / (double)A->nnz : 0);
    if (err || !x.columns || (double)x.nonzeros < task_option(t, "bundled") * (double)A->nnz) {
        device_free(d, *columns);
        *columns = NULL;
    }
    return err;
}

// Lists the pieces; waits for how many there are.
static inline int plan_lists(struct task *t, struct plan *s, const struct grading *g,
                             int32_t *columns)
{
    struct device *d = t->dev;
    const int32_t windows = (int32_t)ceil_div(g->m, WINDOW);
    struct counts *counts = NULL, x = {};
    int err = device_alloc(d, windows + 1, sizeof *counts, (void **)&counts);
    if (!err && windows) {
        LAUNCH(count_pieces, (unsigned)windows, WINDOW, 0, d->stream, *g, counts);
        LAUNCH(add_up, 1, 1024, 0, d->stream, counts, windows);
        err = wait_for(d, t->entry->name, counts + windows, &x, sizeof x);
    }
    for (int kind = 0; kind < KINDS && !err; kind++) {
        s->lists.count[kind] = x.of[kind];
        err = device_alloc(d, x.of[kind], sizeof(struct piece), (void **)&s->lists.list[kind]);
    }
    if (!err && windows) {
        LAUNCH(list_pieces, (unsigned)windows, WINDOW, 0, d->stream, *g, counts, s->lists);
        err = launch_check(t->entry->name);
    }
    device_free(d, counts);
    *columns = x.columns;
    s->long_rows = x.long_rows;
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

// Blocks of each kind, one kind behind the other.
static inline int plan_grid(const struct task *t, struct plan *s)
{
    const int team = s->form->team;
    const int of_block[KINDS] = {1,
                                 THREADS / WARP,
                                 THREADS / WARP,
                                 THREADS / team,
                                 THREADS / team,
                                 s->lists.turns * THREADS / team};
    int64_t at = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        s->lists.at[kind] = (int32_t)at;
        at += ceil_div(s->lists.count[kind], of_block[kind]);
        if (at > INT32_MAX)
            return fail(ERR_UNSUPPORTED, "%s: more than %d blocks", t->entry->name, INT32_MAX);
    }
    s->lists.at[KINDS] = (int32_t)at;
    return OK;
}

// The longest short row, the longest medium one, and the length of a segment: less where the device
// is not full, as the longest piece then decides when a product ends. What a group goes through one
// after another grows with its share; the numbers were measured on an H200. By the form for rows,
// also where there are bundles.
static inline void plan_lengths(const struct task *t, const struct form *f, struct grading *g)
{
    const int wanted_short = (int)task_option(t, "short"),
              wanted_medium = (int)task_option(t, "medium"),
              wanted_segment = (int)task_option(t, "segment");
    const double share = plan_share(t, f);
    const int lanes = max(f->lanes, 8);
    const double few = share < 5.5 ? 8 : fmin(fmax(1.5 * share, 16), 32); // of a short row
    const double medium = fmin(fmax(2 * share, 16), 64);
    const double segment = fmin(fmax(1.5 * share, 16), 8 * lanes);
    g->short_most = wanted_short >= 0 ? wanted_short : (int)few;
    g->medium_most = wanted_medium ? wanted_medium : (int)fmax(medium * WARP / lanes, 32);
    g->segment = wanted_segment ? wanted_segment : (int)segment * (THREADS / lanes);
    g->uncut = wanted_segment ? wanted_segment : max(g->segment, 32 * (THREADS / lanes));
}

// The form for rows that are no bundles: as the options say, of which one is dropped if no form
// meets both. Else small matrices have narrow slabs, so that there is more to share out; where rows
// are short and many, half the lanes with twice the packs each do a row, twice as many at a time.
static inline const struct form *plan_rows(const struct task *t, const struct form *forms,
                                           int count)
{
    const struct bounds wanted = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes")};
    const double mean = t->C.rows ? (double)t->A[0]->nnz / (double)t->C.rows : 0;
    const struct form *form = plan_form(t, forms, count, wanted);
    if (!form && wanted.lanes) form = plan_form(t, forms, count, {0, wanted.lanes});
    if (!form && wanted.slab) form = plan_form(t, forms, count, {wanted.slab});
    if (form && (wanted.slab || wanted.lanes)) return form;
    if (!form) form = plan_form(t, forms, count, {});
    const double share = plan_share(t, form);
    if (share < 11) {
        const struct form *narrow = plan_form(t, forms, count, {share < 3 ? 128 : 256});
        if (narrow) return narrow;
    }
    if (share >= 3 * form->lanes && form->lanes >= 8 && mean <= (form->lanes > 8 ? 4.2 : 5)) {
        const struct form *half = plan_form(t, forms, count, {0, form->lanes / 2});
        if (half && form_slab(half) == form_slab(form)) return half;
    }
    return form;
}

// The form if there are bundles: with slabs as narrow as those of rows alone. NULL: there is none,
// or too many of its lanes would lie past the end of a row: over half, of full packs three
// quarters.
static inline const struct form *plan_for_bundles(const struct task *t, const struct form *forms,
                                                  int count, const struct form *rows)
{
    const int64_t k = t->C.cols, columns = form_slab(rows);
    const bool narrow = columns < k && columns * (int64_t)prec_bytes(t->prec) <= 128;
    struct bounds within = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes"), true};
    if (!within.slab && narrow) within.slab = 128;
    const struct form *f = plan_form(t, forms, count, within);
    const int most = f && f->vec * prec_bytes(t->prec) == 16 ? 4 : 2;
    return f && form_slabs(f, k) * form_slab(f) <= most * k ? f : NULL;
}

// Whether blocks shall start before the kernel ahead has ended. Not where they are fewer than fit
// on the device and each has much to do: early ones lie wherever there is room when they come,
// which is unevenly, and back to back a product took up to 1.7 times as long. Where over half of
// the nonzeros are in segments, those are the blocks that count. Measured on an H200.
static inline bool plan_early(const struct task *t, const struct plan *s, const struct form *rows)
{
    const double wanted = task_option(t, "overlap");
    if (wanted >= 0) return wanted != 0;
    const struct lists *l = &s->lists;
    const double room = 0.9 * s->form->blocks * t->dev->units;
    const bool cut = s->long_rows > t->A[0]->nnz / 2;
    const double blocks = (double)(cut ? l->count[SEGMENT] : l->at[KINDS]) * s->slabs;
    return plan_share(t, rows) < 5 || blocks > room;
}

static inline int plan_make(struct task *t, const struct form *forms, int count)
{
    struct plan *s = (struct plan *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct form *rows = plan_rows(t, forms, count),
                      *for_bundles = plan_for_bundles(t, forms, count, rows);
    struct grading g = {};
    int32_t *bundle_columns = NULL, columns;
    g.m = A->m;
    g.ptr = (const int32_t *)A->ptr;
    plan_lengths(t, rows, &g);
    int err = row_step(t, &t->in[0], &s->B_step);
    if (!err) err = row_step(t, &t->C, &s->C_step);
    if (!err && for_bundles)
        err = plan_bundles(t, for_bundles, plan_alike(t, rows), &bundle_columns);
    g.bundle_columns = bundle_columns;
    g.tiny_most = bundle_columns || !rows->tiny ? -1 : (int)task_option(t, "tiny");
    // Where the device is not full, a team does but one tiny row.
    s->lists.turns = plan_share(t, rows) < 3 ? 1 : TURNS;
    s->form = bundle_columns ? for_bundles : rows;
    s->slabs = (int32_t)form_slabs(s->form, t->C.cols);
    s->lists.segment = g.segment;
    s->lists.uncut = g.uncut;
    if (!err) err = plan_lists(t, s, &g, &columns);
    if (!err && bundle_columns) err = plan_fill(t, s, columns);
    if (!err) err = plan_segments(t, s);
    if (!err) err = plan_grid(t, s);
    if (!err) s->early = plan_early(t, s, rows);
    device_free(t->dev, bundle_columns);
    task_number(t, "short_most", g.short_most);
    task_number(t, "medium_most", g.medium_most);
    task_number(t, "segment_length", g.segment);
    return err;
}

static inline void plan_free(struct task *t)
{
    struct plan *s = (struct plan *)t->state;
    if (!s) return;
    for (int kind = 0; kind < KINDS; kind++) device_free(t->dev, s->lists.list[kind]);
    device_free(t->dev, s->bundles.idx);
    device_free(t->dev, s->bundles.val);
    device_free(t->dev, s->partial);
    device_free(t->dev, s->arrived);
    task_free_state(t);
}

#endif
