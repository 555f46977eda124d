#include "base/user_cache.h"

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

void user_cache_make(void)
{
    char folder[USER_CACHE_PATH_MAX];
    if (!user_cache_path(folder, "")) return;
    char *last = strrchr(folder, '/');
    *last = 0;
    mkdir(folder, 0777); // the parent; both may exist already
    *last = '/';
    mkdir(folder, 0777);
}

int user_cache_open(const char *path)
{
    struct stat facts;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || (!fstat(fd, &facts) && S_ISREG(facts.st_mode))) return fd;
    close(fd);
    return -1;
}

int user_cache_replace(struct whole_file *f, const char *path)
{
    struct stat facts;
    if (!lstat(path, &facts) && !S_ISREG(facts.st_mode))
        return fail(ERR_OUTPUT, "%s: is no regular file", path);
    return whole_file_open(f, path);
}
