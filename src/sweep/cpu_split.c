#include "sweep/cpu_split.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cgroup.h"
#include "base/sysfs.h"

// Processors in the order of sharing: those of a core follow each other.
struct queue {
    int cpu[CPUS_MOST];   // size count; -1: taken
    int count, core_size; // core_size: processors of the largest core
};

// Returns the number of processors of `all` in the core of `cpu`, and sets *first to the first.
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

static void make_queue(const struct cpus *all, struct queue *queue)
{
    int first, core[CPUS_MOST];
    queue->count = queue->core_size = 0;
    for (int i = 0; i < CPUS_MOST; i++) {
        int size = all->has[i] ? core_of(all, i, &core[i]) : 0;
        if (size > queue->core_size) queue->core_size = size;
    }
    for (first = 0; first < CPUS_MOST; first++)
        for (int i = first; all->has[first] && i < CPUS_MOST; i++)
            if (all->has[i] && core[i] == first) queue->cpu[queue->count++] = i;
}

// Adds processors to a share until it has `each`; with `near`, only processors of that set.
static void take(struct queue *queue, const struct cpus *near, int each, struct cpus *share)
{
    for (int i = 0; i < queue->count && share->count < each; i++) {
        int cpu = queue->cpu[i];
        if (cpu < 0 || (near && !near->has[cpu])) continue;
        cpus_add(share, cpu);
        queue->cpu[i] = -1;
    }
}

void cpu_split_make(const struct cpus *all, int count, const struct cpus *near, struct cpus *shares)
{
    struct queue queue;
    make_queue(all, &queue);
    int each = queue.count / count;
    if (each > queue.core_size) each -= each % queue.core_size;
    for (int i = 0; i < count; i++) shares[i] = (struct cpus){.count = 0};
    for (int i = 0; i < count; i++) take(&queue, &near[i], each, &shares[i]);
    for (int i = 0; i < count; i++) take(&queue, NULL, each, &shares[i]);
}

int cpu_split_threads(int count, int cpus, double processors)
{
    if (processors > 0) cpus = (int)fmin(cpus, processors / count);
    return cpus < 1 ? 1 : cpus;
}

// Returns true if OpenMP binds its threads.
static bool is_bound(void)
{
    static const char *const names[] = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY"};
    bool bound = false;
    for (int i = 0; i < COUNT(names); i++) bound |= getenv(names[i]) != NULL;
    return bound;
}

int cpu_split_slots(struct cpu_split *c, int wanted, int count, struct slot_config *slots)
{
    struct cpus mine, shares[WORKER_DEVICES_MAX];
    cpus_mine(&mine);
    cpu_split_make(&mine, count, c->near, shares);
    int each = shares[0].count, most = omp_get_max_threads() / count;
    bool pinned = each && wanted <= each && !is_bound();
    for (int i = 0; i < count; i++)
        slots[i].cpus = pinned ? cpus_text(&shares[i], c->text[i]) : NULL;
    if (wanted) return 0;
    return cpu_split_threads(count, pinned && each < most ? each : most, cgroup_processors());
}
