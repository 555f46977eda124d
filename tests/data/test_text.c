// Files that come in windows: gzip and tar, and what is no matrix file at all.
#include <zlib.h>

#include "data/load.h"
#include "data/mtx.h"
#include "data/tar.h"
#include "data/text.h"
#include "plant.h"

#define REAL "%%MatrixMarket matrix coordinate real general\n"

// Bytes that grow.
struct bytes {
    char *data;
    size_t used, room;
};

static void add(struct bytes *b, const void *data, size_t size)
{
    if (b->used + size >= b->room) b->data = realloc(b->data, b->room = 2 * (b->used + size) + 64);
    memcpy(b->data + b->used, data, size);
    b->used += size;
    b->data[b->used] = 0;
}

static void add_text(struct bytes *b, const char *text) { add(b, text, strlen(text)); }

static struct bytes zipped(struct bytes from)
{
    z_stream z = {0};
    deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    size_t room = deflateBound(&z, from.used) + 64;
    struct bytes to = {.data = malloc(room)};
    z.next_in = (Bytef *)from.data, z.avail_in = (uInt)from.used;
    z.next_out = (Bytef *)to.data, z.avail_out = (uInt)room;
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END, "deflate");
    to.used = room - z.avail_out;
    deflateEnd(&z);
    return to;
}

static void sum_set(char *block)
{
    unsigned sum = 0;
    memset(block + 148, ' ', 8);
    for (int i = 0; i < TAR_BLOCK; i++) sum += (unsigned char)block[i];
    snprintf(block + 148, 8, "%06o", sum);
}

// A member of an archive: its header and its contents, padded.
static void add_member(struct bytes *b, const char *name, char type, const char *contents)
{
    static const char zeros[TAR_BLOCK];
    char block[TAR_BLOCK] = "";
    memcpy(block, name, strlen(name) < 100 ? strlen(name) : 100);
    snprintf(block + 124, 12, "%011o", (unsigned)strlen(contents));
    block[156] = type;
    memcpy(block + 257, "ustar\00000", 8);
    sum_set(block);
    add(b, block, TAR_BLOCK);
    add_text(b, contents);
    add(b, zeros, -strlen(contents) % TAR_BLOCK);
}

static int parse(const char *name, struct bytes b, struct coo *C, struct mtx_info *info)
{
    char *exact = malloc(b.used ? b.used : 1); // for the sanitizer
    if (b.used) memcpy(exact, b.data, b.used);
    int err = mtx_parse(name, exact, b.used, 1, C, info);
    free(exact);
    return err;
}

// Read as it is and zipped, with large windows and small ones: the same outcome each time. `want`
// is the one value of the matrix, or the message.
static void outcome(const char *name, struct bytes b, const char *want)
{
    static const int64_t windows[] = {0, 100, 300};
    struct bytes zip = zipped(b);
    for (int z = 0; z < 2; z++)
        for (int w = 0; w < COUNT(windows); w++) {
            struct coo C;
            struct mtx_info info;
            char got[32];
            text_window(windows[w]);
            int err = parse(name, z ? zip : b, &C, &info);
            CHECK(!err || err == ERR_INPUT, "error %d", err);
            snprintf(got, sizeof got, "%g", err || !C.nnz ? 0 : C.val[0]);
            CHECK_TEXT(err ? fail_text() : got, want);
            coo_free(&C);
        }
    text_window(0);
    free(zip.data);
}

