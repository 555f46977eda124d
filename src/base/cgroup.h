// The control groups of this process, version 1 and version 2: their folders and the limits in
// them.
#ifndef CGROUP_H
#define CGROUP_H

#include <limits.h>

#include "base/base.h"

// A group of the process, or, after cgroup_up(), a group above it.
struct cgroup {
    char dir[PATH_MAX]; // folder of the group; "": the process is in no group
    size_t mount;       // length of the mount point, the first part of `dir`
};

// Sets g to the group of the process. Version 1 has a hierarchy of groups for each controller
// ("memory", "cpu"), version 2 one hierarchy for all.
void cgroup_find(struct cgroup *g, int version, const char *controller);
// Moves g to the group above. Returns false if g is the topmost group.
bool cgroup_up(struct cgroup *g);
// Returns the number in a file of the group; INT64_MAX for "max", `missing` if there is no such
// file.
int64_t cgroup_number(const struct cgroup *g, const char *file, int64_t missing);
// Returns the number of processors that the groups allow, which may be a fraction; 0: no limit.
double cgroup_processors(void);

#endif
