// Matrices by the lengths of their rows, and runs of `graded` with them.
#ifndef GRADED_ROWS_H
#define GRADED_ROWS_H

#include "cases.h"

#define UNITS 4 // multiprocessors that what is decided here is for
#define ALIKE 3 // rows of a bundle

static struct device dev;

static inline const struct algo_entry *graded(void)
{
    return algo_find(op_find("spmm"), "graded", dev.kind);
}

// Row i has length(i) nonzeros; where to(i) is less than i, in the columns of that row, which is as
// long.
static inline int make_rows(int32_t m, int32_t n, int32_t (*length)(int32_t),
                            int32_t (*to)(int32_t), struct csr *A)
{
    int64_t p = 0;
    int err = csr_alloc(A, m, n, (int64_t)m * n);
    CHECK(!err, "%s", fail_text());
    for (int32_t i = 0; i < m && !err; i++) {
        const int32_t of = to ? to(i) : i, count = length(of);
        const int64_t first = n - count > 0 ? ((int64_t)of * 37) % (n - count + 1) : 0;
        A->ptr[i] = p;
        for (int32_t j = 0; j < count; j++, p++)
            A->idx[p] = (int32_t)first + j, A->val[p] = (i + 2 * j) % 7 - 3;
    }
    if (!err) A->ptr[m] = A->nnz = p;
    return err;
}

// What a run tells, of which the result is right.
static inline struct case_outcome run_right(struct inputs *in, const double *opt, const char *what)
{
    struct case_outcome out = case_run(in, graded(), opt, CHECK_FULL);
    CHECK(!out.err && out.check.error_ratio == 0 && !out.left, "%s, %s, k %lld: %s", what,
          prec_name(in->p.prec), (long long)in->p.axis[0],
          out.err ? fail_text() : out.check.reason);
    return out;
}

// An option that is not as it is by default; the last one of several has no name.
struct setting {
    const char *name;
    double value;
};

// How long row i is.
static inline int32_t zero(int32_t i) { return (void)i, 0; }
static inline int32_t five(int32_t i) { return (void)i, 5; }
static inline int32_t thirteen(int32_t i) { return (void)i, 13; }
static inline int32_t sixteen(int32_t i) { return (void)i, 16; }
static inline int32_t twenty(int32_t i) { return (void)i, 20; }
static inline int32_t thirty_six(int32_t i) { return (void)i, 36; }

// Of which row a row has the columns: the first of its three, also where only every other three do,
// or where the first has its own.
static inline int32_t with_first(int32_t i) { return i - i % ALIKE; }
static inline int32_t some_with_first(int32_t i) { return i / 6 % 2 ? i : i - i % ALIKE; }
static inline int32_t with_second(int32_t i) { return i % ALIKE ? i - i % ALIKE + 1 : i; }

#endif
