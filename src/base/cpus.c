#define _GNU_SOURCE // sched_setaffinity
#include "base/cpus.h"

#include <sched.h>
#include <stdio.h>

#include "base/sysfs.h"

void cpus_add(struct cpus *c, int cpu)
{
    c->count += !c->has[cpu];
    c->has[cpu] = true;
}

void cpus_mine(struct cpus *c)
{
    cpu_set_t set;
    *c = (struct cpus){.count = 0};
    if (sched_getaffinity(0, sizeof set, &set)) return;
    for (int i = 0; i < CPUS_MOST; i++)
        if (CPU_ISSET(i, &set)) cpus_add(c, i);
}

bool cpus_pin(const struct cpus *c)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < CPUS_MOST; i++)
        if (c->has[i]) CPU_SET(i, &set);
    return c->count && !sched_setaffinity(0, sizeof set, &set);
}

void cpus_parse(const char *list, struct cpus *c)
{
    c->count = sysfs_list(list, c->has, CPUS_MOST);
}

const char *cpus_text(const struct cpus *c, char text[CPUS_TEXT])
{
    int used = 0;
    text[0] = 0;
    for (int i = 0, end; i < CPUS_MOST; i = end + 1) {
        end = i;
        if (!c->has[i]) continue;
        while (end + 1 < CPUS_MOST && c->has[end + 1]) end++;
        used += snprintf(text + used, (size_t)(CPUS_TEXT - used), "%s%d", used ? "," : "", i);
        if (end > i) used += snprintf(text + used, (size_t)(CPUS_TEXT - used), "-%d", end);
    }
    return text;
}