// Windows of every size give what one window gives; mistakes have their lines.
static void test_windows(void)
{
    struct bytes b = {0};
    struct coo whole, C;
    struct mtx_info info, told;
    add_text(&b, REAL "%comment\n\n  % another\n500 500 2000\n");
    for (int i = 0; i < 2000; i++) {
        char line[100];
        snprintf(line, sizeof line, "%s%d %d %d.5%s\n", i % 7 ? "" : "% note\n\n", i % 499 + 1,
                 i % 37 + 1, i, i % 5 ? "" : " \r");
        add_text(&b, line);
    }
    CHECK(!parse("f", b, &whole, &told) && whole.nnz == 2000, "%s", fail_text());
    struct bytes zip = zipped(b);
    for (int64_t w = 60; w < (int64_t)b.used + 100; w += 1 + w / 3) {
        text_window(w);
        int err = parse("f", zip, &C, &info);
        CHECK(!err && C.nnz == 2000 && !memcmp(C.row, whole.row, 2000 * sizeof *C.row) &&
                  !memcmp(C.col, whole.col, 2000 * sizeof *C.col) &&
                  !memcmp(C.val, whole.val, 2000 * sizeof *C.val),
              "windows of %lld: %s", (long long)w, err ? fail_text() : "differs");
        CHECK(info.bytes == told.bytes && info.zeros == told.zeros, "%lld bytes",
              (long long)info.bytes);
        coo_free(&C);
    }
    free(zip.data);
    coo_free(&whole);

    // One mistake in the last line, and one entry too few.
    *strstr(b.data, "1999.5") = 'x';
    zip = zipped(b);
    text_window(100);
    CHECK(parse("f", zip, &C, &info) == ERR_INPUT, "a mistake");
    char want[100];
    int lines = 0;
    for (char *p = b.data; (p = strchr(p, '\n')); p++) lines++;
    snprintf(want, sizeof want, "f:%d: value \"x999.5\" is not a number", lines);
    CHECK_TEXT(fail_text(), want);
    free(zip.data);
    *strrchr(b.data, 'x') = '1';
    b.used -= 3; // inside the last line
    while (b.data[b.used - 1] != '\n') b.used--;
    zip = zipped(b);
    CHECK(parse("f", zip, &C, &info) == ERR_INPUT, "an entry too few");
    snprintf(want, sizeof want,
             "f:%d: too few entries: the size line promised 2000, the file ends after 1999", lines);
    CHECK_TEXT(fail_text(), want);
    zip.used -= 9; // the end is told by its own
    CHECK(parse("f", zip, &C, &info) == ERR_INPUT && strstr(fail_text(), "gzip data is truncated"),
          "%s", fail_text());
    free(zip.data);
    free(b.data);
    text_window(0);
}

// A comment may be longer than a window, a line of the matrix not.
static void test_long_lines(void)
{
    static const char *const starts[] = {"%", "  %"};
    static char blank[1001], long_text[1001];
    struct coo C;
    struct mtx_info info;
    memset(blank, ' ', 1000), memset(long_text, 'x', 1000);
    text_window(100);
    for (int i = 0; i < 2; i++) {
        struct bytes b = {0};
        add_text(&b, REAL), add_text(&b, starts[i]), add_text(&b, long_text);
        add_text(&b, "\n1 1 1\n"), add_text(&b, starts[i]), add_text(&b, long_text);
        add_text(&b, "\n1 1 7\n"), add_text(&b, starts[i]), add_text(&b, long_text);
        struct bytes zip = zipped(b);
        CHECK(!parse("f", zip, &C, &info) && C.nnz == 1 && C.val[0] == 7, "%s", fail_text());
        CHECK(info.bytes == (int64_t)b.used, "%lld bytes", (long long)info.bytes);
        coo_free(&C);
        free(zip.data), free(b.data);
    }
    for (int i = 0; i < 2; i++) {
        struct bytes b = {0};
        add_text(&b, REAL "1 1 1\n%\n1 1"), add_text(&b, i ? blank : long_text);
        add_text(&b, " 7\n");
        struct bytes zip = zipped(b);
        CHECK(parse("f", zip, &C, &info) == ERR_INPUT, "a long line");
        CHECK_TEXT(fail_text(), "f:4: a line is longer than 100 bytes");
        free(zip.data), free(b.data);
    }
    text_window(0);
}

// A size line, so many bytes of comments, the same zipped part repeated, and entries.
static struct bytes commented(const char *head, int repeats, const char *tail)
{
    struct bytes all = {0}, part = {0}, text = {0}, zip;
    for (int i = 0; i < 1 << 16; i++) add_text(&part, "% a comment of 32 letters ....\n");
    add_text(&text, head);
    zip = zipped(text), add(&all, zip.data, zip.used), free(zip.data);
    zip = zipped(part);
    for (int i = 0; i < repeats; i++) add(&all, zip.data, zip.used);
    free(zip.data);
    text.used = 0, add_text(&text, tail);
    zip = zipped(text), add(&all, zip.data, zip.used), free(zip.data);
    free(part.data), free(text.data);
    return all;
}

