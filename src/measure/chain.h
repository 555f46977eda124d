// Runs of one sample: started one by one, or as a graph; apart from each other, or not.
#ifndef CHAIN_H
#define CHAIN_H

#include "measure/timing.h"

struct chain {
    struct device *dev;
    const struct timed_work *work; // NULL: the separators alone
    int count;                     // runs, or separators
    bool separated;                // a separator stands behind each run
    void *graph;                   // NULL: they are started one by one
};

int chain_start(const struct chain *c);
// From here on it is started as a graph. ERR_UNSUPPORTED where there is none; nothing is changed.
int chain_make_graph(struct chain *c);
// Back to one by one.
void chain_free_graph(struct chain *c);

#endif
