#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

// Streams are read and decompressed in pieces of this size, between which Ctrl-C is noticed.
#define PIECE ((int64_t)1 << 20)

// Memory that grows while a stream is read into it.
struct buffer {
    char *data;
    int64_t used, size;
};

static int buffer_reserve(struct buffer *b, int64_t room)
{
    if (b->size - b->used >= room) return OK;
    int64_t size = max64(2 * b->size, b->used + room);
    char *data = mem_resize(b->data, b->used, size, 1);
    if (!data) return ERR_MEMORY;
    b->data = data;
    b->size = size;
    return OK;
}

static struct text buffer_text(struct buffer *b) { return (struct text){b->data, b->used, false}; }

bool text_is_gzip(const void *data, int64_t bytes)
{
    const unsigned char *p = data;
    return bytes >= 2 && p[0] == 0x1f && p[1] == 0x8b;
}

// False if the bytes cannot begin a Matrix Market file. Its first line is a comment; spaces and a
// byte order mark are let through here, the parser has the last word.
static bool starts_well(const char *data, int64_t bytes)
{
    int64_t i = 0;
    while (i < bytes && i < 4096 && strchr(" \t\r\n\xef\xbb\xbf", data[i]) && data[i]) i++;
    return i == bytes || data[i] == '%';
}

// The size of the text as the last member tells it: a hint, so it is not trusted beyond what
// deflate can reach and what there is.
static int64_t size_hint(const unsigned char *data, int64_t bytes)
{
    if (bytes < 18) return PIECE;
    const unsigned char *p = data + bytes - 4;
    int64_t told = p[0] | p[1] << 8 | p[2] << 16 | (int64_t)p[3] << 24;
    return min64(min64(told, 1032 * bytes), mem_available() / 2) + 64;
}

static long long line_of_end(const struct buffer *b)
{
    long long line = 1;
    for (int64_t i = 0; i < b->used; i++) line += b->data[i] == '\n';
    return line;
}

int text_inflate(const char *name, const void *data, int64_t bytes, struct text *out)
{
    *out = (struct text){0};
    struct buffer b = {0};
    z_stream z = {.next_in = (Bytef *)data};
    int64_t left = bytes; // not yet handed to zlib, which counts in 32 bits
    if (inflateInit2(&z, 15 + 16) != Z_OK)
        return fail(ERR_MEMORY, "%s: out of memory for zlib", name);
    int err = buffer_reserve(&b, size_hint(data, bytes));
    for (bool checked = false; !err;) {
        if (interrupted) {
            err = fail(ERR_INTERRUPTED, "%s: interrupted", name);
            break;
        }
        if (!z.avail_in) {
            z.avail_in = (uInt)min64(left, PIECE);
            left -= z.avail_in;
        }
        if ((err = buffer_reserve(&b, 1))) break;
        uInt room = (uInt)min64(b.size - b.used, PIECE);
        z.next_out = (Bytef *)b.data + b.used;
        z.avail_out = room;
        int rc = inflate(&z, Z_NO_FLUSH);
        b.used += room - z.avail_out;
        if (rc == Z_STREAM_END) {
            int64_t rest = left + z.avail_in;
            const unsigned char *next = z.next_in;
            while (rest && !*next) next++, rest--; // padding, as on tapes
            if (!rest) break;
            if (!text_is_gzip(next, rest))
                err = fail(ERR_INPUT, "%s:%lld: something that is not gzip follows the gzip data",
                           name, line_of_end(&b));
            else if (inflateReset(&z) != Z_OK)
                err = fail(ERR_MEMORY, "%s: out of memory for zlib", name);
            z.next_in = (Bytef *)next;
            z.avail_in = 0;
            left = rest;
        } else if (rc == Z_MEM_ERROR) {
            err = fail(ERR_MEMORY, "%s: out of memory for zlib", name);
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            err = fail(ERR_INPUT, "%s:%lld: damaged gzip data (%s)", name, line_of_end(&b),
                       z.msg ? z.msg : "zlib");
        } else if (!z.avail_in && !left && z.avail_out) {
            err = fail(ERR_INPUT, "%s:%lld: the gzip data is truncated", name, line_of_end(&b));
        }
        if (!err && !checked && b.used >= 4096) {
            checked = true;
            if (!starts_well(b.data, b.used)) break;
        }
    }
    inflateEnd(&z);
    if (err)
        mem_free(b.data);
    else
        *out = buffer_text(&b);
    return err;
}

static int stream_read(const char *name, int fd, struct text *out)
{
    struct buffer b = {0};
    int err = OK;
    for (bool checked = false; !err;) {
        if ((err = buffer_reserve(&b, PIECE))) break;
        ssize_t got = read(fd, b.data + b.used, (size_t)(b.size - b.used));
        if (interrupted) {
            err = fail(ERR_INTERRUPTED, "%s: interrupted", name);
        } else if (got < 0 && errno != EINTR) {
            err = fail(ERR_INPUT, "%s: %s", name, strerror(errno));
        } else if (got == 0) {
            break;
        } else if (got > 0) {
            b.used += got;
            if (!checked && b.used >= 4096) {
                checked = true;
                if (!text_is_gzip(b.data, b.used) && !starts_well(b.data, b.used)) break;
            }
        }
    }
    if (err)
        mem_free(b.data);
    else
        *out = buffer_text(&b);
    return err;
}

int text_open(const char *path, struct text *t)
{
    *t = (struct text){0};
    bool is_stdin = !strcmp(path, "-");
    const char *name = is_stdin ? "stdin" : path;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && interrupted) return fail(ERR_INTERRUPTED, "%s: interrupted", name);
    if (fd < 0) return fail(ERR_INPUT, "%s: %s", name, strerror(errno));

    int err = OK;
    struct stat st;
    struct text raw = {0};
    if (fstat(fd, &st)) {
        err = fail(ERR_INPUT, "%s: %s", name, strerror(errno));
    } else if (S_ISDIR(st.st_mode)) {
        err = fail(ERR_INPUT, "%s: is a directory, not a matrix", name);
    } else if (!is_stdin && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
            err = stream_read(name, fd, &raw);
        else
            raw = (struct text){p, st.st_size, true};
    } else {
        err = stream_read(name, fd, &raw); // a pipe, a device, or a file that hides its size
    }
    if (!is_stdin) close(fd);
    if (err) return err;
    if (!text_is_gzip(raw.data, raw.bytes)) {
        *t = raw;
        return OK;
    }
    err = text_inflate(name, raw.data, raw.bytes, t);
    text_close(&raw);
    return err;
}

void text_close(struct text *t)
{
    if (t->mapped)
        munmap((void *)t->data, (size_t)t->bytes);
    else
        mem_free((void *)t->data);
    *t = (struct text){0};
}
