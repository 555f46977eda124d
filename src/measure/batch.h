// Runs of one sample: started one by one, or as a graph; apart from each other, or not.
#ifndef BATCH_H
#define BATCH_H

#include "measure/timing.h"

struct batch {
    struct device *dev;
    const struct timed_work *work; // NULL: the separators alone
    int count;                     // runs, or separators
    bool separated;                // a separator stands behind each run
    void *graph;                   // NULL: they are started one by one
};

int batch_start(const struct batch *c);
// From here on it is started as a graph. ERR_UNSUPPORTED where there is none; nothing is changed.
int batch_make_graph(struct batch *c);
// Back to one by one.
void batch_free_graph(struct batch *c);

#endif
