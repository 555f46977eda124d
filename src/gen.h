// Synthetic matrices. The same spec and seed give the same matrix on every machine and for every
// number of threads: structure and values are integer functions of both.
#ifndef GEN_H
#define GEN_H

#include "matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gen;

// One generator. The texts are for help; the rest is gen.c's.
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

// All of them; the last has no name.
extern const struct gen_kind gen_help[];

// `spec` is one of the forms, with or without "gen:" before it. Values are never zero.
int gen_matrix(const char *spec, uint64_t seed, struct csr *A);

#ifdef __cplusplus
}
#endif
#endif
