#define _GNU_SOURCE // memrchr
#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/tar.h"

// Large enough to give every thread work, small enough to stay in a cache between inflating and
// parsing.
#define WINDOW      ((int64_t)8 << 20)
#define HEAD_WINDOW ((int64_t)1 << 16)
#define READ_PIECE  ((int64_t)1 << 20)

static int64_t window = WINDOW;

void text_window(int64_t bytes) { window = bytes ? bytes : WINDOW; }

size_t text_stem(const char *path, const char **start)
{
    static const char *const ends[] = {".mtx", ".mtx.gz", ".tar", ".tar.gz", ".tgz"};
    const char *slash = strrchr(path, '/');
    *start = slash ? slash + 1 : path;
    size_t length = strlen(*start);
    for (int i = 0; i < COUNT(ends); i++) {
        size_t cut = strlen(ends[i]);
        if (length > cut && !strcmp(*start + length - cut, ends[i])) return length - cut;
    }
    return length;
}

// Returns true for a zip file whose first member is an array, as written by numpy.savez() and
// scipy.sparse.save_npz().
static bool is_numpy(const struct text *t)
{
    const int64_t head = 128; // more than the header of a member with a short name
    return t->file_bytes >= 4 && !memcmp(t->data, "PK\3\4", 4) &&
           memmem(t->data, (size_t)min64(t->file_bytes, head), ".npy", 4);
}

// Returns ERR_INPUT if the first bytes are those of another compression, else OK.
static int refuse_packed(const struct text *t)
{
    static const struct {
        const char *magic, *format, *command;
    } packers[] = {{"BZh", "bzip2", "bunzip2"},
                   {"\xfd"
                    "7zXZ",
                    "xz", "unxz"},
                   {"\x28\xb5\x2f\xfd", "zstd", "unzstd"},
                   {"PK\3\4", "zip", "unzip"},
                   {"PK\5\6", "zip", "unzip"},
                   {"7z\xbc\xaf\x27\x1c", "7z", "7z x"}};
    if (is_numpy(t))
        return fail(ERR_INPUT,
                    "%s: is a NumPy file, not a matrix file; in Python: "
                    "scipy.io.mmwrite(\"out.mtx\", scipy.sparse.load_npz(\"%s\"))",
                    t->name, t->name);
    for (int i = 0; i < COUNT(packers); i++) {
        size_t length = strlen(packers[i].magic);
        if (t->file_bytes < (int64_t)length || memcmp(t->data, packers[i].magic, length)) continue;
        bool is_stdin = !strcmp(t->name, "stdin");
        return fail(ERR_INPUT, "%s: is packed with %s; unpack it first: %s%s%s", t->name,
                    packers[i].format, packers[i].command, is_stdin ? "" : " ",
                    is_stdin ? "" : t->name);
    }
    return OK;
}

static int64_t newlines(const char *p, const char *end)
{
    int64_t count = 0;
    for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++) count++;
    return count;
}

long long text_line(const struct text *t, const char *at)
{
    return t->lines + 1 + newlines(t->data, at);
}

int64_t text_most(const struct text *t, const char *p)
{
    if (t->last) return t->end - p;
    return t->buffer + t->used - p + min64(t->left, stream_most(&t->stream));
}

// Adds the name, and for ERR_INPUT the last line, to the text of an error.
static int fail_at_end(const struct text *t, int err)
{
    if (err != ERR_INPUT) return fail((enum err)err, "%s: %s", t->name, fail_text());
    return fail(ERR_INPUT, "%s:%lld: %s", t->name, text_line(t, t->buffer + t->used), fail_text());
}

// Reads a gzip stream to its end, which has the checksum.
static int archive_end(struct text *t)
{
    int64_t got;
    return t->stream.gzip ? stream_skip(&t->stream, INT64_MAX, &got) : OK;
}

// Fills the rest of the buffer. Sets t->last at the end of the text.
static int fill(struct text *t)
{
    int64_t wanted = min64(t->size - t->used, t->left), got;
    int err = stream_read(&t->stream, t->buffer + t->used, wanted, &got);
    t->used += got;
    t->bytes += got;
    if (t->left < INT64_MAX) t->left -= got;
    t->last = got < wanted || !t->left;
    if (!err && t->left && t->last && t->left < INT64_MAX)
        err = fail(ERR_INPUT, "the archive is cut short");
    if (!err && !t->left) err = archive_end(t);
    return err ? fail_at_end(t, err) : OK;
}

// Fills the buffer and ends the window behind the last newline. Of a comment longer than the buffer
// only the % stays. Other lines, and the first line, must fit.
static int cut(struct text *t)
{
    for (;;) {
        int err = fill(t);
        if (err) return err;
        const char *newline = memrchr(t->buffer, '\n', (size_t)t->used);
        t->end = t->last ? t->buffer + t->used : newline ? newline + 1 : NULL;
        if (t->end) return OK;
        int64_t i = 0;
        while (i < t->used && strchr(" \t\r", t->buffer[i]) && t->buffer[i]) i++;
        if (!t->lines || i == t->used || t->buffer[i] != '%') {
            char size[32];
            fail(ERR_INPUT, "a line is longer than %s", size_text(t->size, size));
            return fail_at_end(t, ERR_INPUT);
        }
        t->buffer[0] = '%';
        t->used = 1;
    }
}

int text_next(struct text *t)
{
    t->lines += newlines(t->data, t->end);
    t->used -= t->end - t->buffer;
    memmove(t->buffer, t->end, (size_t)t->used);
    return cut(t);
}

