// The operations. An operation is one file, op_<name>.c, and one line in ops.def. It owns what no
// kernel may choose for itself: the inputs, the count of flops, the compulsory bytes, and the
// reference result with the size of its rounding errors. Nothing outside of its file asks which one
// it is: what others must know is a field of struct op.
//
// The size of a rounding error. A sum of n products p_j, in whatever order, has as many partial
// sums s_k, and each is rounded once: the error is the sum of d_k s_k, |d_k| <= u. The d_k are as
// good as independent and of mean 0, with a root mean square of about 0.4 u, so the standard error
// is at most 0.4 u sqrt(n) times that of the s_k (Higham and Mary, A New Approach to Probabilistic
// Rounding Error Analysis, SIAM J. Sci. Comput. 41, 2019). That grows as sqrt(n), where the bound
// for the worst case, n u sum |p_j|, grows so fast that it allows for anything in long rows.
//   Where the operation draws an operand the signs of the p_j are random: the expected s_k^2 is at
// most V, the sum of the p_j^2, of those sums that end at s about V / 6 + s^2 / 3 on average. So
// size^2 = (n + 1) * (V + s^2); one more since products are rounded as well. With s^2 in it no sum
// of a chance walk to far away needs a wider tolerance than it has. A plain sum in one chain makes
// 0.2 of it, the largest products first 0.26, trees less.
//   Where the signs are the matrix's own, every s_k of every order lies between -N and P, the sums
// of the negative and of the positive products: then it is max(P, N)^2 instead of V.
#ifndef OP_H
#define OP_H

#include <math.h>

#include "algos/axis.h"
#include "base/rounding.h"
#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct op;
struct algo;

// What comes out, and so who makes room for it.
enum result_kind {
    RESULT_DENSE,   // a dense matrix, which is there before a run
    RESULT_PATTERN, // a value for each nonzero of A, likewise
    RESULT_SPARSE,  // a sparse matrix, which each run makes from nothing
};
// "dense", "pattern", "sparse".
const char *result_name(enum result_kind kind);

enum layout { LAYOUT_ROW, LAYOUT_COL };

#define AXES_MAX  4
#define DENSE_MAX 2

// A matrix as the operations see it: facts about it are counted when the first one asks, and kept.
struct source {
    const struct csr *A;   // values as they were read; rounded to the precision where they are used
    double row_sum;        // the largest sum of absolute values of a row, -1: not yet known
    double value;          // the largest absolute value, likewise
    int64_t used_rows;     // rows that are not empty, likewise
    int64_t used_columns;  // columns that are not empty, likewise
    struct csr transposed; // A^T, where somebody wanted it
};
void source_init(struct source *s, const struct csr *A);
void source_free(struct source *s);
double source_row_sum(struct source *s);
double source_value(struct source *s);
int64_t source_used_rows(struct source *s);
int source_used_columns(struct source *s, int64_t *count);
int source_transpose(struct source *s);
// ERR_UNSUPPORTED where a sum that may be as large as `bound` could overflow.
int refuse_overflow(enum prec prec, double bound);

// A dense input on the host, row-major, in the precision of the problem.
struct dense {
    int64_t rows, cols;
    void *val;
};

// What is multiplied: one set of inputs, which all algorithms share. The first part is set by the
// caller, the second by the operation's make().
struct problem {
    const struct op *op;
    struct source *source;
    enum prec prec;
    int64_t axis[AXES_MAX]; // values of op->axes, in their order
    uint64_t seed;          // of the dense inputs
    bool integers;          // small whole numbers in them, so that every sum is exact (for tests)

    const struct csr *A;
    const struct csr *S; // a second sparse factor; A itself, or the transposed one; NULL: none
    struct dense in[DENSE_MAX]; // dense inputs; val NULL ends the list
    enum layout layout;         // of dense operands on the device
    int64_t rows, cols;         // of the result
    int64_t work;               // multiply-adds
};
// Makes the inputs. After an error there is nothing to free; ERR_UNSUPPORTED says why there are
// none.
int problem_make(struct problem *p);
void problem_free(struct problem *p);
int64_t problem_flops(const struct problem *p);

