// Text that comes from anywhere, such as the names of files.
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Puts a '?' in place of every byte that belongs to no UTF-8 character.
void utf8_clean(char *text);

// The text as a terminal may have it: a control character, and a byte of no character, becomes \n,
// \t or \x1b. What is longer than `size` bytes loses its middle, as the end says most: the name of
// a file, the cause of a failure. No character is cut. Returns `out`; size is 16 or more.
const char *utf8_visible(const char *text, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
