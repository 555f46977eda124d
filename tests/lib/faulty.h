// Algorithms that hand over the right result of any operation, each time with one planted fault.
#ifndef FAULTY_H
#define FAULTY_H

#include <math.h>

#include "cases.h"
#include "measure/tolerance.h"

// The right result of a problem, row by row.
struct right {
    const struct problem *p;
    int64_t *ptr; // row starts, size rows + 1
    int32_t *col; // columns, size ptr[rows]
    double *ref, *error;
    int64_t *terms; // of each row
};
static struct right right;

static inline void right_free(void)
{
    mem_free(right.ptr);
    mem_free(right.col);
    mem_free(right.ref);
    mem_free(right.error);
    mem_free(right.terms);
    right = (struct right){0};
}

static inline int right_alloc(const struct problem *p, int64_t *longest)
{
    int64_t room = 0;
    *longest = 0;
    for (int32_t i = 0; i < p->rows; i++) {
        room += p->op->row_room(p, i);
        *longest = max64(*longest, p->op->row_room(p, i));
    }
    right = (struct right){.p = p};
    right.ptr = mem_zero_alloc(p->rows + 1, sizeof *right.ptr);
    right.col = mem_alloc(room, sizeof *right.col);
    right.ref = mem_alloc(room, sizeof *right.ref);
    right.error = mem_alloc(room, sizeof *right.error);
    right.terms = mem_alloc(p->rows, sizeof *right.terms);
    return right.ptr && right.col && right.ref && right.error && right.terms ? OK : ERR_MEMORY;
}

// What an algorithm of this variant should compute.
static inline int right_make(const struct problem *p, int variant)
{
    struct row row;
    int64_t longest;
    int err = right_alloc(p, &longest);
    if (!err) err = row_alloc(&row, p, longest);
    CHECK(!err, "%s", fail_text());
    if (err) return err;
    for (int32_t i = 0; i < p->rows; i++) {
        int64_t at = right.ptr[i];
        p->op->row(p, variant, i, &row);
        for (int64_t e = 0; e < row.count; e++) {
            bool sparse = p->op->result == RESULT_SPARSE;
            right.col[at + e] = sparse ? row.col[e] : (int32_t)e;
            right.ref[at + e] = row.ref[e];
            right.error[at + e] = row.error[e];
        }
        right.terms[i] = row.terms;
        right.ptr[i + 1] = at + row.count;
    }
    row_free(&row);
    return OK;
}

enum fault {
    NONE,
    NARROW,     // no fault: row starts of 32 bits
    SMALL,      // no fault: within the tolerance
    ZEROS_LOST, // no fault if the algorithm drops zeros
    NO_OUTPUT,
    NO_OUTPUT_LATER, // from the second run on
    ONE_NOT_WRITTEN,
    ROW_LOST,
    WRONG_SIGN,
    NOT_A_NUMBER,
    INFINITE,
    ADDS_UP, // to what was there before
    WRITES_AFTER_FIRST,
    WRITES_AFTER_MIDDLE,
    WRITES_AFTER_LAST,
    ENTRY_LOST,
    OTHER_COLUMN,
    SWAPPED,
    TWICE,
    OUTSIDE,
    NEGATIVE,
    BAD_START,
    BAD_END,
    BAD_WIDTH,
    BAD_HEIGHT,
    ONE_COUNTED_TWICE,
    NEGATIVE_COUNT,
    HUGE_COUNT,
    NO_WIDTH,
    ADDED_ZERO,
    ONE_TOO_MANY, // units in the last place
};

