#include "base/utf8.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4) return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    // Overlong forms, surrogates, and codes beyond the last character.
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return length;
}

void utf8_clean(char *text)
{
    for (size_t i = 0; text[i];) {
        int length = utf8_length(text + i);
        if (!length) text[i] = '?';
        i += length ? (size_t)length : 1;
    }
}

// Returns true for a character that controls the terminal or the direction of text: C0, C1, DEL,
// line and paragraph separators (U+2028, 2029), bidirectional marks (U+202A to 202E, 2066 to 2069).
static bool is_control(const unsigned char *s)
{
    if (s[0] < 0x20 || s[0] == 0x7f) return true;
    if (s[0] == 0xc2 && s[1] < 0xa0) return true;
    if (s[0] != 0xe2) return false;
    return (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

#define SHOWN_MAX 13 // three bytes as \x.., and the final zero

// Writes the character at s, escaped if needed, into `shown`. Returns its bytes at s.
static int show(const char *s, char shown[SHOWN_MAX])
{
    static const char letters[] = "abtnvfr"; // escapes of the bytes 7 to 13
    const unsigned char *c = (const unsigned char *)s;
    int length = utf8_length(s);
    if (length && !is_control(c)) {
        memcpy(shown, s, (size_t)length);
        shown[length] = 0;
        return length;
    }
    if (!length) length = 1;
    if (c[0] >= 7 && c[0] <= 13) {
        snprintf(shown, SHOWN_MAX, "\\%c", letters[c[0] - 7]);
        return length;
    }
    for (int i = 0; i < length; i++) snprintf(shown + 4 * i, 5, "\\x%02x", c[i]);
    return length;
}

static size_t shown_length(const char *text)
{
    char shown[SHOWN_MAX];
    size_t length = 0;
    while (*text) text += show(text, shown), length += strlen(shown);
    return length;
}

const char *utf8_visible(const char *text, char *out, size_t size)
{
    static const char gap[] = "...";
    char shown[SHOWN_MAX];
    size_t left = shown_length(text), used = 0;
    bool cut = left >= size;
    size_t head = cut ? (size - sizeof gap) / 4 : left, tail = size - sizeof gap - head;
    while (*text) {
        int length = show(text, shown);
        size_t n = strlen(shown);
        if (used + n > head) break;
        memcpy(out + used, shown, n);
        text += length, used += n, left -= n;
    }
    if (cut) {
        memcpy(out + used, gap, strlen(gap));
        used += strlen(gap);
    }
    for (; *text; left -= strlen(shown)) {
        bool fits = left <= tail;
        text += show(text, shown);
        if (!fits) continue;
        memcpy(out + used, shown, strlen(shown));
        used += strlen(shown);
    }
    out[used] = 0;
    return out;
}
