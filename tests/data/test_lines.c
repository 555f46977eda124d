// Lines of plain and gzip files: line ends, zeros, long lines, damaged files, lack of memory.
#include "data/lines.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

static char path[] = P_tmpdir "/test_lines.XXXXXX";

// Writes the bytes, as gzip or plain.
static void put(const void *data, int64_t bytes, bool gzip)
{
    gzFile f = gzopen(path, gzip ? "wb" : "wbT");
    CHECK(f && gzwrite(f, data, (unsigned)bytes) == bytes && !gzclose(f), "cannot write");
}

static void test_ends(bool gzip)
{
    static const struct {
        const char *text;
        int64_t bytes;
        const char *lines[4];
    } row[] = {{"", 0, {NULL}},
               {"\n", 1, {"", NULL}},
               {"a", 1, {"a", NULL}},
               {"a\nbc\n", 5, {"a", "bc", NULL}},
               {"\n\nx", 3, {"", "", "x", NULL}},
               {"a\0b\nc\n", 6, {"a", "c", NULL}}};
    for (int i = 0; i < COUNT(row); i++) {
        struct lines l;
        char *line;
        put(row[i].text, row[i].bytes, gzip);
        int err = lines_open(&l, path), at = 0;
        while (!err && !(err = lines_next(&l, &line)) && line && row[i].lines[at])
            CHECK(!strcmp(line, row[i].lines[at++]), "row %d: '%s'", i, line);
        CHECK(!err && !line && !row[i].lines[at], "row %d: %d lines, error %d", i, at, err);
        CHECK(!lines_next(&l, &line) && !line, "row %d: there is a line behind the last", i);
        lines_close(&l);
    }
}

// Returns a text of lines of 0, 1, 2, ... letters.
static char *stairs(int64_t count, int64_t *bytes)
{
    *bytes = count * (count + 1) / 2;
    char *text = mem_alloc(*bytes, 1), *p = text;
    for (int64_t i = 0; i < count; i++) {
        memset(p, 'a' + (int)(i % 26), (size_t)i);
        p[i] = '\n';
        p += i + 1;
    }
    return text;
}

// Reads a file of stairs(). Sets *count to the number of lines ahead of the first wrong line.
static int read_stairs(int64_t *count)
{
    struct lines l;
    char *line;
    *count = 0;
    int err = lines_open(&l, path);
    while (!err && !(err = lines_next(&l, &line)) && line &&
           (int64_t)strlen(line) == *count && (!*line || *line == 'a' + (int)(*count % 26)))
        ++*count;
    lines_close(&l);
    return err;
}

static void test_long(bool gzip)
{
    int64_t bytes, count;
    char *text = stairs(700, &bytes);
    put(text, bytes, gzip);
    CHECK(!read_stairs(&count) && count == 700, "%lld lines: %s", (long long)count, fail_text());
    int err = ERR_MEMORY, n = 0;
    while (err == ERR_MEMORY && n < 100) {
        mem_fail_at(++n);
        err = read_stairs(&count);
        mem_fail_at(0);
    }
    CHECK(!err && n > 1, "error %d after %d allocations", err, n);
    mem_free(text);
    // A line of three pieces.
    bytes = 3 << 20;
    text = mem_alloc(bytes, 1);
    memset(text, 'x', (size_t)bytes);
    put(text, bytes, gzip);
    struct lines l;
    char *line;
    CHECK(!lines_open(&l, path) && !lines_next(&l, &line) && line &&
              (int64_t)strlen(line) == bytes,
          "%s", fail_text());
    lines_close(&l);
    mem_free(text);
}

// A gzip file that is cut anywhere, or has a wrong byte anywhere in its data, is refused.
static void test_damage(void)
{
    static unsigned char whole[1 << 14], spoiled[1 << 14];
    int64_t bytes, count;
    char *text = stairs(60, &bytes);
    put(text, bytes, true);
    mem_free(text);
    FILE *f = fopen(path, "r");
    int64_t size = f ? (int64_t)fread(whole, 1, sizeof whole, f) : 0;
    CHECK(f && !fclose(f) && size > 50 && size < COUNT(whole), "%lld bytes", (long long)size);
    for (int64_t cut = 20; cut < size; cut += 3) {
        CHECK(!truncate(path, 0) && (f = fopen(path, "w")) && fwrite(whole, (size_t)cut, 1, f) &&
                  !fclose(f),
              "cannot write");
        int err = read_stairs(&count);
        CHECK(err == ERR_INPUT && strstr(fail_text(), ": the gzip data is truncated"),
              "cut at %lld: %d %s", (long long)cut, err, fail_text());
    }
    for (int64_t at = size - 8; at < size; at++) {
        memcpy(spoiled, whole, (size_t)size);
        spoiled[at] ^= 1;
        CHECK((f = fopen(path, "w")) && fwrite(spoiled, (size_t)size, 1, f) && !fclose(f),
              "cannot write");
        int err = read_stairs(&count);
        CHECK(err == ERR_INPUT && strstr(fail_text(), ": damaged gzip data ("), "byte %lld: %d %s",
              (long long)at, err, fail_text());
    }
}

static void test_unreadable(void)
{
    struct lines l;
    char *line;
    CHECK(lines_open(&l, "/no/such/file") == ERR_INPUT &&
              !strcmp(fail_text(), "/no/such/file: cannot be read: No such file or directory"),
          "%s", fail_text());
    lines_close(&l);
    CHECK(!lines_open(&l, "/") && lines_next(&l, &line) == ERR_INPUT &&
              !strcmp(fail_text(), "/: cannot be read: Is a directory"),
          "%s", fail_text());
    lines_close(&l);
}

int main(void)
{
    int fd = mkstemp(path);
    CHECK(fd >= 0 && !close(fd), "cannot make %s", path);
    for (int gzip = 0; gzip < 2; gzip++) {
        test_ends(gzip);
        test_long(gzip);
    }
    RUN_ALL(test_damage, test_unreadable);
    unlink(path);
    return TEST_END();
}
