// The processors of the workers that are at work side by side, each at a device of its own.
//
// A worker reads its matrix and checks its results with all its threads, while others time. So that
// they do not meet, each has processors that are its own: whole cores, those next to its device
// first. Its launching thread then competes with nobody, as its own threads rest while it times.
// Without shares, 414 of 4,968 times are marked busy (four H200, host with 64 processors).
#ifndef CPU_SPLIT_H
#define CPU_SPLIT_H

#include "base/cpus.h"

// Shares `all` out to `count` workers, as many to each: size count. `near` are those next to their
// devices, none where that is not known. Where there are fewer processors than workers, none gets
// any.
void shares_make(const struct cpus *all, int count, const struct cpus *near, struct cpus *shares);
// Threads of each of `count` workers that have `cpus` processors each, of `processors` that a
// control group allows all of them together (0: no such limit): 1 at least.
int shares_threads(int count, int cpus, double processors);

#endif
