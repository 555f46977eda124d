// Text of unknown origin in Markdown and in XML: escaped, so that the text has no effect there.
#ifndef MARKUP_H
#define MARKUP_H

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes `text` for Markdown as of GitHub: a backslash before each character with a meaning there
// or in HTML. Control characters become blanks, so that the text stays in its line.
void markup_markdown(FILE *out, const char *text);
// Writes `text` for XML 1.0: &amp; and so on. A control character, a character that XML excludes,
// and a byte that is no part of a UTF-8 character, becomes '?'.
void markup_xml(FILE *out, const char *text);

#ifdef __cplusplus
}
#endif
#endif
