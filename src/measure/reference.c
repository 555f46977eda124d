#include "measure/reference.h"

#include <stdlib.h>
#include <string.h>

#define BUDGET_SHARE 4 // kept rows take at most this part of the free host memory: 1 / BUDGET_SHARE

struct kept_row {
    int64_t count, terms;
    double numbers[]; // ref, error; then col and each of a sparse result
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
    mem_free(r->projection.pattern);
    mem_free(r->projection.want);
    mem_free(r->projection.size);
    mem_free(r->projection.error);
    mem_free(r->projection.own);
    reference_init(r, r->p);
}

// Picks the first rows of each class c of work (2^(c-1) .. 2^c - 1 multiply-adds; c = 0: none), and
// the row with the most work.
static int64_t pick_classes(const struct problem *p, int32_t *rows, int64_t *all_work)
{
    int taken[65] = {0};
    int64_t count = 0, most = -1;
    *all_work = 0;
    int32_t most_row = 0;
    for (int32_t i = 0; i < p->rows; i++) {
        int64_t work = p->op->row_work(p, i);
        int c = work ? 64 - __builtin_clzll((uint64_t)work) : 0;
        *all_work += work;
        if (work > most) most = work, most_row = i;
        if (taken[c] < SAMPLE_CLASS_ROWS) taken[c]++, rows[count++] = i;
    }
    rows[count++] = most_row;
    return count;
}

// Returns a random number from the s-th of `count` equal parts of 0 ... size - 1.
static int64_t stratum(uint64_t seed, int64_t size, int64_t s, int64_t count)
{
    double part = (double)size / (double)count; // size * s may not fit in 64 bits
    int64_t first = (int64_t)(part * (double)s), end = (int64_t)(part * (double)(s + 1));
    return first + (int64_t)(random_at(seed, (uint64_t)s) % (uint64_t)max64(end - first, 1));
}

// Picks `wanted` rows by work: the rows of one random multiply-add of each equal part of all work.
static int64_t pick_by_work(const struct problem *p, int64_t all_work, int64_t wanted,
                            int32_t *rows)
{
    int64_t count = 0, end = 0, s = 0;
    for (int32_t i = 0; i < p->rows && s < wanted; i++) {
        bool here = false;
        end += p->op->row_work(p, i);
        for (; s < wanted && stratum(~p->seed, all_work, s, wanted) < end; s++) here = true;
        if (here) rows[count++] = i;
    }
    return count;
}

// Picks a row from each of `wanted` equal ranges of the rows that `taken` (ascending) lacks.
static int64_t pick_others(const struct problem *p, const int32_t *taken, int64_t taken_count,
                           int64_t wanted, int32_t *rows)
{
    int64_t count = 0, next = 0, place = 0; // place: index of row i among the other rows
    for (int32_t i = 0; i < p->rows && count < wanted; i++) {
        if (next < taken_count && taken[next] == i) {
            next++;
            continue;
        }
        if (place == stratum(p->seed, p->rows - taken_count, count, wanted)) rows[count++] = i;
        place++;
    }
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
    int64_t work, count = pick_classes(p, rows, &work);
    rows[count++] = 0;
    rows[count++] = (int32_t)(p->rows - 1);
    int32_t *drawn = rows + count;
    int64_t by_work = pick_by_work(p, work, SAMPLE_RANDOM / 2, drawn);
    count += by_work;
    count += pick_others(p, drawn, by_work, SAMPLE_RANDOM - by_work, rows + count);
    return each_once(rows, count);
}

static int make_projection(struct reference *r)
{
    struct projection *x = &r->projection;
    int64_t m = r->p->rows;
    if (r->p->op->result == RESULT_SPARSE && !(x->pattern = mem_alloc(m, sizeof *x->pattern)))
        return ERR_MEMORY;
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
        if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
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
                        .col = (int32_t *)(k->numbers + 2 * k->count),
                        .each = (int32_t *)(k->numbers + 2 * k->count) + k->count};
}

// Keeps a row if memory allows.
static void keep(struct reference *r, int64_t x, const struct row *row)
{
    int64_t numbers = 2 * row->count, cols = r->p->op->result == RESULT_SPARSE ? row->count : 0;
    int64_t bytes = (int64_t)sizeof(struct kept_row) + 8 * numbers + 8 * cols, left;
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
    if (cols) memcpy(to.each, row->each, (size_t)cols * sizeof *row->each);
    r->kept[x] = k;
}

struct row reference_row(struct reference *r, int64_t x, struct row *room)
{
    if (r->kept[x]) return view_of(r->kept[x]);
    r->p->op->row(r->p, r->variant, reference_row_number(r, x), room);
    keep(r, x, room);
    return *room;
}
