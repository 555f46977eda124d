// What a matrix is: the same of all files that hold it, another one where anything of it differs.

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/load.h"
#include "test.h"

static char folder[] = P_tmpdir "/test_content.XXXXXX";

// A file of this text, read. "": it could not be.
static const char *content_of(const char *name, const char *text, uint64_t seed,
                              char content[CONTENT_LETTERS + 1])
{
    struct matrix M;
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f), "%s", name);
    int err = matrix_load(name, seed, &M);
    CHECK(!err, "%s", fail_text());
    memcpy(content, M.content, CONTENT_LETTERS + 1);
    CHECK(err || M.file.bytes == (int64_t)strlen(text), "%lld bytes", (long long)M.file.bytes);
    matrix_free(&M);
    return content;
}

#define REAL    "%%MatrixMarket matrix coordinate real general\n"
#define PATTERN "%%MatrixMarket matrix coordinate pattern general\n"

static void test_texts(void)
{
    static const char *const same[] = {
        REAL "2 3 3\n1 1 0.5\n1 3 2\n2 2 -1\n",
        REAL "% a comment\n2 3 3\n2 2 -1.0\n1 1 5e-1\n1 3 2\n", // another order
        REAL "2 3 4\n1 1 0.25\n1 1 0.25\n1 3 2\n2 2 -1\n",      // a duplicate
        "%%MatrixMarket matrix array real general\n1 1\n7\n",   // the others are not the same:
        REAL "2 3 3\n1 1 0.5\n1 3 2\n2 2 1\n",                  // a value,
        REAL "2 3 3\n1 1 0.5\n1 2 2\n2 2 -1\n",                 // a column,
        REAL "2 3 3\n1 1 0.5\n2 3 2\n2 2 -1\n",                 // a row,
        REAL "2 4 3\n1 1 0.5\n1 3 2\n2 2 -1\n",                 // the width,
        REAL "3 3 3\n1 1 0.5\n1 3 2\n2 2 -1\n",                 // the height,
        PATTERN "2 3 3\n1 1\n1 3\n2 2\n"};                      // without values
    char first[CONTENT_LETTERS + 1], other[CONTENT_LETTERS + 1];
    content_of("a.mtx", same[0], 1, first);
    CHECK(strspn(first, "0123456789abcdef") == CONTENT_LETTERS, "%s", first);
    for (int i = 1; i < COUNT(same); i++)
        CHECK(!strcmp(content_of("b.mtx", same[i], 1, other), first) == (i < 3), "%d: %s", i,
              other);
    // A symmetric file holds what a general one does.
    content_of("a.mtx", REAL "2 2 3\n1 1 1\n1 2 3\n2 1 3\n", 1, first);
    CHECK_TEXT(content_of("b.mtx",
                          "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 3\n",
                          1, other),
               first);
}

// Values that are drawn come from the seed, and are no part of the matrix.
static void test_drawn(void)
{
    struct matrix M;
    char one[CONTENT_LETTERS + 1], two[CONTENT_LETTERS + 1];
    const char *text = PATTERN "2 3 3\n1 1\n1 3\n2 2\n";
    CHECK_TEXT(content_of("a.mtx", text, 1, one), content_of("b.mtx", text, 2, two));
    CHECK(!matrix_load("gen:stencil:3", 1, &M) && !M.content[0] && !M.file.bytes, "generated");
    matrix_free(&M);
}

// Records are compared with those that another build has written.
static void test_lasting(void)
{
    int64_t ptr[] = {0, 1, 3};
    int32_t idx[] = {2, 0, 1};
    double val[] = {1, -2, 0.5};
    const struct csr A = {2, 3, 3, ptr, idx, val};
    char text[CONTENT_LETTERS + 1];
    CHECK_TEXT(content_text(&A, true, text), "5b8cb5005985740e8fb49be2342c6ea4");
    CHECK_TEXT(content_text(&A, false, text), "096f64f5d18af514f4480c4931b72c5a");
}

int main(void)
{
    CHECK(mkdtemp(folder) && !chdir(folder), "%s", folder);
    RUN_ALL(test_texts, test_drawn, test_lasting);
    unlink("a.mtx");
    unlink("b.mtx");
    CHECK(!chdir("/") && !rmdir(folder), "something is left in %s", folder);
    return TEST_END();
}
