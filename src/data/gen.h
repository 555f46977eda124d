// Synthetic matrices. The same spec and seed give the same matrix on every machine and for every
// number of threads: structure and values are integer functions of both.
#ifndef GEN_H
#define GEN_H

#include "data/gen_kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

// `spec` is one of the forms of gen_help[], with or without "gen:" before it. No value is zero.
int gen_matrix(const char *spec, uint64_t seed, struct csr *A);
// Whether the spec is right, and how many nonzeros there would be, at most.
int gen_look(const char *spec, int64_t *nnz);

#ifdef __cplusplus
}
#endif
#endif
