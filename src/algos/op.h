// Operations. An operation is one file, op_<name>.c, and one line in ops.def. The operation defines
// the inputs, the count of flops, the compulsory bytes, and the reference result with the size of
// its rounding errors. struct op has all properties that measuring, checking and reports need. Only
// plug-ins (plugin_check.c, plugin_new.c) and `info -model` (model.c) look for operations by name.
//
// The size of a rounding error. A sum of n products p_j, in any order, has n partial sums s_k. Each
// partial sum is rounded once, so the error is the sum of d_k s_k with |d_k| <= u. The d_k are
// nearly independent, with mean 0 and a root mean square of about 0.4 u. So the standard error is
// at most 0.4 u sqrt(n) times the root mean square of the s_k (Higham and Mary, A New Approach to
// Probabilistic Rounding Error Analysis, SIAM J. Sci. Comput. 41, 2019). The bound for the worst
// case, n u sum |p_j|, grows so fast with n that no error in a long row exceeds it.
//   If the operation draws an operand, the signs of the p_j are random. The expected s_k^2 is at
// most V, the sum of the p_j^2. For sums that end at s, s_k^2 is about V / 6 + s^2 / 3 on average.
// So size^2 = (n + 1) * (V + s^2). The additional 1 covers the rounding of the products. The s^2
// term covers random walks that end far from 0. A plain sum in one chain has an error of 0.2 of
// this size, with the largest products first 0.26, in trees less.
//   If the signs are those of the matrix, every s_k of every order lies between -N and P. N and P
// are the sums of the negative and of the positive products. Then max(P, N)^2 replaces V.
#ifndef OP_H
#define OP_H

#include <math.h>

#include "algos/axis.h"
#include "base/rounding.h"
#include "base/signs.h"
#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct op;
struct algo;

// Kind of the result, which also says who allocates the result.
enum result_kind {
    RESULT_DENSE,   // a dense matrix, allocated before the runs
    RESULT_PATTERN, // a value for each nonzero of A, allocated before the runs
    RESULT_SPARSE,  // a sparse matrix, allocated by each run
};
// Returns "dense", "pattern" or "sparse".
const char *result_name(enum result_kind kind);

enum layout { LAYOUT_ROW, LAYOUT_COL };

#define AXES_MAX  4
#define DENSE_MAX 2

// The matrix of a case, with facts that are computed at the first request and kept.
struct source {
    const struct csr *A;    // values as they were read, not yet rounded to the precision
    double row_sum;         // largest sum of absolute values of a row, -1: not yet known
    double value;           // largest absolute value, -1: not yet known
    int64_t used_rows;      // rows that are not empty, -1: not yet known
    int64_t used_columns;   // columns that are not empty, -1: not yet known
    double rounding[TYPES]; // error of A rounded to each type, -1: not yet known
    struct csr transposed;  // A^T, empty before source_transpose()
    struct source *turned;  // A^T with its own facts; NULL before source_transpose()
};
void source_init(struct source *s, const struct csr *A);
void source_free(struct source *s);
double source_row_sum(struct source *s);
double source_value(struct source *s);
int64_t source_used_rows(struct source *s);
int source_used_columns(struct source *s, int64_t *count);
int source_transpose(struct source *s);
// Returns the error of A rounded to the type, relative to A, in the Frobenius norm.
double source_rounding(struct source *s, enum prec type);

// A dense input on the host, row-major, of the type prec_in() of the problem.
struct dense {
    int64_t rows, cols;
    void *val;
};

// The inputs of a case, which all algorithms share. The caller sets the first part, the operation's
// make() the second.
struct problem {
    const struct op *op;
    struct source *source; // the matrix as it was read
    enum prec prec;
    int64_t axis[AXES_MAX]; // values of op->axes, in their order
    uint64_t seed;          // seed of the dense inputs
    bool integers;          // for tests: dense inputs are small integers, so that sums are exact
    double density;         // 0: as above. Else dense inputs are -1, 0, 1; the share of -1 and 1
    uint64_t dense_key, sparse_key; // signs of the dense inputs, and of A and S: base/signs.h

    struct source *factor;      // first sparse factor with its facts: `source` or its transpose
    const struct csr *A;        // factor->A
    const struct csr *stored;   // matrix that algorithms get for A: A, or a matrix whose transpose
                                // is A
    const struct csr *S;        // second sparse factor: A or A^T; NULL: none
    struct dense in[DENSE_MAX]; // dense inputs; val NULL ends the list
    enum layout layout;         // layout of dense operands on the device
    int64_t rows, cols;         // size of the result
    int64_t work;               // multiply-adds
    double bound;               // bound on the absolute value of each sum
};
// Makes the inputs. After an error nothing has to be freed.
int problem_make(struct problem *p);
void problem_free(struct problem *p);
int64_t problem_flops(const struct problem *p);
// Sets p->bound. Returns ERR_UNSUPPORTED if a sum could overflow the type of the sums.
int problem_bound(struct problem *p, double bound);

// Reference for a row of the result.
struct row {
    int64_t count;
    int32_t *col;  // columns, ascending; a sparse result only
    int32_t *each; // number of products of each element; a sparse result only
    double *ref;   // the elements, summed in double
    double *error; // size of the rounding errors, in units of the algorithm's unit roundoff
    int64_t terms; // largest number of products of an element
    void *scratch; // scratch memory of the operation
};
// Allocates rows of up to `room` elements. scratch is zero.
int row_alloc(struct row *row, const struct problem *p, int64_t room);
void row_free(struct row *row);

// Columns of a row of a sparse result.
struct row_pattern {
    int64_t count; // number of columns
    uint64_t hash; // sum of op_column_hash() over the columns
};
uint64_t op_column_hash(int64_t j);

