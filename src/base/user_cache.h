// The cache folder of the program: $XDG_CACHE_HOME/spbench, or ~/.cache/spbench.
#ifndef USER_CACHE_H
#define USER_CACHE_H

#include "base/base.h"
#include "base/whole_file.h"

#define USER_CACHE_PATH_MAX 600

// Sets `path` to the path of `name` in the folder, or of the folder itself if `name` is "". The
// path may not exist. Returns false if neither variable names an absolute path.
bool user_cache_path(char path[USER_CACHE_PATH_MAX], const char *name);
// Creates the folder, and in it the folder `name` unless "", for this user alone. Removes the right
// of others to write to an own folder. Returns false if there is no such folder, or another user
// can write to it.
bool user_cache_make(const char *name);

// Opens a file of the cache for reading and returns its descriptor. Returns -1 unless `path` is a
// regular file (a pipe would block, a device has no end), and unless only this user and root can
// write to the file and its folder.
int user_cache_open(const char *path);
// whole_file_open() for a file of the cache, which only this user can read or write. Returns an
// error if `path` is there, but is no regular file, or if others can write to its folder.
int user_cache_replace(struct whole_file *f, const char *path);

#endif
