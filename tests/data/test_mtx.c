// The Matrix Market reader and writer. Over 400 lines: one case after the other, most of them
// tables.
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "data/mtx.h"
#include "data/mtx_number.h"
#include "csr_equal.h"
#include "test.h"

#define BANNER "%%MatrixMarket matrix "
#define REAL   BANNER "coordinate real general\n"

static char folder[] = "/tmp/spbench-test-XXXXXX";
static char path_text[300];

// A file in this test's folder.
static const char *path_of(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
    return path_text;
}

static void file_write(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && !fclose(file), "%s", path_of(name));
}

static size_t gzip_make(const void *data, size_t size, unsigned char *out, size_t room)
{
    z_stream z = {0};
    deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef *)data, z.avail_in = (uInt)size;
    z.next_out = out, z.avail_out = (uInt)room;
    deflate(&z, Z_FINISH);
    deflateEnd(&z);
    return room - z.avail_out;
}

// The matrix as "m x n: row,column=value ...", counted from 1.
static const char *show(const struct csr *A, char text[1024])
{
    int n = snprintf(text, 1024, "%d x %d:", A->m, A->n);
    for (int32_t i = 0; i < A->m && n < 900; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1] && n < 900; p++)
            n += snprintf(text + n, 1024 - (size_t)n, " %d,%d=%.17g", i + 1, A->idx[p] + 1,
                          A->val[p]);
    return text;
}

static int parse(const char *text, size_t size, struct csr *A, struct mtx_info *info)
{
    struct coo C;
    char *copy = malloc(size + 1); // exactly as long as needed, for the sanitizer
    char *exact = realloc(copy, size ? size : 1);
    memcpy(exact, text, size);
    int err = mtx_parse("f", exact, size, 1, &C, info);
    free(exact);
    if (!err) err = csr_from_coo_mirrored(&C, mtx_mirror(info->symmetry), A, &info->duplicates);
    coo_free(&C);
    return err;
}

static void good(const char *text, const char *want)
{
    struct csr A;
    struct mtx_info info;
    char got[1024];
    int err = parse(text, strlen(text), &A, &info);
    CHECK(!err, "%s: %s", fail_text(), text);
    if (err) return;
    CHECK(!csr_check(&A), "%s", csr_check(&A));
    CHECK_TEXT(show(&A, got), want);
    csr_free(&A);
}

static void bad(const char *text, const char *want)
{
    struct csr A;
    struct mtx_info info;
    int err = parse(text, strlen(text), &A, &info);
    CHECK(err == ERR_INPUT, "error %d for: %s", err, text);
    CHECK_TEXT(err ? fail_text() : "", want);
    if (!err) csr_free(&A);
}

static void test_good(void)
{
    good(REAL "2 3 2\n2 3 1.5\n1 1 -2\n", "2 x 3: 1,1=-2 2,3=1.5");
    good(REAL "2 3 2\n2 3 1.5\n1 1 -2", "2 x 3: 1,1=-2 2,3=1.5");
    good(REAL "% a\n%\n\n  % b\n 2\t3 2 \n\n%c\n  2 \t 3\t1.5 \r\n   \n1 1 -2\n\n\n% end",
         "2 x 3: 1,1=-2 2,3=1.5");
    good("\xef\xbb\xbf%%MATRIXMARKET\tMatrix  COORDINATE Real\tGENERAL \r\n1 1 1\r\n1 1 7\r\n",
         "1 x 1: 1,1=7");
    good(BANNER "coordinate double general\n1 1 1\n1 1 1d2", "1 x 1: 1,1=100");
    good(BANNER "coordinate unsigned-integer general\n1 1 1\n1 1 3", "1 x 1: 1,1=3");
    good(REAL "0 0 0\n", "0 x 0:");
    good(REAL "3 0 0", "3 x 0:");
    good(REAL "1 9 6\n1 1 +1.\n1 2 .5\n1 3 1E+2\n1 4 1D-2\n1 5 -0.\n1 6 007",
         "1 x 9: 1,1=1 1,2=0.5 1,3=100 1,4=0.01 1,5=-0 1,6=7");
    good(REAL "01 268435456 1\n1 268435456 3\n", "1 x 268435456: 1,268435456=3");
    good(REAL "2 2 4\n2 2 1\n2 1 5\n2 2 2\n2 2 4\n", "2 x 2: 2,1=5 2,2=7");
    good(BANNER "coordinate integer general\n1 2 2\n1 1 -9007199254740993\n1 2 3.0\n",
         "1 x 2: 1,1=-9007199254740992 1,2=3");
    good(BANNER "coordinate complex general\n1 2 2\n1 1 1 2\n1 2 0 2\n", "1 x 2: 1,1=1 1,2=0");
    good(BANNER "coordinate complex symmetric\n2 2 1\n2 1 3 4", "2 x 2: 1,2=3 2,1=3");
    good(BANNER "coordinate real symmetric\n2 2 2\n1 2 3\n1 1 1", "2 x 2: 1,1=1 1,2=3 2,1=3");
    good(BANNER "coordinate integer skew-symmetric\n2 2 2\n1 2 3\n1 1 0",
         "2 x 2: 1,1=0 1,2=3 2,1=-3");
    good(BANNER "array complex hermitian\n2 2\n1 0\n2 9\n3 0\n", "2 x 2: 1,1=1 1,2=2 2,1=2 2,2=3");
    good(BANNER "array complex general\n1 2\n1 0\n2 9\n", "1 x 2: 1,1=1 1,2=2");
    good(BANNER "array integer skew-symmetric\n1 1\n", "1 x 1:");
    good(BANNER "array real general\n0 7\n", "0 x 7:");
}

