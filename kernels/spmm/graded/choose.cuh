// The shape of the kernel for a case: a form, and the lanes of a group.
#ifndef GRADED_CHOOSE_H
#define GRADED_CHOOSE_H

#include "facts.cuh"

// Returns the columns of a slab.
static inline int64_t slab_of(const struct choice *c)
{
    return (int64_t)c->form->vec * c->form->packs * c->lanes;
}

static inline int64_t slabs_of(const struct choice *c, int64_t k)
{
    return ceil_div(k, slab_of(c));
}

// Returns the columns of the widest pack that rows of B and C are made of.
static inline int widest_pack(const struct task *t, const struct view *v)
{
    int vec = (int)(16 / in_bytes(t));
    if (v->layout == LAYOUT_COL) return 1;
    while (v->k % vec || v->B_ld % vec || v->C_ld % vec) vec /= 2;
    return vec;
}

// Returns the nonzeros per group, summed over slabs. The estimate has eight blocks on each
// multiprocessor. An empty row counts as one nonzero.
static inline double group_share(const struct task *t, const struct facts *x, int64_t k,
                                 const struct choice *c)
{
    const double groups = (double)t->dev->units * 8 * THREADS / c->lanes;
    const int64_t work = t->A[0]->nnz + t->C.rows - x->used;
    return (double)work * (double)slabs_of(c, k) / groups;
}

// Returns true if each run copies column-major B and C to and from row-major order. All terms are
// in picoseconds. The copies cost a launch and a pass over B and C. The saving grows with
// `sectors`. Fitted on an H100 to 29 matrices, f32, k = 2 to 256: 1.013 of the time of the better
// way in the geometric mean, 1.5 at worst.
static inline bool choose_turned(const struct task *t, const struct facts *x)
{
    const int wanted = (int)task_option(t, "turned");
    const double nnz = (double)t->A[0]->nnz, k = (double)t->C.cols;
    const double bytes = k * (double)(t->in[0].rows + t->C.rows) * (double)in_bytes(t);
    if (t->C.layout == LAYOUT_ROW || t->C.cols <= 1) return false;
    if (wanted >= 0) return wanted;
    return 0.6e6 + 0.8 * bytes + 4 * nnz < nnz * k * (0.53 + 5.4 * x->sectors);
}

// Returns the choice of least cost. The cost of a slab is its bytes of a row of B, including idle
// lanes, plus 96 bytes. Packs narrower than possible cost more. With equal costs the choice has
// fewer lanes.
static inline struct choice choose(const struct task *t, const struct forms *forms,
                                   const struct view *v, bool bundles, struct bounds within)
{
    const int64_t bytes = in_bytes(t);
    const int vec = widest_pack(t, v);
    struct choice best = {};
    int64_t least = INT64_MAX;
    for (const struct form *f = forms->list; f < forms->list + forms->count; f++) {
        const int last = f->lanes ? f->lanes : v->layout == LAYOUT_COL ? 1 : f->packs > 1 ? 2 : 4;
        if (f->layout != v->layout || f->bundles != bundles || f->vec > vec) continue;
        for (struct choice c = {f, max(f->lanes, 1)}; c.lanes <= last; c.lanes *= 2) {
            const int64_t slab = slab_of(&c) * bytes;
            const int64_t cost =
                (slabs_of(&c, v->k) * (slab + 96 + 64 * (vec / f->vec - 1))) * WARP + c.lanes;
            if (cost >= least || (within.slab && slab > within.slab) ||
                (within.lanes && c.lanes != within.lanes))
                continue;
            best = c, least = cost;
        }
    }
    return best;
}

// Returns the most bytes of a slab of wide B, or 0 for no bound. Narrow slabs give more independent
// work, and more of B stays in caches. But each slab reads A once more.
//
//     128 bytes   either the device has little work (share < 3), or all of these hold:
//                 - the last cache holds less than 2 / 3 of B
//                 - the last cache holds at least a third of a slab of 128 bytes
//                 - columns are far apart (x->far)
//                 - each row of B is used 2.5 times or more in the mean
//     256 bytes   either the device has some work (share < 11), or all of these hold:
//                 - the last cache holds at least 2 / 3 of B
//                 - columns of near rows differ (x->near)
//                 - used rows of A have at most 600 nonzeros in the mean
//
// H200, k = 128: uniform:500000:8 388 us by 128 bytes, 479 by whole rows; ogbl-ddi 82 us by 256
// bytes, 92 by whole rows.
static inline int64_t narrow_slab(const struct task *t, const struct facts *x, int64_t k,
                                  double share)
{
    const int64_t rows = t->in[0].rows, cache = t->dev->cache_bytes, nnz = t->A[0]->nnz;
    const bool past = 2 * rows * k * in_bytes(t) > 3 * cache;
    if (share < 11) return share < 3 ? 128 : 256;
    if (x->far >= 0.9 && past && rows * 128 <= 3 * cache && 2 * nnz >= 5 * rows) return 128;
    return x->near >= 0.7 && !past && nnz <= 600 * x->used ? 256 : 0;
}

// Returns the bounds from the options. Bounds that no form meets are dropped, first the bound by
// `slab`.
static inline struct bounds wanted_bounds(const struct task *t, const struct forms *forms,
                                          const struct view *v)
{
    const int64_t slab = (int64_t)task_option(t, "slab");
    const int lanes = (int)task_option(t, "lanes");
    const struct bounds list[] = {{slab, lanes}, {0, lanes}, {slab, 0}};
    for (int i = 0; i < COUNT(list); i++)
        if (choose(t, forms, v, false, list[i]).form) return list[i];
    return {};
}

// Returns the choice for rows. Narrow slabs are rejected if over a fifth of their columns lies past
// the last column of B, unless the device has little work.
static inline struct choice choose_for_rows(const struct task *t, const struct forms *forms,
                                            const struct view *v, const struct facts *x,
                                            struct bounds wanted)
{
    const struct choice c = choose(t, forms, v, false, wanted);
    if (wanted.slab || wanted.lanes || !c.form->lanes || v->layout == LAYOUT_COL) return c;
    const double share = group_share(t, x, v->k, &c);
    const int64_t k = v->k, slab = narrow_slab(t, x, k, share);
    if (!slab) return c;
    const struct choice narrow = choose(t, forms, v, false, {slab, 0});
    if (!narrow.form) return c;
    return share < 3 || 5 * k >= 4 * slabs_of(&narrow, k) * slab_of(&narrow) ? narrow : c;
}

#endif
