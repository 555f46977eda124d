// Text that comes from anywhere, such as the names of files.
#ifndef UTF8_H
#define UTF8_H

#ifdef __cplusplus
extern "C" {
#endif

// Puts a '?' in place of every byte that belongs to no UTF-8 character.
void utf8_clean(char *text);

#ifdef __cplusplus
}
#endif
#endif
