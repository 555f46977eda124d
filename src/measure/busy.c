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

bool machine_parse(const char *text, double tick_s, struct machine_clock *out)
{
    // user (with guests), nice, system, idle, waiting for a disk, interrupts, the same done later,
    // taken by the host
    unsigned long long x[8];
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &x[0], &x[1], &x[2], &x[3],
               &x[4], &x[5], &x[6], &x[7]) < 8)
        return false;
    unsigned long long used = x[0] + x[1] + x[2] + x[5] + x[6];
    // A sandbox may have the file, and nothing in it.
    if (!used && !x[3]) return false;
    int processors = 0;
    for (const char *p = text; (p = strstr(p, "\ncpu")); p++) processors++;
    if (!processors) return false;
    out->used_s = (double)used * tick_s;
    out->steal_s = (double)x[7] * tick_s;
    out->processors = processors;
    return true;
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
    struct machine_clock now = {.used_s = NAN, .steal_s = NAN, .own_s = NAN, .switches = -1};
    struct rusage usage;
    struct timespec own;
    long ticks = sysconf(_SC_CLK_TCK);
    now.ms = clock_ms();
    if (ticks <= 0 || !read_stat(text, sizeof text) ||
        !machine_parse(text, 1.0 / (double)ticks, &now))
        now.used_s = now.steal_s = NAN;
    if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own))
        now.own_s = (double)own.tv_sec + (double)own.tv_nsec * 1e-9;
    if (!getrusage(RUSAGE_SELF, &usage)) now.switches = usage.ru_nivcsw;
    return now;
}

struct machine_load machine_between(const struct machine_clock *from,
                                    const struct machine_clock *to)
{
    double s = (to->ms - from->ms) * 1e-3;
    struct machine_load load = {.switches = -1, .steal = NAN, .others = NAN};
    if (from->switches >= 0 && to->switches >= 0) load.switches = to->switches - from->switches;
    if (!(s > 0)) return load;
    // What is counted in ticks may come out a little less than nothing.
    double steal = (to->steal_s - from->steal_s) / s;
    double others = (to->used_s - from->used_s - (to->own_s - from->own_s)) / s;
    if (!isnan(steal)) load.steal = fmax(0, steal);
    if (!isnan(others)) load.others = fmax(0, others);
    return load;
}

// Work on the CPU shares its memory with all others; a GPU needs one processor that launches.
bool machine_busy(const struct machine_clock *from, const struct machine_clock *to,
                  const struct device *d)
{
    double ms = to->ms - from->ms;
    struct machine_load load = machine_between(from, to);
    double most = fmax(OTHERS_PROCESSORS, OTHERS_SHARE * to->processors);
    if (!device_is_host(d)) most = to->processors - 1 + OTHERS_PROCESSORS;
    return load.others * ms > most * ms + COUNTING_MS ||
           load.steal * ms > STEAL_PROCESSORS * ms + COUNTING_MS;
}
