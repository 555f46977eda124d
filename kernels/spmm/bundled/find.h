// The search for bundles of rows, and the format of a bundle.
#ifndef BUNDLED_FIND_H
#define BUNDLED_FIND_H

#include "cpu.h"

#include <math.h>
#include <omp.h>

enum {
    BUNDLE_ROWS = 3,   // rows of a bundle at most: AVX2 has registers for their sums
    BUNDLE_BLOCK = 48, // rows of a block. Bundles do not cross blocks
};
// Least part of the loads of B that bundles must save. Bundles cost memory and preparation.
#define BUNDLE_LEAST_SAVED 0.05

// Rows row .. row + rows - 1. From `idx` on: the common columns, then the columns that only the
// first row has, then those of the second row, and so on. From `val` on: the values in the same
// order, `rows` values per common column.
struct bundle {
    int32_t row, rows;
    int64_t common; // columns that all rows have
    int64_t idx, val;
};

struct bundles {
    struct bundle *list; // by rows; size count
    int64_t count;
    int32_t *idx;
    void *val;     // in the precision of the task
    int64_t loads; // loads of rows of B, including rows outside of bundles
};

// Least similarity of the rows of a bundle.
struct bundle_rule {
    double alike;   // least part of the nonzeros in common columns
    int64_t common; // least number of common columns
};

// The size of the bundle that begins at a row.
struct bundle_mark {
    int32_t rows, common; // 0: no bundle
};

// Returns the number of columns that rows i .. i + rows - 1 have in common, or 0 if fewer than
// `least`. Writes their positions in CSR to `at`, `rows` per column, unless `at` is NULL.
static inline int64_t bundle_common(const struct csr_dev *A, int64_t i, int rows, int64_t least,
                                    int64_t *at)
{
    const int64_t *ptr = A->ptr;
    int64_t p[BUNDLE_ROWS], common = 0;
    for (int r = 0; r < rows; r++) p[r] = ptr[i + r];
    while (p[0] < ptr[i + 1] && common + ptr[i + 1] - p[0] >= least) {
        const int32_t j = A->idx[p[0]];
        bool all = true;
        for (int r = 1; r < rows; r++) {
            while (p[r] < ptr[i + r + 1] && A->idx[p[r]] < j) p[r]++;
            all &= p[r] < ptr[i + r + 1] && A->idx[p[r]] == j;
        }
        for (int r = 0; r < rows && all && at; r++) at[common * rows + r] = p[r];
        common += all;
        p[0]++;
    }
    return common >= least ? common : 0;
}

// Returns the bundle from row i on, of rows before `end`, that saves the largest part of its loads.
static inline struct bundle_mark bundle_best(const struct csr_dev *A, int64_t i, int64_t end,
                                             struct bundle_rule rule)
{
    const int64_t *ptr = A->ptr;
    struct bundle_mark best = {0};
    double saved = 0;
    int64_t shortest = ptr[i + 1] - ptr[i];
    for (int rows = 2; rows <= BUNDLE_ROWS && i + rows <= end; rows++) {
        const int64_t nonzeros = ptr[i + rows] - ptr[i];
        const int64_t least =
            max64(rule.common, (int64_t)ceil(rule.alike * (double)nonzeros / rows - 1e-9));
        shortest = min64(shortest, ptr[i + rows] - ptr[i + rows - 1]);
        if (shortest < least) continue;
        const int64_t common = bundle_common(A, i, rows, least, NULL);
        const double part = (double)((rows - 1) * common) / (double)nonzeros;
        if (part > saved) best = (struct bundle_mark){rows, (int32_t)common}, saved = part;
    }
    return best;
}

// Writes the columns and values of bundle b. `at`: the positions of the common nonzeros in CSR.
static inline void bundle_fill(const struct csr_dev *A, enum prec prec, const struct bundle *b,
                               const int64_t *at, struct bundles *out)
{
    const int64_t *ptr = A->ptr;
    int32_t *idx = out->idx + b->idx;
    int64_t q = b->val;
    for (int64_t c = 0; c < b->common; c++) {
        *idx++ = A->idx[at[c * b->rows]];
        for (int r = 0; r < b->rows; r++)
            type_store(prec, out->val, q++, type_load(prec, A->val, at[c * b->rows + r]));
    }
    for (int r = 0; r < b->rows; r++) {
        int64_t c = 0;
        for (int64_t p = ptr[b->row + r]; p < ptr[b->row + r + 1]; p++) {
            if (c < b->common && at[c * b->rows + r] == p) {
                c++;
                continue;
            }
            *idx++ = A->idx[p];
            type_store(prec, out->val, q++, type_load(prec, A->val, p));
        }
    }
}

