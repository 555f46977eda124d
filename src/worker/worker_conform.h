// The worker's side of spbench conform: runs the exact cases and the traps of one algorithm.
#ifndef WORKER_CONFORM_H
#define WORKER_CONFORM_H

#include "cli/options/options.h"
#include "sweep/worker_request.h"

#define CONFORM_EXACT "exact" // name of the exact cases, beside the names of traps

// Reports every case of the algorithm request->conform, except those of request->without.
int worker_conform(const struct worker_request *request, const struct options *o);
// Writes the name of an algorithm for parent and worker, such as "spmm mine cpu".
#define CONFORM_NAME_MAX 64
const char *worker_conform_name(const struct algo_entry *e, char text[CONFORM_NAME_MAX]);

#endif
