#include "base/memory_limit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/sysfs.h"

static int64_t own_limit; // bytes; 0: none

// The control groups of this process, of both versions. Their folders are searched once.
static struct cgroup groups[2];
static bool groups_known;
static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;

void memory_limit_root(const char *folder)
{
    sysfs_root(folder);
    groups_known = false;
}

void memory_limit_set(int64_t bytes) { own_limit = bytes; }

// Returns the number of the line "key number" of a file; `missing` if there is no such line.
static int64_t number_of(const char *path, const char *key, int64_t missing)
{
    char text[64];
    return sysfs_value(path, key, text, sizeof text) ? strtoll(text, NULL, 10) : missing;
}

// Returns the number of the line "key number kB" in bytes; -1 if there is no such line.
static int64_t bytes_of(const char *path, const char *key)
{
    int64_t kib = number_of(path, key, -1);
    return kib < 0 ? -1 : kib * 1024;
}

// File names of the two cgroup versions, and the keys of the page cache in memory.stat. The kernel
// can free page cache, active or not. Version 1 counts the groups below as "total_".
static const struct version {
    const char *limit, *soft_limit, *used;
    const char *cache[2];
} versions[] = {
    {"memory.limit_in_bytes",
     NULL,
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}},
    {"memory.max", "memory.high", "memory.current", {"inactive_file", "active_file"}},
};

// Returns the free bytes of a group; INT64_MAX if the group has no limit. 1/64 of the limit is
// reserved for page tables, the stacks of threads and the program itself.
static int64_t group_free(const struct version *v, const struct cgroup *g)
{
    char stat[PATH_MAX + 64];
    int64_t limit = cgroup_number(g, v->limit, INT64_MAX);
    // The kernel throttles a group above its soft limit, which would spoil every time.
    if (v->soft_limit) limit = min64(limit, cgroup_number(g, v->soft_limit, INT64_MAX));
    if (limit > INT64_MAX / 2) return INT64_MAX; // version 1 writes "none" as almost 2^63
    int64_t used = cgroup_number(g, v->used, 0);
    snprintf(stat, sizeof stat, "%s/memory.stat", g->dir);
    for (int i = 0; i < 2; i++) used -= number_of(stat, v->cache[i], 0);
    return max64(limit - limit / 64 - max64(used, 0), 0);
}

static void groups_find(void)
{
    pthread_mutex_lock(&groups_lock);
    for (int i = 0; i < COUNT(groups) && !groups_known; i++)
        cgroup_find(&groups[i], i + 1, "memory");
    groups_known = true;
    pthread_mutex_unlock(&groups_lock);
}

// Returns the least free bytes of the process's group and of the groups above it; INT64_MAX without
// limits.
static int64_t groups_free(const struct version *v, const struct cgroup *own)
{
    struct cgroup g = *own;
    int64_t least = INT64_MAX;
    if (!*g.dir) return least;
    do least = min64(least, group_free(v, &g));
    while (cgroup_up(&g));
    return least;
}

static int64_t machine_free(void)
{
    int64_t bytes = bytes_of("/proc/meminfo", "MemAvailable");
    return bytes >= 0 ? bytes : (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
}

// Returns the unused bytes of a limit of this process. `key`: the line of /proc/self/status with
// the bytes in use.
static int64_t own_free(int resource, const char *key)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_cur >= INT64_MAX) return INT64_MAX;
    return max64((int64_t)limit.rlim_cur - max64(bytes_of("/proc/self/status", key), 0), 0);
}

static void bound(struct memory_limit *r, int64_t bytes, const char *limit)
{
    if (bytes < r->bytes) *r = (struct memory_limit){bytes, limit};
}

struct memory_limit memory_limit_find(int64_t promised)
{
    int64_t untouched = max64(promised - max64(bytes_of("/proc/self/status", "RssAnon"), 0), 0);
    struct memory_limit r = {max64(machine_free() - untouched, 0), NULL};
    groups_find();
    for (int i = 0; i < COUNT(groups); i++) {
        int64_t left = groups_free(&versions[i], &groups[i]);
        if (left < INT64_MAX) bound(&r, max64(left - untouched, 0), "control group");
    }
    // Address space counts from its allocation on, touched or not.
    bound(&r, own_free(RLIMIT_AS, "VmSize"), "ulimit -v");
    bound(&r, own_free(RLIMIT_DATA, "VmData"), "ulimit -d");
    int64_t own = max64(promised, max64(bytes_of("/proc/self/status", "RssAnon"), 0));
    if (own_limit) bound(&r, max64(own_limit - own, 0), "-mem-limit");
    return r;
}
