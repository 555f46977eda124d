// Text of unknown origin in Markdown and in XML.
#include "base/markup.h"

#include <stdlib.h>

#include "base/base.h"
#include "test.h"

static void check(void (*write)(FILE *, const char *), const char *text, const char *want)
{
    char *got = NULL;
    size_t size;
    FILE *f = open_memstream(&got, &size);
    if (f) write(f, text);
    CHECK(f && !fclose(f), "out of memory");
    CHECK_TEXT(got ? got : "", want);
    free(got);
}

int main(void)
{
    static const struct {
        const char *text, *markdown, *xml;
    } table[] = {
        {"", "", ""},
        {"caf\xc3\xa9 5 % \xf0\x9f\x98\x80", "caf\xc3\xa9 5 % \xf0\x9f\x98\x80",
         "caf\xc3\xa9 5 % \xf0\x9f\x98\x80"},
        {"<script>", "\\<script\\>", "&lt;script&gt;"},
        {"a|b&c", "a\\|b\\&c", "a|b&amp;c"},
        {"[x](y) `c` _d_ *e* ~f~ #1 \\", "\\[x\\](y) \\`c\\` \\_d\\_ \\*e\\* \\~f\\~ \\#1 \\\\",
         "[x](y) `c` _d_ *e* ~f~ #1 \\"},
        {"say \"x\"", "say \"x\"", "say &quot;x&quot;"},
        {"a\nb\tc\x1b", "a b c ", "a?b?c?"},
        {"\x7f", "\x7f", "?"},
        // U+FFFD is in XML, U+FFFE and U+FFFF are not.
        {"\xef\xbf\xbd", "\xef\xbf\xbd", "\xef\xbf\xbd"},
        {"x\xef\xbf\xbey\xef\xbf\xbfz", "x\xef\xbf\xbey\xef\xbf\xbfz", "x?y?z"},
        {"\xff"
         "a\xed\xa0\x80",
         "\xff"
         "a\xed\xa0\x80",
         "?a???"}, // no UTF-8, and a surrogate
        {"cut \xe2\x80", "cut \xe2\x80", "cut ??"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        check(markup_markdown, table[i].text, table[i].markdown);
        check(markup_xml, table[i].text, table[i].xml);
    }
    return TEST_END();
}
