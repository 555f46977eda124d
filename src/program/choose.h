// From what the command line asked for to what is run: the names and patterns of -alg become a
// plan, for which no device is opened, and then its devices are.
#ifndef CHOOSE_H
#define CHOOSE_H

#include "program/options.h"
#include "run/bench.h"

struct choice {
    enum device_kind primary; // what -device means here; `all` and patterns choose its algorithms
    char device[16];          // its id
    bool only;                // -device named it: kinds that it did not name are not used
    char fallback[FAIL_TEXT_MAX]; // why there is nothing better, where -device auto came to the CPU
    struct plan plan;
    struct device *opened; // size DEVICE_KINDS
    struct bench_devices devices;
};

// Which device -device means, and the plan. On failure nothing is left.
int choice_make(struct choice *c, const struct options *o);
// The device alone, opened, for what needs no plan.
int choice_make_device(struct choice *c, const struct options *o);
// Opens the devices of the plan, and measures their ceilings, or reads what was measured before;
// `fresh` measures in any case. One that `auto` found and that cannot be opened changes the plan.
int choice_open(struct choice *c, const struct options *o);
int choice_measure_roofs(struct choice *c, bool fresh);
void choice_free(struct choice *c);
// Whether an operation has an algorithm of this name, on any device.
bool choice_is_algorithm(const char *name);
// Whether a parameter of the algorithm of this name may have the value.
int choice_check_setting(const struct option_setting *s, const struct param *p, const char *algo);

#endif
