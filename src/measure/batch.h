// A batch: the runs of one sample, started one by one or as a graph, with or without separators.
#ifndef BATCH_H
#define BATCH_H

#include "measure/timing.h"

enum batch_inputs {
    INPUTS_STAY,
    INPUTS_TOUCHED, // written ahead of each run, with the same values
    INPUTS_CHANGE,  // other values ahead of each run
};

struct batch {
    struct device *dev;
    const struct timed_work *work; // NULL: separators alone
    int count;                     // runs, or separators
    bool separated;                // a separator stands behind each run
    enum batch_inputs inputs;
    void *graph; // NULL: the runs are started one by one
};

// Starts the runs.
int batch_start(const struct batch *b);
// Makes a graph, which batch_start() then starts. ERR_UNSUPPORTED: no graph is possible, nothing
// changes.
int batch_make_graph(struct batch *b);
// Frees the graph: batch_start() starts the runs one by one.
void batch_free_graph(struct batch *b);

#endif
