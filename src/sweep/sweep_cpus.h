// Which processors and how many threads the workers of a sweep have, that are side by side.
#ifndef SWEEP_CPUS_H
#define SWEEP_CPUS_H

#include "base/cpus.h"
#include "sweep/worker_devices.h"

struct sweep_cpus {
    struct cpus near[WORKER_DEVICES_MAX]; // next to the devices, as far as that is known
    char text[WORKER_DEVICES_MAX][CPUS_TEXT];
};

// Shares out what this process may run on; places[i].cpus are the i-th one's. Returns the threads
// of each, 0 where -threads says how many (`wanted`, else 0). Where OpenMP was told to bind its
// threads, or one of so many threads would not get its processors, all may run everywhere.
int sweep_cpus_share(struct sweep_cpus *c, int wanted, int count, struct sweep_place *places);

#endif
