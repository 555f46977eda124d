#include "base/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *volatile unfinished; // temporary name of the open file

static int was_interrupted(const char *name)
{
    return fail(ERR_INTERRUPTED, "%s: interrupted", name);
}

static int cannot_write(const char *name)
{
    if (errno == EINTR && interrupted) return was_interrupted(name);
    return fail(ERR_OUTPUT, "%s: %s", name, strerror(errno));
}

// Returns the permissions of the new file: those of the replaced file `old`, else the default ones.
static mode_t mode_of(const struct stat *old)
{
    if (old) return old->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// Resolves links in the name: the file that a link points to is replaced, not the link.
static int resolve(struct whole_file *f, bool exists)
{
    if (exists) return realpath(f->name, f->path) ? 0 : -1;
    if (strlen(f->name) >= sizeof f->path) return errno = ENAMETOOLONG, -1;
    strcpy(f->path, f->name);
    return 0;
}

// Creates the temporary file in the folder of f->path.
static int make_temporary(struct whole_file *f)
{
    const char *slash = strrchr(f->path, '/');
    int folder = slash ? (int)(slash + 1 - f->path) : 0;
    snprintf(f->temporary, sizeof f->temporary, "%.*s.spbench-XXXXXX", folder, f->path);
    int fd = mkstemp(f->temporary);
    if (fd < 0)
        f->temporary[0] = 0;
    else
        unfinished = f->temporary;
    return fd;
}

static int open_temporary(struct whole_file *f, const struct stat *old)
{
    // A file that may not be written is not replaced either.
    if ((old && faccessat(AT_FDCWD, f->name, W_OK, AT_EACCESS)) || resolve(f, old))
        return cannot_write(f->name);
    int fd = make_temporary(f);
    if (fd < 0) return cannot_write(f->name);
    if (!fchmod(fd, mode_of(old))) f->stream = fdopen(fd, "w");
    if (f->stream) return OK;
    int err = cannot_write(f->name);
    close(fd);
    unlink(f->temporary);
    unfinished = NULL;
    return err;
}

int whole_file_open(struct whole_file *f, const char *name)
{
    struct stat old;
    f->name = name;
    f->stream = NULL;
    f->path[0] = f->temporary[0] = 0;
    bool exists = !stat(name, &old);
    int err = OK;
    if (exists && S_ISDIR(old.st_mode)) {
        err = fail(ERR_OUTPUT, "%s: %s", name, strerror(EISDIR));
    } else if (exists && !S_ISREG(old.st_mode)) {
        // fopen() of a pipe blocks until a reader comes, and no further signal may come.
        if (!interrupted) f->stream = fopen(name, "w");
        if (!f->stream) err = interrupted ? was_interrupted(name) : cannot_write(name);
    } else if (!exists && !lstat(name, &old)) {
        err = fail(ERR_OUTPUT, "%s: is a link to a missing file", name);
    } else {
        err = open_temporary(f, exists ? &old : NULL);
    }
    return err;
}

int whole_file_close(struct whole_file *f, int err)
{
    bool failed = ferror(f->stream) || fflush(f->stream);
    int reason = errno; // error of the first failed call
    if (fclose(f->stream) && !failed) failed = true, reason = errno;
    if (failed && !err) errno = reason, err = cannot_write(f->name);
    if (!f->temporary[0]) return err;
    if (!err && rename(f->temporary, f->path)) err = cannot_write(f->name);
    if (err) unlink(f->temporary);
    unfinished = NULL;
    return err;
}

void whole_file_abandon(void)
{
    const char *name = unfinished;
    if (name) unlink(name);
}