// One row of the result as it should be.
struct row {
    int64_t count;
    int32_t *col;  // columns, ascending; a sparse result only
    int32_t *each; // number of products of each element; a sparse result only
    double *ref;   // the elements, summed in double
    double *error; // the size of its rounding error, in units of the algorithm's unit roundoff
    int64_t terms; // the most products that one of them sums up
    void *scratch; // the operation's own
};
// Room for rows of up to so many elements. scratch is zero.
int row_alloc(struct row *row, const struct problem *p, int64_t room);
void row_free(struct row *row);

// Which columns a row of a sparse result has.
struct row_pattern {
    int64_t count; // how many
    uint64_t hash; // the sum of op_column_hash() over them
};
uint64_t op_column_hash(int64_t j);

// The result times a vector of random weights, row by row.
struct projection {
    struct row_pattern *pattern; // of each row of a sparse result; else NULL
    double *want;                // what it should be
    double *size;                // the root of the sum of the squares of the weighted elements
    double *error; // the size of its rounding error in units of the algorithm's unit roundoff,
    double *own;   // and of that of this comparison itself, in those of double
};
// The weights: the sign is random, the size between 1/2 and 1.
double op_weight(const struct problem *p, int64_t j);

// A figure that all records of the operation have.
struct op_figure {
    const char *name;   // in records; NULL ends a list
    const char *about;  // for the schema's readers
    const char *column; // of the table; NULL: none
    bool whole;         // a count
};
// What is fetched of a dense operand where no row of it is kept on chip.
struct op_gather {
    int64_t rows;        // fetches of a row
    int64_t row_bytes;   // in one piece
    int64_t block_bytes; // of the rows that are asked for, each once
};

#define OP_FIGURES_MAX 4
#define VARIANTS_MAX   4

struct op {
    const char *name;    // as in -op
    const char *formula; // for help texts
    enum result_kind result;
    const struct axis *const *axes; // ends with NULL
    // What it may compute: [0] the operation itself, then what some algorithms compute instead, as
    // their descriptors say. Ends with NULL.
    const char *const *variants;     // VARIANTS_MAX at most
    const struct op_figure *figures; // NULL: none
    bool product; // the result is A * S: a device may check it, see device_ops.check_product

    // Sets the second part of a problem, of which p->A is set.
    int (*make)(struct problem *p);
    // ERR_UNSUPPORTED, with the reason, where an algorithm does not do these values of the axes.
    int (*refuse)(const struct problem *p, const struct algo *algo);
    // Each input that this variant needs read once and each output written once, with 32-bit
    // indices.
    // `result_nnz` is of a sparse result that has been computed.
    int64_t (*compulsory_bytes)(const struct problem *p, int variant, int64_t result_nnz);
    // One fetch for each nonzero, of the operand that it has a row of. NULL: there is no such
    // operand; false: its rows are not in one piece.
    bool (*gather)(const struct problem *p, struct op_gather *out);
    // Values of `figures`; result_nnz is -1 where it is not known, and what is not known is NAN.
    void (*tell)(const struct problem *p, int64_t result_nnz, double *values);

    // Multiply-adds of row i.
    int64_t (*row_work)(const struct problem *p, int32_t i);
    // Elements of row i; of a sparse result the most that it may have.
    int64_t (*row_room)(const struct problem *p, int32_t i);
    size_t (*row_scratch)(const struct problem *p); // bytes; NULL: none
    void (*row)(const struct problem *p, int variant, int32_t i, struct row *row);
    // For every row at once, at less than the cost of comparing them: of a dense result at that of
    // one matrix-vector product. NULL: there is no such short cut, and every element has to be
    // compared. It may stop half way where the program is interrupted.
    int (*project)(const struct problem *p, int variant, const struct projection *out);
};

// The list: ops.def in the order of its lines.
extern const struct op *const ops[];
extern const int op_count;
// NULL if there is no such operation.
const struct op *op_find(const char *name);
int op_axis_count(const struct op *op);
int op_figure_count(const struct op *op);

// Axes that several operations have.
extern const struct axis axis_k, axis_layout;
// Fills a dense input with random values.
int dense_make(struct problem *p, int which, int64_t rows, int64_t cols);
// CSR with 32-bit row starts, as compulsory bytes count it.
int64_t op_csr_bytes(const struct csr *A, enum prec prec);

#ifdef __cplusplus
}
#endif

#define AXES_ALL_MAX 8 // over all operations
// Returns axis i of all operations, each once; NULL after the last.
const struct axis *axis_all(int i);
// Writes the operations that have an axis: "spmm and sddmm".
const char *axis_ops(const struct axis *axis, char text[64]);

#endif
