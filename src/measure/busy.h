// What else the machine has to do while something is timed.
#ifndef BUSY_H
#define BUSY_H

#include "base/cpus.h"
#include "device/device.h"

// Processor time of all that runs on some processors, and that the host took of them, from the
// start of the machine; NAN: not known.
struct cpu_clock {
    double used_s, steal_s;
    int processors;
};

struct machine_clock {
    double ms; // clock_ms()
    struct cpu_clock all;
    struct cpu_clock mine; // those that the calling thread may run on
    double own_s;          // processor time of this process
    int64_t switches;      // of its threads against their will; -1: not known
};

// Over a while.
struct machine_load {
    int64_t switches; // involuntary context switches of this process; -1: not known
    double steal;     // processors that the host of this virtual machine took; NAN: not known
    double others;    // processors that other processes had; NAN: not known
};

struct machine_clock machine_now(void);
// What was between the two.
struct machine_load machine_between(const struct machine_clock *from,
                                    const struct machine_clock *to);
// Whether that makes the times of work on `d` too long. Work on the CPU shares its memory with all
// others, wherever these run. A GPU needs one processor that launches, of those that this process
// may have: what runs on others (its neighbours in a sweep) does not hold it up.
bool machine_busy(const struct machine_clock *from, const struct machine_clock *to,
                  const struct device *d);

// The times from the text of /proc/stat, where `tick_s` is the unit it counts in: of all
// processors, or of these; false if it has none.
bool machine_parse(const char *text, double tick_s, const struct cpus *which,
                   struct cpu_clock *out);

#endif
