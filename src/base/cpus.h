// Sets of processors, by their numbers.
#ifndef CPUS_H
#define CPUS_H

#include "base/base.h"

#define CPUS_MOST 1024                // what the system's own sets hold
#define CPUS_TEXT (5 * CPUS_MOST + 1) // letters of a list, at most

struct cpus {
    bool has[CPUS_MOST];
    int count;
};

// Those that the calling thread may run on; none where that is not known.
void cpus_mine(struct cpus *c);
// The calling thread, and those that it makes from now on, run on these alone; false: they may not.
bool cpus_pin(const struct cpus *c);
// From a list such as "0-3,8", and back.
void cpus_parse(const char *list, struct cpus *c);
const char *cpus_text(const struct cpus *c, char text[CPUS_TEXT]);
void cpus_add(struct cpus *c, int cpu);

#endif
