// The lines of a text file, plain or gzip.
#ifndef LINES_H
#define LINES_H

#include <zlib.h>

#include "base/base.h"

struct lines {
    const char *path; // for messages
    gzFile file;
    char *buffer;     // owned, size capacity
    int64_t capacity; // bytes of the buffer
    int64_t used;     // bytes read and not yet dropped
    int64_t at;       // start of the next line
    bool ended;       // the file is read to its end
};

// ERR_INPUT: the file cannot be read.
int lines_open(struct lines *l, const char *path);
// Sets *line to the next line without its newline; NULL behind the last. The text stays until the
// next call. ERR_INPUT: the file cannot be read, or its gzip data is damaged or truncated.
int lines_next(struct lines *l, char **line);
void lines_close(struct lines *l);

#endif
