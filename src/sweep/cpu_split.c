#include "sweep/cpu_split.h"

#include <math.h>
#include <stdio.h>

#include "base/sysfs.h"

// The processors in the order in which they are given away: those of a core one after the other.
struct line {
    int cpu[CPUS_MOST];   // size count; -1: it is given away
    int count, core_size; // of the largest core
};

// The processors that are the same core as this one, of those that there are; *first: the first.
static int core_of(const struct cpus *all, int cpu, int *first)
{
    char path[96], text[256];
    bool same[CPUS_MOST];
    int size = 0;
    *first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (!sysfs_line(path, text, sizeof text)) return 1;
    sysfs_list(text, same, CPUS_MOST);
    same[cpu] = true;
    for (int i = CPUS_MOST - 1; i >= 0; i--)
        if (same[i] && all->has[i]) *first = i, size++;
    return size;
}

static void line_up(const struct cpus *all, struct line *line)
{
    int first, core[CPUS_MOST];
    line->count = line->core_size = 0;
    for (int i = 0; i < CPUS_MOST; i++) {
        int size = all->has[i] ? core_of(all, i, &core[i]) : 0;
        if (size > line->core_size) line->core_size = size;
    }
    for (first = 0; first < CPUS_MOST; first++)
        for (int i = first; all->has[first] && i < CPUS_MOST; i++)
            if (all->has[i] && core[i] == first) line->cpu[line->count++] = i;
}

// Up to `each` in all, of those that are left; `near` NULL: wherever they are.
static void take(struct line *line, const struct cpus *near, int each, struct cpus *share)
{
    for (int i = 0; i < line->count && share->count < each; i++) {
        int cpu = line->cpu[i];
        if (cpu < 0 || (near && !near->has[cpu])) continue;
        cpus_add(share, cpu);
        line->cpu[i] = -1;
    }
}

void shares_make(const struct cpus *all, int count, const struct cpus *near, struct cpus *shares)
{
    struct line line;
    line_up(all, &line);
    int each = line.count / count;
    if (each > line.core_size) each -= each % line.core_size;
    for (int i = 0; i < count; i++) shares[i] = (struct cpus){.count = 0};
    for (int i = 0; i < count; i++) take(&line, &near[i], each, &shares[i]);
    for (int i = 0; i < count; i++) take(&line, NULL, each, &shares[i]);
}

int shares_threads(int count, int cpus, double processors)
{
    if (processors > 0) cpus = (int)fmin(cpus, processors / count);
    return cpus < 1 ? 1 : cpus;
}
