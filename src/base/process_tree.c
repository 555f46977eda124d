#include "base/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sysfs.h"

static bool has(const struct process_tree *t, pid_t pid)
{
    for (int i = 0; i < t->count; i++)
        if (t->pids[i] == pid) return true;
    return false;
}

static void add(struct process_tree *t, pid_t pid)
{
    if (pid > 0 && t->count < PROCESS_TREE_MAX && !has(t, pid)) t->pids[t->count++] = pid;
}

// Adds the processes that one thread has started.
static void add_children(struct process_tree *t, pid_t pid, const char *thread)
{
    char path[64];
    int child;
    snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", (int)pid, thread);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%d", &child) == 1) add(t, child);
    if (f) fclose(f);
}

void process_tree_find(pid_t root, struct process_tree *t)
{
    t->count = 0;
    add(t, root);
    for (int i = 0; i < t->count; i++) { // count grows
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/task", (int)t->pids[i]);
        DIR *threads = opendir(path);
        struct dirent *entry;
        while (threads && (entry = readdir(threads)))
            if (entry->d_name[0] != '.') add_children(t, t->pids[i], entry->d_name);
        if (threads) closedir(threads);
    }
}

static int64_t pages_of(pid_t pid)
{
    char path[64];
    long long size, resident = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    // Shared pages are the page cache of mapped files.
    if (fscanf(f, "%lld %lld %lld", &size, &resident, &shared) != 3) resident = shared = 0;
    fclose(f);
    return max64(resident - shared, 0);
}

int64_t process_tree_memory(const struct process_tree *t)
{
    int64_t pages = 0;
    for (int i = 0; i < t->count; i++) pages += pages_of(t->pids[i]);
    return pages * sysconf(_SC_PAGESIZE);
}

// Returns the processor time of a process. Adds that of its ended children to *ended.
static double used_ms(pid_t pid, double *ended)
{
    char path[64], text[1024], *rest;
    double t[4] = {0};
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    // Eleven fields lie between the name in brackets and the times. The name can have brackets,
    // too.
    if (sysfs_line(path, text, sizeof text) && (rest = strrchr(text, ')')))
        sscanf(rest, ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %lf %lf %lf %lf", &t[0], &t[1],
               &t[2], &t[3]);
    const double tick_ms = 1e3 / (double)sysconf(_SC_CLK_TCK);
    *ended += (t[2] + t[3]) * tick_ms;
    return (t[0] + t[1]) * tick_ms;
}

double process_children_ms(void)
{
    struct process_tree t;
    double ms = 0, ended = 0;
    process_tree_find(getpid(), &t);
    for (int i = 0; i < t.count; i++) {
        const double own = used_ms(t.pids[i], &ended);
        if (i) ms += own;
    }
    return ms + ended;
}

void process_tree_kill(const struct process_tree *t)
{
    for (int i = 0; i < t->count; i++) kill(t->pids[i], SIGKILL);
}
