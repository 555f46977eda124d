// The entries of a Matrix Market file: counting the lines that hold entries, and reading the lines
// into triplets. The text is cut into chunks, which threads read independently.
#ifndef MTX_ENTRIES_H
#define MTX_ENTRIES_H

#include "data/mtx.h"
#include "data/mtx_number.h"
#include "data/text.h"

// Error of a line. mtx.c writes the message.
enum bad { BAD_NONE, BAD_ROW, BAD_COLUMN, BAD_VALUE, BAD_EXTRA, BAD_DIAGONAL, BAD_COUNT };

// Whole lines of the window.
struct chunk {
    const char *start, *end;
    int64_t first, entries; // number of the first entry in the file; entries of the chunk
    int64_t zeros;          // entries with the value 0
    enum bad bad;           // error that ended the reading
    const char *at;         // word with the error
};

// A file that is being parsed.
struct mtx_parser {
    struct text *text;
    const char *data, *end; // unread text of the window
    enum mtx_field field;
    enum mtx_symmetry symmetry;
    bool array;
    int32_t m, n;
    int64_t entries; // promised by the size line
    int64_t found;   // counted so far
    uint64_t seed;
    char memory_error[FAIL_TEXT_MAX]; // "": there is enough memory for the entries
    struct chunk *chunks;             // chunks of the window, size chunk_count
    int64_t chunk_count;
};

// A carriage return counts as a blank, so that lines may end with CRLF.
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

// Returns the number of lines in [p, end) that are neither blank nor a comment. A line begins at p.
int64_t entries_count(const char *p, const char *end);

// Reads the entries of `c` into A, from A's entry c->first on. Stops at the first error.
void chunk_read(const struct mtx_parser *f, struct chunk *c, const struct coo *A);

#endif
