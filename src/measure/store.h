// Sparse matrices in the formats that algorithms ask for, in the memory of one device: each is made
// once for all tasks of a matrix.
#ifndef STORE_H
#define STORE_H

#include "algos/algo.h"

// What it took to make one matrix in one format ready.
struct format_cost {
    double convert_ms; // to the precision and the format, the first time
    double warm_ms;    // the same done again; of several times the median
    double upload_ms;  // copies to the device
};

#define SOURCES_MAX 3 // formats that one is made from, one after another

struct stored {
    const struct csr *of;
    const struct format *format;
    enum prec prec;
    double opt[PARAMS_MAX]; // of the format's own parameters
    struct sparse *X;
    struct format_cost cost[1 + SOURCES_MAX]; // its own, of what it is made from, and so on
    uint64_t bits;                            // of what it holds, as it was made
    bool used; // by the task that was prepared last; set by the caller
};

struct store {
    struct device *dev;
    struct stored *list; // size count
    int count, room;
    int again; // times that a format which is quickly made is made again; 0: as any other, once
};
#define STORE_AGAIN_MAX 3
void store_free(struct store *s);

// A matrix in a format, with the values that the task has for its parameters: the one that is
// there, or a new one.
int store_need(struct store *s, const struct task *t, const struct csr *A,
               const struct format *format, struct stored **out);
// Frees what is of other matrices than those of the problem, or of another precision.
void store_keep(struct store *s, const struct problem *p);
// Frees what is not used; false if there was nothing.
bool store_drop_unused(struct store *s);
// Frees one.
void store_drop(struct store *s, int i);
int64_t store_unused_bytes(const struct store *s);

#endif
