// A stream of bytes from a block of memory, inflated if the block is gzip data.
#ifndef STREAM_H
#define STREAM_H

#include <zlib.h>

#include "base/base.h"

struct stream {
    const unsigned char *data; // the block, size bytes
    int64_t bytes, at;         // at: bytes read, or passed to zlib
    bool gzip, inflating;      // inflating: z is open
    bool ended;                // the last gzip member has ended
    z_stream z;
};

bool stream_is_gzip(const void *data, int64_t bytes);

int stream_open(struct stream *s, const void *data, int64_t bytes);
// Reads up to `size` bytes into `out`. Sets *got to the number of bytes, which is smaller only at
// the end and on failure. fail_text() then has the cause without the place.
int stream_read(struct stream *s, char *out, int64_t size, int64_t *got);
// Drops up to `bytes` bytes. Sets *got to their number, which is smaller only at the end.
int stream_skip(struct stream *s, int64_t bytes, int64_t *got);
// Moves back to the first byte.
int stream_restart(struct stream *s);
// Returns the most bytes that can follow.
int64_t stream_most(const struct stream *s);
void stream_close(struct stream *s);

#endif
