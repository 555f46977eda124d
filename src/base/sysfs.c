#include "base/sysfs.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char root[PATH_MAX / 2];

void sysfs_root(const char *folder) { snprintf(root, sizeof root, "%s", folder); }

FILE *sysfs_open(const char *path)
{
    char full[PATH_MAX + sizeof root];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    return length < (int)sizeof full ? fopen(full, "re") : NULL;
}

bool sysfs_line(const char *path, char *line, int size)
{
    FILE *f = sysfs_open(path);
    bool ok = f && fgets(line, size, f);
    if (f) fclose(f);
    if (!ok) line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    return ok;
}

int64_t sysfs_number(const char *path, int64_t missing)
{
    char line[64], *end;
    if (!sysfs_line(path, line, sizeof line)) return missing;
    errno = 0;
    int64_t x = strtoll(line, &end, 10);
    return end == line || errno ? missing : x;
}

// Copies a text, with each run of blanks as one blank.
static void copy_single_spaced(const char *p, char *value, size_t size)
{
    size_t n = 0;
    for (; *p && n + 1 < size; p++)
        if (!isspace((unsigned char)*p))
            value[n++] = *p;
        else if (n && value[n - 1] != ' ')
            value[n++] = ' ';
    if (n && value[n - 1] == ' ') n--;
    value[n] = 0;
}

bool sysfs_value(const char *path, const char *key, char *value, size_t size)
{
    char line[8192]; // the flags of a processor are one long line
    size_t length = strlen(key);
    bool found = false;
    value[0] = 0;
    FILE *f = sysfs_open(path);
    while (f && !found && fgets(line, sizeof line, f)) {
        const char *p = line + length;
        found = !strncmp(line, key, length) && (*p == '\t' || *p == ' ' || *p == ':');
        if (found) copy_single_spaced(p + strspn(p, "\t :"), value, size);
    }
    if (f) fclose(f);
    return found;
}

int sysfs_list(const char *text, bool *listed, int most)
{
    int count = 0;
    memset(listed, 0, (size_t)most * sizeof *listed);
    while (isdigit((unsigned char)*text)) {
        char *end;
        long first = strtol(text, &end, 10), last = first;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        for (long i = first; i <= last && i < most; i++) count += !listed[i], listed[i] = true;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}
