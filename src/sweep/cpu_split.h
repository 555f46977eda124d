// Splits processors and threads among workers that run side by side, each with a device of its own.
//
// A worker reads its matrix and checks its results with all its threads, while others time. So each
// worker has processors of its own: whole cores, those next to its device first. Its launching
// thread then competes with no other, since its own threads rest while it times. Without the split,
// 414 of 4,968 times are marked busy (four H200, host with 64 processors).
#ifndef CPU_SPLIT_H
#define CPU_SPLIT_H

#include "base/cpus.h"
#include "sweep/worker_devices.h"

struct cpu_split {
    struct cpus near[WORKER_DEVICES_MAX]; // processors next to each device; empty: unknown
    char text[WORKER_DEVICES_MAX][CPUS_TEXT];
};

// Splits `all` into `count` shares of equal size, with processors of near[i] first. With fewer
// processors than workers all shares are empty.
void cpu_split_make(const struct cpus *all, int count, const struct cpus *near,
                    struct cpus *shares);
// Returns the threads of each of `count` workers with `cpus` processors each, at least 1.
// `processors`: limit of the control group for all of them; 0: none.
int cpu_split_threads(int count, int cpus, double processors);
// Sets slots[i].cpus to shares of this process's processors. Returns the threads of each worker; 0
// if -threads sets them (`wanted`, else 0). All workers may run everywhere if OpenMP binds its
// threads, or if a worker has more threads than its share has processors.
int cpu_split_slots(struct cpu_split *c, int wanted, int count, struct slot_config *slots);

#endif
