#define _GNU_SOURCE // F_OFD_SETLKW
// The output of records: stdout, or a file that several runs may append to.
#include "records/record.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/words.h"
#include "records/record_tail.h"

static int cannot_write(const char *path)
{
    return fail(ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

// Locks the lines against other processes, after waiting for them. Returns false if the file has no
// locks: a pipe, or some file systems.
static bool lock_lines(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = RECORD_LOCK_END};
    return !fcntl(fd, F_OFD_SETLKW, &all);
}

static void unlock_lines(int fd)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = RECORD_LOCK_END};
    fcntl(fd, F_OFD_SETLK, &all);
}

// Repairs the end of a file under the lock: an unfinished line may be one that is being written.
static int mend_end(int fd, const char *path, int64_t *cut)
{
    bool locked = lock_lines(fd);
    int err = record_tail_mend(fd, path, cut);
    if (locked) unlock_lines(fd);
    return err;
}

int record_check_name(const char *path)
{
    if (ends_with(path, ".gz"))
        return fail(ERR_USAGE, "-o %s: records are written plain; compress them afterwards", path);
    if (ends_with(path, ".csv"))
        return fail(ERR_USAGE, "-o %s: records are JSON Lines and not CSV: -o %.*s.jsonl", path,
                    (int)strlen(path) - 4, path);
    return OK;
}

// Refuses a file that is no file of records, such as a matrix behind -o. Files of records begin
// with a brace, also after a crash. Counts the lines of a file that will be replaced.
static int check_kept(const char *path, bool append, int64_t *lines)
{
    struct stat facts;
    char piece[1 << 16] = "{";
    ssize_t got = 0;
    if (stat(path, &facts) || !S_ISREG(facts.st_mode)) return OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return cannot_write(path);
    int err = read(fd, piece, 1) < 0 ? cannot_write(path) : OK;
    if (!err && piece[0] != '{')
        err = fail(ERR_USAGE, "-o %s: exists and is not a record file; not overwritten", path);
    while (!err && !append && (got = read(fd, piece, sizeof piece)) > 0)
        for (ssize_t i = 0; i < got; i++) *lines += piece[i] == '\n';
    close(fd);
    return err;
}

// Returns true if a sweep is writing to the file.
static bool has_sweep(int fd)
{
    struct flock mark = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = RECORD_LOCK_END, .l_len = 1};
    return !fcntl(fd, F_OFD_GETLK, &mark) && mark.l_type != F_UNLCK;
}

int record_empty(struct record_file *out)
{
    struct stat facts;
    if (fstat(out->fd, &facts)) return cannot_write(out->path);
    out->end = 0;
    return S_ISREG(facts.st_mode) && ftruncate(out->fd, 0) ? cannot_write(out->path) : OK;
}

static bool has_name(const struct record_file *out, const struct stat *own)
{
    struct stat named;
    return !stat(out->path, &named) && named.st_dev == own->st_dev && named.st_ino == own->st_ino;
}

static void note_end(struct record_file *out)
{
    struct stat own;
    if (!fstat(out->fd, &own)) out->end = own.st_size;
}

static void note_place(struct record_file *out)
{
    struct stat own;
    out->named = !fstat(out->fd, &own) && S_ISREG(own.st_mode) && has_name(out, &own);
    note_end(out);
}

// Returns ERR_OUTPUT if the file lost its name or some of its bytes since the last write. Other
// processes may have added to the file.
static int check_place(const struct record_file *out)
{
    struct stat own;
    if (!out->named || fstat(out->fd, &own)) return OK;
    if (!has_name(out, &own))
        return fail(ERR_OUTPUT, "%s: was removed, renamed or replaced during the run", out->path);
    if (own.st_size >= out->end) return OK;
    return fail(ERR_OUTPUT, "%s: was cut from %lld to %lld bytes during the run", out->path,
                (long long)out->end, (long long)own.st_size);
}

static int open_file(struct record_file *out, const char *path, bool append)
{
    int flags = O_CREAT | O_CLOEXEC | (append ? O_RDWR | O_APPEND : O_WRONLY);
    int err = record_check_name(path);
    if (!err) err = check_kept(path, append, &out->replaced);
    if (err) return err;
    int fd = open(path, flags, 0666);
    if (fd < 0 && errno == EINTR && interrupted) // a pipe that nobody reads
        return fail(ERR_INTERRUPTED, "%s: interrupted", path);
    if (fd < 0) return cannot_write(path);
    if (append) err = mend_end(fd, path, &out->cut);
    if (err) {
        close(fd);
        return err;
    }
    out->fd = fd;
    out->path = path;
    note_place(out);
    if (append) return OK;
    err = has_sweep(fd) ? fail(ERR_OUTPUT, "-o %s: a sweep is writing to it; -append adds", path)
                        : record_empty(out);
    if (err) record_close(out);
    return err;
}

int record_run_id(char run[17])
{
    uint64_t id;
    if (getentropy(&id, sizeof id))
        return fail(ERR_OUTPUT, "no random number to name the run: %s", strerror(errno));
    snprintf(run, 17, "%016llx", (unsigned long long)id);
    return OK;
}

int record_open(struct record_file *out, const char *path, bool append, uint64_t seed)
{
    *out = (struct record_file){
        .fd = -1, .path = "stdout", .seed = seed, .threads = omp_get_max_threads()};
    int err = record_run_id(out->run);
    if (err) return err;
    if (path && strcmp(path, "-")) return open_file(out, path, append);
    out->fd = STDOUT_FILENO;
    return OK;
}

int record_close(struct record_file *out)
{
    int fd = out->fd, err = fd < 0 ? OK : check_place(out);
    out->fd = -1;
    if (fd < 0 || fd == STDOUT_FILENO) return err;
    return close(fd) ? cannot_write(out->path) : err;
}

// Writes a line, or nothing if the line does not fit. Other processes wait, so that the part that
// is cut off then is not theirs.
static int write_locked(struct record_file *out, const char *line, bool locked)
{
    struct stat before;
    int err = check_place(out);
    if (err) return err;
    bool can_cut = locked && !fstat(out->fd, &before) && S_ISREG(before.st_mode);
    size_t left = strlen(line);
    while (left) {
        ssize_t n = write(out->fd, line, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            err = cannot_write(out->path);
            // The half line stays if this fails, too.
            if (can_cut && ftruncate(out->fd, before.st_size)) return err;
            return err;
        }
        line += n;
        left -= (size_t)n;
    }
    note_end(out);
    return OK;
}

int record_line(struct record_file *out, const char *line)
{
    bool locked = lock_lines(out->fd);
    int err = write_locked(out, line, locked);
    if (locked) unlock_lines(out->fd);
    return err;
}
