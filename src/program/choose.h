// From what the command line asked for to what is run: the devices are opened, the names and
// patterns of -alg become a plan.
#ifndef CHOOSE_H
#define CHOOSE_H

#include "program/options.h"

struct choice {
    enum device_kind primary; // what `-device` means here; `all` and patterns choose its algorithms
    struct device devices[2]; // by enum device_kind; the CPU is always open
    struct bench_device used[2];
    char missing[256]; // why there is no CUDA device, where -device auto did not find one
    struct plan plan;
};

// The devices alone.
int choice_open(struct choice *c, const struct options *o);
// And the plan. On failure nothing stays open.
int choice_make(struct choice *c, const struct options *o);
// The ceilings of the chosen device and of those that the plan uses.
int choice_measure_roofs(struct choice *c, bool fresh);
void choice_free(struct choice *c);

#endif
