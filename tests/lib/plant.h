// A /proc and a /sys of the test's own, for what asks them how much memory there is.
#ifndef PLANT_H
#define PLANT_H

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory_limit.h"
#include "test.h"

static char plant_folder[] = "/tmp/spbench-plant-XXXXXX";

// Writes a file of the planted system, and the folders above it.
static void plant(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", plant_folder, path);
    for (char *p = full + strlen(plant_folder) + 1; (p = strchr(p, '/')); *p++ = '/') {
        *p = 0;
        CHECK(!mkdir(full, 0777) || errno == EEXIST, "%s: %s", full, strerror(errno));
    }
    FILE *file = fopen(full, "w");
    CHECK(file && fputs(text, file) >= 0 && !fclose(file), "%s", full);
}

static void uproot(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", plant_folder);
    CHECK(!system(command), "%s", command);
    memory_limit_root("");
}

// A machine with so much free, and a process that has touched nothing.
static void replant(long long free_kib)
{
    static bool planted;
    char text[100];
    if (planted) uproot();
    CHECK(planted ? !mkdir(plant_folder, 0777) : mkdtemp(plant_folder) != NULL, "%s",
          strerror(errno));
    planted = true;
    snprintf(text, sizeof text, "MemTotal: 16000000 kB\nMemFree: 1 kB\nMemAvailable:    %lld kB\n",
             free_kib);
    plant("/proc/meminfo", text);
    plant("/proc/self/status", "Name:\tspbench\nVmSize:\t 100000 kB\nRssAnon:\t       0 kB\n");
    memory_limit_root(plant_folder);
}

#endif
