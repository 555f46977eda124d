// Where the user's cache is: what can be had again, at some cost, is kept there from run to run.
#ifndef USER_CACHE_H
#define USER_CACHE_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define USER_CACHE_PATH 600

// The path of `name` in this program's folder there; "" is the folder. False where the user has no
// place for a cache. It is never one in /tmp, where others could have put theirs.
bool user_cache_path(char path[USER_CACHE_PATH], const char *name);
// Makes that folder, and, unless "", the one of this name in it, which is then the user's alone.
// What cannot be made shows when something is to be written there.
void user_cache_make(const char *name);

#ifdef __cplusplus
}
#endif
#endif
