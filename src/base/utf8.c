#include "base/utf8.h"

#include <stddef.h>

// Bytes of the UTF-8 character at s, 0 if there is none.
static int character_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4) return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates, and what lies beyond the last character.
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return length;
}

void utf8_clean(char *text)
{
    for (size_t i = 0; text[i];) {
        int length = character_length((unsigned char *)text + i);
        if (!length) text[i] = '?';
        i += length ? (size_t)length : 1;
    }
}
