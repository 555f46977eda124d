// What else the machine has to do while something is timed.
#ifndef BUSY_H
#define BUSY_H

#include "device/device.h"

// All from the start of the machine, or of this process.
struct machine_clock {
    double ms; // clock_ms()
    double used_s,
        steal_s;      // processor time of all that runs, and that the host took; NAN: not known
    double own_s;     // of this process
    int64_t switches; // of its threads against their will; -1: not known
    int processors;
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
// Whether that makes the times of work on `d` too long.
bool machine_busy(const struct machine_clock *from, const struct machine_clock *to,
                  const struct device *d);

// The times from the text of /proc/stat, where `tick_s` is the unit it counts in; false if it has
// none.
bool machine_parse(const char *text, double tick_s, struct machine_clock *out);

#endif
