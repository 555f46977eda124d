// Sets of processors, by their numbers.
#ifndef CPUS_H
#define CPUS_H

#include "base/base.h"

#define CPUS_MOST 1024                // size of cpu_set_t
#define CPUS_TEXT (5 * CPUS_MOST + 1) // bytes of the longest list

struct cpus {
    bool has[CPUS_MOST];
    int count;
};

// Sets c to the processors that the calling thread may run on; to none if they are not known.
void cpus_mine(struct cpus *c);
// Pins the calling thread, and threads that it starts later, to c. Returns false on failure.
bool cpus_pin(const struct cpus *c);
// Sets c from a list such as "0-3,8".
void cpus_parse(const char *list, struct cpus *c);
// Writes such a list into `text` and returns `text`.
const char *cpus_text(const struct cpus *c, char text[CPUS_TEXT]);
void cpus_add(struct cpus *c, int cpu);

#endif
