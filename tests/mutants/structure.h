// Mutants of a sparse result's structure.
#ifndef MUTANTS_STRUCTURE_H
#define MUTANTS_STRUCTURE_H

#include "mutants.h"

static inline int64_t *starts_of(const struct live *x)
{
    if (x->t->R.ptr_bytes != 8) bug("%s: row starts of 32 bits", x->entry.name);
    return x->t->R.ptr;
}

// Room for so many nonzeros, with those in it that there are.
static inline void grow(struct live *x, int64_t room)
{
    struct csr_dev *R = &x->t->R;
    struct device *d = x->t->dev;
    size_t width = type_bytes(R->type);
    void *idx, *val;
    if (device_alloc(d, room, sizeof *R->idx, &idx) || device_alloc(d, room, width, &val))
        bug("%s: no memory", x->mutant->name);
    memcpy(idx, R->idx, (size_t)min64(R->nnz, room) * sizeof *R->idx);
    memcpy(val, R->val, (size_t)min64(R->nnz, room) * width);
    device_free(d, R->idx);
    device_free(d, R->val);
    R->idx = idx, R->val = val;
}

// The first column from `from` on that row i has no nonzero in; -1: there is none.
static inline int32_t free_column(const struct live *x, int64_t i, int32_t from)
{
    const struct csr_dev *R = &x->t->R;
    int32_t j = from;
    for (int64_t q = csr_start(R, i); q < csr_start(R, i + 1); q++)
        if (R->idx[q] == j) j++;
    return j < R->n ? j : -1;
}

// Moves nonzeros q ... end - 1 by so many places.
static inline void shift(struct live *x, int64_t q, int64_t end, int64_t by)
{
    struct csr_dev *R = &x->t->R;
    size_t width = type_bytes(R->type);
    memmove(R->idx + q + by, R->idx + q, (size_t)(end - q) * sizeof *R->idx);
    memmove((char *)R->val + (q + by) * (int64_t)width, (char *)R->val + q * (int64_t)width,
            (size_t)(end - q) * width);
}

// A nonzero in row i at place q.
static inline void insert(struct live *x, int64_t i, int64_t q, int32_t col, double value)
{
    struct csr_dev *R = &x->t->R;
    grow(x, R->nnz + 1);
    shift(x, q, R->nnz, 1);
    R->idx[q] = col;
    type_store(R->type, R->val, q, value);
    for (int64_t r = i + 1; r <= R->m; r++) starts_of(x)[r]++;
    R->nnz++;
    x->altered = true;
}
static inline void erase(struct live *x, int64_t i, int64_t q)
{
    struct csr_dev *R = &x->t->R;
    shift(x, q + 1, R->nnz, -1);
    for (int64_t r = i + 1; r <= R->m; r++) starts_of(x)[r]--;
    R->nnz--;
    x->altered = true;
}
// Where column j belongs in row i.
static inline int64_t place_of(const struct live *x, int64_t i, int32_t j)
{
    int64_t q = csr_start(&x->t->R, i);
    while (q < csr_start(&x->t->R, i + 1) && x->t->R.idx[q] < j) q++;
    return q;
}

static inline void zero_added(struct live *x)
{
    int64_t i = some_row(x, 1);
    int32_t j = i < 0 ? -1 : free_column(x, i, 0);
    if (j >= 0) insert(x, i, place_of(x, i, j), j, 0);
}
// In every row that has room; from the last on, so that what moves has its place already.
static inline void zeros_added(struct live *x)
{
    struct csr_dev *R = &x->t->R;
    int64_t *ptr = starts_of(x), extra = 0;
    for (int64_t i = 0; i < R->m; i++) extra += free_column(x, i, 0) >= 0;
    if (!extra) return;
    int64_t left = extra, end = R->nnz;
    grow(x, R->nnz + extra);
    for (int64_t i = R->m - 1; i >= 0; i--) {
        int64_t first = ptr[i];
        int32_t j = free_column(x, i, 0);
        ptr[i + 1] += left;
        if (j >= 0) {
            int64_t q = first;
            while (q < end && R->idx[q] < j) q++;
            shift(x, q, end, left);
            left--;
            R->idx[q + left] = j;
            type_store(R->type, R->val, q + left, 0);
            end = q;
        }
        shift(x, first, end, left);
        end = first;
    }
    R->nnz += extra;
    x->altered = true;
}

