#include "base/user_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool user_cache_path(char path[USER_CACHE_PATH], const char *name)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *slash = *name ? "/" : "";
    int n = -1;
    if (cache && *cache)
        n = snprintf(path, USER_CACHE_PATH, "%s/spbench%s%s", cache, slash, name);
    else if (home && *home)
        n = snprintf(path, USER_CACHE_PATH, "%s/.cache/spbench%s%s", home, slash, name);
    return n > 0 && n < USER_CACHE_PATH;
}

void user_cache_make(const char *name)
{
    char folder[USER_CACHE_PATH];
    if (!user_cache_path(folder, "")) return;
    char *last = strrchr(folder, '/');
    *last = 0;
    mkdir(folder, 0777); // the parent; each may exist already
    *last = '/';
    mkdir(folder, 0777);
    if (*name && user_cache_path(folder, name)) mkdir(folder, 0700);
}
