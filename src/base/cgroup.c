#include "base/cgroup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysfs.h"

int64_t cgroup_number(const struct cgroup *g, const char *file, int64_t missing)
{
    char path[PATH_MAX + 64], text[32];
    snprintf(path, sizeof path, "%s/%s", g->dir, file);
    if (!sysfs_line(path, text, sizeof text)) return missing;
    return strncmp(text, "max", 3) ? strtoll(text, NULL, 10) : INT64_MAX;
}

bool cgroup_up(struct cgroup *g)
{
    if (strlen(g->dir) <= g->mount) return false;
    *strrchr(g->dir, '/') = 0;
    return true;
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

// Returns true if the comma-separated list has `word`.
static bool list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
        if (!strncmp(p, word, length) && strchr(",\n", p[length])) return true;
    return false;
}

// Parses a line "id parent device ROOT POINT options [tags...] - TYPE source OPTIONS". Returns true
// if the line mounts the groups of this version and controller. The group ROOT appears at POINT.
static bool mount_parse(char *line, int version, const char *controller, char **group, char **point)
{
    char *rest = NULL, *tail = strstr(line, " - ");
    if (!tail) return false;
    *tail = 0;
    char *type = strtok_r(tail + 3, " ", &rest), *source = strtok_r(NULL, " ", &rest);
    char *options = strtok_r(NULL, " ", &rest);
    if (!source || strcmp(type, version == 2 ? "cgroup2" : "cgroup")) return false;
    if (version == 1 && !(options && list_has(options, controller))) return false;
    char *word = strtok_r(line, " ", &rest);
    for (int i = 0; i < 3 && word; i++) word = strtok_r(NULL, " ", &rest);
    *group = word;
    *point = strtok_r(NULL, " ", &rest);
    if (!*point) return false;
    unescape(*group);
    unescape(*point);
    return true;
}

// Returns the path in a line "number:controllers:PATH" of /proc/self/cgroup; NULL if the line is of
// another version or controller.
static char *path_parse(char *line, int version, const char *controller)
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(++controllers, ':') : NULL;
    if (!path) return NULL;
    *path++ = 0;
    path[strcspn(path, "\n")] = 0;
    bool matches = version == 2 ? !*controllers : list_has(controllers, controller);
    return matches ? path : NULL;
}

void cgroup_find(struct cgroup *g, int version, const char *controller)
{
    char *line = NULL, *group, *point, *path, seen[PATH_MAX] = "/";
    size_t size = 0;
    bool found = false;
    // Default mount point, if mountinfo has none.
    snprintf(g->dir, PATH_MAX, "/sys/fs/cgroup%s%s", version == 2 ? "" : "/",
             version == 2 ? "" : controller);
    FILE *f = sysfs_open("/proc/self/mountinfo");
    while (f && !found && getline(&line, &size, f) > 0)
        if ((found = mount_parse(line, version, controller, &group, &point))) {
            snprintf(seen, sizeof seen, "%s", group);
            snprintf(g->dir, PATH_MAX, "%s", point);
        }
    if (f) fclose(f);
    g->mount = strlen(g->dir);

    found = false;
    f = sysfs_open("/proc/self/cgroup");
    while (f && !found && getline(&line, &size, f) > 0) {
        if (!(path = path_parse(line, version, controller))) continue;
        found = true;
        // In a container the root of the mount is the container's own group.
        size_t length = strcmp(seen, "/") ? strlen(seen) : 0;
        bool below = !strncmp(path, seen, length) && path[length] == '/' && path[length + 1];
        if (below && !strstr(path, "/.."))
            snprintf(g->dir + g->mount, PATH_MAX - g->mount, "%s", path + length);
    }
    if (f) fclose(f);
    free(line);
    if (!found) g->dir[0] = 0, g->mount = 0;
}

double cgroup_processors(void)
{
    struct cgroup g;
    char path[PATH_MAX + 64], line[64];
    double least = INFINITY;
    cgroup_find(&g, 2, "cpu");
    for (bool more = *g.dir; more; more = cgroup_up(&g)) {
        long long quota, period;
        snprintf(path, sizeof path, "%s/cpu.max", g.dir);
        if (sysfs_line(path, line, sizeof line) &&
            sscanf(line, "%lld %lld", &quota, &period) == 2 && period > 0)
            least = fmin(least, (double)quota / (double)period);
    }
    cgroup_find(&g, 1, "cpu");
    for (bool more = *g.dir; more; more = cgroup_up(&g)) {
        int64_t quota = cgroup_number(&g, "cpu.cfs_quota_us", -1);
        int64_t period = cgroup_number(&g, "cpu.cfs_period_us", 0);
        if (quota > 0 && period > 0) least = fmin(least, (double)quota / (double)period);
    }
    return isfinite(least) ? least : 0;
}