static inline void nonzero_dropped(struct live *x)
{
    int64_t i = some_row(x, 1);
    if (i >= 0) erase(x, i, row_first(x, i) + below(x, row_count(x, i)));
}
// The one whose value shows least.
static inline void smallest_dropped(struct live *x)
{
    int64_t row = -1, place = 0;
    for (int64_t i = 0; i < rows_of(x); i++)
        for (int64_t q = row_first(x, i); q < row_first(x, i + 1); q++)
            if (row < 0 || fabs(get(x, q)) < fabs(get(x, place))) row = i, place = q;
    if (row >= 0) erase(x, row, place);
}
static inline void columns_unsorted(struct live *x)
{
    int64_t i = some_row(x, 2), q = i < 0 ? 0 : row_first(x, i);
    if (i < 0) return;
    int32_t *idx = x->t->R.idx, j = idx[q];
    double c = get(x, q);
    idx[q] = idx[q + 1], idx[q + 1] = j;
    put(x, q, get(x, q + 1));
    put(x, q + 1, c);
}
// A sum in two halves.
static inline void nonzero_split(struct live *x)
{
    int64_t q, i = some_row(x, 1);
    if (i < 0) return;
    q = row_first(x, i);
    double half = get(x, q) / 2;
    put(x, q, half);
    insert(x, i, q, x->t->R.idx[q], half);
}
static inline void nonzeros_merged(struct live *x)
{
    int64_t q, i = some_row(x, 2);
    if (i < 0) return;
    q = row_first(x, i);
    put(x, q, get(x, q) + get(x, q + 1));
    erase(x, i, q + 1);
}
// The last nonzero of a row goes to a column that is free.
static inline void column_moved(struct live *x)
{
    int64_t i = some_row(x, 1), q = i < 0 ? 0 : row_first(x, i) + row_count(x, i) - 1;
    if (i < 0 || x->t->R.idx[q] + 1 >= x->t->R.n) return;
    x->t->R.idx[q]++;
    x->altered = true;
}
// A row with two columns c, d such that c + 1 and d - 1 are free: count and sum stay.
static inline void column_sum_kept(struct live *x)
{
    int32_t *idx = x->t->R.idx;
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = some_row(x, 2), q = i < 0 ? 0 : row_first(x, i);
        if (i < 0 || idx[q + 1] - idx[q] < 4) continue;
        idx[q]++, idx[q + 1]--;
        x->altered = true;
        return;
    }
}
static inline void column_negative(struct live *x)
{
    int64_t i = some_row(x, 1);
    if (i < 0) return;
    x->t->R.idx[row_first(x, i)] = -1;
    x->altered = true;
}
static inline void column_outside(struct live *x)
{
    int64_t i = some_row(x, 1);
    if (i < 0) return;
    x->t->R.idx[row_first(x, i) + row_count(x, i) - 1] = x->t->R.n;
    x->altered = true;
}
// Every row keeps its count; its columns are all one further, as far as there is room.
static inline void columns_wrong(struct live *x)
{
    struct csr_dev *R = &x->t->R;
    for (int64_t i = 0; i < R->m; i++) {
        int64_t first = csr_start(R, i), end = csr_start(R, i + 1);
        if (first == end || R->idx[end - 1] + 1 >= R->n) continue;
        for (int64_t q = first; q < end; q++) R->idx[q]++;
        x->altered = true;
    }
}

// The last nonzero of a row begins the next one, where it is in order there.
static inline void moved_across_border(struct live *x)
{
    int64_t *ptr = starts_of(x);
    const int32_t *idx = x->t->R.idx;
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = some_row(x, 1);
        if (i < 0 || i + 1 >= rows_of(x)) continue;
        if (ptr[i + 1] < ptr[i + 2] && idx[ptr[i + 1] - 1] >= idx[ptr[i + 1]]) continue;
        ptr[i + 1]--;
        x->altered = true;
        return;
    }
}
static inline void starts_shifted(struct live *x)
{
    int64_t i = some_row(x, 1);
    for (int64_t r = max64(i, 0) + 1; r < rows_of(x) && i >= 0; r++) {
        starts_of(x)[r]--;
        x->altered = true;
    }
}
// From one row to another with the same column, and so with the same sums of columns.
static inline void moved_to_another_row(struct live *x)
{
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = some_row(x, 1), to = some_row(x, 0);
        if (i < 0 || to < 0 || i == to) continue;
        int64_t q = row_first(x, i) + below(x, row_count(x, i)), at;
        int32_t j = x->t->R.idx[q];
        double value = get(x, q);
        at = place_of(x, to, j);
        if (at < row_first(x, to + 1) && x->t->R.idx[at] == j) continue;
        erase(x, i, q);
        insert(x, to, place_of(x, to, j), j, value);
        return;
    }
}
// Two rows with as many nonzeros, one in the other's place: whatever is summed up over all rows
// stays.
static inline void rows_exchanged(struct live *x)
{
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = some_row(x, 1), to = some_row(x, 1);
        if (i < 0 || i == to || row_count(x, i) != row_count(x, to)) continue;
        int64_t q = row_first(x, i), r = row_first(x, to);
        for (int64_t e = 0; e < row_count(x, i); e++) {
            int32_t *idx = x->t->R.idx, j = idx[q + e];
            double c = get(x, q + e);
            idx[q + e] = idx[r + e], idx[r + e] = j;
            put(x, q + e, get(x, r + e));
            put(x, r + e, c);
        }
        return;
    }
}
// Their columns alone.
static inline void columns_exchanged(struct live *x)
{
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = some_row(x, 1), to = some_row(x, 1);
        if (i < 0 || i == to || row_count(x, i) != row_count(x, to)) continue;
        int32_t *idx = x->t->R.idx, *p = idx + row_first(x, i), *r = idx + row_first(x, to);
        for (int64_t e = 0; e < row_count(x, i); e++) {
            int32_t j = p[e];
            x->altered |= p[e] != r[e];
            p[e] = r[e], r[e] = j;
        }
        return;
    }
}

static inline void count_too_large(struct live *x)
{
    struct csr_dev *R = &x->t->R;
    grow(x, R->nnz + 1);
    R->idx[R->nnz] = 0;
    type_store(R->type, R->val, R->nnz, 0);
    R->nnz++;
    x->altered = true;
}
static inline void row_lost(struct live *x)
{
    int64_t *ptr = starts_of(x), m = rows_of(x);
    x->altered |= ptr[m] != ptr[m - 1];
    x->t->R.nnz = ptr[m] = ptr[m - 1];
}
static inline void all_lost(struct live *x)
{
    memset(x->t->R.ptr, 0, (size_t)(rows_of(x) + 1) * sizeof(int64_t));
    x->t->R.nnz = 0;
    x->altered = true;
}
static inline void shape_too_low(struct live *x) { x->t->R.m--, x->altered = true; }
static inline void shape_too_wide(struct live *x) { x->t->R.n++, x->altered = true; }

#endif
