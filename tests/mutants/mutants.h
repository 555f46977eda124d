// Mutants: right algorithms of the CPU with one thing altered that a user would want to be told of.
// Each goes the way of any other case, from a plan to a status, and has to end as anything but ok.
//
// To add one: a function in the file of its family, and a line in mutants.def.
#ifndef MUTANTS_H
#define MUTANTS_H

#include <math.h>
#include <string.h>

#include "algos/algo.h"

struct live;

struct mutant {
    const char *name;
    const char *about;
    unsigned kinds; // of results that can have it, BIT(RESULT_DENSE) | ...
    unsigned precs; // BIT(F32) | ...
    unsigned traits;
    // What it does; a line of mutants.def sets one or two of these.
    void (*operands)(struct live *x); // alters its own copies of the operands, ahead of each run
    int (*begin)(struct live *x);     // in prepare()
    bool (*skips)(struct live *x);    // whether this run does nothing at all
    bool (*keeps)(struct live *x);    // returns true if this run copies the kept result
    void (*before)(struct live *x);   // ahead of each right run
    void (*result)(struct live *x);   // behind each right run: alters its result
    void (*end)(struct live *x);      // in teardown()
};

enum traits {
    IN_TIME = 1, // it shows from some run on, whatever the matrix
    HARMS = 2,   // it leaves something behind for the next case, which has to be right all the same
    RARE = 4,    // it needs many samples to show
    TIMED = 8,   // only times show the fault: on a busy machine not in each try
};

#define DENSE   BIT(RESULT_DENSE)
#define PATTERN BIT(RESULT_PATTERN)
#define SPARSE  BIT(RESULT_SPARSE)
#define ALL     (DENSE | PATTERN | SPARSE)
#define BOTH    BOTH_PRECS
#define SINGLE  BIT(F32)
#define DOUBLE  BIT(F64)
#define F16S    (BIT(F16) | BIT(F16_F32))
#define BF16S   (BIT(BF16) | BIT(BF16_F32))

// A mutant as an algorithm of its own: the entry is the first field, so that a task leads here.
struct live {
    struct algo_entry entry;
    struct algo algo;
    const struct algo *base; // the right one
    const struct mutant *mutant;
    struct task *t; // of the run under way
    int64_t runs;   // since prepare()
    double start;   // clock_ms() of prepare()
    uint64_t draws; // random numbers that this run has taken
    bool altered;   // it has changed something

    struct csr_dev A;               // its copy of A; the row starts are not copied
    struct dense_dev in[DENSE_MAX]; // its copies of the dense operands
    double *sums;                   // a result that is computed with other roundings
    void *kept[3];                  // a result that was kept: values, columns, row starts
    int64_t kept_nnz;               // number of values of `kept`
    uint64_t print;                 // fingerprint of the operands of `kept`
    int honest;                     // runs that still make their result
    char saved[sizeof(double)];     // what it has spoiled, as it was
    bool spoiled;
};

static inline enum result_kind kind_of(const struct live *x) { return x->entry.op->result; }
static inline const struct csr_dev *matrix_of(const struct live *x) { return csr_of(x->t->A[0]); }
static inline int64_t rows_of(const struct live *x) { return matrix_of(x)->m; }

static inline int64_t row_length(const struct live *x, int64_t i)
{
    const struct csr_dev *A = matrix_of(x);
    return csr_start(A, i + 1) - csr_start(A, i);
}

// The result of the run under way, whatever its kind: row i is `count` values from `first` on.
static inline void *values_of(const struct live *x)
{
    const struct task *t = x->t;
    return kind_of(x) == RESULT_DENSE ? t->C.val : kind_of(x) == RESULT_PATTERN ? t->val : t->R.val;
}
static inline int64_t row_first(const struct live *x, int64_t i)
{
    if (kind_of(x) == RESULT_DENSE) return i * x->t->C.ld;
    return csr_start(kind_of(x) == RESULT_PATTERN ? matrix_of(x) : &x->t->R, i);
}
static inline int64_t row_count(const struct live *x, int64_t i)
{
    if (kind_of(x) == RESULT_DENSE) return x->t->C.cols;
    return row_first(x, i + 1) - row_first(x, i);
}

static inline double get(const struct live *x, int64_t q)
{
    return type_load(prec_out(x->t->prec), values_of(x), q);
}

// Writes a value, and sees whether that is another one than was there.
static inline void write_value(struct live *x, void *to, int64_t q, double value)
{
    size_t width = type_bytes(prec_out(x->t->prec));
    char old[sizeof(double)], *at = (char *)to + q * (int64_t)width;
    memcpy(old, at, width);
    type_store(prec_out(x->t->prec), to, q, value);
    x->altered |= memcmp(old, at, width) != 0;
}
static inline void put(struct live *x, int64_t q, double value)
{
    write_value(x, values_of(x), q, value);
}

// A random number below n, by the mutant's name, the same ones in each run.
static inline int64_t below(struct live *x, int64_t n)
{
    uint64_t seed = 14695981039346656037u;
    for (const char *c = x->mutant->name; *c; c++) seed = (seed ^ (uint64_t)*c) * 1099511628211u;
    return (int64_t)(random_at(seed, x->draws++) % (uint64_t)n);
}

// A random row of the result with that many elements and a nonzero in A; -1: none was found.
static inline int64_t some_row(struct live *x, int64_t least)
{
    for (int tries = 0; tries < 1000; tries++) {
        int64_t i = below(x, rows_of(x));
        if (row_length(x, i) && row_count(x, i) >= least) return i;
    }
    return -1;
}
// The place of a random element; -1: there is none.
static inline int64_t some_place(struct live *x)
{
    int64_t i = some_row(x, 1);
    return i < 0 ? -1 : row_first(x, i) + below(x, row_count(x, i));
}
static inline int64_t longest_row(const struct live *x)
{
    int64_t longest = 0;
    for (int64_t i = 1; i < rows_of(x); i++)
        if (row_length(x, i) > row_length(x, longest)) longest = i;
    return longest;
}

// The most products that an element sums up; of a sparse result no more than that.
static inline int64_t terms_of(const struct live *x)
{
    return kind_of(x) == RESULT_PATTERN ? x->t->in[0].cols : row_length(x, longest_row(x));
}
// Whether no right algorithm could be off by such a part of a typical element: rounding makes about
// 0.3 u * sqrt(terms) of it where signs are drawn; where they are the matrix's own, as in a sparse
// result, partial sums can be sqrt(terms) times as large as what they come to. What rounding could
// have done as well is not wrong.
static inline bool beyond_rounding(const struct live *x, double part)
{
    double terms = (double)terms_of(x);
    double grows = kind_of(x) == RESULT_SPARSE ? terms : sqrt(terms);
    return part > 3 * type_list[prec_out(x->t->prec)].unit * grows;
}

#endif
