// The worker's side of spbench test: runs the exact cases of plug-ins that are loaded.
#ifndef WORKER_TEST_H
#define WORKER_TEST_H

#include "cli/options/options.h"
#include "sweep/worker_request.h"

// Reports every case of the algorithms of -alg, except those of request->without.
int worker_test(const struct worker_request *request, const struct options *o);
// Writes the name of an algorithm for parent and worker, such as "spmm mine cpu".
#define TEST_NAME_MAX 64
const char *worker_test_name(const struct algo_entry *e, char text[TEST_NAME_MAX]);

#endif
