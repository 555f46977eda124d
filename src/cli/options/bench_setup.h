// From what the command line asked for to what is run: the names and patterns of -alg become a
// plan, for which no device is opened, and then its devices are.
#ifndef BENCH_SETUP_H
#define BENCH_SETUP_H

#include "bench/bench.h"
#include "cli/options/options.h"

struct bench_setup {
    enum device_kind primary; // what -device means here; `all` and patterns choose its algorithms
    char device[16];          // its id
    bool only;                // -device named it: kinds that it did not name are not used
    char fallback[FAIL_TEXT_MAX]; // why there is nothing better, where -device auto came to the CPU
    struct plan plan;
    struct device *opened; // size DEVICE_KINDS
    struct bench_devices devices;
};

// Which device -device means, and the plan. On failure nothing is left.
int bench_setup_make(struct bench_setup *c, const struct options *o);
// The device alone, opened, for what needs no plan.
int bench_setup_make_device(struct bench_setup *c, const struct options *o);
// Opens the devices of the plan, and measures their ceilings, or reads what was measured before;
// `fresh` measures in any case. One that `auto` found and that cannot be opened changes the plan.
int bench_setup_open(struct bench_setup *c, const struct options *o);
int bench_setup_measure_roofs(struct bench_setup *c, bool fresh);
void bench_setup_free(struct bench_setup *c);
// Whether an operation has an algorithm of this name, on any device.
bool bench_setup_is_algorithm(const char *name);
// Whether a parameter of the algorithm of this name may have the value.
int bench_setup_check_setting(const struct option_setting *s, const struct param *p, const char *algo);

#endif
