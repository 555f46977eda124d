#include "measure/busy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sysfs.h"

// A quiet machine stays below these limits: daemons, and this process itself.
#define OTHERS_PROCESSORS 0.25 // processors that other processes use,
#define OTHERS_SHARE      0.1  // or this share of all processors, if that is more
#define STEAL_PROCESSORS  0.05
#define LAUNCH_DELAY      0.05 // share of the launching thread's work time, launches one by one
#define GRAPH_DELAY       0.5  // the same where a launch starts all runs of a sample
#define COUNTING_MS       30.0 // resolution of processor times: three ticks

// Adds the times of a line of /proc/stat, behind its name, to `sum`. Returns false if there are
// none.
static bool parse_line(const char *line, double tick_s, struct cpu_clock *sum)
{
    // user (with guests), nice, system, idle, waiting for a disk, interrupts, soft interrupts,
    // steal
    unsigned long long x[8];
    if (sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %llu", &x[0], &x[1], &x[2], &x[3], &x[4],
               &x[5], &x[6], &x[7]) < 8)
        return false;
    unsigned long long used = x[0] + x[1] + x[2] + x[5] + x[6];
    sum->used_s += (double)used * tick_s;
    sum->steal_s += (double)x[7] * tick_s;
    // Some sandboxes have the file with all numbers 0.
    return used || x[3];
}

bool machine_parse(const char *text, double tick_s, const struct cpus *which, struct cpu_clock *out)
{
    struct cpu_clock sum = {.used_s = 0};
    int cpu, used;
    bool good = !strncmp(text, "cpu ", 4) && (which || parse_line(text + 4, tick_s, &sum));
    for (const char *p = text; good && (p = strstr(p, "\ncpu")); p++) {
        if (which && (sscanf(p, "\ncpu%d%n", &cpu, &used) != 1 || cpu < 0 || cpu >= CPUS_MOST ||
                      !which->has[cpu]))
            continue;
        if (which) good = parse_line(p + used, tick_s, &sum);
        sum.processors++;
    }
    if (good && sum.processors) *out = sum;
    return good && sum.processors;
}

static bool read_stat(char *text, size_t size)
{
    FILE *f = sysfs_open("/proc/stat");
    if (!f) return false;
    size_t length = fread(text, 1, size - 1, f);
    fclose(f);
    text[length] = 0;
    return length > 0;
}

// Reads the times of the calling thread, in nanoseconds: on a processor, and ready to run.
static void read_thread(struct machine_clock *now)
{
    unsigned long long ran, waited;
    FILE *f = sysfs_open("/proc/thread-self/schedstat");
    if (!f) return;
    if (fscanf(f, "%llu %llu", &ran, &waited) == 2) {
        now->ran_s = (double)ran * 1e-9;
        now->waited_s = (double)waited * 1e-9;
    }
    fclose(f);
}

struct machine_clock machine_now(void)
{
    // Room for the lines of 1,000 processors, which come first in the file.
    static char text[1 << 17];
    const struct cpu_clock unknown = {.used_s = NAN, .steal_s = NAN};
    struct machine_clock now = {.all = unknown,
                                .mine = unknown,
                                .own_s = clock_process_ms() * 1e-3,
                                .ran_s = NAN,
                                .waited_s = NAN,
                                .switches = -1};
    struct rusage usage;
    struct cpus mine;
    long ticks = sysconf(_SC_CLK_TCK);
    double tick_s = 1.0 / (double)ticks;
    cpus_mine(&mine);
    now.ms = clock_ms();
    if (ticks > 0 && read_stat(text, sizeof text)) {
        machine_parse(text, tick_s, NULL, &now.all);
        machine_parse(text, tick_s, &mine, &now.mine);
    }
    if (!getrusage(RUSAGE_SELF, &usage)) now.switches = usage.ru_nivcsw;
    read_thread(&now);
    return now;
}

// Returns the share of the thread's work time in which it had no processor.
static double delay_between(const struct machine_clock *from, const struct machine_clock *to)
{
    double ran = to->ran_s - from->ran_s, waited = to->waited_s - from->waited_s;
    return ran + waited > 0 ? waited / (ran + waited) : isnan(ran) ? NAN : 0;
}

// Sets the loads of a set of processors between two times; this process used own_s of them.
static void set_loads(struct machine_load *load, const struct cpu_clock *from,
                      const struct cpu_clock *to, double own_s, double s)
{
    load->steal = load->others = NAN;
    if (!(s > 0)) return;
    // Ticks are coarse: a difference can be slightly below 0.
    double steal = (to->steal_s - from->steal_s) / s;
    double others = (to->used_s - from->used_s - own_s) / s;
    if (!isnan(steal)) load->steal = fmax(0, steal);
    if (!isnan(others)) load->others = fmax(0, others);
}

struct machine_load machine_between(const struct machine_clock *from,
                                    const struct machine_clock *to)
{
    struct machine_load load = {.switches = -1, .delay = delay_between(from, to)};
    if (from->switches >= 0 && to->switches >= 0) load.switches = to->switches - from->switches;
    set_loads(&load, &from->all, &to->all, to->own_s - from->own_s, (to->ms - from->ms) * 1e-3);
    return load;
}

// Returns true if the threads of a CPU device shared their processors or the memory with others.
static bool cpu_busy(const struct machine_load *load, double ms, const struct machine_clock *now,
                     const struct device *d)
{
    double most = fmax(OTHERS_PROCESSORS, OTHERS_SHARE * now->all.processors);
    double needed = d->units > 0 ? fmin(1, (double)d->units / now->all.processors) : 1;
    return load->others * ms > most * ms + COUNTING_MS ||
           load->steal * needed * ms > STEAL_PROCESSORS * ms + COUNTING_MS;
}

// Returns true if the thread that launches on a GPU was kept from running. `processors`: number
// that the loads are of.
static bool launches_late(const struct machine_load *load, double ms, int processors, bool queued)
{
    const double most = queued ? GRAPH_DELAY : LAUNCH_DELAY;
    if (load->steal * ms > (most * ms + COUNTING_MS) * processors) return true;
    if (!isnan(load->delay)) return load->delay > most;
    // Without the thread's own times: no processor is left for the thread.
    return load->others * ms > (processors - 1 + OTHERS_PROCESSORS) * ms + COUNTING_MS;
}

bool machine_busy(const struct machine_clock *from, const struct machine_clock *to,
                  const struct device *d, bool queued)
{
    struct machine_load load = machine_between(from, to);
    const double ms = to->ms - from->ms;
    if (device_is_host(d)) return cpu_busy(&load, ms, to, d);
    if (isnan(to->mine.used_s)) return launches_late(&load, ms, to->all.processors, queued);
    set_loads(&load, &from->mine, &to->mine, to->own_s - from->own_s, ms * 1e-3);
    return launches_late(&load, ms, to->mine.processors, queued);
}
