#include "data/lines.h"

#include <errno.h>
#include <string.h>

#define FIRST_CAPACITY ((int64_t)1 << 16)
#define PIECE          ((int64_t)1 << 20) // zlib counts in 32 bits

int lines_open(struct lines *l, const char *path)
{
    *l = (struct lines){.path = path};
    errno = 0;
    l->file = gzopen(path, "re");
    if (l->file) return OK;
    if (!errno) return fail(ERR_MEMORY, "%s: out of memory for zlib", path);
    return fail(ERR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
}

// Returns why the last gzread() ended; OK at the end of the file.
static int read_error(const struct lines *l)
{
    int code, reason = errno;
    const char *text = gzerror(l->file, &code);
    switch (code) {
    case Z_OK:
    case Z_STREAM_END: return OK;
    case Z_MEM_ERROR: return fail(ERR_MEMORY, "%s: out of memory for zlib", l->path);
    case Z_BUF_ERROR: return fail(ERR_INPUT, "%s: the gzip data is truncated", l->path);
    case Z_ERRNO: return fail(ERR_INPUT, "%s: cannot be read: %s", l->path, strerror(reason));
    default: return fail(ERR_INPUT, "%s: damaged gzip data (%s)", l->path, text);
    }
}

// Moves the current line to the front of the buffer and reads behind the used bytes. The last byte
// of the buffer stays free for a zero.
static int fill(struct lines *l)
{
    if (l->at) memmove(l->buffer, l->buffer + l->at, (size_t)(l->used - l->at));
    l->used -= l->at;
    l->at = 0;
    if (l->used + 1 >= l->capacity) {
        int64_t larger = max64(2 * l->capacity, FIRST_CAPACITY);
        char *grown = mem_resize(l->buffer, l->capacity, larger, 1);
        if (!grown) return ERR_MEMORY;
        l->buffer = grown;
        l->capacity = larger;
    }
    int64_t wanted = min64(l->capacity - 1 - l->used, PIECE);
    int got = gzread(l->file, l->buffer + l->used, (unsigned)wanted);
    if (got > 0) l->used += got;
    l->ended = got < wanted;
    return l->ended ? read_error(l) : OK;
}

// Returns the first newline that is at least `seen` bytes behind the start of the line, or NULL.
static char *find_newline(const struct lines *l, int64_t seen)
{
    int64_t left = l->used - l->at - seen;
    return left ? memchr(l->buffer + l->at + seen, '\n', (size_t)left) : NULL;
}

int lines_next(struct lines *l, char **line)
{
    char *end;
    int64_t seen = 0; // bytes of the line, all without a newline
    *line = NULL;
    while (!(end = find_newline(l, seen)) && !l->ended) {
        seen = l->used - l->at;
        int err = fill(l);
        if (err) return err;
    }
    if (!end && l->at == l->used) return OK;
    *line = l->buffer + l->at;
    l->at = end ? end + 1 - l->buffer : l->used;
    if (!end) end = l->buffer + l->used;
    *end = 0;
    return OK;
}

void lines_close(struct lines *l)
{
    if (l->file) gzclose(l->file);
    mem_free(l->buffer);
    *l = (struct lines){0};
}
