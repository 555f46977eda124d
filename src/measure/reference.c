#include "measure/reference.h"

#include <stdlib.h>
#include <string.h>

#define BUDGET_SHARE 4 // of the free host memory, at most one part in so many is kept

struct kept_row {
    int64_t count, terms;
    double numbers[]; // ref, error, then the columns of a sparse result
};

void reference_init(struct reference *r, const struct problem *p)
{
    *r = (struct reference){.p = p};
}

void reference_free(struct reference *r)
{
    for (int64_t x = 0; r->kept && x < r->count; x++) mem_free(r->kept[x]);
    mem_free(r->kept);
    mem_free(r->rows);
    mem_free(r->projection.want);
    mem_free(r->projection.size);
    mem_free(r->projection.error);
    mem_free(r->projection.own);
    reference_init(r, r->p);
}

// Algorithms treat rows by their work: the first few of each class c, those of 2^(c-1) .. 2^c - 1
// multiply-adds, c = 0 those of none, and the row with most.
static int64_t pick_classes(const struct problem *p, int32_t *rows)
{
    int taken[65] = {0};
    int64_t count = 0, most = -1;
    int32_t most_row = 0;
    for (int32_t i = 0; i < p->rows; i++) {
        int64_t work = p->op->row_work(p, i);
        int c = work ? 64 - __builtin_clzll((uint64_t)work) : 0;
        if (work > most) most = work, most_row = i;
        if (taken[c] < SAMPLE_CLASS_ROWS) taken[c]++, rows[count++] = i;
    }
    rows[count++] = most_row;
    return count;
}

static int ascending(const void *x, const void *y)
{
    int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
    return (a > b) - (a < b);
}

static int64_t each_once(int32_t *rows, int64_t count)
{
    int64_t kept = 0;
    qsort(rows, (size_t)count, sizeof *rows, ascending);
    for (int64_t x = 0; x < count; x++)
        if (!kept || rows[kept - 1] != rows[x]) rows[kept++] = rows[x];
    return kept;
}

static int64_t pick_rows(const struct problem *p, int32_t *rows)
{
    int64_t m = p->rows, count = pick_classes(p, rows);
    rows[count++] = 0;
    rows[count++] = (int32_t)(m - 1);
    // One of each of as many strata.
    for (int64_t s = 0; s < SAMPLE_RANDOM; s++) {
        int64_t first = m * s / SAMPLE_RANDOM, end = m * (s + 1) / SAMPLE_RANDOM;
        uint64_t at = random_at(p->seed, (uint64_t)s) % (uint64_t)(end - first);
        rows[count++] = (int32_t)(first + (int64_t)at);
    }
    return each_once(rows, count);
}

static int make_projection(struct reference *r)
{
    struct projection *x = &r->projection;
    int64_t m = r->p->rows;
    x->want = mem_alloc(m, sizeof *x->want);
    x->size = mem_alloc(m, sizeof *x->size);
    x->error = mem_alloc(m, sizeof *x->error);
    x->own = mem_alloc(m, sizeof *x->own);
    if (!x->want || !x->size || !x->error || !x->own) return ERR_MEMORY;
    return r->p->op->project(r->p, r->variant, x);
}

int32_t reference_row_number(const struct reference *r, int64_t x)
{
    return r->rows ? r->rows[x] : (int32_t)x;
}

int reference_make(struct reference *r, int variant, bool full)
{
    const struct problem *p = r->p;
    if (r->made && r->variant == variant && r->full == full) return OK;
    reference_free(r);
    r->variant = variant;
    r->full = full;
    r->count = p->rows;
    int err = OK;
    if (!full) {
        r->rows = mem_alloc(SAMPLE_ROWS, sizeof *r->rows);
        if (!r->rows) return ERR_MEMORY;
        r->count = pick_rows(p, r->rows);
        err = make_projection(r);
    }
    for (int64_t x = 0; x < r->count; x++)
        r->room = max64(r->room, p->op->row_room(p, reference_row_number(r, x)));
    if (!err) r->kept = mem_zero_alloc(r->count, sizeof *r->kept);
    if (!r->kept) err = err ? err : ERR_MEMORY;
    r->budget = mem_available() / BUDGET_SHARE;
    r->made = !err;
    if (err) reference_free(r);
    return err;
}

static struct row view_of(struct kept_row *k)
{
    return (struct row){.count = k->count,
                        .terms = k->terms,
                        .ref = k->numbers,
                        .error = k->numbers + k->count,
                        .col = (int32_t *)(k->numbers + 2 * k->count)};
}

// Keeps a row, if memory allows; it is no error if not.
static void keep(struct reference *r, int64_t x, const struct row *row)
{
    int64_t numbers = 2 * row->count, cols = r->p->op->result == RESULT_SPARSE ? row->count : 0;
    int64_t bytes = (int64_t)sizeof(struct kept_row) + 8 * numbers + 4 * cols, left;
#pragma omp atomic capture
    left = r->budget -= bytes;
    struct kept_row *k = left >= 0 ? mem_try_alloc(bytes) : NULL;
    if (!k) return;
    k->count = row->count;
    k->terms = row->terms;
    struct row to = view_of(k);
    memcpy(to.ref, row->ref, (size_t)row->count * sizeof *row->ref);
    memcpy(to.error, row->error, (size_t)row->count * sizeof *row->error);
    if (cols) memcpy(to.col, row->col, (size_t)cols * sizeof *row->col);
    r->kept[x] = k;
}

struct row reference_row(struct reference *r, int64_t x, struct row *room)
{
    if (r->kept[x]) return view_of(r->kept[x]);
    r->p->op->row(r->p, r->variant, reference_row_number(r, x), room);
    keep(r, x, room);
    return *room;
}
