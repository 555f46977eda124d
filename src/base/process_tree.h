// A process with its children and further descendants, as listed in /proc.
#ifndef PROCESS_TREE_H
#define PROCESS_TREE_H

#include <sys/types.h>

#include "base/base.h"

#define PROCESS_TREE_MAX 256 // processes; more are ignored

struct process_tree {
    pid_t pids[PROCESS_TREE_MAX]; // size count; the first is the root
    int count;
};

// Sets t to the tree below `root`. A process whose parent has ended is in no tree. A Linux without
// CONFIG_PROC_CHILDREN lists no children, so the tree is `root` alone.
void process_tree_find(pid_t root, struct process_tree *t);
// Returns the unshared host memory of the processes in bytes; 0 for a process that has ended.
int64_t process_tree_memory(const struct process_tree *t);
// Returns the processor time in milliseconds of the processes below the calling process, also of
// ended ones. Each process counts in ticks of 10 ms.
double process_children_ms(void);
// Sends SIGKILL to all processes.
void process_tree_kill(const struct process_tree *t);

#endif
