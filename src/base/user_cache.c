#include "base/user_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
