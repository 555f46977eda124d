// Checks of the machine. /proc and /sys are read through sysfs.h, so that tests can replace them.
#include "doctor/doctor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cgroup.h"
#include "base/memory_limit.h"
#include "base/sysfs.h"
#include "measure/busy.h"

#define CPU        "/sys/devices/system/cpu/"
#define CPUS_MAX   4096
#define LOAD_MS    300                // duration of the load measurement
#define FREE_LEAST ((int64_t)1 << 30) // memory that the matrices of the papers need

// Sets the processors that this process may use. Returns their number.
static int allowed_cpus(bool allowed[CPUS_MAX])
{
    char list[4096];
    sysfs_value("/proc/self/status", "Cpus_allowed_list", list, sizeof list);
    return sysfs_list(list, allowed, CPUS_MAX);
}

static int online_cpus(bool online[CPUS_MAX])
{
    char list[4096];
    sysfs_line(CPU "online", list, sizeof list);
    return sysfs_list(list, online, CPUS_MAX);
}

static void check_processor(const struct probe *p, struct finding *f)
{
    bool set[CPUS_MAX];
    char name[128], flags[8192];
    int online = online_cpus(set), allowed = allowed_cpus(set);
    if (!sysfs_value("/proc/cpuinfo", "model name", name, sizeof name))
        snprintf(name, sizeof name, "processor");
    sysfs_value("/proc/cpuinfo", "flags", flags, sizeof flags);
    const char *virtual = strstr(flags, "hypervisor") ? ", of a virtual machine" : "";
    if (!allowed) {
        finding_unclear(f, "%s%s; the number of usable processors is unknown", name, virtual);
        return;
    }
    finding_value(f, "%s%s: %d of %d processors for %d threads", name, virtual, allowed,
                  online > allowed ? online : allowed, p->threads);
    if (p->threads > allowed)
        finding_advise(f, "more threads than processors: -threads %d, or OMP_NUM_THREADS", allowed);
}

// Sets the governor of all processors; "": unknown, "several": they differ.
static void find_governor(char governor[64])
{
    bool online[CPUS_MAX];
    governor[0] = 0;
    online_cpus(online);
    for (int i = 0; i < CPUS_MAX; i++) {
        char path[128], here[64];
        if (!online[i]) continue;
        snprintf(path, sizeof path, CPU "cpu%d/cpufreq/scaling_governor", i);
        if (!sysfs_line(path, here, sizeof here)) continue;
        if (!governor[0])
            snprintf(governor, 64, "%s", here);
        else if (strcmp(governor, here))
            snprintf(governor, 64, "several");
    }
}

static void check_governor(const struct probe *p, struct finding *f)
{
    char governor[64], driver[64];
    (void)p;
    find_governor(governor);
    if (!governor[0]) {
        finding_unclear(f, "unknown: the system does not control the clock");
        return;
    }
    bool driven = sysfs_line(CPU "cpu0/cpufreq/scaling_driver", driver, sizeof driver);
    finding_value(f, "%s%s%s%s", governor, driven ? " (" : "", driver, driven ? ")" : "");
    if (strcmp(governor, "performance"))
        finding_advise(f, "the clock follows the load: cpupower frequency-set -g performance");
}

static void check_clock(const struct probe *p, struct finding *f)
{
    double now = (double)sysfs_number(CPU "cpu0/cpufreq/scaling_cur_freq", 0) * 1e-6;
    double most = (double)sysfs_number(CPU "cpu0/cpufreq/cpuinfo_max_freq", 0) * 1e-6;
    double held = (double)sysfs_number(CPU "cpu0/cpufreq/scaling_max_freq", 0) * 1e-6;
    (void)p;
    if (!(most > 0)) return;
    finding_value(f, "%.2f GHz now, %.2f at most", now, most);
    if (held > 0 && held < 0.99 * most)
        finding_advise(f, "the clock is limited to %.2f GHz: cpupower frequency-set -u %.2fGHz",
                       held, most);
}

// Either setting is right, but all measurements of a comparison need the same.
static void check_turbo(const struct probe *p, struct finding *f)
{
    int64_t off = sysfs_number(CPU "intel_pstate/no_turbo", -1);
    int64_t on = off >= 0 ? !off : sysfs_number(CPU "cpufreq/boost", -1);
    (void)p;
    if (on == 0) finding_value(f, "off");
    if (on > 0) finding_unclear(f, "on: the clock depends on temperature and active cores");
}

static void check_smt(const struct probe *p, struct finding *f)
{
    int64_t active = sysfs_number(CPU "smt/active", -1);
    (void)p;
    if (active == 0) finding_value(f, "off, one thread per core");
    if (active > 0) finding_unclear(f, "on: two threads share a core");
}

