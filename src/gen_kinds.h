// What gen.c (specs, the building of a matrix) and gen_kinds.c (the generators) share; for these
// two files only.
#ifndef GEN_KINDS_H
#define GEN_KINDS_H

#include "gen.h"

#define GEN_PARAMS 3

// A matrix that is being made.
struct gen {
    const struct gen_kind *kind;
    const char *spec;      // without "gen:", for messages
    int64_t p[GEN_PARAMS]; // the parameters, in the order of the form
    int64_t m, n, nnz;     // size of the result
    uint64_t seed;         // of the structure
    uint64_t value_seed;   // of the values
};

// Parameter j must be in [low, high], else ERR_USAGE.
int gen_param_check(const struct gen *g, int j, int64_t low, int64_t high);
// The value of the p-th nonzero: random, and not zero.
double gen_value(const struct gen *g, int64_t p);

#endif
