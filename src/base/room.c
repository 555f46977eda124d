#include "base/room.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char root[PATH_MAX / 2];
static int64_t own_limit; // bytes; 0: none

// The process's groups: where they are is asked once, what they leave each time.
static struct group {
    char dir[PATH_MAX]; // the process's own, of one version; empty: in none
    size_t mount;       // the beginning of it that is the mount point
} groups[2];
static bool groups_known;
static pthread_mutex_t groups_lock = PTHREAD_MUTEX_INITIALIZER;

void room_root(const char *folder)
{
    snprintf(root, sizeof root, "%s", folder);
    groups_known = false;
}

void room_limit(int64_t bytes) { own_limit = bytes; }

static FILE *open_under_root(const char *path)
{
    char full[PATH_MAX + sizeof root];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    return length < (int)sizeof full ? fopen(full, "re") : NULL;
}

// The number behind "key" in a file of lines "key number"; `missing` if it is not there.
static int64_t number_of(const char *path, const char *key, int64_t missing)
{
    FILE *f = open_under_root(path);
    if (!f) return missing;
    char line[256];
    size_t length = strlen(key);
    int64_t found = missing;
    while (found == missing && fgets(line, sizeof line, f))
        if (!strncmp(line, key, length) && strchr(" \t", line[length]))
            found = strtoll(line + length, NULL, 10);
    fclose(f);
    return found;
}

// The same of a file in /proc that counts in kB.
static int64_t bytes_of(const char *path, const char *key)
{
    int64_t kib = number_of(path, key, -1);
    return kib < 0 ? -1 : kib * 1024;
}

// What a group's file says: a number, or "max". `missing` if there is no such file.
static int64_t group_number(const char *dir, const char *file, int64_t missing)
{
    char path[PATH_MAX + 64], text[32] = "";
    snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = open_under_root(path);
    if (!f) return missing;
    bool read = fgets(text, sizeof text, f) != NULL;
    fclose(f);
    if (!read) return missing;
    return strncmp(text, "max", 3) ? strtoll(text, NULL, 10) : INT64_MAX;
}

// The two versions of control groups, and what they call the same things. Page cache can be taken
// back, whether it was used lately or not; v1 tells that of a group with those below it as total.
static const struct version {
    const char *mount; // where it is if /proc/self/mountinfo does not say
    const char *filesystem;
    const char *limit, *soft_limit, *used;
    const char *cache[2];
} versions[] = {
    {"/sys/fs/cgroup/memory",
     "cgroup",
     "memory.limit_in_bytes",
     NULL,
     "memory.usage_in_bytes",
     {"total_inactive_file", "total_active_file"}},
    {"/sys/fs/cgroup",
     "cgroup2",
     "memory.max",
     "memory.high",
     "memory.current",
     {"inactive_file", "active_file"}},
};

// What a group leaves of its limit; INT64_MAX if it has none. A part is kept back for what is not
// asked for here: page tables, threads' stacks, the program itself.
static int64_t group_room(const struct version *v, const char *dir)
{
    char stat[PATH_MAX + 64];
    int64_t limit = group_number(dir, v->limit, INT64_MAX);
    // Over the soft limit nothing ends, but everything waits: not a machine to measure on.
    if (v->soft_limit) limit = min64(limit, group_number(dir, v->soft_limit, INT64_MAX));
    if (limit > INT64_MAX / 2) return INT64_MAX; // version 1 writes "none" as almost 2^63
    int64_t used = group_number(dir, v->used, 0);
    snprintf(stat, sizeof stat, "%s/memory.stat", dir);
    for (int i = 0; i < 2; i++) used -= number_of(stat, v->cache[i], 0);
    return max64(limit - limit / 64 - max64(used, 0), 0);
}

// Undoes the octal escapes of a path in /proc/self/mountinfo: "\040" is a space.
static void unescape(char *path)
{
    char *out = path;
    for (char *p = path; *p; out++) {
        bool octal = p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] && p[3];
        *out = octal ? (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0')) : *p;
        p += octal ? 4 : 1;
    }
    *out = 0;
}

// Whether `word` is one of those that commas separate.
static bool listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (!strncmp(p, word, length) && strchr(",\n", p[length])) return true;
    return false;
}

