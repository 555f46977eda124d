// What a matrix is, in few letters: by it two files are known to hold the same one, whatever they
// are called and however they are packed.
#ifndef CONTENT_H
#define CONTENT_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONTENT_LETTERS 32

// A hash, in hex, of the sizes, the pattern and, if `values`, the values: at the speed of memory.
// The same on every machine of the same byte order. Returns `text`.
const char *content_text(const struct csr *A, bool values, char text[CONTENT_LETTERS + 1]);

#ifdef __cplusplus
}
#endif
#endif
