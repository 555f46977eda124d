// The control groups that this process is in, of both versions: which folders tell of them.
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>

#include "base/base.h"

// A group of the process's own, or after cgroup_up() one above it.
struct cgroup {
    char dir[PATH_MAX]; // "": it is in none
    size_t mount;       // the beginning of it that is the mount point
};

// Version 1 has groups for each controller ("memory", "cpu"), version 2 the same ones for all.
void cgroup_find(struct cgroup *g, int version, const char *controller);
// To the group above; false where there is none.
bool cgroup_up(struct cgroup *g);
// What a file of the group says: a number, or "max", which is INT64_MAX; `missing` if there is no
// such file.
int64_t cgroup_number(const struct cgroup *g, const char *file, int64_t missing);
// The processors that the process's groups give it; 0: as many as there are.
double cgroup_processors(void);

#endif