static void test_files(void)
{
    static const char *const files[][2] = {
        {"mtx_array", "2 x 3: 1,1=1 1,2=0 1,3=-5 2,1=2 2,2=4 2,3=6"},
        {"mtx_array_symmetric", "3 x 3: 1,1=1 1,2=2 1,3=3 2,1=2 2,2=4 2,3=5 3,1=3 3,2=5 3,3=6"},
        {"mtx_array_skew", "3 x 3: 1,2=-1 1,3=-2 2,1=1 2,3=-3 3,1=2 3,2=3"},
        {"mtx_hermitian", "3 x 3: 1,1=1 1,2=2.5 2,1=2.5 2,3=0 3,2=0"},
        {"mtx_crlf", "2 x 2: 1,1=1 2,2=2"},
        {"mtx_fortran", "3 x 3: 1,1=1 2,3=-0.050000000000000003 3,1=5"},
        {"mtx_duplicates", "2 x 2: 1,2=-3 2,1=3 2,2=0"},
        {"mtx_small_values", "1 x 4: 1,1=2.3e-293 1,2=5.9999999999999999e-295 "
                             "1,3=4.9406564584124654e-324 1,4=1.7976931348623157e+308"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[100], got[1024];
        struct csr A;
        struct mtx_info info;
        snprintf(path, sizeof path, "tests/data/%s.mtx", files[i][0]);
        int err = mtx_read(path, 1, &A, &info);
        CHECK(!err, "%s", fail_text());
        if (err) continue;
        CHECK_TEXT(show(&A, got), files[i][1]);
        CHECK(info.load_ms > 0 && info.bytes > 0, "%s", path);
        csr_free(&A);
    }
}

static void test_info(void)
{
    struct csr A;
    struct mtx_info info;
    const char *text = BANNER "array real symmetric\n2 2\n1\n0\n3\n";
    CHECK(!parse(text, strlen(text), &A, &info), "%s", fail_text());
    CHECK(info.field == MTX_REAL && info.symmetry == MTX_SYMMETRIC && info.array,
          "array real symmetric");
    CHECK(info.stored == 3 && info.zeros == 1 && info.duplicates == 0, "stored %lld",
          (long long)info.stored);
    CHECK(info.bytes == (int64_t)strlen(text), "bytes %lld", (long long)info.bytes);
    csr_free(&A);
    text = BANNER "coordinate integer skew-symmetric\n2 2 2\n2 1 3\n2 1 -3\n";
    CHECK(!parse(text, strlen(text), &A, &info), "%s", fail_text());
    CHECK(info.field == MTX_INTEGER && info.symmetry == MTX_SKEW && !info.array, "integer skew");
    CHECK(info.stored == 2 && info.zeros == 0 && info.duplicates == 2, "duplicates %lld",
          (long long)info.duplicates);
    csr_free(&A);
    CHECK_TEXT(mtx_field_name(MTX_PATTERN), "pattern");
    CHECK_TEXT(mtx_symmetry_name(MTX_SKEW), "skew-symmetric");
}

// The values of a pattern depend on the place and the seed alone.
static void test_pattern(void)
{
    struct csr A, B, C, D;
    struct mtx_info info;
    const char *general = BANNER "coordinate pattern general\n3 3 3\n1 2\n2 1\n3 3\n";
    const char *shuffled = BANNER "coordinate pattern general\n3 3 3\n3 3\n2 1\n1 2\n";
    const char *symmetric = BANNER "coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n";
    CHECK(!parse(general, strlen(general), &A, &info) &&
              !parse(shuffled, strlen(shuffled), &B, &info),
          "reads");
    CHECK(!parse(symmetric, strlen(symmetric), &C, &info), "reads");
    CHECK(!mtx_read("tests/data/mtx_upper.mtx", 1, &D, &info), "%s", fail_text());
    CHECK(csr_equal(&A, &B), "the order of the entries changes nothing");
    CHECK(A.val[0] != A.val[1], "other places, other values");
    CHECK(C.val[0] == C.val[1], "a mirrored entry has the value of the stored one");
    CHECK(C.val[1] == A.val[1] && C.val[2] == A.val[2],
          "symmetric or not, below the diagonal it is the same");
    CHECK(D.nnz == 5 && D.val[0] == D.val[3] && D.val[2] == D.val[4],
          "stored above or below the diagonal");
    csr_free(&D);
    CHECK(!mtx_read("tests/data/mtx_upper.mtx", 2, &D, &info) && D.val[1] != A.val[2],
          "another seed");
    csr_free(&A), csr_free(&B), csr_free(&C), csr_free(&D);
}

static void test_bad(void)
{
    bad("", "f:1: the file is empty");
    bad("1 1 1\n", "f:1: not a Matrix Market file: it does not begin with %%MatrixMarket; "
                   "scipy.io.mmwrite writes one");
    bad("{\"schema\":\"spbench/1\",\"kind\":\"environment\"}\n",
        "f:1: is a file of records, not a matrix; 'spbench report' and 'spbench compare' read it");
    bad("%MatrixMarket matrix coordinate real general\n",
        "f:1: not a Matrix Market file: it does not begin with %%MatrixMarket; "
        "scipy.io.mmwrite writes one");
    bad("\n" REAL, "f:1: not a Matrix Market file: it does not begin with %%MatrixMarket; "
                   "scipy.io.mmwrite writes one");
    bad(BANNER "coordinate real\n1 1 0\n", "f:1: the banner is cut short; it should be like "
                                           "\"%%MatrixMarket matrix coordinate real general\"");
    bad(BANNER "coordinate real general x\n", "f:1: \"x\" is one word too many in the banner");
    bad("%%MatrixMarket vector coordinate real general\n",
        "f:1: a file of \"vector\", not of a matrix");
    bad(BANNER "dense real general\n", "f:1: format \"dense\" is neither coordinate nor array");
    bad(BANNER "array reel general\n",
        "f:1: field \"reel\" is none of real, integer, complex and pattern");
    bad(BANNER "array real upper\n",
        "f:1: symmetry \"upper\" is none of general, symmetric, skew-symmetric and hermitian");
    bad(BANNER "array pattern general\n",
        "f:1: an array has values, so its field cannot be pattern");
    bad(BANNER "coordinate pattern skew-symmetric\n",
        "f:1: a pattern has no signs, so it cannot be skew-symmetric");
    bad(BANNER "coordinate real hermitian\n", "f:1: only a complex matrix can be hermitian");

    bad(REAL, "f:2: the file ends before its size line");
    bad(REAL "% a\n\n%", "f:4: the file ends before its size line");
    bad(REAL "%\n2 2\n1 1 1\n", "f:3: the size line ends before the number of entries");
    bad(REAL "2 x 2\n", "f:2: \"x\" is not a number of columns");
    bad(REAL "-2 2 2\n", "f:2: \"-2\" is not a number of rows");
    bad(REAL "2 2 2.5\n", "f:2: \"2.5\" is not a number of entries");
    bad(REAL "2 2 2 2\n", "f:2: \"2\" is one number too many on the size line");
    bad(REAL "2147483648 2 2\n", "f:2: \"2147483648\" rows are too many");
    bad(REAL "2 99999999999999999999999 2\n",
        "f:2: \"99999999999999999999999\" columns are too many");
    bad(REAL "2 2 9223372036854775808\n", "f:2: \"9223372036854775808\" entries are too many");
    bad(BANNER "array real general\n2 2 4\n", "f:2: \"4\" is one number too many on the size line");
    bad(BANNER "coordinate real symmetric\n2 3 1\n1 1 1\n",
        "f:2: 2 rows and 3 columns, but a symmetric matrix is square");

    bad(REAL "5 5 2\n1 1 1\n", "f:2: too few entries: 2 promised, but at most 1 fit into the file");
    bad(REAL "2147483647 2147483647 9000000000000000000\n1 1 1\n",
        "f:2: too few entries: 9000000000000000000 promised, but at most 1 fit into the file");
    bad(BANNER "array complex symmetric\n2147483647 2147483647\n1\n",
        "f:2: too few entries: 2305843008139952128 promised, but at most 0 fit into the file");
    // Sides that need more entries.
    bad(REAL "1 268435457 1\n1 268435457 3\n",
        "f:2: 1 x 268435457 is too large for 1 entries: over 268435456 rows or columns need an "
        "entry for each 8");
    CHECK(!matrix_is_hollow(INT32_MAX, 1, 0x1p28) && matrix_is_hollow(INT32_MAX, 1, 0x1p28 - 1),
          "2^31 - 1 rows");
    bad(REAL "5 5 2\n1 1 1.000000\n",
        "f:4: too few entries: the size line promised 2, the file ends after 1");
    bad(REAL "5 5 0\n% no\n1 1 1\n", "f:4: too many entries: the size line promised 0");
    bad(BANNER "array real general\n2 2\n1\n2\n3\n4.5\n5\n",
        "f:7: too many entries: the size line promised 4");
    bad(BANNER "array real general\n2 2\n1.5\n2.5\n3.5\n",
        "f:6: too few entries: the size line promised 4, the file ends after 3");

    bad(REAL "5 5 2\n1 1 1\n6 1 1\n", "f:4: row 6 is outside the matrix (5 rows)");
    bad(REAL "5 5 2\n1 1 1\n\n1 9 1\n", "f:5: column 9 is outside the matrix (5 columns)");
    bad(REAL "5 1 1\n1 2 1\n", "f:3: column 2 is outside the matrix (1 column)");
    bad(REAL "5 5 1\n0 1 1\n", "f:3: row 0 is outside the matrix (5 rows)");
    bad(REAL "5 5 1\n1 -1 1\n", "f:3: column -1 is outside the matrix (5 columns)");
    bad(REAL "5 5 1\n99999999999999999999 1 1\n",
        "f:3: row 99999999999999999999 is outside the matrix (5 rows)");
    bad(REAL "5 5 1\n4294967297 1 1\n", "f:3: row 4294967297 is outside the matrix (5 rows)");
    bad(REAL "0 0 1\n1 1 1\n", "f:3: row 1 is outside the matrix (0 rows)");
    bad(REAL "5 5 1\n1.0 1 1\n", "f:3: row \"1.0\" is not a whole number");
    bad(REAL "5 5 1\n1 \x1b[1m 1\n", "f:3: column \"?[1m\" is not a whole number");
    bad(REAL "5 5 1\n1111111\n", "f:3: row 1111111 is outside the matrix (5 rows)");
    bad(REAL "5 5 1\n1    \n", "f:3: the line ends before the column");
    bad(REAL "5 5 1\n1 1  \n1", "f:3: the line ends before the value");
    bad(REAL "5 5 1\n1 1 x\n", "f:3: value \"x\" is not a number");
    bad(REAL "5 5 1\n1 1 0x10\n", "f:3: value \"0x10\" is not a number");
    bad(REAL "5 5 1\n1 1 1e\n", "f:3: value \"1e\" is not a number");
    bad(REAL "5 5 1\n1 1 .\n", "f:3: value \".\" is not a number");
    bad(REAL "5 5 1\n1 1 1,5\n", "f:3: value \"1,5\" is not a number");
    bad(REAL "5 5 1\n1 1 --1\n", "f:3: value \"--1\" is not a number");
    bad(REAL "5 5 1\n1 1 NaN\n", "f:3: value \"NaN\" is not finite");
    bad(REAL "5 5 1\n1 1 -inf\n", "f:3: value \"-inf\" is not finite");
    bad(REAL "5 5 1\n1 1 Infinity\n", "f:3: value \"Infinity\" is not finite");
    bad(REAL "5 5 1\n1 1 1e309\n", "f:3: value \"1e309\" is too large");
    bad(REAL "5 5 1\n1 1 2 3\n", "f:3: \"3\" is too much on this line");
    bad(BANNER "coordinate integer general\n5 5 1\n1 1 2.5\n",
        "f:3: value \"2.5\" is not a whole number, as an integer matrix has");
    bad(BANNER "coordinate complex general\n5 5 1\n1 1 2    \n",
        "f:3: the line ends before the value");
    bad(BANNER "coordinate complex general\n5 5 1\n1 1 2 nan\n",
        "f:3: value \"nan\" is not finite");
    bad(BANNER "coordinate pattern general\n5 5 1\n1 1 1\n", "f:3: \"1\" is too much on this line");
    bad(BANNER "coordinate real skew-symmetric\n5 5 1\n2 2 1\n",
        "f:3: the diagonal of a skew-symmetric matrix is 0, not \"1\"");
    bad(BANNER "coordinate real skew-symmetric\n5 5 1\n2 2 -1\n",
        "f:3: the diagonal of a skew-symmetric matrix is 0, not \"-1\"");
    bad(BANNER "array real general\n1 2\n1 2\n", "f:3: \"2\" is too much on this line");
    bad(REAL "5 5 1\n1 1 aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee\n",
        "f:3: value \"aaaaaaaaaabbbbbbbbbbccccccccccddddddddd...\" is not a number");
    bad(REAL "5 5 2\n1 1 1\nx\n1 y 1\n", "f:4: row \"x\" is not a whole number");
}

// Every number as strtod reads it, to the last bit.
static void number_check(const char *text)
{
    size_t length = strlen(text);
    char *exact = malloc(length);
    memcpy(exact, text, length);
    double got = -1, want = strtod(text, NULL);
    const char *end = real_read(exact, exact + length, &got);
    CHECK(end == exact + length && !memcmp(&got, &want, 8), "%s: got %a, want %a", text, got, want);
    free(exact);
}

static void test_numbers(void)
{
    char hard[] =
        "9007199254740993 9007199254740992.99999999999999999999 "
        "9007199254740993.0000000000000000000000001 2.2250738585072011e-308 "
        "2.2250738585072012e-308 4.9e-324 2.4703282292062327e-324 2.4703282292062328e-324 "
        "1.7976931348623158e308 1.7976931348623159e308 1e-400 0e999 "
        "0.000000000000000000000000000000000000000000001 123456789012345678901234567890e-30 "
        "1e23 8.5e22 18446744073709551615 18446744073709551616 99999999999999999999e-20 "
        "6.8e-290 1e-285 1e288 7.2057594037927933e16 5e-324 1e-999999999999999999999 0.1e+1 "
        "-0.0";
    for (char *word = strtok(hard, " "); word; word = strtok(NULL, " ")) number_check(word);
    char text[1200];
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t a = random_at(1, i), b = random_at(2, i);
        double x;
        memcpy(&x, &a, 8);
        if (isfinite(x)) snprintf(text, sizeof text, "%.*e", (int)(b % 20), x), number_check(text);
        if (isfinite(x) && fabs(x) < 1e30)
            snprintf(text, sizeof text, "%.*f", (int)(b % 340), x), number_check(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(a >> b % 64),
                 (int)(b >> 8) % 330);
        number_check(text);
        // A tie between two doubles, and its neighbours.
        long double tie = ldexpl((long double)(a >> 10 | 1 | 1ull << 53), (int)(b % 100) - 60);
        snprintf(text, sizeof text, "%.*Lf", (int)(b >> 8) % 70, tie);
        number_check(text);
    }
    // More digits than are kept: the last one decides.
    strcpy(text, "9007199254740993.");
    memset(text + 17, '0', 1000);
    strcpy(text + 1017, "1");
    number_check(text);
}

