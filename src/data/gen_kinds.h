// The generators of synthetic matrices, each a set of functions that gen.c calls to build one.
#ifndef GEN_KINDS_H
#define GEN_KINDS_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GEN_PARAMS 3 // the most that a form has

// A matrix that is being made.
struct gen {
    const struct gen_kind *kind;
    const char *spec;      // without "gen:", for messages
    int64_t p[GEN_PARAMS]; // the parameters, in the order of the form
    int64_t m, n, nnz;     // size of the result
    uint64_t seed;         // of the structure
    uint64_t value_seed;   // of the values
};

// One generator. The texts are for help and for messages, the functions for gen.c.
struct gen_kind {
    const char *name;  // as after "gen:"
    const char *form;  // the name and its parameters: "fem:N"
    const char *about; // what it makes, one line, no full stop
    // Checks the parameters and sets m, n and nnz (for rmat before duplicates are summed).
    int (*shape)(struct gen *g);
    // How many nonzeros row i has; or, all rows at once, count[i] for row i.
    int64_t (*length)(const struct gen *g, int64_t i);
    void (*count)(const struct gen *g, int64_t *count);
    // The `length` columns of row i, ascending.
    void (*fill)(const struct gen *g, int64_t i, int64_t length, int32_t *idx);
    // Instead of the three above: the whole matrix.
    int (*build)(const struct gen *g, struct csr *A);
};

// All of them, in the order of help; the last has no name.
extern const struct gen_kind gen_help[];

// The name of parameter j, as the form says it: for "skew:M:D:L", 1 -> "D", of `length` 1.
const char *gen_param_name(const struct gen_kind *kind, int j, int *length);
// The value of the p-th nonzero: random, and not zero.
double gen_value(const struct gen *g, int64_t p);

#ifdef __cplusplus
}
#endif
#endif