static inline void bundles_free(struct task *t, struct bundles *x)
{
    device_free(t->dev, x->list);
    device_free(t->dev, x->idx);
    device_free(t->dev, x->val);
    *x = (struct bundles){0};
}

// Marks the rows at which bundles begin. Returns the number of saved loads.
static inline int64_t bundles_mark(const struct csr_dev *A, struct bundle_rule rule,
                                   struct bundle_mark *mark)
{
    const int64_t m = A->m;
    int64_t saved = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : saved)
    for (int64_t first = 0; first < m; first += BUNDLE_BLOCK) {
        const int64_t end = min64(first + BUNDLE_BLOCK, m);
        for (int64_t i = first; i < end; i += max64(1, mark[i].rows)) {
            mark[i] = bundle_best(A, i, end, rule);
            if (mark[i].rows) saved += (int64_t)(mark[i].rows - 1) * mark[i].common;
        }
    }
    return saved;
}

// Lists the marked bundles and allocates their columns and values. Sets *longest to the largest
// number of common nonzeros of a bundle.
static inline int bundles_list(struct task *t, const struct csr_dev *A,
                               const struct bundle_mark *mark, struct bundles *out,
                               int64_t *longest)
{
    const int64_t *ptr = A->ptr;
    int64_t idx = 0, val = 0;
    for (int64_t i = 0; i < A->m; i++) out->count += mark[i].rows > 0;
    int err = device_alloc(t->dev, out->count, sizeof *out->list, (void **)&out->list);
    for (int64_t i = 0, b = 0; i < A->m && !err; i++) {
        if (!mark[i].rows) continue;
        const int64_t rows = mark[i].rows, common = mark[i].common,
                      nonzeros = ptr[i + rows] - ptr[i];
        out->list[b++] = (struct bundle){(int32_t)i, (int32_t)rows, common, idx, val};
        idx += nonzeros - (rows - 1) * common;
        val += nonzeros;
        *longest = max64(*longest, rows * common);
    }
    if (!err) err = device_alloc(t->dev, idx, sizeof *out->idx, (void **)&out->idx);
    if (!err) err = device_alloc(t->dev, val, in_bytes(t), &out->val);
    return err;
}

// Fills the listed bundles. `longest`: see bundles_list().
static inline int bundles_fill(const struct csr_dev *A, enum prec prec, int64_t longest,
                               struct bundles *out)
{
    const int threads = omp_get_max_threads();
    int64_t size, *at = NULL;
    int err = size_mul(longest, threads, &size);
    if (!err && !(at = mem_alloc(size, sizeof *at))) err = ERR_MEMORY;
    if (err) return err;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t b = 0; b < out->count; b++) {
        const struct bundle *of = &out->list[b];
        int64_t *mine = at + omp_get_thread_num() * longest;
        bundle_common(A, of->row, of->rows, 1, mine);
        bundle_fill(A, prec, of, mine, out);
    }
    mem_free(at);
    return OK;
}

// Finds the bundles of a matrix. The caller frees them, also after an error.
static inline int bundles_find(struct task *t, const struct csr_dev *A, struct bundle_rule rule,
                               struct bundles *out)
{
    int64_t longest = 0;
    struct bundle_mark *mark = mem_zero_alloc(A->m, sizeof *mark);
    if (!mark) return ERR_MEMORY;
    const int64_t saved = rule.alike > 1 ? 0 : bundles_mark(A, rule, mark);
    const bool any = saved > 0 && (double)saved >= BUNDLE_LEAST_SAVED * (double)A->nnz;
    int err = any ? bundles_list(t, A, mark, out, &longest) : OK;
    mem_free(mark);
    out->loads = A->nnz - (any ? saved : 0);
    return err || !any ? err : bundles_fill(A, t->prec, longest, out);
}

#endif