// A text of many chunks, with blank lines and comments, is read the same with any number of
// threads, and the first of its mistakes is told, with its line.
static void test_chunks(void)
{
    enum { N = 30000 };
    char *text = malloc((size_t)N * 64 + 200);
    struct coo C = {.m = 5000, .n = 7000, .nnz = N};
    C.row = mem_alloc(N, 4), C.col = mem_alloc(N, 4), C.val = mem_alloc(N, 8);
    int64_t lines = 2, *line = malloc((N + 1) * sizeof *line), *at = malloc((N + 1) * sizeof *at);
    size_t n = (size_t)sprintf(text, "%s5000 7000 %d\n", REAL, N);
    for (int64_t p = 0; p < N; p++) {
        uint64_t r = random_at(4, (uint64_t)p);
        C.row[p] = (int32_t)(r % 5000), C.col[p] = (int32_t)((r >> 20) % 7000);
        C.val[p] = (double)(r >> 54) / 8;
        static const char *const empty[] = {"  \r\n", "%  \n", "\n", "\t\n", "\t%\n", "\r\n"};
        for (; r % 7 == 0; r = r / 7 + 1, lines++)
            n += (size_t)sprintf(text + n, "%s", empty[r / 7 % COUNT(empty)]);
        line[p] = ++lines, at[p] = (int64_t)n;
        n += (size_t)sprintf(text + n, "%s%d %d %g%s", r % 11 ? "" : " \t", C.row[p] + 1,
                             C.col[p] + 1, C.val[p], r % 13 ? "\n" : " \r\n");
    }
    struct csr want, got;
    struct mtx_info info;
    int64_t gone;
    CHECK(!csr_from_coo(&C, &want, &gone), "%s", fail_text());
    for (int threads = 1; threads <= 4; threads++) {
        char message[100];
        omp_set_num_threads(threads);
        int err = parse(text, n, &got, &info);
        CHECK(!err && csr_equal(&got, &want) && info.duplicates == gone, "%d threads: %s", threads,
              err ? fail_text() : "differs");
        if (!err) csr_free(&got);
        for (int64_t p = 10; p < N - 20; p += N / 9) {
            char *first = text + at[p], *second = text + at[p + 1 + p % 17], a = *first,
                 b = *second;
            *first = 'x', *second = 'x';
            CHECK(parse(text, n, &got, &info) == ERR_INPUT, "entry %lld", (long long)p);
            *first = a, *second = b;
            int length =
                (int)snprintf(message, sizeof message, "f:%lld: row \"x", (long long)line[p]);
            CHECK(!strncmp(fail_text(), message, (size_t)length), "got %s, want %s...", fail_text(),
                  message);
        }
    }
    // One too few at the end, one too many in the middle of a chunk.
    CHECK(parse(text, (size_t)at[N - 1], &got, &info) == ERR_INPUT &&
              strstr(fail_text(), "the file ends after 29999"),
          "%s", fail_text());
    char *size = strstr(text, "7000 ");
    memcpy(size, "7000 20000", 10);
    CHECK(parse(text, n, &got, &info) == ERR_INPUT, "too many");
    char message[100];
    snprintf(message, sizeof message, "f:%lld: too many entries: the size line promised 20000",
             (long long)line[20000]);
    CHECK_TEXT(fail_text(), message);
    csr_free(&want);
    coo_free(&C);
    free(text), free(line), free(at);
}