// What a file promises and cannot hold is a mistake, however large it is; what it can hold and
// memory cannot is told as that.
static void test_promises(void)
{
    struct bytes b = {0}, many = {0};
    struct coo C;
    struct mtx_info info;
    add_text(&b, REAL "9 9 1000000000000\n1 1 1\n");
    struct bytes zip = zipped(b);
    CHECK(parse("f", b, &C, &info) == ERR_INPUT, "a promise");
    CHECK_TEXT(fail_text(),
               "f:2: too few entries: 1000000000000 promised, but at most 1 fit into the file");
    CHECK(parse("f", zip, &C, &info) == ERR_INPUT &&
              strstr(fail_text(), "f:2: too few entries: 1000000000000 promised, but at most "),
          "%s", fail_text());
    free(b.data), free(zip.data);

    // Of comments there may be more than memory, and more entries could be in their place than fit.
    replant(30000);
    zip = commented(REAL "9 9 1\n", 20, "1 1 5\n");
    CHECK(!parse("f", zip, &C, &info) && C.val[0] == 5 && info.bytes > 40000000, "%s", fail_text());
    coo_free(&C);
    free(zip.data);
    zip = commented(REAL "9 9 2000000\n", 20, "1 1 5\n");
    CHECK(parse("f", zip, &C, &info) == ERR_INPUT, "error of a promise");
    CHECK_TEXT(fail_text(), "f:1310724: too few entries: the size line promised 2000000, the file "
                            "ends after 1");
    free(zip.data);

    add_text(&many, "%%MatrixMarket matrix coordinate pattern general\n9 9 1000000\n");
    for (int i = 0; i < 1000000; i++) add_text(&many, "1 1\n");
    zip = zipped(many);
    for (int z = 0; z < 2; z++) {
        CHECK(parse("f", z ? zip : many, &C, &info) == ERR_MEMORY, "%s", fail_text());
        CHECK(strstr(fail_text(), "f:2: 1000000 entries and 9 rows need 32.0 MB of memory, ") &&
                  strstr(fail_text(), " MB free"),
              "%s", fail_text());
    }
    free(many.data), free(zip.data);
    uproot();
}

#define MATRIX(value) REAL "1 1 1\n1 1 " value "\n"

static void test_archives(void)
{
    struct bytes b = {0};
    add_member(&b, "cant/", '5', "");
    add_member(&b, "cant/cant_b.mtx", '0', MATRIX("3"));
    add_member(&b, "cant/._cant.mtx", '0', "what macOS puts there");
    add_member(&b, "cant/README", '0', "no matrix");
    add_member(&b, "cant/cant.mtx", '0', MATRIX("7"));
    add_member(&b, "cant/cant_c.mtx", 0, MATRIX("4"));
    outcome("dir/cant.tar.gz", b, "7");
    outcome("cant.tgz", b, "7");
    outcome("cant_c.tar", b, "4");
    outcome("dir/x.tar", b,
            "dir/x.tar: has 3 matrices, none called x.mtx; unpack the one you want: "
            "cant/cant_b.mtx, cant/cant.mtx, cant/cant_c.mtx");
    b.used = 0;
    outcome("x.tar", b, "x.tar:1: the file is empty");
    add_member(&b, "cant/README", '0', "no matrix");
    outcome("x.tar", b, "x.tar: there is no .mtx in this archive");
    add_member(&b, "cant\n/cant.mtx", '0', MATRIX("x"));
    outcome("x.tar", b, "x.tar/cant?/cant.mtx:3: value \"x\" is not a number");
    b.used -= TAR_BLOCK - 50;
    outcome("cant.tar", b, "cant.tar/cant?/cant.mtx:2: the archive is cut short");
    b.used -= 100;
    outcome("x.tar", b, "x.tar: the archive is cut short");
    b.data[b.used = TAR_BLOCK + 100] = 0;
    outcome("x.tar", b, "x.tar: the archive is cut short");
    b.used = 2 * TAR_BLOCK;
    add_member(&b, "cant.mtx", '0', MATRIX("1"));
    b.data[2 * TAR_BLOCK + 5] ^= 1;
    outcome("x.tar", b, "x.tar: the archive is damaged");
    free(b.data);
}

