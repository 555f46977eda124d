#include "data/stream.h"

#include <string.h>

// Bytes of a call of zlib. Ctrl-C is tested between two calls.
#define PIECE ((int64_t)1 << 20)

// Most bytes that deflate can pack into a byte.
#define DEFLATE_MOST 1032

bool stream_is_gzip(const void *data, int64_t bytes)
{
    const unsigned char *p = data;
    return bytes >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

static int no_zlib(void) { return fail(ERR_MEMORY, "out of memory for zlib"); }

int stream_open(struct stream *s, const void *data, int64_t bytes)
{
    *s = (struct stream){.data = data, .bytes = bytes, .gzip = stream_is_gzip(data, bytes)};
    if (s->gzip && inflateInit2(&s->z, 15 + 16) != Z_OK) return no_zlib();
    s->inflating = s->gzip;
    return OK;
}

int stream_restart(struct stream *s)
{
    s->at = 0;
    s->ended = false;
    if (!s->gzip) return OK;
    s->z.avail_in = 0;
    return inflateReset(&s->z) == Z_OK ? OK : no_zlib();
}

int64_t stream_most(const struct stream *s)
{
    // zlib holds less than a window of 2^15 bytes.
    int64_t left = s->bytes - s->at;
    return s->gzip ? DEFLATE_MOST * (left + s->z.avail_in) + (1 << 15) : left;
}

void stream_close(struct stream *s)
{
    if (s->inflating) inflateEnd(&s->z);
    *s = (struct stream){0};
}

// Begins the next gzip member, if there is one. Zeros between members are padding, as on tapes.
static int member_next(struct stream *s)
{
    s->at -= s->z.avail_in;
    s->z.avail_in = 0;
    while (s->at < s->bytes && !s->data[s->at]) s->at++;
    s->ended = s->at == s->bytes;
    if (s->ended) return OK;
    if (!stream_is_gzip(s->data + s->at, s->bytes - s->at))
        return fail(ERR_INPUT, "something that is not gzip follows the gzip data");
    return inflateReset(&s->z) == Z_OK ? OK : no_zlib();
}

// Calls zlib, which counts in 32 bits. Adds the inflated bytes to *got.
static int inflate_piece(struct stream *s, char *out, int64_t size, int64_t *got)
{
    if (!s->z.avail_in) {
        s->z.next_in = (Bytef *)s->data + s->at;
        s->z.avail_in = (uInt)min64(s->bytes - s->at, PIECE);
        s->at += s->z.avail_in;
    }
    s->z.next_out = (Bytef *)out;
    s->z.avail_out = (uInt)min64(size, PIECE);
    int64_t before = s->z.avail_out;
    int rc = inflate(&s->z, Z_NO_FLUSH);
    *got += before - s->z.avail_out;
    if (rc == Z_STREAM_END) return member_next(s);
    if (rc == Z_MEM_ERROR) return no_zlib();
    if (rc != Z_OK && rc != Z_BUF_ERROR)
        return fail(ERR_INPUT, "damaged gzip data (%s)", s->z.msg ? s->z.msg : "zlib");
    if (!s->z.avail_in && s->at == s->bytes && s->z.avail_out)
        return fail(ERR_INPUT, "the gzip data is truncated");
    return OK;
}

int stream_read(struct stream *s, char *out, int64_t size, int64_t *got)
{
    *got = 0;
    if (!s->gzip) {
        *got = min64(size, s->bytes - s->at);
        if (*got) memcpy(out, s->data + s->at, (size_t)*got);
        s->at += *got;
        return OK;
    }
    int err = OK;
    while (!err && !s->ended && *got < size)
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted")
                          : inflate_piece(s, out + *got, size - *got, got);
    return err;
}

int stream_skip(struct stream *s, int64_t bytes, int64_t *got)
{
    char dropped[1 << 14];
    int64_t piece = -1;
    int err = OK;
    for (*got = 0; !err && piece && *got < bytes; *got += piece)
        err = stream_read(s, dropped, min64(bytes - *got, sizeof dropped), &piece);
    return err;
}
