#include "base/markup.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

void markup_markdown(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]#&~", *text)) fputc('\\', out);
        fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
    }
}

// Returns true if XML 1.0 has the character of `length` bytes. U+FFFE and U+FFFF are excluded.
static bool is_xml(const char *text, int length)
{
    if (length < 2) return length && (unsigned char)*text >= ' ' && *text != 127;
    return strncmp(text, "\xef\xbf\xbe", 3) && strncmp(text, "\xef\xbf\xbf", 3);
}

void markup_xml(FILE *out, const char *text)
{
    while (*text) {
        int length = utf8_length(text);
        switch (*text) {
        case '&': fputs("&amp;", out); break;
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '"': fputs("&quot;", out); break;
        default:
            if (is_xml(text, length))
                fwrite(text, 1, (size_t)length, out);
            else
                fputc('?', out);
        }
        text += length ? length : 1;
    }
}
