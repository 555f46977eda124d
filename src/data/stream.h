// The bytes of a file one after the other: those of a block of memory, inflated where it is gzip.
#ifndef STREAM_H
#define STREAM_H

#include <zlib.h>

#include "base/base.h"

struct stream {
    const unsigned char *data; // the block, size bytes
    int64_t bytes, at;         // at: what was read of it, or handed to zlib
    bool gzip, inflating;      // inflating: z is to be closed
    bool ended;                // the last gzip member is
    z_stream z;
};

bool stream_is_gzip(const void *data, int64_t bytes);

int stream_open(struct stream *s, const void *data, int64_t bytes);
// The next bytes, as many as there is room for; fewer at the end, and where it fails. fail_text()
// is what is wrong, without the place.
int stream_read(struct stream *s, char *out, int64_t room, int64_t *got);
// Drops so many bytes; `got` are fewer only at the end.
int stream_skip(struct stream *s, int64_t bytes, int64_t *got);
// Begins again with the first byte.
int stream_restart(struct stream *s);
// What can still come, at most.
int64_t stream_most(const struct stream *s);
void stream_close(struct stream *s);

#endif
