// A process and all that it has started, and what those have started, as /proc tells.
#ifndef PROCESS_TREE_H
#define PROCESS_TREE_H

#include <sys/types.h>

#include "base/base.h"

#define PROCESS_TREE_MAX 256 // processes; further ones are left out

struct process_tree {
    pid_t pids[PROCESS_TREE_MAX]; // size count; the first is the one asked for
    int count;
};

// One whose parent has ended belongs to nobody's tree. Linux tells children where it is built with
// CONFIG_PROC_CHILDREN; elsewhere the process is alone.
void process_tree_find(pid_t root, struct process_tree *t);
// The host memory that is theirs alone, in bytes; of one that has ended 0.
int64_t process_tree_memory(const struct process_tree *t);
// Ends them at once.
void process_tree_kill(const struct process_tree *t);

#endif