static int read_file(const char *name, struct csr *A)
{
    struct mtx_info info;
    return mtx_read(path_of(name), 1, A, &info);
}

static void test_gzip(void)
{
    static const char text[] = REAL "2 3 2\n2 3 1.5\n1 1 -2\n";
    unsigned char zip[2000];
    char got[1024];
    struct csr A;
    size_t size = gzip_make(text, sizeof text - 1, zip, sizeof zip);
    file_write("a.mtx", zip, size); // known by content, whatever the name
    CHECK(!read_file("a.mtx", &A), "%s", fail_text());
    CHECK_TEXT(show(&A, got), "2 x 3: 1,1=-2 2,3=1.5");
    csr_free(&A);

    file_write("plain.mtx.gz", text, sizeof text - 1);
    CHECK(!read_file("plain.mtx.gz", &A), "%s", fail_text());
    csr_free(&A);

    // Two members, cut in the middle of a line, and padding after them.
    size = gzip_make(text, 30, zip, sizeof zip);
    size += gzip_make(text + 30, sizeof text - 31, zip + size, sizeof zip - size);
    memset(zip + size, 0, 100);
    file_write("two.gz", zip, size + 100);
    CHECK(!read_file("two.gz", &A), "%s", fail_text());
    CHECK_TEXT(show(&A, got), "2 x 3: 1,1=-2 2,3=1.5");
    csr_free(&A);
    zip[size] = 'x';
    file_write("more.gz", zip, size + 1);
    CHECK(read_file("more.gz", &A) == ERR_INPUT &&
              strstr(fail_text(), "more.gz:5: something that is not gzip follows"),
          "%s", fail_text());

    // Cut anywhere, or one byte wrong anywhere: refused, or (in the header's spare fields) read as
    // before.
    size = gzip_make(text, sizeof text - 1, zip, sizeof zip);
    for (size_t cut = 2; cut < size; cut++) {
        file_write("cut.gz", zip, cut);
        CHECK(read_file("cut.gz", &A) == ERR_INPUT &&
                  strstr(fail_text(), "the gzip data is truncated"),
              "%zu: %s", cut, fail_text());
    }
    for (size_t i = 10; i < size; i++) {
        zip[i] ^= 0x55;
        file_write("wrong.gz", zip, size);
        CHECK(read_file("wrong.gz", &A) == ERR_INPUT, "byte %zu: read all the same", i);
        zip[i] ^= 0x55;
    }
}