// The result times a vector of random weights, row by row.
struct projection {
    struct row_pattern *pattern; // columns of each row of a sparse result; else NULL
    double *want;                // the reference
    double *size;                // root of the sum of the squares of the weighted elements
    double *error; // size of the rounding error, in units of the algorithm's unit roundoff
    double *own;   // size of the rounding error of the comparison, in units of double's
};
// Returns weight j: a random sign, and an absolute value between 1/2 and 1.
double op_weight(const struct problem *p, int64_t j);

// A number that all records of the operation have.
struct op_number {
    const char *name;   // in records; NULL ends a list
    const char *about;  // description
    const char *column; // column of the table; NULL: none
    bool whole;         // a count
};
// Memory traffic of the second operand, dense or sparse, if no row of it is kept on chip.
struct op_gather {
    int64_t rows;        // number of row fetches
    int64_t row_bytes;   // contiguous bytes of a row; of sparse rows on average
    int64_t block_bytes; // bytes of all rows that are used, each counted once
};

#define OP_NUMBERS_MAX 4
#define VARIANTS_MAX   4

struct op {
    const char *name;    // as in -op
    const char *formula; // for help texts
    enum result_kind result;
    const struct axis *const *axes; // ends with NULL
    // Formulas: [0] the operation itself, then variants that some algorithms compute instead. Ends
    // with NULL, VARIANTS_MAX at most.
    const char *const *variants;
    const struct op_number *numbers; // NULL: none
    bool product; // the result is A * S: a device may check it, see device_ops.check_product
    bool keyed;   // row() and project() follow the keys of the problem

    // Sets the second part of a problem. `factor`, `A` and `stored` are set to `source` before.
    int (*make)(struct problem *p);
    // Returns ERR_UNSUPPORTED, with the reason, if the algorithm does not support the axes' values.
    int (*refuse)(const struct problem *p, const struct algo *algo);
    // Returns the bytes of all inputs that the variant needs and all outputs, each counted once,
    // with 32-bit indices. `result_nnz`: nonzeros of a sparse result.
    int64_t (*compulsory_bytes)(const struct problem *p, int variant, int64_t result_nnz);
    // Sets *out to the traffic of the second operand, one row fetch per nonzero. NULL: no such
    // operand. Returns false if rows are not contiguous.
    bool (*gather)(const struct problem *p, struct op_gather *out);
    // Sets the values of `numbers`, NAN if not known. result_nnz -1: not known.
    void (*tell)(const struct problem *p, int64_t result_nnz, double *values);

    // Multiply-adds of row i.
    int64_t (*row_work)(const struct problem *p, int32_t i);
    // Elements of row i; for a sparse result an upper bound.
    int64_t (*row_room)(const struct problem *p, int32_t i);
    size_t (*row_scratch)(const struct problem *p); // bytes; NULL: none
    void (*row)(const struct problem *p, int variant, int32_t i, struct row *row);
    // Computes the projection of all rows, at less cost than comparing them: for a dense result the
    // cost of a matrix-vector product. NULL: every element has to be compared. May stop early if
    // the program is interrupted.
    int (*project)(const struct problem *p, int variant, const struct projection *out);
};

// List of all operations: ops.def in the order of its lines.
extern const struct op *const ops[];
extern const int op_count;
// Returns the operation, or NULL.
const struct op *op_find(const char *name);
int op_axis_count(const struct op *op);
int op_number_count(const struct op *op);
// Writes the values of the axes, such as "k 33, layout col", into `text` and returns `text`. Leaves
// out the standard value of an optional axis.
#define OP_AXES_TEXT 96
const char *op_axes_text(const struct op *op, const int64_t *axis, char text[OP_AXES_TEXT]);
// Appends " trans=copy" for each axis with several values for one product.
void op_add_ways(const struct op *op, const int64_t *axis, char *text, size_t size);

// Axes that several operations have.
extern const struct axis axis_k, axis_layout;
// Returns -1, 0 or 1: element i of the stream `seed`. `density`: the share of -1 and 1.
double op_draw_whole(uint64_t seed, int64_t i, double density);
// Fills a dense input with random values.
int dense_make(struct problem *p, int which, int64_t rows, int64_t cols);
// Returns the key of the signs of dense input `which`, from that of all dense inputs.
static inline uint64_t dense_key(uint64_t key, int which)
{
    return key ? key + (uint64_t)which : 0;
}
// Return an element of a dense input; nonzero q of row i of a sparse factor, rounded to the
// precision.
static inline double problem_dense(const struct problem *p, int which, int64_t row, int64_t col)
{
    const struct dense *D = &p->in[which];
    const double x = type_load(prec_in(p->prec), D->val, row * D->cols + col);
    return p->dense_key ? sign_put(x, sign_of_dense(dense_key(p->dense_key, which), row, col)) : x;
}
static inline double problem_sparse(const struct problem *p, const struct csr *X, int64_t i,
                                    int64_t q)
{
    const double x = type_round(prec_in(p->prec), X->val[q]);
    return p->sparse_key ? sign_put(x, sign_of_sparse(p->sparse_key, i, X->idx[q])) : x;
}
// Returns the bytes of CSR with 32-bit row starts, as compulsory bytes count them.
int64_t op_csr_bytes(const struct csr *A, enum prec type);

#ifdef __cplusplus
}
#endif

#define AXES_ALL_MAX 8 // over all operations
// Returns axis i of all operations, each once; NULL after the last.
const struct axis *axis_all(int i);
// Returns the i of an axis.
int axis_place(const struct axis *axis);
// Writes the operations that have an axis: "spmm and sddmm".
const char *axis_ops(const struct axis *axis, char text[64]);

#endif
