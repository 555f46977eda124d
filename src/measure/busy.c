#include "measure/busy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/sysfs.h"

// Below these it is the noise of a quiet machine: its daemons, and what this process does itself.
#define OTHERS_PROCESSORS 0.25 // that other processes have, or
#define OTHERS_SHARE      0.1  // so much of all, if that is more
#define STEAL_PROCESSORS  0.05
#define COUNTING_MS       30.0 // three ticks: processor times are known no better

// The times of a line behind its name; false if these are none.
static bool parse_line(const char *line, double tick_s, struct cpu_clock *sum)
{
    // user (with guests), nice, system, idle, waiting for a disk, interrupts, the same done later,
    // taken by the host
    unsigned long long x[8];
    if (sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %llu", &x[0], &x[1], &x[2], &x[3], &x[4],
               &x[5], &x[6], &x[7]) < 8)
        return false;
    unsigned long long used = x[0] + x[1] + x[2] + x[5] + x[6];
    sum->used_s += (double)used * tick_s;
    sum->steal_s += (double)x[7] * tick_s;
    // A sandbox may have the file, and nothing in it.
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

struct machine_clock machine_now(void)
{
    // The lines of up to 1,000 processors, which come first.
    static char text[1 << 17];
    const struct cpu_clock unknown = {.used_s = NAN, .steal_s = NAN};
    struct machine_clock now = {.all = unknown, .mine = unknown, .own_s = NAN, .switches = -1};
    struct rusage usage;
    struct timespec own;
    struct cpus mine;
    long ticks = sysconf(_SC_CLK_TCK);
    double tick_s = 1.0 / (double)ticks;
    cpus_mine(&mine);
    now.ms = clock_ms();
    if (ticks > 0 && read_stat(text, sizeof text)) {
        machine_parse(text, tick_s, NULL, &now.all);
        machine_parse(text, tick_s, &mine, &now.mine);
    }
    if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own))
        now.own_s = (double)own.tv_sec + (double)own.tv_nsec * 1e-9;
    if (!getrusage(RUSAGE_SELF, &usage)) now.switches = usage.ru_nivcsw;
    return now;
}

// Between two times of some processors, on which this process had own_s.
static struct machine_load load_between(const struct cpu_clock *from, const struct cpu_clock *to,
                                        double own_s, double s)
{
    struct machine_load load = {.switches = -1, .steal = NAN, .others = NAN};
    if (!(s > 0)) return load;
    // What is counted in ticks may come out a little less than nothing.
    double steal = (to->steal_s - from->steal_s) / s;
    double others = (to->used_s - from->used_s - own_s) / s;
    if (!isnan(steal)) load.steal = fmax(0, steal);
    if (!isnan(others)) load.others = fmax(0, others);
    return load;
}

struct machine_load machine_between(const struct machine_clock *from,
                                    const struct machine_clock *to)
{
    struct machine_load load =
        load_between(&from->all, &to->all, to->own_s - from->own_s, (to->ms - from->ms) * 1e-3);
    if (from->switches >= 0 && to->switches >= 0) load.switches = to->switches - from->switches;
    return load;
}

bool machine_busy(const struct machine_clock *from, const struct machine_clock *to,
                  const struct device *d)
{
    bool host = device_is_host(d), whole = host || isnan(to->mine.used_s);
    const struct cpu_clock *a = whole ? &from->all : &from->mine, *b = whole ? &to->all : &to->mine;
    double ms = to->ms - from->ms;
    struct machine_load load = load_between(a, b, to->own_s - from->own_s, ms * 1e-3);
    double most = fmax(OTHERS_PROCESSORS, OTHERS_SHARE * b->processors);
    if (!host) most = b->processors - 1 + OTHERS_PROCESSORS;
    return load.others * ms > most * ms + COUNTING_MS ||
           load.steal * ms > STEAL_PROCESSORS * ms + COUNTING_MS;
}
