// The folder in which the user's programs keep what can be made again: $XDG_CACHE_HOME/spbench, or
// ~/.cache/spbench.
#ifndef USER_CACHE_H
#define USER_CACHE_H

#include "base/base.h"

#define USER_CACHE_PATH_MAX 600

// The path of `name` there, which may not exist; "" is the folder. False where the user has no
// place for a cache.
bool user_cache_path(char path[USER_CACHE_PATH_MAX], const char *name);
// Makes the folder, where it can be made.
void user_cache_make(void);

#endif