static void test_streams(void)
{
    struct csr A;
    struct mtx_info info;
    char got[1024];
    static const char text[] = REAL "2 3 2\n2 3 1.5\n1 1 -2\n";
    unsigned char zip[1000];
    for (int zipped = 0; zipped < 2; zipped++) {
        int ends[2], kept = dup(STDIN_FILENO);
        size_t size = zipped ? gzip_make(text, sizeof text - 1, zip, sizeof zip) : sizeof text - 1;
        CHECK(!pipe(ends) &&
                  write(ends[1], zipped ? (const void *)zip : text, size) == (ssize_t)size,
              "pipe");
        close(ends[1]);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        int err = mtx_read("-", 1, &A, &info);
        CHECK(!err, "%s", fail_text());
        if (!err) CHECK_TEXT(show(&A, got), "2 x 3: 1,1=-2 2,3=1.5");
        if (!err) csr_free(&A);
        if (kept >= 0) dup2(kept, STDIN_FILENO), close(kept);
    }
    CHECK(mtx_read("/dev/null", 1, &A, &info) == ERR_INPUT, "empty");
    CHECK_TEXT(fail_text(), "/dev/null:1: the file is empty");
    CHECK(mtx_read("/dev/zero", 1, &A, &info) == ERR_INPUT, "endless");
    CHECK_TEXT(fail_text(),
               "/dev/zero:1: not a Matrix Market file: it does not begin with %%MatrixMarket; "
               "scipy.io.mmwrite writes one");

    char want[400];
    CHECK(read_file("nowhere.mtx", &A) == ERR_INPUT, "missing");
    snprintf(want, sizeof want, "%s: No such file or directory", path_of("nowhere.mtx"));
    CHECK_TEXT(fail_text(), want);
    CHECK(mtx_read(folder, 1, &A, &info) == ERR_INPUT, "directory");
    snprintf(
        want, sizeof want,
        "%s: is a directory, not a matrix; 'spbench sweep -o FILE %s' measures all matrices in it",
        folder, folder);
    CHECK_TEXT(fail_text(), want);
    file_write("secret.mtx", text, sizeof text - 1);
    chmod(path_of("secret.mtx"), 0);
    bool root = geteuid() == 0; // may read anything, so it stands back for a moment
    CHECK(!root || !seteuid(65534), "%s", strerror(errno));
    CHECK(read_file("secret.mtx", &A) == ERR_INPUT && strstr(fail_text(), ": Permission denied"),
          "%s", fail_text());
    CHECK(!root || !seteuid(0), "%s", strerror(errno));
}

