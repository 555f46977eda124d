// The kinds of generated matrices. A kind is a set of functions that gen.c calls.
#ifndef GEN_KINDS_H
#define GEN_KINDS_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GEN_PARAMS 3 // most parameters of a kind

// A matrix that is being generated.
struct gen {
    const struct gen_kind *kind;
    const char *spec;      // without "gen:", for messages
    int64_t p[GEN_PARAMS]; // parameters, in the order of the form
    int64_t m, n, nnz;     // size of the matrix
    uint64_t seed;         // seed of the structure
    uint64_t value_seed;   // seed of the values
};

struct gen_kind {
    const char *name;  // word after "gen:"
    const char *form;  // name and parameters: "fem:N"
    const char *about; // line of the help, without a full stop
    // Checks the parameters and sets m, n and nnz (for rmat before duplicates are summed).
    int (*shape)(struct gen *g);
    // Returns the nonzeros of row i. Without length() and count() all rows have the same number.
    int64_t (*length)(const struct gen *g, int64_t i);
    // Sets count[i] to the nonzeros of row i, for all rows.
    void (*count)(const struct gen *g, int64_t *count);
    // Writes the `length` columns of row i, ascending.
    void (*fill)(const struct gen *g, int64_t i, int64_t length, int32_t *idx);
    // Builds the whole matrix, instead of the three functions above.
    int (*build)(const struct gen *g, struct csr *A);
};

// All kinds, in the order of the help. The last has no name.
extern const struct gen_kind gen_help[];

// Returns the name of parameter j in the form, and its length: for "skew:M:D:L" and 1, "D" and 1.
const char *gen_param_name(const struct gen_kind *kind, int j, int *length);
// Returns the value of the p-th nonzero, which is not zero.
double gen_value(const struct gen *g, int64_t p);

#ifdef __cplusplus
}
#endif
#endif
