// The operations. An operation owns what no kernel may choose for itself: the inputs, the count of
// flops, the compulsory bytes, and the reference result with the size of its rounding errors.
#ifndef OP_H
#define OP_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

enum op_kind { OP_SPMM, OP_SDDMM, OP_SPGEMM };

// What SpGEMM multiplies: A * A, or A * A^T.
enum mul { MUL_AA, MUL_AAT };
const char *mul_name(enum mul mul);

// The host side of a case: what is multiplied. The dense operand is a pure function of the seed.
struct inputs {
    const struct csr *A; // values are rounded to `prec` wherever they are used
    enum prec prec;
    int64_t k; // columns of the dense operands
    uint64_t seed;
    bool integers;         // small whole numbers in B, so that every sum is exact (for tests)
    void *B;               // SpMM: n x k, row-major, in `prec`
    int64_t used_columns;  // SpMM: columns of A that are not empty
    enum mul mul;          // SpGEMM
    const struct csr *S;   // SpGEMM: the second factor, C = A * S; A itself or `transposed`
    struct csr transposed; // owned
    double transpose_ms;   // what making it took
    int64_t products;      // SpGEMM: multiplications
};

// One row of a sparse result, spread out over the columns of C.
struct sparse_row {
    int64_t count;  // nonzeros
    int32_t *col;   // their columns, in no order; room for n
    int32_t *terms; // by column: products summed, 0: not a nonzero; size n
    double *ref;    // by column: the sum in double, where terms says so; size n
    double *mag;    // the same sums of absolute values
};
int sparse_row_alloc(struct sparse_row *row, const struct inputs *in);
void sparse_row_free(struct sparse_row *row);

struct op {
    const char *name;    // as in -op
    const char *formula; // for help texts
    // Allocates and fills the dense operands for A, prec, k, seed, which are set.
    int (*make)(struct inputs *in);
    int64_t (*flops)(const struct inputs *in);
    // Each input that is needed read once and each output written once, with 32-bit indices.
    // `result_nnz` is of a sparse result that has been computed.
    int64_t (*compulsory_bytes)(const struct inputs *in, int64_t result_nnz);
    // The result in rows: row i has `row_length` elements, each a sum of `row_terms` products.
    int64_t (*row_length)(const struct inputs *in, int32_t i);
    int64_t (*row_terms)(const struct inputs *in, int32_t i);
    // ref[j] = element j of row i, summed in double; mag[j] = the same sum of absolute values.
    void (*reference_row)(const struct inputs *in, int32_t i, double *restrict ref,
                          double *restrict mag);
    // want[i] = the sum over j of weight(j) * (element j of row i), for every row at once and at
    // the cost of one matrix-vector product; mag[i] = the same of absolute values. NULL: there is
    // no such short cut.
    int (*project)(const struct inputs *in, double *restrict want, double *restrict mag);
    // For a sparse result, instead of row_length and reference_row: computes row i in place of the
    // row before. Its structure is that of the products, so sums that happen to be 0 are there.
    void (*sparse_row)(const struct inputs *in, int32_t i, struct sparse_row *row);
};

// The random weights of project().
double op_weight(const struct inputs *in, int64_t j);

// By `enum op_kind`; a row whose `make` is NULL has no algorithms yet.
extern const struct op ops[];
extern const int op_count;
// -1 if there is no such operation.
int op_find(const char *name);
void inputs_free(struct inputs *in);

#ifdef __cplusplus
}
#endif
#endif
