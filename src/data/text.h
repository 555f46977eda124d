// The text of a matrix file, in windows of whole lines. The window of a plain file is the whole
// file, mapped or read. Compressed files and archives have windows of a few megabytes, which
// replace each other, so that only the entries need memory.
#ifndef TEXT_H
#define TEXT_H

#include "data/stream.h"

struct text {
    const char *name;       // for messages: the file, "stdin", or "archive.tar/member"
    const char *data, *end; // the window
    bool last;              // the window is the last
    int64_t lines;          // lines before the window
    int64_t bytes;          // bytes of text up to the end of the window
    // Contents of the file.
    const void *file;
    int64_t file_bytes;
    bool mapped, borrowed; // by mmap(); owned by the caller; neither: owned
    // Only for compressed files and archives.
    struct stream stream;
    int64_t left;             // unread bytes of the archive's member; INT64_MAX: no archive
    char *buffer, *full_name; // owned
    int64_t size, used;       // bytes of the buffer; bytes filled
    int64_t window;           // bytes wanted for the buffer
};

// Opens `path`, or stdin for "-", and reads the first window. Stops early if the first bytes are
// not of a Matrix Market file: an endless stream must not fill the memory.
int text_open(const char *path, struct text *t);
// text_open() with small windows, to read only the first lines.
int text_open_head(const char *path, struct text *t);
// text_open() for the contents of a file, which the caller owns.
int text_open_bytes(const char *name, const void *data, int64_t bytes, struct text *t);
// Reads the next window. Not after the last.
int text_next(struct text *t);
// Returns the most bytes that there can be from `p` to the end of the text.
int64_t text_most(const struct text *t, const char *p);
// Returns the number of the line with `at`.
long long text_line(const struct text *t, const char *at);
void text_close(struct text *t);

// Sets *start to the name of the matrix in a path, without folders. Returns its length without
// .mtx, .gz and .tar.
size_t text_stem(const char *path, const char **start);

// For tests: sets the bytes of windows; 0: the default.
void text_window(int64_t bytes);

#endif
