#include "base/user_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Not in /tmp, where other users could place files. A relative $XDG_CACHE_HOME is ignored, as the
// XDG specification demands.
bool user_cache_path(char path[USER_CACHE_PATH_MAX], const char *name)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *slash = *name ? "/" : "";
    int n = -1;
    if (cache && *cache == '/')
        n = snprintf(path, USER_CACHE_PATH_MAX, "%s/spbench%s%s", cache, slash, name);
    else if (home && *home == '/')
        n = snprintf(path, USER_CACHE_PATH_MAX, "%s/.cache/spbench%s%s", home, slash, name);
    return n > 0 && n < USER_CACHE_PATH_MAX;
}

// Returns true if this user or root owns the file or folder, and nobody else can write to it.
static bool is_private(const struct stat *facts)
{
    bool trusted = facts->st_uid == geteuid() || facts->st_uid == 0;
    return trusted && !(facts->st_mode & (S_IWGRP | S_IWOTH));
}

static bool make_folder(const char *folder)
{
    struct stat facts;
    mkdir(folder, 0700); // the folder may exist already
    if (stat(folder, &facts) || !S_ISDIR(facts.st_mode)) return false;
    if (!is_private(&facts) && facts.st_uid == geteuid()) {
        chmod(folder, facts.st_mode & 07755);
        if (stat(folder, &facts)) return false;
    }
    return is_private(&facts);
}

bool user_cache_make(const char *name)
{
    char folder[USER_CACHE_PATH_MAX];
    if (!user_cache_path(folder, "")) return false;
    char *last = strrchr(folder, '/');
    *last = 0;
    mkdir(folder, 0777); // the parent, which may exist already
    *last = '/';
    bool made = make_folder(folder);
    return made && *name ? user_cache_path(folder, name) && make_folder(folder) : made;
}

static bool folder_is_private(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    struct stat facts;
    int length = slash ? (int)(slash - path) : 0;
    if (snprintf(folder, sizeof folder, "%.*s", length, path) >= (int)sizeof folder) return false;
    return !stat(slash ? folder : ".", &facts) && is_private(&facts);
}

int user_cache_open(const char *path)
{
    struct stat facts;
    if (!folder_is_private(path)) return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || (!fstat(fd, &facts) && S_ISREG(facts.st_mode) && is_private(&facts))) return fd;
    close(fd);
    return -1;
}

int user_cache_replace(struct whole_file *f, const char *path)
{
    struct stat facts;
    if (!folder_is_private(path))
        return fail(ERR_OUTPUT, "%s: others can write to its folder", path);
    if (!lstat(path, &facts) && !S_ISREG(facts.st_mode))
        return fail(ERR_OUTPUT, "%s: is no regular file", path);
    int err = whole_file_open(f, path);
    if (!err && fchmod(fileno(f->stream), 0600)) // not the mode of the replaced file
        err = whole_file_close(f, fail(ERR_OUTPUT, "%s: %s", path, strerror(errno)));
    return err;
}