// A line "id parent device ROOT POINT options [tags...] - TYPE source OPTIONS": whether it mounts
// the memory groups of this version; ROOT is the group that is seen at POINT.
static bool mount_parse(char *line, const struct version *v, char **group, char **point)
{
    char *rest = NULL, *tail = strstr(line, " - ");
    if (!tail) return false;
    *tail = 0;
    char *type = strtok_r(tail + 3, " ", &rest), *source = strtok_r(NULL, " ", &rest);
    char *options = strtok_r(NULL, " ", &rest);
    if (!source || strcmp(type, v->filesystem)) return false;
    if (!v->soft_limit && !(options && listed(options, "memory"))) return false;
    char *word = strtok_r(line, " ", &rest);
    for (int i = 0; i < 3 && word; i++) word = strtok_r(NULL, " ", &rest);
    *group = word;
    *point = strtok_r(NULL, " ", &rest);
    if (!*point) return false;
    unescape(*group);
    unescape(*point);
    return true;
}

// A line "number:controllers:PATH" of /proc/self/cgroup: its path, NULL if it is another's.
static char *path_parse(char *line, const struct version *v)
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path) return NULL;
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    bool ours = v->soft_limit ? !*controllers : listed(controllers, "memory");
    return ours ? path : NULL;
}

// The folder of the process's own group.
static void group_find(const struct version *v, struct group *g)
{
    char *line = NULL, *group, *point, *path, seen[PATH_MAX] = "/";
    size_t size = 0;
    bool found = false;
    snprintf(g->dir, PATH_MAX, "%s", v->mount);
    FILE *f = open_under_root("/proc/self/mountinfo");
    while (f && !found && getline(&line, &size, f) > 0)
        if ((found = mount_parse(line, v, &group, &point))) {
            snprintf(seen, sizeof seen, "%s", group);
            snprintf(g->dir, PATH_MAX, "%s", point);
        }
    if (f) fclose(f);
    g->mount = strlen(g->dir);

    found = false;
    f = open_under_root("/proc/self/cgroup");
    while (f && !found && getline(&line, &size, f) > 0) {
        if (!(path = path_parse(line, v))) continue;
        found = true;
        // A container sees its own group as the root of the mount, whatever its path is outside.
        size_t length = strcmp(seen, "/") ? strlen(seen) : 0;
        bool below = !strncmp(path, seen, length) && path[length] == '/' && path[length + 1];
        if (below && !strstr(path, "/.."))
            snprintf(g->dir + g->mount, PATH_MAX - g->mount, "%s", path + length);
    }
    if (f) fclose(f);
    free(line);
    if (!found) g->dir[0] = 0;
}

static void groups_find(void)
{
    pthread_mutex_lock(&groups_lock);
    for (int i = 0; i < COUNT(groups) && !groups_known; i++) group_find(&versions[i], &groups[i]);
    groups_known = true;
    pthread_mutex_unlock(&groups_lock);
}

// The least that the process's group and those above it leave; INT64_MAX without limits.
static int64_t groups_room(const struct version *v, const struct group *g)
{
    char dir[PATH_MAX];
    int64_t least = INT64_MAX;
    snprintf(dir, sizeof dir, "%s", g->dir);
    while (*dir) {
        least = min64(least, group_room(v, dir));
        if (strlen(dir) <= g->mount) break;
        *strrchr(dir, '/') = 0;
    }
    return least;
}

static int64_t machine_room(void)
{
    int64_t bytes = bytes_of("/proc/meminfo", "MemAvailable:");
    return bytes >= 0 ? bytes : (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 2;
}

// What is left of a limit of the process itself, of which `key` says how much is used.
static int64_t own_room(int resource, const char *key)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) || limit.rlim_cur >= INT64_MAX) return INT64_MAX;
    return max64((int64_t)limit.rlim_cur - max64(bytes_of("/proc/self/status", key), 0), 0);
}

static void bound(struct room *r, int64_t bytes, const char *limit)
{
    if (bytes < r->bytes) *r = (struct room){bytes, limit};
}

struct room room_find(int64_t promised)
{
    int64_t untouched = max64(promised - max64(bytes_of("/proc/self/status", "RssAnon:"), 0), 0);
    struct room r = {max64(machine_room() - untouched, 0), NULL};
    groups_find();
    for (int i = 0; i < COUNT(groups); i++) {
        int64_t left = groups_room(&versions[i], &groups[i]);
        if (left < INT64_MAX) bound(&r, max64(left - untouched, 0), "control group");
    }
    // Address space is used when it is asked for, touched or not.
    bound(&r, own_room(RLIMIT_AS, "VmSize:"), "ulimit -v");
    bound(&r, own_room(RLIMIT_DATA, "VmData:"), "ulimit -d");
    int64_t own = max64(promised, max64(bytes_of("/proc/self/status", "RssAnon:"), 0));
    if (own_limit) bound(&r, max64(own_limit - own, 0), "-mem-limit");
    return r;
}
