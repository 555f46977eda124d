// The text of a matrix file, in windows of whole lines. A plain file is one window: all of it,
// mapped or read. What is inflated (.gz, .tar.gz), and a .tar, comes in windows of a few megabytes,
// each in place of the one before, so that a file takes no more memory than its entries need.
#ifndef TEXT_H
#define TEXT_H

#include "data/stream.h"

struct text {
    const char *name;       // for messages: the file, "stdin", or "archive.tar/member"
    const char *data, *end; // the window
    bool last;              // nothing follows it
    int64_t lines;          // before the window
    int64_t bytes;          // up to the window's end
    // The file, as it lies on the disk.
    const void *file;
    int64_t file_bytes;
    bool mapped, borrowed; // by mmap; the caller's; neither: owned memory
    // Of what comes in windows.
    struct stream stream;
    int64_t left;             // of the archive's member, still in the stream; INT64_MAX: no archive
    char *buffer, *full_name; // owned
    int64_t size, used;       // bytes of the buffer; those that are filled
    int64_t window;           // bytes that it should have
};

// Opens `path`, or stdin for "-", with the first window. Reading stops early where the first bytes
// cannot be those of a Matrix Market file: an endless stream must not fill the memory before it is
// refused.
int text_open(const char *path, struct text *t);
// The same for who wants the first lines alone: in small windows.
int text_open_head(const char *path, struct text *t);
// The same of a file's bytes, which stay the caller's.
int text_open_bytes(const char *name, const void *data, int64_t bytes, struct text *t);
// The next window; not after the last.
int text_next(struct text *t);
// How many bytes there may be from `p` in the window to the end of the text, at most.
int64_t text_most(const struct text *t, const char *p);
// The number of the line that has `at` in the window.
long long text_line(const struct text *t, const char *at);
void text_close(struct text *t);

// The name of a matrix in a path: without folders, .mtx, .gz and .tar. Returns its length.
size_t text_stem(const char *path, const char **start);

// For tests: windows of so many bytes; 0: as usual.
void text_window(int64_t bytes);

#endif
