// How a case is computed: what prepare() decides and allocates.
#ifndef GRADED_PLAN_H
#define GRADED_PLAN_H

#include "alike.cuh"
#include "grade.cuh"
#include "scatter.cuh"

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

#define MOST_SHORT_BY_SIZE 32 // nonzeros of a short row, at most, unless an option says otherwise

struct plan {
    const struct form *form;
    int32_t slabs;
    uint32_t B_step, C_step;
    struct lists lists;
    struct bundles bundles;
    void *partial;
    int32_t *arrived;
    int32_t long_nonzeros; // nonzeros of rows that are segments
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

// Nonzeros of a row, in the mean.
static inline double plan_mean(const struct task *t)
{
    return t->C.rows ? (double)t->A[0]->nnz / (double)t->C.rows : 0;
}

// The form of the kernel that covers a row with the least idle lanes; a slab more costs about as
// much as 96 bytes of a row. Of equal ones the one with 8 lanes or more, then the one with the
// widest packs, which come first. Only long rows have so much to do that fewer than 4 lanes pay.
// NULL: none is within the bounds.
static inline const struct form *plan_form(const struct task *t, const struct form *forms,
                                           int count, struct bounds within)
{
    const int64_t bytes = (int64_t)prec_bytes(t->prec), k = t->C.cols;
    const int64_t most = (int64_t)task_option(t, "pack");
    const int vec = plan_vec(t);
    const struct form *best = NULL;
    int64_t least = INT64_MAX;
    for (const struct form *f = forms; f < forms + count; f++) {
        const int64_t slab = form_slab(f) * bytes;
        const int64_t cost = form_slabs(f, k) * (slab + 96) + max(0, 8 - f->lanes);
        const bool fits = f->vec <= vec && (!most || f->vec == 1 || f->vec * bytes <= most) &&
                          f->bundles == within.bundles && (!f->whole || k % form_slab(f) == 0) &&
                          (f->lanes >= 4 || within.lanes || plan_mean(t) >= 32) &&
                          (!within.slab || slab <= within.slab) &&
                          (!within.lanes || f->lanes == within.lanes);
        if (fits && cost < least) best = f, least = cost;
    }
    return best;
}

// How many nonzeros a group would have if all groups that the device holds at once, by eight blocks
// on a multiprocessor, shared them; of each slab anew.
static inline double plan_share(const struct task *t, const struct form *f)
{
    const double groups = (double)t->dev->units * 8 * THREADS / f->lanes;
    return (double)t->A[0]->nnz * (double)form_slabs(f, t->C.cols) / groups;
}

// Shares of nonzeros whose column is new among so many; 0: not known.
struct scatter {
    double near, far;
};

static inline int plan_scatter(struct task *t, struct scatter *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t samples = min64(A->nnz / FAR, SAMPLES);
    struct device *d = t->dev;
    struct new_columns *found = NULL, x = {};
    *out = {};
    if (samples == 0) return OK;
    int err = device_alloc(d, 1, sizeof *found, (void **)&found);
    if (!err) err = device_fill(d, found, 0, sizeof *found);
    if (!err) {
        LAUNCH(find_new_columns, (unsigned)samples, 1024, 0, d->stream, A->idx,
               samples > 1 ? (A->nnz - FAR) / (samples - 1) : 0, found);
        err = wait_for(d, t->entry->name, found, &x, sizeof x);
    }
    device_free(d, found);
    out->near = (double)x.near / (double)(samples * NEAR);
    out->far = (double)x.far / (double)(samples * FAR);
    task_number(t, "new_near", out->near);
    task_number(t, "new_far", out->far);
    return err;
}

static inline bool form_is_wide(const struct task *t, const struct form *f)
{
    return f->vec * prec_bytes(t->prec) == 16;
}

// Nonzeros for each column of a bundle from which on it pays, 0: it never does. Three sums take
// more registers and more shuffles, so fewer loads must make up for more where values are wide or
// packs narrow; and a device that is not full has no use for fewer loads.
static inline double plan_alike(const struct task *t, const struct form *rows,
                                const struct form *for_bundles)
{
    const double wanted = task_option(t, "alike");
    if (wanted >= 0) return wanted;
    return plan_share(t, rows) < 3 ? 0 : t->prec == F32 && form_is_wide(t, for_bundles) ? 1.6 : 2.4;
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

// Counts the pieces of each window of rows, and waits for how many there are in all.
static inline int plan_count(struct task *t, const struct grading *g, struct counts *counts,
                             struct counts *all)
{
    struct device *d = t->dev;
    const int32_t windows = (int32_t)ceil_div(g->m, WINDOW);
    *all = {};
    if (windows == 0) return OK;
    LAUNCH(count_pieces, (unsigned)windows, WINDOW, 0, d->stream, *g, counts);
    LAUNCH(add_up, 1, 1024, 0, d->stream, counts, windows);
    return wait_for(d, t->entry->name, counts + windows, all, sizeof *all);
}

// Lists the pieces. Where there are somewhat more blocks than the device holds at once, most of it
// would idle while the last ones run: then more rows are short, if all fit so.
static inline int plan_lists(struct task *t, struct plan *s, struct grading *g, int32_t *columns)
{
    struct device *d = t->dev;
    const int32_t windows = (int32_t)ceil_div(g->m, WINDOW);
    const int64_t room = (int64_t)s->form->blocks * d->units;
    const int short_most = g->short_most;
    struct counts *counts = NULL, x = {};
    int64_t at[KINDS + 1];
    int err = device_alloc(d, windows + 1, sizeof *counts, (void **)&counts);
    if (!err) err = plan_count(t, g, counts, &x);
    const int64_t blocks = plan_blocks(s, x.of, at) * s->slabs;
    if (!err && blocks > room && blocks <= 2 * room && short_most < MOST_SHORT_BY_SIZE &&
        task_option(t, "short") < 0) {
        g->short_most = MOST_SHORT_BY_SIZE;
        err = plan_count(t, g, counts, &x);
        if (!err && plan_blocks(s, x.of, at) * s->slabs > room) {
            g->short_most = short_most;
            err = plan_count(t, g, counts, &x);
        }
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
    const double few = share < 5.5 ? 8 : fmin(fmax(1.5 * share, 16), MOST_SHORT_BY_SIZE);
    const double medium = fmin(fmax(2 * share, 16), 64);
    const double segment = fmin(fmax(1.5 * share, 16), 8 * lanes);
    g->short_most = wanted_short >= 0 ? wanted_short : (int)few;
    g->medium_most = wanted_medium ? wanted_medium : (int)fmax(medium * WARP / lanes, 32);
    g->segment = wanted_segment ? wanted_segment : (int)segment * (THREADS / lanes);
    g->uncut = wanted_segment ? wanted_segment : max(g->segment, 32 * (THREADS / lanes));
}

// The bytes of a row of B that a slab should have at most on a full device, 0: all of it. With
// narrower slabs A is read once more for each, but more of B stays in caches. That pays where
// columns are scattered: 128 bytes where they are so far apart that the last cache would hold
// little of B; 256 where they are so nearby alone and the last cache holds B, unless rows are so
// long that their own columns lie close together. Measured on an H200.
static inline int plan_slab(struct task *t, int64_t *bytes)
{
    struct scatter x;
    const int64_t of_B = t->in[0].rows * t->C.cols * (int64_t)prec_bytes(t->prec);
    const int err = plan_scatter(t, &x);
    const bool far = x.far >= 0.9, past = 2 * of_B > 3 * t->dev->cache_bytes;
    const bool near = x.near >= 0.7 && plan_mean(t) <= 600;
    *bytes = far && past ? 128 : near && !past ? 256 : 0;
    return err;
}

// The form for rows that are no bundles: as the options say, of which one is dropped if no form
// meets both. Else small matrices have narrow slabs, so that there is more to share out; where rows
// are short and many, half the lanes with twice the packs each do a row, twice as many at a time.
static inline int plan_rows(struct task *t, const struct form *forms, int count,
                            const struct form **rows)
{
    const struct bounds wanted = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes")};
    const struct form *form = plan_form(t, forms, count, wanted);
    if (!form && wanted.lanes) form = plan_form(t, forms, count, {0, wanted.lanes});
    if (!form && wanted.slab) form = plan_form(t, forms, count, {wanted.slab});
    *rows = form;
    if (form && (wanted.slab || wanted.lanes)) return OK;
    if (!form) form = plan_form(t, forms, count, {});
    const double share = plan_share(t, form);
    int64_t slab = share < 3 ? 128 : share < 11 ? 256 : 0;
    const bool wide = form_is_wide(t, form);
    int err = OK;
    if (!slab && wide && form_slab(form) * (int64_t)prec_bytes(t->prec) >= 512)
        err = plan_slab(t, &slab);
    const struct form *narrow = slab ? plan_form(t, forms, count, {slab}) : NULL;
    if (narrow) { // of a full device, unless most of its last slab would lie past the end of a row
        const int64_t columns = form_slab(narrow), last = (t->C.cols - 1) % columns + 1;
        if (share < 11 || 2 * last >= columns) form = narrow;
    }
    const double most = !wide ? 12 : form->lanes > 8 ? 4.2 : 5; // nonzeros of a short row
    if ((!wide || share >= 3 * form->lanes) && form->lanes >= 8 && plan_mean(t) <= most) {
        const struct form *half = plan_form(t, forms, count, {0, form->lanes / 2});
        if (half && form_slab(half) == form_slab(form)) form = half;
    }
    *rows = form;
    return err;
}

// The form if there are bundles, with slabs of 128 bytes where those of rows alone are. In f32
// slabs are also so narrow that bundles of rows of this length do not take longer than all else;
// sums of f64 fill the registers, and there that did not pay. NULL: there is none, or rows are so
// short that most lanes would have no nonzero to load.
static inline const struct form *plan_for_bundles(const struct task *t, const struct form *forms,
                                                  int count, const struct form *rows)
{
    const int64_t columns = form_slab(rows), bytes = (int64_t)prec_bytes(t->prec);
    const bool narrow = columns < t->C.cols && columns * bytes <= 128;
    struct bounds within = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes"), true};
    const bool free = !within.slab && !within.lanes && t->prec == F32;
    if (!within.slab && narrow) within.slab = 128;
    const struct form *f = plan_form(t, forms, count, within);
    while (free && f && form_slab(f) * bytes > 128 && plan_most_columns(t, f) < plan_mean(t)) {
        within.slab = form_slab(f) * bytes / 2;
        f = plan_form(t, forms, count, within);
    }
    return f && 2 * plan_mean(t) >= f->lanes ? f : NULL;
}

// Whether blocks shall start before the kernel ahead has ended. Kept apart that costs a product
// 0.24 us; back to back it saves a third to a half where the device is far from full, less the
// fuller it is. Not where blocks are fewer than fit on the device and each has much to do: early
// ones lie wherever there is room when they come, which is unevenly, and back to back a product
// took up to 1.7 times as long. Where over half of the nonzeros are in segments, those are the
// blocks that count. Measured on an H200.
static inline bool plan_early(const struct task *t, const struct plan *s, const struct form *rows)
{
    const double wanted = task_option(t, "overlap"), share = plan_share(t, rows);
    if (wanted >= 0) return wanted != 0;
    const struct lists *l = &s->lists;
    const double room = 1.1 * s->form->blocks * t->dev->units;
    const bool cut = s->long_nonzeros > t->A[0]->nnz / 2;
    const double blocks = (double)(cut ? l->count[SEGMENT] : l->at[KINDS]) * s->slabs;
    return share < 3 || (share < 25 && blocks > room);
}

static inline int plan_make(struct task *t, const struct form *forms, int count)
{
    struct plan *s = (struct plan *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct form *rows, *for_bundles;
    struct grading g = {};
    int32_t *bundle_columns = NULL, columns;
    g.m = A->m;
    g.ptr = (const int32_t *)A->ptr;
    int err = plan_rows(t, forms, count, &rows);
    if (err) return err;
    for_bundles = plan_for_bundles(t, forms, count, rows);
    plan_lengths(t, rows, &g);
    err = row_step(t, &t->in[0], &s->B_step);
    if (!err) err = row_step(t, &t->C, &s->C_step);
    if (!err && for_bundles)
        err = plan_bundles(t, for_bundles, plan_alike(t, rows, for_bundles), &bundle_columns);
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
    if (!err) s->lists.early = plan_early(t, s, rows) && can_launch_early(count_pieces);
    // An early start reads the lists before it waits for the kernel ahead, so they must be there.
    if (!err && s->lists.early) err = device_sync(t->dev);
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
