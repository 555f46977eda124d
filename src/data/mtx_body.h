// How a Matrix Market file is read: its head, then the entries, chunk by chunk. Only mtx.c,
// mtx_head.c and mtx_body.c see this.
#ifndef MTX_BODY_H
#define MTX_BODY_H

#include "data/mtx.h"
#include "data/mtx_number.h"
#include "data/text.h"

// The text is cut at newlines into chunks of about this many bytes, the grains of parallel work.
#ifndef CHUNK_MIN // the fuzzer sets a smaller one, so that it sees several chunks
#define CHUNK_MIN ((int64_t)1 << 15)
#endif
#define CHUNK_MAX ((int64_t)1 << 21)

// What is wrong with a line; mtx.c puts it into words.
enum bad { FINE, BAD_ROW, BAD_COLUMN, BAD_VALUE, BAD_EXTRA, BAD_DIAGONAL, BAD_COUNT };

struct chunk {
    const char *start, *end; // whole lines
    int64_t first, entries;  // number of its first entry in the file, how many it has
    int64_t zeros;           // those with the value 0
    enum bad bad;            // why reading stopped, FINE if it did not
    const char *at;          // the word where it stopped
};

struct body {
    struct text *text;
    const char *data, *end; // of its window, what holds entries
    enum mtx_field field;
    enum mtx_symmetry symmetry;
    bool array;
    int32_t m, n;
    int64_t entries, found; // promised by the size line; lines so far that hold one
    uint64_t seed;
    char no_room[FAIL_TEXT_MAX]; // why there is no memory for the entries, empty if there is
    struct chunk *chunks;        // of the window, size chunk_count
    int64_t chunk_count;
};

// A carriage return counts as a blank, so that CRLF needs no further thought.
static inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inline const char *blanks_skip(const char *p, const char *end)
{
    while (p < end && is_blank(*p)) p++;
    return p;
}

static inline const char *line_skip(const char *p, const char *end)
{
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline ? newline + 1 : end;
}

// A part of a line between blanks; empty at the end of the line.
struct word {
    const char *start;
    int64_t length;
};

struct word word_next(const char **p, const char *end);
// Index of the word in `names`, -1 if it is not there.
int word_find(struct word w, const char *const *names, int count);
// The word in quotes for a message: shortened, and with nothing in it that a terminal obeys.
const char *word_quote(struct word w, char text[48]);

// ERR_INPUT, "name:line: ...", the line being that of `at`.
int bad_line(const struct body *f, const char *at, const char *format, ...) PRINTF_LIKE(3, 4);

// Reads the banner and the size line; f->data is left behind them.
int head_read(struct body *f);
// The window that follows; what is in it begins at f->data.
int body_next(struct body *f);

// Lines in [p, end) that are neither blank nor a comment; p is at the start of a line.
int64_t entries_count(const char *p, const char *end);

// Reads the entries of `c` into the places c->first and on of A; stops at the first bad line.
void chunk_read(const struct body *f, struct chunk *c, const struct coo *A);

#endif