#define DENSE   BIT(RESULT_DENSE)
#define PATTERN BIT(RESULT_PATTERN)
#define SPARSE  BIT(RESULT_SPARSE)
#define ALL     (DENSE | PATTERN | SPARSE)
enum marks {
    APART = 1,   // only where there is room between rows
    HIDDEN = 2,  // shows only where the row is compared
    ELEMENT = 4, // of one element, wherever it is in its row
};
static const struct planted {
    enum fault fault;
    const char *name;
    unsigned kinds; // of results that can have it
    unsigned marks;
} planted[] = {
    {NO_OUTPUT, "no output", ALL, 0},
    {NO_OUTPUT_LATER, "no output but of the first run", ALL, 0},
    {ONE_NOT_WRITTEN, "an element is not written", ALL, ELEMENT},
    {ROW_LOST, "a row is missing", ALL, 0},
    {WRONG_SIGN, "a wrong sign", ALL, ELEMENT},
    {NOT_A_NUMBER, "not a number", ALL, ELEMENT},
    {INFINITE, "infinite", ALL, ELEMENT},
    {ADDS_UP, "adds to what was there", DENSE | PATTERN, 0},
    {WRITES_AFTER_FIRST, "writes behind the first row", DENSE, APART},
    {WRITES_AFTER_MIDDLE, "writes behind a row in the middle", DENSE, APART},
    {WRITES_AFTER_LAST, "writes behind the last row", DENSE, APART},
    {ENTRY_LOST, "an entry is missing", SPARSE, ELEMENT},
    {OTHER_COLUMN, "an entry in another column", SPARSE, ELEMENT},
    {SWAPPED, "two entries in the wrong order", SPARSE, 0},
    {TWICE, "a column twice", SPARSE, 0},
    {OUTSIDE, "a column past the last", SPARSE, ELEMENT},
    {NEGATIVE, "a negative column", SPARSE, ELEMENT},
    {BAD_START, "row starts that descend", SPARSE, 0},
    {BAD_END, "row starts that end too early", SPARSE, 0},
    {BAD_WIDTH, "a column too few", SPARSE, 0},
    {BAD_HEIGHT, "a row too few", SPARSE, 0},
    {ONE_COUNTED_TWICE, "a nonzero more than the rows have", SPARSE, 0},
    {NEGATIVE_COUNT, "fewer than no nonzeros", SPARSE, 0},
    {HUGE_COUNT, "more nonzeros than products", SPARSE, 0},
    {NO_WIDTH, "row starts of no bytes", SPARSE, 0},
    {ADDED_ZERO, "a zero too many", SPARSE, ELEMENT},
    {ONE_TOO_MANY, "one rounding too many", ALL, HIDDEN | ELEMENT},
};

static enum fault fault;
static int64_t fault_row, fault_place; // and the element of that row
static double faulty_shift;            // is added to every element
static double faulty_small = 0.4;      // share of the tolerance by which SMALL is off
static int faulty_runs;
static int64_t starve; // from the end of the second run on this allocation fails; 0: none

static inline bool is_bad(int64_t q) { return q == right.ptr[fault_row] + fault_place; }

static inline double faulty_value(const struct task *t, int64_t q)
{
    double tolerance = ELEMENT_SIZES * type_list[t->prec].unit * right.error[q];
    double c = right.ref[q] + faulty_shift;
    if (!is_bad(q)) return c;
    switch (fault) {
    case SMALL: return c + faulty_small * tolerance;
    case ONE_TOO_MANY: return c + 1.5 * tolerance;
    case NOT_A_NUMBER: return NAN;
    case INFINITE: return INFINITY;
    case WRONG_SIGN: return -c;
    default: return c;
    }
}

// Results that are there before: dense ones, and those on a pattern.
static inline void faulty_fill(const struct task *t)
{
    bool dense = t->C.val != NULL, row_major = t->C.layout == LAYOUT_ROW;
    void *to = dense ? t->C.val : t->val;
    int64_t down = row_major ? t->C.ld : 1, across = row_major ? 1 : t->C.ld;
    for (int64_t i = 0; i < right.p->rows; i++)
        for (int64_t q = right.ptr[i]; q < right.ptr[i + 1]; q++) {
            if (fault == ROW_LOST && i == fault_row) continue;
            if (fault == ONE_NOT_WRITTEN && is_bad(q)) continue;
            int64_t at = dense ? i * down + (q - right.ptr[i]) * across : q;
            double old = fault == ADDS_UP ? type_load(t->prec, to, at) : 0;
            type_store(t->prec, to, at, old + faulty_value(t, q));
        }
    if (fault == WRITES_AFTER_FIRST) type_store(t->prec, to, dense_length(&t->C), 0);
    if (fault == WRITES_AFTER_MIDDLE)
        type_store(t->prec, to, dense_lines(&t->C) / 2 * t->C.ld + dense_length(&t->C), 0);
    if (fault == WRITES_AFTER_LAST) type_store(t->prec, to, dense_lines(&t->C) * t->C.ld - 1, 0);
}

// The arrays of a sparse result on the host.
struct staged {
    int64_t room, count; // entries
    void *ptr;
    int32_t *idx;
    void *val;
};

static inline void put(const struct task *t, struct staged *h, int64_t at, int32_t j, double x)
{
    h->idx[at] = j;
    if (fault == ONE_NOT_WRITTEN && is_bad(at)) return;
    type_store(t->prec, h->val, at, x);
}

