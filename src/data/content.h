// A hash of a matrix as text. Files with the same matrix have the same hash, whatever their names
// and their compression.
#ifndef CONTENT_H
#define CONTENT_H

#include "data/matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONTENT_LETTERS 32

// Writes the hash of the sizes, the pattern and, if `values`, the values into `text`, in hex, and
// returns `text`. Machines of one byte order agree.
const char *content_text(const struct csr *A, bool values, char text[CONTENT_LETTERS + 1]);

#ifdef __cplusplus
}
#endif
#endif
