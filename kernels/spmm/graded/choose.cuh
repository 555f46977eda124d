// The shape of the kernel for a case: a form, and the lanes of a group.
#ifndef GRADED_CHOOSE_H
#define GRADED_CHOOSE_H

#include "facts.cuh"
#include "gather.cuh"
#include "turn.cuh"

// An instance of the kernel; see struct shape.
struct form {
    int vec, packs;
    int lanes; // 0: by quartets, any power of two up to 4, 2 with several packs, 1 with COLUMNS
    enum access access;
    bool bundles;
    int blocks; // least blocks on a multiprocessor
    void (*start)(const struct task *t);
};

struct forms {
    const struct form *list;
    int count;
};

struct choice {
    const struct form *form; // NULL: no form fits
    int lanes;
};

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
static inline int widest_pack(const struct task *t, enum access access)
{
    int vec = (int)(16 / prec_bytes(t->prec));
    if (access == TURNED) return vec;
    if (access == COLUMNS) return 1;
    while (t->C.cols % vec || t->in[0].ld % vec || t->C.ld % vec) vec /= 2;
    return vec;
}

// Returns the nonzeros per group if all groups that the device holds at once, by eight blocks on a
// multiprocessor, share the nonzeros, of each slab anew. An empty row counts for one.
static inline double group_share(const struct task *t, const struct facts *x,
                                 const struct choice *c)
{
    const double groups = (double)t->dev->units * 8 * THREADS / c->lanes;
    const int64_t work = t->A[0]->nnz + t->C.rows - x->used;
    return (double)work * (double)slabs_of(c, t->C.cols) / groups;
}

// Returns the access of a case. Both costs of column-major B are in picoseconds per nonzero, fitted
// to 19 matrices on an H100, f32. In place, each column costs the more the more sectors are new.
// The copy costs a launch, a pass over B, and rows of whole sectors.
static inline enum access choose_access(const struct task *t, const struct facts *x)
{
    const int wanted = (int)task_option(t, "turned");
    const double nnz = fmax((double)t->A[0]->nnz, 1), k = (double)t->C.cols;
    const double in_place = k * (0.8 + 7.5 * x->sectors);
    const double copied = 8 + 1.2 * k + 2.7 * k * (double)t->in[0].rows / nnz + 1e6 / nnz;
    if (t->C.layout == LAYOUT_ROW || t->C.cols <= 1) return ROWS;
    if (wanted >= 0) return wanted ? TURNED : COLUMNS;
    return copied < in_place ? TURNED : COLUMNS;
}

// Bounds of a choice; 0: no bound.
struct bounds {
    int64_t slab; // most bytes of a slab
    int lanes;    // exactly
};

// Returns the choice of least cost: bytes of a row of B with idle lanes, and for each slab 96
// bytes, or more if packs are narrower than they could be. Ties: the choice with fewer lanes.
static inline struct choice choose(const struct task *t, const struct forms *forms,
                                   enum access access, bool bundles, struct bounds within)
{
    const int64_t bytes = (int64_t)prec_bytes(t->prec), k = t->C.cols;
    const int vec = widest_pack(t, access);
    struct choice best = {};
    int64_t least = INT64_MAX;
    for (const struct form *f = forms->list; f < forms->list + forms->count; f++) {
        const int last = f->lanes ? f->lanes : access == COLUMNS ? 1 : f->packs > 1 ? 2 : 4;
        if (f->access != access || f->bundles != bundles || f->vec > vec) continue;
        for (struct choice c = {f, max(f->lanes, 1)}; c.lanes <= last; c.lanes *= 2) {
            const int64_t slab = slab_of(&c) * bytes;
            const int64_t cost =
                (slabs_of(&c, k) * (slab + 96 + 64 * (vec / f->vec - 1))) * WARP + c.lanes;
            if (cost >= least || (within.slab && slab > within.slab) ||
                (within.lanes && c.lanes != within.lanes))
                continue;
            best = c, least = cost;
        }
    }
    return best;
}

// Returns the most bytes of a slab of wide B, 0: no bound. Narrow slabs share out more work, and
// keep more of B in caches, but A is read once more for each.
//
//     128 bytes   a device with little work; or columns far apart in a B that the last cache cannot
//                 hold, if the cache holds a third of one such slab and rows of B are used 2.5
//                 times
//     256 bytes   a device with some work; or scattered columns among near rows, if the last cache
//                 holds 2 / 3 of B
//
// H200, k = 128: uniform:500000:8 388 us by 128 bytes, 479 by whole rows; ogbl-ddi 82 us by 256
// bytes, 92 by whole rows.
static inline int64_t narrow_slab(const struct task *t, const struct facts *x, double share)
{
    const int64_t rows = t->in[0].rows, cache = t->dev->cache_bytes, nnz = t->A[0]->nnz;
    const bool past = 2 * rows * t->C.cols * (int64_t)prec_bytes(t->prec) > 3 * cache;
    if (share < 11) return share < 3 ? 128 : 256;
    if (x->far >= 0.9 && past && rows * 128 <= 3 * cache && 2 * nnz >= 5 * rows) return 128;
    return x->near >= 0.7 && !past && nnz <= 600 * x->used ? 256 : 0;
}

// Returns the choice for rows. Options bound the choice; bounds that no form meets are dropped.
// Narrow slabs are not taken if over a fifth of their columns lies past the last column, unless the
// device has little work.
static inline struct choice choose_for_rows(const struct task *t, const struct forms *forms,
                                            const struct facts *x)
{
    const struct bounds wanted = {(int64_t)task_option(t, "slab"), (int)task_option(t, "lanes")};
    const enum access access = choose_access(t, x);
    struct choice c = choose(t, forms, access, false, wanted);
    if (!c.form) c = choose(t, forms, access, false, {0, wanted.lanes});
    if (!c.form) c = choose(t, forms, access, false, {});
    if (wanted.slab || wanted.lanes || !c.form->lanes || access != ROWS) return c;
    const double share = group_share(t, x, &c);
    const int64_t k = t->C.cols, slab = narrow_slab(t, x, share);
    if (!slab) return c;
    const struct choice narrow = choose(t, forms, access, false, {slab, 0});
    if (!narrow.form) return c;
    return share < 3 || 5 * k >= 4 * slabs_of(&narrow, k) * slab_of(&narrow) ? narrow : c;
}

#endif