static void test_write(void)
{
    struct csr A, B;
    struct mtx_info info;
    CHECK(!csr_alloc(&A, 300, 200, 900), "%s", fail_text());
    for (int i = 0; i <= 300; i++) A.ptr[i] = 3 * i;
    for (int p = 0; p < 900; p++) {
        uint64_t bits = random_at(9, (uint64_t)p);
        double x;
        memcpy(&x, &bits, 8);
        if (!isfinite(x) || p % 2) x = p % 4 == 1 ? p / 8. : random_value(1, (uint64_t)p);
        A.idx[p] = p % 3 * 60 + p / 5 % 50;
        A.val[p] = x;
    }
    A.val[0] = -0.0, A.val[1] = 5e-324, A.val[2] = 1.7976931348623157e308, A.val[3] = 0.1;
    CHECK(!csr_check(&A), "%s", csr_check(&A));
    CHECK(!mtx_write(path_of("w.mtx"), &A, "one\n\ntwo"), "%s", fail_text());
    CHECK(!mtx_read(path_of("w.mtx"), 1, &B, &info), "%s", fail_text());
    CHECK(csr_equal(&A, &B), "what was written is read back, to the last bit");
    csr_free(&B);
    char head[200] = "";
    FILE *file = fopen(path_of("w.mtx"), "r");
    CHECK(file && fread(head, 1, 110, file) == 110, "readable");
    if (file) fclose(file);
    CHECK(!strncmp(head, REAL "% one\n%\n% two\n300 200 900\n1 1 -0\n1 61 ", 80), "%s", head);
    // What was begun and not finished is no matrix.
    interrupted = 1;
    CHECK(mtx_write(path_of("w.mtx"), &A, NULL) == ERR_INTERRUPTED, "%s", fail_text());
    interrupted = 0;
    CHECK(!mtx_read(path_of("w.mtx"), 1, &B, &info), "%s", fail_text());
    CHECK(csr_equal(&A, &B), "what was there before is no longer");
    csr_free(&B);
    interrupted = 1;
    CHECK(mtx_write(path_of("half.mtx"), &A, NULL) == ERR_INTERRUPTED, "%s", fail_text());
    interrupted = 0;
    CHECK(access(path_of("half.mtx"), F_OK) != 0, "half a matrix was left");
    CHECK(mtx_write(path_of("no/such/folder"), &A, NULL) == ERR_OUTPUT &&
              strstr(fail_text(), ": No such file"),
          "%s", fail_text());
    if (access("/dev/full", W_OK) == 0) {
        CHECK(mtx_write("/dev/full", &A, NULL) == ERR_OUTPUT, "a full disk");
        CHECK_TEXT(fail_text(), "/dev/full: No space left on device");
        A.m = 1, A.nnz = 3; // so little that only closing tells
        CHECK(mtx_write("/dev/full", &A, NULL) == ERR_OUTPUT, "a full disk");
    }
    A.m = 300, A.nnz = 900;
    csr_free(&A);
}

