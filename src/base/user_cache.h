// The cache folder of the program: $XDG_CACHE_HOME/spbench, or ~/.cache/spbench.
#ifndef USER_CACHE_H
#define USER_CACHE_H

#include "base/base.h"
#include "base/whole_file.h"

#define USER_CACHE_PATH_MAX 600

// Sets `path` to the path of `name` in the folder, or of the folder itself if `name` is "". The
// path may not exist. Returns false if neither variable names an absolute path.
bool user_cache_path(char path[USER_CACHE_PATH_MAX], const char *name);
// Creates the folder, if possible.
void user_cache_make(void);

// Opens a file of the folder for reading and returns its descriptor. Returns -1 unless `path` is a
// regular file: a pipe would block, and a device has no end.
int user_cache_open(const char *path);
// whole_file_open() for a file of the folder. Returns an error if `path` is there, but is no
// regular file.
int user_cache_replace(struct whole_file *f, const char *path);

#endif
