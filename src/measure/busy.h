// Other work of the machine during a measurement, and whether that work makes the times too long.
#ifndef BUSY_H
#define BUSY_H

#include "base/cpus.h"
#include "device/device.h"

// Processor time of a set of processors since the start of the machine. NAN: unknown.
struct cpu_clock {
    double used_s, steal_s; // used by any process; taken by the host of a virtual machine
    int processors;
};

struct machine_clock {
    double ms; // clock_ms()
    struct cpu_clock all;
    struct cpu_clock mine; // processors that the calling thread may run on
    double own_s;          // processor time of this process
    double ran_s;          // time of the calling thread on a processor; NAN: unknown
    double waited_s;       // time that the thread was ready, without a processor; NAN: unknown
    int64_t switches;      // involuntary context switches of this process; -1: unknown
};

// Differences between two clocks.
struct machine_load {
    int64_t switches; // involuntary context switches of this process; -1: unknown
    double steal;     // processors that the host of this virtual machine took; NAN: unknown
    double others;    // processors that other processes used; NAN: unknown
    double delay; // share of its work time that the calling thread had no processor; NAN: unknown
};

// Reads the clocks. Two readings that are compared come from the same thread.
struct machine_clock machine_now(void);
struct machine_load machine_between(const struct machine_clock *from,
                                    const struct machine_clock *to);
// Returns true if other work made the times on `d` too long. `queued`: a graph launches all runs
// of a sample.
//
//   CPU  other processes use 0.25 processors, or a tenth of all if that is more; or the host
//        takes 0.05 of the processors that the threads of `d` need
//   GPU  the launching thread has no processor for 5 % of its work time, with graphs for 50 %;
//        or the host takes that share of the processors of this process. H200, 64 processors of
//        a virtual machine: a loss of 0.74 processors changed times by 0.2 %
bool machine_busy(const struct machine_clock *from, const struct machine_clock *to,
                  const struct device *d, bool queued);

// Reads the times from the text of /proc/stat, which counts in units of `tick_s`: of the processors
// `which`, or of all if NULL. Returns false if the text has none.
bool machine_parse(const char *text, double tick_s, const struct cpus *which,
                   struct cpu_clock *out);

#endif
