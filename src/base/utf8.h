// Text of unknown origin, such as file names: repairing UTF-8 and escaping control characters.
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Returns the bytes of the UTF-8 character at `text`; 0 if there is none.
int utf8_length(const char *text);

// Replaces every byte that is no part of a UTF-8 character by '?'.
void utf8_clean(char *text);

// Writes `text` into `out` in a form that is safe on a terminal, and returns `out`. Control
// characters and invalid bytes become \n, \t or \x1b. A text of more than `size` bytes loses its
// middle, between two characters, because file names and causes stand at the end. size: 16 or more.
const char *utf8_visible(const char *text, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
