#include "records/record_tail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "records/json.h"
#include "records/record.h"
#include "records/record_read.h"

#define HEAD "{\"schema\":\"" RECORD_SCHEMA "\"" // beginning of every record

// Returns true if a line begins like a record. Blanks between its words may differ.
static bool begins_as_record(const char *line)
{
    const char *head = HEAD;
    for (; *line && *head; line++) {
        if (*line == *head)
            head++;
        else if (*line != ' ')
            return false;
    }
    return true;
}

int record_tail_judge(const char *line, int64_t length, bool *part)
{
    cJSON *o;
    *part = false;
    // A power failure can leave zero bytes.
    int err = (int64_t)strlen(line) == length ? json_parse(line, &o) : ERR_INPUT;
    if (!err) cJSON_Delete(o);
    if (err != ERR_INPUT) return err;
    *part = begins_as_record(line);
    return fail_drop();
}

static int cannot_mend(const char *path)
{
    return fail(ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

// Returns the offset of the last line of a file that does not end with a newline; -1: errno.
static off_t last_line(int fd, off_t size)
{
    char piece[1 << 12];
    while (size > 0) {
        size_t want = (size_t)min64(size, sizeof piece);
        ssize_t got = pread(fd, piece, want, size - (off_t)want);
        if (got < 0 && errno == EINTR) continue;
        if (got >= 0 && got < (ssize_t)want) errno = EIO;
        if (got != (ssize_t)want) return -1;
        while (want && piece[want - 1] != '\n') want--, size--;
        if (want) break;
    }
    return size;
}

// Sets *out to the bytes from `from` to the end, as a text; the caller frees it.
static int read_tail(int fd, const char *path, off_t from, off_t size, char **out)
{
    char *text = *out = mem_alloc((int64_t)(size - from) + 1, 1);
    if (!text) return ERR_MEMORY;
    for (off_t at = from; at < size;) {
        ssize_t got = pread(fd, text + (at - from), (size_t)(size - at), at);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO; // another process has shortened the file
        if (got <= 0) return cannot_mend(path);
        at += got;
    }
    text[size - from] = 0;
    return OK;
}

static int mend(int fd, const char *path, off_t from, off_t size, const char *text, int64_t *cut)
{
    struct record x;
    bool part;
    int err = record_tail_judge(text, (int64_t)(size - from), &part);
    if (err) return err;
    if (part) {
        if (ftruncate(fd, from)) return cannot_mend(path);
        *cut = (int64_t)(size - from);
        return OK;
    }
    err = record_read(text, &x);
    if (err == ERR_INPUT) {
        fail_drop();
        return fail(ERR_USAGE,
                    "-o %s: its last line has no end and is no part of a record; the file is left "
                    "as it is",
                    path);
    }
    if (err) return err;
    record_free(&x);
    return write(fd, "\n", 1) == 1 ? OK : cannot_mend(path);
}

int record_tail_mend(int fd, const char *path, int64_t *cut)
{
    char last = '\n', *text;
    off_t size = lseek(fd, 0, SEEK_END);
    *cut = 0;
    if (size <= 0) return OK; // a pipe has none
    if (pread(fd, &last, 1, size - 1) < 0) return cannot_mend(path);
    if (last == '\n') return OK;
    off_t from = last_line(fd, size);
    if (from < 0) return cannot_mend(path);
    int err = read_tail(fd, path, from, size, &text);
    if (!err) err = mend(fd, path, from, size, text, cut);
    mem_free(text);
    return err;
}
