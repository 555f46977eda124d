// A worker of a sweep: measures a matrix by its request, and reports to its parent by the protocol
// of sweep/protocol.h. Only the program itself starts a worker.
#ifndef WORKER_MAIN_H
#define WORKER_MAIN_H

#include "cli/options/options.h"

// Takes one request (and a second one if it stands by) from WORKER_CHANNEL. After success the
// process must end: memory is not freed.
int worker_main(const struct options *given);

#endif