// Returns the number of NUMA nodes whose processors this process may use.
static int allowed_nodes(void)
{
    bool allowed[CPUS_MAX], nodes[CPUS_MAX], of_node[CPUS_MAX];
    char list[4096], path[128];
    int count = 0;
    allowed_cpus(allowed);
    sysfs_line("/sys/devices/system/node/online", list, sizeof list);
    sysfs_list(list, nodes, CPUS_MAX);
    for (int i = 0; i < CPUS_MAX; i++) {
        bool any = false;
        if (!nodes[i]) continue;
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", i);
        sysfs_line(path, list, sizeof list);
        sysfs_list(list, of_node, CPUS_MAX);
        for (int c = 0; c < CPUS_MAX; c++) any |= of_node[c] && allowed[c];
        count += any;
    }
    return count;
}

static void check_numa(const struct probe *p, struct finding *f)
{
    const char *bind = getenv("OMP_PROC_BIND"), *places = getenv("OMP_PLACES");
    bool bound = (bind && *bind && strcasecmp(bind, "false")) || (places && *places);
    int nodes = allowed_nodes();
    (void)p;
    if (!nodes) return;
    finding_value(f, "%d node%s of memory%s", nodes, nodes == 1 ? "" : "s",
                  nodes > 1 && bound ? ", threads are bound" : "");
    if (nodes > 1 && !bound)
        finding_advise(f, "threads move away from their memory: OMP_PROC_BIND=spread "
                          "OMP_PLACES=cores, or numactl -N 0 -m 0");
}

static void check_pages(const struct probe *p, struct finding *f)
{
    char line[128];
    (void)p;
    if (!sysfs_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line)) return;
    char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;
    if (!end) return;
    *end = 0;
    finding_value(f, "%s", begin + 1);
    if (!strcmp(begin + 1, "never"))
        finding_advise(f, "large matrices lie in small pages: echo madvise "
                          ">/sys/kernel/mm/transparent_hugepage/enabled");
}

// Work on the CPU needs all processors. A GPU needs one processor for launches. See machine_busy().
static void check_load(const struct probe *p, struct finding *f)
{
    struct machine_clock before = machine_now();
    struct timespec wait = {.tv_nsec = LOAD_MS * 1000000L};
    while (nanosleep(&wait, &wait) && !interrupted) {}
    struct machine_clock after = machine_now();
    struct machine_load load = machine_between(&before, &after);
    struct device d = {.kind = p->kind};
    if (!isfinite(load.others)) {
        finding_unclear(f, "unknown");
        return;
    }
    finding_value(f, "other programs use %.2f of %d processors%s", load.others,
                  after.all.processors, load.steal > 0.05 ? ", the host takes more" : "");
    if (machine_busy(&before, &after, &d, false))
        finding_advise(f, "wait for an idle machine; 'top' shows the programs");
}

static void check_quota(const struct probe *p, struct finding *f)
{
    double quota = cgroup_processors();
    if (!(quota > 0)) {
        finding_value(f, "none");
        return;
    }
    finding_value(f, "%.2f processors, by a control group", quota);
    if (p->threads > quota)
        finding_advise(f, "%d threads are paused at this limit: -threads %d", p->threads,
                       quota < 1 ? 1 : (int)quota);
}

static void check_memory(const struct probe *p, struct finding *f)
{
    struct memory_limit room = memory_limit_find(0);
    char text[32], total[32], kib[32];
    (void)p;
    sysfs_value("/proc/meminfo", "MemTotal", kib, sizeof kib);
    finding_value(f, "%s free of %s%s%s%s", size_text(room.bytes, text),
                  size_text(strtoll(kib, NULL, 10) * 1024, total), room.limit ? " (" : "",
                  room.limit ? room.limit : "", room.limit ? ")" : "");
    if (room.bytes < FREE_LEAST)
        finding_advise(f, "larger cases end as oom: free memory%s",
                       room.limit ? ", or raise the limit" : "");
}

const struct doctor_check host_checks[] = {
    {"processor", SPOILS_CPU, check_processor},
    {"governor", SPOILS_CPU, check_governor},
    {"clock", SPOILS_CPU, check_clock},
    {"turbo", 0, check_turbo},
    {"SMT", 0, check_smt},
    {"NUMA", SPOILS_CPU, check_numa},
    {"huge pages", SPOILS_CPU, check_pages},
    {"load", SPOILS_BOTH, check_load},
    {"CPU quota", SPOILS_CPU, check_quota},
    {"memory", SPOILS_BOTH, check_memory},
    {NULL, 0, NULL},
};
