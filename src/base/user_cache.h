// The cache folder of the program: $XDG_CACHE_HOME/spbench, or ~/.cache/spbench.
#ifndef USER_CACHE_H
#define USER_CACHE_H

#include "base/base.h"

#define USER_CACHE_PATH_MAX 600

// Sets `path` to the path of `name` in the folder, or of the folder itself if `name` is "". The
// path may not exist. Returns false if neither variable names an absolute path.
bool user_cache_path(char path[USER_CACHE_PATH_MAX], const char *name);
// Creates the folder, if possible.
void user_cache_make(void);

#endif