// Moves the stream to the matrix in the archive.
static int archive_open(struct text *t)
{
    struct tar_member m;
    char stem[256];
    const char *start;
    int length = (int)text_stem(t->name, &start);
    snprintf(stem, sizeof stem, "%.*s", length, start);
    int err = stream_restart(&t->stream);
    if (!err) err = tar_find(&t->stream, t->name, stem, &m);
    if (err) return err;
    t->left = m.bytes;
    size_t size = strlen(t->name) + strlen(m.name) + 2;
    if (!(t->full_name = mem_alloc((int64_t)size, 1))) return ERR_MEMORY;
    snprintf(t->full_name, size, "%s/%s", t->name, m.name);
    t->name = t->full_name;
    return OK;
}

// Reads the first window of a compressed file or an archive.
static int windows_start(struct text *t)
{
    char head[TAR_BLOCK];
    int64_t got;
    int err = stream_open(&t->stream, t->file, t->file_bytes);
    if (err) return err;
    t->left = INT64_MAX;
    // An error in the first bytes is reported below, when they are read again.
    err = stream_read(&t->stream, head, TAR_BLOCK, &got);
    if (err) fail_drop();
    bool archive = !err && got == TAR_BLOCK && tar_is_header(head);
    err = archive ? archive_open(t) : stream_restart(&t->stream);
    if (err) return err;
    // A byte more than can follow, so that the first read finds the end.
    t->size = max64(2, min64(t->window, min64(t->left, stream_most(&t->stream)) + 1));
    if (!(t->buffer = mem_alloc(t->size, 1))) return ERR_MEMORY;
    t->data = t->buffer;
    return cut(t);
}

static bool is_archive(const void *data, int64_t bytes)
{
    return bytes >= TAR_BLOCK && tar_is_header(data);
}

// Reads the first window of a file.
static int start(struct text *t)
{
    if (stream_is_gzip(t->file, t->file_bytes) || is_archive(t->file, t->file_bytes))
        return windows_start(t);
    t->data = t->file_bytes ? t->file : "";
    t->end = t->data + t->file_bytes;
    t->bytes = t->file_bytes;
    t->last = true;
    return refuse_packed(t);
}

int text_open_bytes(const char *name, const void *data, int64_t bytes, struct text *t)
{
    *t = (struct text){
        .name = name, .file = data, .file_bytes = bytes, .borrowed = true, .window = window};
    int err = start(t);
    if (err) text_close(t);
    return err;
}

// Returns false if the bytes cannot begin a Matrix Market file, compressed or not. The first line
// of a file begins with %, here also after blanks and a byte order mark. The parser is stricter.
static bool starts_well(const char *data, int64_t bytes)
{
    int64_t i = 0;
    if (stream_is_gzip(data, bytes) || is_archive(data, bytes)) return true;
    while (i < bytes && i < 4096 && strchr(" \t\r\n\xef\xbb\xbf", data[i]) && data[i]) i++;
    return i == bytes || data[i] == '%';
}

// Reads a pipe to its end.
static int pipe_read(int fd, struct text *t)
{
    char *data = NULL;
    int64_t used = 0, size = 0;
    int err = OK;
    for (bool checked = false; !err;) {
        if (size - used < READ_PIECE) {
            int64_t larger = max64(2 * size, READ_PIECE);
            char *moved = mem_resize(data, used, larger, 1);
            if (!moved) {
                err = ERR_MEMORY;
                break;
            }
            data = moved, size = larger;
        }
        ssize_t got = interrupted ? -1 : read(fd, data + used, (size_t)(size - used));
        if (interrupted) {
            err = fail(ERR_INTERRUPTED, "%s: interrupted", t->name);
        } else if (got < 0 && errno != EINTR) {
            err = fail(ERR_INPUT, "%s: %s", t->name, strerror(errno));
        } else if (got == 0) {
            break;
        } else if (got > 0) {
            used += got;
            if (!checked && used >= 4096) {
                checked = true;
                if (!starts_well(data, used)) break;
            }
        }
    }
    t->file = data; // freed by text_close(), also after an error
    t->file_bytes = used;
    return err;
}

static int file_read(int fd, bool is_stdin, struct text *t)
{
    struct stat st;
    if (fstat(fd, &st)) return fail(ERR_INPUT, "%s: %s", t->name, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return fail(ERR_INPUT,
                    "%s: is a directory, not a matrix; 'spbench sweep -o FILE %s' measures all "
                    "matrices in it",
                    t->name, t->name);
    if (!is_stdin && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            t->file = p;
            t->file_bytes = st.st_size;
            t->mapped = true;
            return OK;
        }
    }
    return pipe_read(fd, t); // a pipe, a device, or a file without a size, as in /proc
}

static int open_windows(const char *path, int64_t bytes, struct text *t)
{
    bool is_stdin = !strcmp(path, "-");
    *t = (struct text){.name = is_stdin ? "stdin" : path, .window = bytes};
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && interrupted) return fail(ERR_INTERRUPTED, "%s: interrupted", t->name);
    if (fd < 0) return fail(ERR_INPUT, "%s: %s", t->name, strerror(errno));
    int err = file_read(fd, is_stdin, t);
    if (!is_stdin) close(fd);
    if (!err) err = start(t);
    if (err) text_close(t);
    return err;
}

int text_open(const char *path, struct text *t) { return open_windows(path, window, t); }

int text_open_head(const char *path, struct text *t)
{
    return open_windows(path, min64(window, HEAD_WINDOW), t);
}

void text_close(struct text *t)
{
    stream_close(&t->stream);
    mem_free(t->buffer);
    mem_free(t->full_name);
    if (t->mapped)
        munmap((void *)t->file, (size_t)t->file_bytes);
    else if (!t->borrowed)
        mem_free((void *)t->file);
    *t = (struct text){0};
}
