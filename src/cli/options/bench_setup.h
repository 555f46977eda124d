// Makes a plan and its devices from the options. Names and patterns of -alg become a plan without
// opening a device. The devices are opened in a second step.
#ifndef BENCH_SETUP_H
#define BENCH_SETUP_H

#include "bench/bench.h"
#include "cli/options/options.h"

struct bench_setup {
    enum device_kind primary;     // kind of device of -device; patterns match its algorithms
    char device[16];              // id of that device
    bool only;                    // -device names the kind; other kinds are not used
    char fallback[FAIL_TEXT_MAX]; // reason why -device auto chose the CPU
    struct plan plan;
    struct device *opened; // size DEVICE_KINDS
    struct bench_devices devices;
};

// Resolves -device and makes the plan. Frees everything on failure.
int bench_setup_make(struct bench_setup *setup, const struct options *o);
// Replaces setup->plan by a plan for `o`, for the same devices.
int bench_setup_replan(struct bench_setup *setup, const struct options *o);
// Resolves and opens the device only, for commands without a plan.
int bench_setup_make_device(struct bench_setup *setup, const struct options *o);
// Opens the devices of the plan and loads their ceilings, measuring missing ones. `fresh` measures
// all again. If `auto` found a GPU that cannot be opened, the plan changes to the CPU.
int bench_setup_open(struct bench_setup *setup, const struct options *o);
int bench_setup_measure_roofs(struct bench_setup *setup, bool fresh);
void bench_setup_free(struct bench_setup *setup);
// Returns true if an operation has an algorithm of this name on any device.
bool bench_setup_is_algorithm(const char *name);
// Returns an error if an option of the algorithm cannot have the value.
int bench_setup_check_opt(const struct given_option *s, const struct algo_option *p,
                          const char *algo);

#endif
