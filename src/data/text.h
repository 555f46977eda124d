// The bytes of a file: mapped, or read from a stream, or decompressed where they are gzip.
#ifndef TEXT_H
#define TEXT_H

#include "base/base.h"

struct text {
    const char *data; // NULL when empty
    int64_t bytes;
    bool mapped; // by mmap, else owned memory
};

// `path`, or stdin for "-". Reading stops early where the first bytes cannot be those of a Matrix
// Market file: an endless stream must not fill the memory before it is refused.
int text_open(const char *path, struct text *t);
void text_close(struct text *t);

bool text_is_gzip(const void *data, int64_t bytes);
// Decompresses all members of a gzip file. `name` is for messages.
int text_inflate(const char *name, const void *data, int64_t bytes, struct text *out);

#endif