// The n-th allocation fails, for every n: an error each time, and nothing leaks.
static void test_no_memory(void)
{
    unsigned char zip[1000];
    static const char text[] = BANNER "coordinate real symmetric\n2 2 3\n2 1 1.5\n1 1 -2\n2 1 3";
    file_write("m.mtx", text, sizeof text - 1);
    size_t size = gzip_make(text, sizeof text - 1, zip, sizeof zip);
    file_write("m.gz", zip, size);
    for (int zipped = 0; zipped < 2; zipped++)
        for (int64_t n = 1;; n++) {
            struct csr A;
            struct mtx_info info;
            path_of(zipped ? "m.gz" : "m.mtx");
            mem_fail_at(n);
            int err = mtx_read(path_text, 1, &A, &info);
            mem_fail_at(0);
            if (!err) {
                CHECK(n > 8 && A.nnz == 3, "%lld allocations, %lld nonzeros", (long long)n - 1,
                      (long long)A.nnz);
                csr_free(&A);
                break;
            }
            CHECK(err == ERR_MEMORY && !A.ptr && !A.idx && !A.val, "allocation %lld: error %d",
                  (long long)n, err);
        }
}

// Ctrl-C while a file is read.
static void test_interrupt(void)
{
    struct csr A;
    interrupted = 1;
    CHECK(read_file("m.mtx", &A) == ERR_INTERRUPTED, "plain");
    CHECK(read_file("m.gz", &A) == ERR_INTERRUPTED, "gzip");
    interrupted = 0;
}

int main(void)
{
    if (!mkdtemp(folder)) return perror(folder), 1;
    RUN_ALL(test_good, test_files, test_info, test_pattern, test_bad, test_numbers, test_chunks,
            test_gzip, test_streams, test_write, test_no_memory, test_interrupt);
    static const char *const made[] = {"a.mtx",    "plain.mtx.gz", "two.gz", "more.gz", "cut.gz",
                                       "wrong.gz", "secret.mtx",   "w.mtx",  "m.mtx",   "m.gz"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) unlink(path_of(made[i]));
    CHECK(rmdir(folder) == 0, "%s: %s", folder, strerror(errno));
    return TEST_END();
}
