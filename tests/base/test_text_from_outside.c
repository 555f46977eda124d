// Text from outside: what a terminal gets of it, messages that are too long, words that are
// misspelt.
#include "base/base.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "test.h"

static void test_visible(void)
{
    static const struct {
        const char *text, *shown;
    } table[] = {
        {"", ""},
        {"web.mtx", "web.mtx"},
        {"caf\xc3\xa9 \xe7\x9f\xa9\xe9\x98\xb5 \xf0\x9f\x98\x80 a\\b|c",
         "caf\xc3\xa9 \xe7\x9f\xa9\xe9\x98\xb5 \xf0\x9f\x98\x80 a\\b|c"},
        {"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},
        {"a\nb\tc\rd\x7f\a\x01", "a\\nb\\tc\\rd\\x7f\\a\\x01"},
        {"\xff\xc3 \xed\xa0\x80 \xc0\xaf", "\\xff\\xc3 \\xed\\xa0\\x80 \\xc0\\xaf"},
        {"\xc2\x9b"
         "31m \xc2\xa0",
         "\\xc2\\x9b31m \xc2\xa0"},
        {"\xe2\x80\xae"
         "desrever \xe2\x80\xa8 \xe2\x81\xa6 \xe2\x80\x93",
         "\\xe2\\x80\\xaedesrever \\xe2\\x80\\xa8 \\xe2\\x81\\xa6 \xe2\x80\x93"},
        {"cut \xe2\x80", "cut \\xe2\\x80"},
    };
    char shown[256];
    for (int i = 0; i < COUNT(table); i++)
        CHECK_TEXT(utf8_visible(table[i].text, shown, sizeof shown), table[i].shown);
    for (int c = 1; c < 256; c++) {
        char text[] = {'a', (char)c, 'b', 0};
        utf8_visible(text, shown, sizeof shown);
        for (const char *s = shown; *s; s++)
            CHECK((unsigned char)*s >= 0x20 && *s != 0x7f && !(*s & 0x80), "byte %d: %s", c, shown);
    }
}

// The beginning and the end of what is too long, as whole characters, and no byte more than there
// is room for.
static void test_middle(void)
{
    char text[128], shown[128], clean[128];
    CHECK_TEXT(utf8_visible("0123456789abcdefghijklmnopqrst", shown, 31),
               "0123456789abcdefghijklmnopqrst");
    CHECK_TEXT(utf8_visible("0123456789abcdefghijklmnopqrst", shown, 30),
               "012345...abcdefghijklmnopqrst");
    for (size_t size = 16; size < 100; size++)
        for (int shift = 0; shift < 4; shift++) {
            memset(text, 'x', sizeof text);
            for (int i = shift; i + 4 < 120; i += 4) memcpy(text + i, "\xf0\x9f\x98\x80", 4);
            text[120] = 0;
            memset(shown, '#', sizeof shown);
            utf8_visible(text, shown, size);
            strcpy(clean, shown);
            utf8_clean(clean);
            CHECK(strlen(shown) < size && strlen(shown) + 8 > size && shown[size] == '#',
                  "%zu bytes of %zu", strlen(shown), size);
            CHECK_TEXT(shown, clean);
            CHECK(strstr(shown, "..."), "%s", shown);
        }
    CHECK_TEXT(utf8_visible("\x1b\x1b\x1b\x1b\x1b\x1b\x1b\x1b", shown, 20),
               "\\x1b...\\x1b\\x1b\\x1b");
}

static void test_messages(void)
{
    char path[3000], part[64];
    memset(path, 'd', sizeof path);
    path[sizeof path - 1] = 0;
    fail(ERR_INPUT, "%s:%d: %s", path, 17, "the cause");
    size_t length = strlen(fail_text());
    CHECK(length == FAIL_TEXT_MAX - 1, "%zu bytes", length);
    snprintf(part, sizeof part, "%s", fail_text() + length - 16);
    CHECK_TEXT(part, "dd:17: the cause");
    CHECK(!strncmp(fail_text(), "ddd", 3) && strstr(fail_text(), "d...d"), "%s", fail_text());
    fail(ERR_MEMORY, "around: %s", fail_text()); // what is cut is cut again
    CHECK(!strncmp(fail_text(), "around: ddd", 11) && strstr(fail_text(), "d:17: the cause"), "%s",
          fail_text());
    fail(ERR_INPUT, "%s: no such file", "a\n\x1b[2Jb");
    CHECK_TEXT(fail_text(), "a\\n\\x1b[2Jb: no such file");
    fail(ERR_INPUT, "again: %s", fail_text());
    CHECK_TEXT(fail_text(), "again: a\\n\\x1b[2Jb: no such file");
}

// Of names that are as many edits away the one of which a letter was left out, doubled or swapped.
static void test_nearest(void)
{
    static const char *const names[] = {"spmm", "sddmm", "spgemm"};
    static const struct {
        const char *word, *best;
    } table[] = {{"sdmm", "sddmm"}, {"sddm", "sddmm"},   {"spm", "spmm"},     {"smm", "spmm"},
                 {"psmm", "spmm"},  {"spgem", "spgemm"}, {"sgemm", "spgemm"}, {"sddmmm", "sddmm"},
                 {"spdmm", "spmm"}, {"SDMM", "sddmm"},   {"stmm", "spmm"},    {"banana", NULL},
                 {"mm", NULL}};
    for (int i = 0; i < COUNT(table); i++) {
        struct suggestion s;
        suggest_start(&s, table[i].word);
        for (int n = 0; n < COUNT(names); n++) suggest_offer(&s, names[n]);
        CHECK(s.best == table[i].best ||
                  (s.best && table[i].best && !strcmp(s.best, table[i].best)),
              "%s: %s", table[i].word, s.best ? s.best : "nothing");
    }
}

// Another word for a name beats every name that is spelled like it, where that name is offered.
static void test_synonyms(void)
{
    static const struct {
        const char *word, *names[4], *best;
    } table[] = {{"gpu", {"cpu", "cuda"}, "cuda"},       {"gpu", {"cpu"}, "cpu"},
                 {"double", {"f32", "f64"}, "f64"},      {"FP32", {"f32", "f64"}, "f32"},
                 {"half", {"f32", "f64"}, NULL},         {"quiet", {"o", "q", "v"}, "q"},
                 {"csv", {"format", "o"}, "format"},     {"csv", {"o", "op"}, "o"},
                 {"j", {"o", "k", "threads"}, "threads"}};
    for (int i = 0; i < COUNT(table); i++) {
        struct suggestion s;
        suggest_start(&s, table[i].word);
        for (int n = 0; table[i].names[n]; n++) suggest_offer(&s, table[i].names[n]);
        CHECK(s.best == table[i].best ||
                  (s.best && table[i].best && !strcmp(s.best, table[i].best)),
              "%s: %s", table[i].word, s.best ? s.best : "nothing");
        CHECK(s.synonym == (table[i].best && strcmp(table[i].best, "cpu")), "%s", table[i].word);
    }
}

TESTS(test_visible, test_middle, test_messages, test_nearest, test_synonyms)
