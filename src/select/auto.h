// Shared parts of the forms of `auto`. Rules: auto_rules.h; the choice by them: select/pick.h.
#ifndef AUTO_H
#define AUTO_H

#include "select/pick.h"
#include "select/auto_rules.h"

#define AUTO_TILE   16
#define AUTO_SAMPLE 256 // tile rows that are looked at, evenly spread

// Returns the facts that follow from the sizes alone.
static inline struct pick_facts auto_sizes(const struct task *t, int64_t depth)
{
    const struct sparse *A = t->A[0];
    struct pick_facts f;
    f.rows = A->m, f.columns = A->n, f.nonzeros = (double)A->nnz;
    f.depth = (double)depth;
    f.longest = f.squares = f.tile = 0;
    f.width = (int)in_bytes(t);
    return f;
}

// Returns the tile row of number x in a sample of `count` tile rows.
static inline int64_t auto_sample(int64_t x, int64_t count, int64_t tile_rows)
{
    return x * tile_rows / count;
}

// Sets facts from the counts of a sample of tile rows.
static inline void auto_set_sample(struct pick_facts *f, double nonzeros, double products,
                                   double tiles)
{
    f->depth = nonzeros > 0 ? products / nonzeros : 0;
    f->tile = tiles > 0 ? nonzeros / tiles : 0;
}

static const struct param auto_options[] = {PICK_OPTION(AUTO_TRIALS), {0}};

// The descriptors, from `layouts` or `precs` on: those of an operation say the same on each kind of
// device but for whom they pick from. `prepare` is the file's own.
#define AUTO_DENSE(layout_bits, prec_bits, ...)                                                    \
    .layouts = layout_bits, .precs = prec_bits, .A = {&format_csr}, .arith = ARITH_PREC,           \
    .options = auto_options, .cite = "Own work", .picks = __VA_ARGS__, .prepare = prepare,         \
    .run = delegate_run, .teardown = delegate_teardown
#define AUTO_SPARSE(...)                                                                           \
    .precs = BOTH_PRECS, .A = {&format_csr}, .S = {&format_csr}, .arith = ARITH_PREC,              \
    .options = auto_options, .cite = "Own work",                                                   \
    .differs = "Where it picks tiles the result stays in tiles, and they are made of A "           \
               "beforehand.",                                                                      \
    .picks = __VA_ARGS__, .prepare = prepare, .run = delegate_run, .teardown = delegate_teardown,  \
    .finish = delegate_finish, .release = delegate_release

#endif