// Names and sizes that have no room in a header.
static void test_long_names(void)
{
    static const char folders[] = "a/folder/that/has/a/name/which/is/longer/than/a/header/has/room/"
                                  "for/in/the/hundred/letters/of/its/name";
    char name[300], pax[400];
    struct bytes b = {0};
    snprintf(name, sizeof name, "%s/x.mtx", folders);
    add_member(&b, "././@LongLink", 'L', name);
    add_member(&b, name, '0', MATRIX("7"));
    outcome("x.tar", b, "7");
    b.used = 0;
    add_member(&b, "another", 'g', "12 comment=x\n");
    snprintf(pax, sizeof pax, "20 mtime=1.5\n%d path=%s\n11 size=%zu\n", (int)strlen(name) + 10,
             name, strlen(MATRIX("8")));
    add_member(&b, "PaxHeaders/x", 'x', pax);
    add_member(&b, "short", '0', MATRIX("8"));
    outcome("x.tar", b, "8");
    memset(b.data + b.used - 2 * TAR_BLOCK + 124, '7', 11); // the other size is used
    sum_set(b.data + b.used - 2 * TAR_BLOCK);
    outcome("x.tar", b, "8");
    b.used = 0;
    add_member(&b, "x.mtx", '0', MATRIX("9")); // the folder apart, the size in binary
    memcpy(b.data + 345, "folder/of/x", 11);
    memcpy(b.data + 124, "\x80\0\0\0\0\0\0\0\0\0\0", 11);
    b.data[135] = sizeof MATRIX("9") - 1;
    sum_set(b.data);
    outcome("x.tar", b, "9");
    b.data[b.used - TAR_BLOCK + 52] = 'y';
    outcome("x.tar", b, "x.tar/folder/of/x/x.mtx:3: row \"y\" is not a whole number");
    free(b.data);
}

// Cut anywhere or wrong anywhere, an archive is read or refused in one line.
static void test_broken_archives(void)
{
    struct bytes b = {0};
    struct coo C;
    struct mtx_info info;
    add_member(&b, "x", 'L', "cant/cant.mtx");
    add_member(&b, "x", '0', MATRIX("7"));
    for (size_t whole = b.used, i = 0; i < whole; i++) {
        int err = parse("cant.tar", (struct bytes){b.data, i, 0}, &C, &info);
        CHECK(err ? err == ERR_INPUT && !strchr(fail_text(), '\n') : C.nnz == 1, "%zu: %s", i,
              fail_text());
        CHECK(err || i > whole - TAR_BLOCK + strlen(MATRIX("7")) - 1, "%zu bytes are enough", i);
        coo_free(&C);
        b.data[i] ^= 0x15;
        err = parse("cant.tar", b, &C, &info);
        CHECK(!err || (err == ERR_INPUT && !strchr(fail_text(), '\n')), "%zu: %s", i, fail_text());
        coo_free(&C);
        b.data[i] ^= 0x15;
    }
    free(b.data);
}

// What is packed in another way is told by its name.
static void test_packed(void)
{
    static const char *const files[][2] = {
        {"BZh91AY&SY", "f: is packed with bzip2; unpack it first: bunzip2 f"},
        {"\xfd"
         "7zXZ",
         "f: is packed with xz; unpack it first: unxz f"},
        {"\x28\xb5\x2f\xfd$", "f: is packed with zstd; unpack it first: unzstd f"},
        {"PK\3\4\24", "f: is packed with zip; unpack it first: unzip f"},
        {"7z\xbc\xaf\x27\x1c", "f: is packed with 7z; unpack it first: 7z x f"},
        {"PK", "f:1: not a Matrix Market file: it does not begin with %%MatrixMarket; "
               "scipy.io.mmwrite writes one"},
    };
    struct coo C;
    struct mtx_info info;
    for (int i = 0; i < COUNT(files); i++) {
        struct bytes b = {(char *)files[i][0], strlen(files[i][0]), 0};
        CHECK(parse("f", b, &C, &info) == ERR_INPUT, "%s", files[i][1]);
        CHECK_TEXT(fail_text(), files[i][1]);
    }
    CHECK(parse("stdin", (struct bytes){"BZh9", 4, 0}, &C, &info) == ERR_INPUT, "bzip2");
    CHECK_TEXT(fail_text(), "stdin: is packed with bzip2; unpack it first: bunzip2");
}

static void test_names(void)
{
    static const char *const names[][2] = {
        {"a/cant.mtx", "cant"},    {"cant.mtx.gz", "cant"}, {"b/c/cant.tar.gz", "cant"},
        {"cant.tgz", "cant"},      {"cant.tar", "cant"},    {"cant.gz", "cant.gz"},
        {"a.mtx/plain", "plain"},  {".mtx", ".mtx"},        {"x.mtx.mtx", "x.mtx"},
        {"x.tar.mtx.gz", "x.tar"},
    };
    for (int i = 0; i < COUNT(names); i++) {
        struct matrix M;
        CHECK(!matrix_name(names[i][0], &M), "%s", fail_text());
        CHECK_TEXT(M.name, names[i][1]);
        matrix_free(&M);
    }
}

TESTS(test_windows, test_long_lines, test_promises, test_archives, test_long_names,
      test_broken_archives, test_packed, test_names)
