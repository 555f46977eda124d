// Sizes in 64 bits: checked arithmetic, the smaller and the larger of two, a text for messages.
#ifndef SIZE_H
#define SIZE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Set *product = a * b and *sum = a + b. ERR_MEMORY: an operand is negative, or the result does not
// fit in 63 bits.
int size_mul(int64_t a, int64_t b, int64_t *product);
int size_add(int64_t a, int64_t b, int64_t *sum);

// Writes "1.5 GB" into `text` and returns `text`.
const char *size_text(int64_t bytes, char text[32]);

static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

#ifdef __cplusplus
}
#endif
#endif
