// The form of the kernel for a case: columns per lane, per group and per slab, for rows alone and
// for bundles. The constants were measured on an H200.
#ifndef GRADED_FORM_H
#define GRADED_FORM_H

#include "pieces.cuh"
#include "scatter.cuh"
#include "used.cuh"

// When a form is taken: USUAL wherever it fits. EXACT: only if its packs are the widest that rows
// of B and C allow, as others are faster by wide ones, though more lanes are idle. BY_LANES:
// likewise, and only where its number of lanes is asked for. ROOMY, with more registers than must
// be: by roomy_form() and paired_form() alone.
enum form_kind { USUAL, EXACT, BY_LANES, ROOMY };

// A shape that the kernel is compiled for; `team`: lanes of a short row; `whole`: for full slabs;
// `bundles`: for bundles, too.
struct form {
    int vec, lanes, packs, team;
    int blocks; // that a multiprocessor holds, at least
    bool whole, bundles, tiny;
    enum form_kind kind;
    void (*start)(const struct task *t);
};

// The choices of a form, and the number of rows that are not empty.
struct choice {
    const struct form *forms;
    int count;
    int64_t used_rows;
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

// Bytes of a row of B in one lane.
static inline int lane_bytes(const struct task *t, const struct form *f)
{
    return f->vec * f->packs * (int)prec_bytes(t->prec);
}

// The widest pack that rows of B and C are made of.
static inline int widest_pack(const struct task *t)
{
    int vec = (int)(16 / prec_bytes(t->prec));
    while (t->C.cols % vec || t->in[0].ld % vec || t->C.ld % vec) vec /= 2;
    return vec;
}

// The bounds of the choice of a form. 0: no bound.
struct bounds {
    int64_t slab; // bytes of a slab, at most
    int lanes;    // exactly
    bool bundles; // forms for bundles, or the other forms
};

// Nonzeros of a row that is not empty, in the mean.
static inline double mean_length(const struct task *t, const struct choice *c)
{
    return c->used_rows ? (double)t->A[0]->nnz / (double)c->used_rows : 0;
}

// The form of the kernel that covers a row with the least idle lanes; a slab more costs about as
// much as 96 bytes of a row. Of equal ones the one with 8 lanes or more, then the first. Only long
// rows have so much to do that fewer than 4 lanes pay. NULL: none is within the bounds.
static inline const struct form *best_form(const struct task *t, const struct choice *c,
                                           struct bounds within)
{
    const int64_t bytes = (int64_t)prec_bytes(t->prec), k = t->C.cols;
    const int64_t most = (int64_t)task_option(t, "pack");
    const int vec = widest_pack(t);
    const struct form *best = NULL;
    int64_t least = INT64_MAX;
    for (const struct form *f = c->forms; f < c->forms + c->count; f++) {
        const int64_t slab = form_slab(f) * bytes;
        const int64_t cost = form_slabs(f, k) * (slab + 96) + max(0, 8 - f->lanes);
        const bool fits = f->kind != ROOMY && (f->kind != BY_LANES || within.lanes) &&
                          (f->kind == USUAL ? f->vec <= vec : f->vec == vec) &&
                          (!most || f->vec == 1 || f->vec * bytes <= most) &&
                          f->bundles == within.bundles && (!f->whole || k % form_slab(f) == 0) &&
                          (f->lanes >= 4 || within.lanes || mean_length(t, c) >= 32) &&
                          (!within.slab || slab <= within.slab) &&
                          (!within.lanes || f->lanes == within.lanes);
        if (fits && cost < least) best = f, least = cost;
    }
    return best;
}

// How many nonzeros a group would have if all groups that the device holds at once, by eight blocks
// on a multiprocessor, shared them; of each slab anew. An empty row counts for one, as its zeros
// are to be written.
static inline double group_share(const struct task *t, const struct choice *c, const struct form *f)
{
    const double groups = (double)t->dev->units * 8 * THREADS / f->lanes;
    const int64_t work = t->A[0]->nnz + t->C.rows - c->used_rows;
    return (double)work * (double)form_slabs(f, t->C.cols) / groups;
}

static inline bool form_is_wide(const struct task *t, const struct form *f)
{
    return f->vec * prec_bytes(t->prec) == 16;
}

// Nonzeros for each column of a bundle from which on it pays, 0: it never does. Three sums take
// more registers and more shuffles, so fewer loads must make up for more where values are wide or
// packs narrow; and a device that is not full has no use for fewer loads.
static inline double least_alike(const struct task *t, const struct choice *c,
                                 const struct form *rows, const struct form *for_bundles)
{
    const double wanted = task_option(t, "bundle-min");
    if (wanted >= 0) return wanted;
    return group_share(t, c, rows) < 3                      ? 0
           : t->prec == F32 && form_is_wide(t, for_bundles) ? 1.6
                                                            : 2.4;
}

// Columns of a bundle, at most: a warp goes through it, which must not take longer than all else.
static inline int32_t most_columns(const struct task *t, const struct choice *c,
                                   const struct form *f)
{
    const int lanes = max(f->lanes, 8);
    return (int32_t)(fmin(fmax(2 * group_share(t, c, f), 16), 128) * WARP / lanes);
}

// The bytes of a row of B that a slab should have at most on a full device, 0: all of it. With
// narrower slabs A is read once more for each, but more of B stays in caches. Narrow slabs pay if
// columns are scattered:
//
//     128 bytes   columns far apart; the last cache holds less than 2 / 3 of B, but a third or more
//                 of 128 bytes of all rows; a row of B is used by 2.5 rows of A or more
//     256 bytes   columns scattered among near rows; the last cache holds 2 / 3 of B or more; rows
//                 of A have up to 600 nonzeros in the mean: longer rows have columns close together
//
// H200, k = 128: uniform:500000:8 388 us by 128 bytes, 479 by whole rows; ogbl-ddi 82 us by 256
// bytes, 92 by whole rows.
static inline int narrow_slab(struct task *t, const struct choice *c, int64_t *bytes)
{
    struct scatter x;
    const int64_t of_B = t->in[0].rows * t->C.cols * (int64_t)prec_bytes(t->prec);
    const int err = measure_scatter(t, &x);
    const bool far = x.far >= 0.9, past = 2 * of_B > 3 * t->dev->cache_bytes;
    const bool fits = t->in[0].rows * 128 <= 3 * t->dev->cache_bytes;
    const bool again = 2 * t->A[0]->nnz >= 5 * t->in[0].rows;
    const bool near = x.near >= 0.7 && mean_length(t, c) <= 600;
    *bytes = far && past && fits && again ? 128 : near && !past ? 256 : 0;
    return err;
}

// The best form of so many lanes, if it cuts a row of B into as many slabs as f and none is wider;
// else f.
static inline const struct form *with_lanes(const struct task *t, const struct choice *c,
                                            const struct form *f, int lanes)
{
    if (lanes == f->lanes) return f;
    const int64_t slab = form_slab(f) * (int64_t)prec_bytes(t->prec);
    const struct form *other = best_form(t, c, {slab, lanes, f->bundles});
    return other && form_slabs(other, t->C.cols) == form_slabs(f, t->C.cols) ? other : f;
}

// How many lanes should share a row of B, by the length of the rows of A. Half as many, with more
// packs each, where rows are short: twice as many rows are then done at a time. It leaves fewer
// loads under way, so but for f32 by packs of one value groups must have much to do. Twice as many
// where rows are long and one slab is four packs of one value. Measured on an H200.
static inline int lanes_by_length(const struct task *t, const struct choice *c,
                                  const struct form *f)
{
    const bool single = f->vec == 1 && t->prec == F32;
    const double mean = mean_length(t, c);
    const double short_most = form_is_wide(t, f)           ? (f->lanes > 8 ? 4.2 : 5)
                              : single && f->lanes == WARP ? (f->packs == 3 ? 18 : 12)
                              : single && t->C.cols <= 24  ? 12
                                                           : 6.5;
    const bool full = group_share(t, c, f) >= 3 * f->lanes;
    if (f->lanes >= 8 && mean <= short_most && (full || single)) return f->lanes / 2;
    const bool four = f->lanes == 16 && f->packs == 4 && t->C.cols <= form_slab(f);
    return single && four && mean >= 32 ? WARP : f->lanes;
}

// Sets *pays to true if narrow slabs pay. Columns of a slab past the end of a row are useless work.
// On a full device up to a fifth of all columns may lie past the end, and up to half of the last
// slab. On other devices narrow slabs end sooner. But if a row fits in 512 bytes and no row is
// long, less than a quarter of all columns may lie past the end: with 66 columns and slabs of 32 a
// product took up to half as long again as with one slab. Measured on an H200.
static inline int narrow_pays(struct task *t, const struct form *narrow, double share, bool *pays)
{
    const int64_t columns = form_slab(narrow), k = t->C.cols, last = (k - 1) % columns + 1;
    const int64_t all = form_slabs(narrow, k) * columns, bytes = k * (int64_t)prec_bytes(t->prec);
    *pays = share < 11 || (2 * last >= columns && 5 * k >= 4 * all);
    if (share < 3 || share >= 11 || 4 * k > 3 * all || bytes > 512) return OK;
    int32_t longest;
    const int err = longest_row(t, &longest);
    *pays = longest > 256;
    return err;
}

// The form for rows that are no bundles: as the options say, of which one is dropped if no form
// meets both. Else small matrices have narrow slabs, so that there is more to share out; and where
// rows are short or long, other lanes may share a slab.
static inline int form_for_rows(struct task *t, const struct choice *c, const struct form **rows)
{
    const struct bounds wanted = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes")};
    const struct form *form = best_form(t, c, wanted);
    if (!form && wanted.lanes) form = best_form(t, c, {0, wanted.lanes});
    if (!form && wanted.slab) form = best_form(t, c, {wanted.slab});
    *rows = form;
    if (form && (wanted.slab || wanted.lanes)) return OK;
    if (!form) form = best_form(t, c, {});
    const double share = group_share(t, c, form);
    int64_t slab = share < 3 ? 128 : share < 11 ? 256 : 0;
    const bool wide = form_is_wide(t, form);
    int err = OK;
    if (!slab && wide && form_slab(form) * (int64_t)prec_bytes(t->prec) >= 512)
        err = narrow_slab(t, c, &slab);
    const struct form *narrow = slab ? best_form(t, c, {slab}) : NULL;
    bool pays = false;
    if (!err && narrow && narrow != form) err = narrow_pays(t, narrow, share, &pays);
    if (pays) form = narrow;
    *rows = with_lanes(t, c, form, lanes_by_length(t, c, form));
    return err;
}

// Returns the form with slabs twice as wide, with twice the lanes and as many packs of 16 bytes
// each. NULL: no such form, or an option bounds the form.
static inline const struct form *wider_for_rows(const struct task *t, const struct choice *c,
                                                const struct form *rows)
{
    const bool free = task_option(t, "slab") == 0 && task_option(t, "lanes") == 0;
    const struct form *f = best_form(t, c, {});
    return free && form_is_wide(t, f) && f->vec == rows->vec && f->packs == rows->packs &&
                   f->lanes == 2 * rows->lanes
               ? f
               : NULL;
}

// The same form or one of 16 lanes: that is faster where the device is full, if bundles that a form
// of fewer lanes would allow are not too long for it, and most lanes have a nonzero to load. In f64
// there are none such. Measured on an H200.
static inline const struct form *by_16_lanes(const struct task *t, const struct choice *c,
                                             const struct form *f)
{
    const struct form *other = with_lanes(t, c, f, 16);
    const double mean = mean_length(t, c);
    const bool full = 2 * group_share(t, c, f) >= 7 * f->lanes;
    const bool holds = most_columns(t, c, other) >= min(most_columns(t, c, f), (int32_t)(2 * mean));
    return full && holds && 2 * mean >= other->lanes ? other : f;
}

// The form if there are bundles, with slabs of 128 bytes where those of rows alone are. NULL: there
// is none, or rows are so short that most lanes would have no nonzero to load.
static inline const struct form *form_for_bundles(const struct task *t, const struct choice *c,
                                                  const struct form *rows)
{
    const int64_t columns = form_slab(rows), bytes = (int64_t)prec_bytes(t->prec);
    const bool narrow = columns < t->C.cols && columns * bytes <= 128;
    struct bounds within = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes"), true};
    if (!within.slab && narrow) within.slab = 128;
    const struct form *f = best_form(t, c, within);
    if (!f || 2 * mean_length(t, c) < f->lanes) return NULL;
    return within.lanes ? f : by_16_lanes(t, c, f);
}

// Returns a form with slabs at most half as wide. More groups go through a bundle, so bundles may
// be longer. Packs may be wider, so rows may be less similar. NULL: no such form, an option bounds
// the form, or the form does not pay because sums of f64 fill the registers.
static inline const struct form *narrower_for_bundles(const struct task *t, const struct choice *c,
                                                      const struct form *f)
{
    const int64_t slab = form_slab(f) * (int64_t)prec_bytes(t->prec) / 2;
    const bool free = task_option(t, "slab") == 0 && task_option(t, "lanes") == 0;
    return free && t->prec == F32 && slab >= 128 ? best_form(t, c, {slab, 0, true}) : NULL;
}

// Returns true if lanes have the same columns of the same rows in both forms.
static inline bool have_one_shape(const struct form *f, const struct form *like)
{
    return f->vec == like->vec && f->lanes == like->lanes && f->packs == like->packs &&
           f->whole == like->whole && f->bundles == like->bundles;
}

// The same form with more registers; NULL: there is none.
static inline const struct form *roomy_form(const struct choice *c, const struct form *like)
{
    for (const struct form *f = c->forms; f < c->forms + c->count; f++)
        if (f->kind == ROOMY && have_one_shape(f, like) && f->team == like->team) return f;
    return NULL;
}

// The same form with more registers and two groups for a short row; NULL: there is none.
static inline const struct form *paired_form(const struct choice *c, const struct form *like)
{
    for (const struct form *f = c->forms; f < c->forms + c->count; f++)
        if (f->team == 2 * f->lanes && have_one_shape(f, like)) return f;
    return NULL;
}

#endif