static inline void faulty_rows(struct task *t, struct staged *h)
{
    int64_t bad = right.ptr[fault_row] + fault_place, count = 0, *ptr = h->ptr;
    ptr[0] = 0;
    for (int64_t i = 0; i < right.p->rows; i++) {
        for (int64_t q = right.ptr[i]; q < right.ptr[i + 1]; q++) {
            int32_t j = right.col[q];
            if (fault == ROW_LOST && i == fault_row) continue;
            if (fault == ENTRY_LOST && q == bad) continue;
            if (fault == ZEROS_LOST && right.ref[q] == 0) continue;
            if (fault == OTHER_COLUMN && q == bad) j++;
            if (fault == OUTSIDE && q == bad) j = (int32_t)right.p->cols;
            if (fault == NEGATIVE && q == bad) j = -1;
            if (fault == TWICE && q == bad) j = right.col[q - 1];
            put(t, h, count++, j, faulty_value(t, q));
            if (fault == ADDED_ZERO && q == bad) put(t, h, count++, j + 1, 0);
        }
        ptr[i + 1] = count;
    }
    t->R.nnz = h->count = count;
    if (fault == SWAPPED) {
        put(t, h, bad, right.col[bad + 1], right.ref[bad + 1]);
        put(t, h, bad + 1, right.col[bad], right.ref[bad]);
    }
    if (fault == BAD_START) ptr[fault_row] = ptr[fault_row + 1] + 1;
    if (fault == BAD_END) ptr[right.p->rows]--;
    if (fault == BAD_WIDTH) t->R.n--;
    if (fault == BAD_HEIGHT) t->R.m--;
    if (fault == ONE_COUNTED_TWICE) t->R.nnz++;
    if (fault == NEGATIVE_COUNT) t->R.nnz = -1;
    if (fault == HUGE_COUNT) t->R.nnz = (int64_t)1 << 50;
    if (fault == NO_WIDTH) t->R.ptr_bytes = 0;
    if (fault != NARROW) return;
    for (int64_t i = 0; i <= right.p->rows; i++) ((int32_t *)ptr)[i] = (int32_t)ptr[i];
    t->R.ptr_bytes = 4;
}

// Makes the rows on the host and copies them to the device of the task.
static inline int faulty_copy(struct task *t)
{
    int64_t m = right.p->rows, w = (int64_t)type_bytes(t->prec);
    struct staged h = {.room = right.ptr[m] + 1};
    h.ptr = mem_alloc(m + 1, 8);
    h.idx = mem_alloc(h.room, sizeof *h.idx);
    h.val = mem_alloc(h.room, (size_t)w);
    int err = h.ptr && h.idx && h.val ? OK : ERR_MEMORY;
    if (!err) memset(h.val, 0xff, (size_t)(h.room * w));
    if (!err) faulty_rows(t, &h);
    if (!err) err = device_upload(t->dev, t->R.ptr, h.ptr, (m + 1) * 8);
    if (!err) err = device_upload(t->dev, t->R.idx, h.idx, h.count * (int64_t)sizeof *h.idx);
    if (!err) err = device_upload(t->dev, t->R.val, h.val, h.count * w);
    mem_free(h.ptr);
    mem_free(h.idx);
    mem_free(h.val);
    return err;
}

static inline int faulty_sparse(struct task *t)
{
    int64_t m = right.p->rows, room = right.ptr[m] + 1;
    t->R = (struct csr_dev){.format = &format_csr, .type = prec_out(t->prec), .ptr_bytes = 8};
    t->R.m = (int32_t)m, t->R.n = (int32_t)right.p->cols;
    int err = device_alloc(t->dev, m + 1, 8, &t->R.ptr);
    if (!err) err = device_alloc(t->dev, room, sizeof *t->R.idx, (void **)&t->R.idx);
    if (!err) err = device_alloc(t->dev, room, type_bytes(t->prec), &t->R.val);
    bool none = fault == NO_OUTPUT || (fault == NO_OUTPUT_LATER && faulty_runs);
    return err || none ? err : faulty_copy(t);
}

static inline int faulty_run(struct task *t)
{
    CHECK(t->dev->poison, "new memory is not poisoned");
    int err = OK;
    if (right.p->op->result == RESULT_SPARSE)
        err = faulty_sparse(t);
    else if (fault != NO_OUTPUT && !(fault == NO_OUTPUT_LATER && faulty_runs))
        faulty_fill(t);
    if (++faulty_runs == 2) mem_fail_at(starve);
    return err;
}

static const struct algo faulty = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .run = faulty_run,
};

// faulty_run(), as an algorithm with sums in double.
static const struct algo faulty_double = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_DOUBLE,
    .run = faulty_run,
};

// faulty_run(), as an algorithm that leaves out elements of exactly 0.
static const struct algo faulty_dropping = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .drops_zeros = true,
    .run = faulty_run,
};

// Returns the outcome of the check of an algorithm with a fault.
static inline struct case_outcome faulty_case(struct inputs *in, const struct algo *algo,
                                              enum check_mode mode, enum fault f)
{
    const struct algo_entry entry = {"faulty", in->p.op, in->o.dev->kind, algo};
    double opt[ALGO_OPTIONS_MAX] = {0};
    fault = f;
    faulty_runs = 0;
    in->stay = true; // faulty results belong to the operands as drawn, without a change of signs
    struct case_outcome out = case_run(in, &entry, opt, mode);
    mem_fail_at(0);
    CHECK(!out.left, "%s: the check left %lld bytes", in->p.op->name, (long long)out.left);
    return out;
}

#endif
