// Generated matrices. A spec and a seed give the same matrix on every machine and for every number
// of threads: structure and values are integer functions of both.
#ifndef GEN_H
#define GEN_H

#include "data/gen_kinds.h"

#ifdef __cplusplus
extern "C" {
#endif

// Generates a matrix. `spec`: a form of gen_help[], with or without "gen:". No value is zero.
int gen_matrix(const char *spec, uint64_t seed, struct csr *A);
// Checks the spec. Sets *nnz to the most nonzeros that the matrix can have.
int gen_look(const char *spec, int64_t *nnz);

#ifdef __cplusplus
}
#endif
#endif
