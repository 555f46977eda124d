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
// Whether there is such a matrix, without making it: ERR_USAGE says what is wrong with the spec.
int gen_look(const char *spec);

#ifdef __cplusplus
}
#endif
#endif
