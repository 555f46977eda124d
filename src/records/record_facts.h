// Facts of an environment record: the algorithms and devices of its results.
#ifndef RECORD_FACTS_H
#define RECORD_FACTS_H

#include "records/json.h"

struct record_algo {               // texts are owned; NULL: none
    char *name, *device;           // device: the kind, "cuda"
    char *vendor, *call, *partial; // see struct algo
    bool reference, dense;
};
struct record_device {
    char *id, *name; // "cuda:0", "NVIDIA H200"; owned
};
struct record_facts {
    char *program;             // revision, compiler, flags and host, owned. NULL: unknown
    struct record_algo *algos; // size algo_count
    int algo_count;
    struct record_device *devices; // size device_count
    int device_count;
};

// Reads an environment record, without fields of another form than expected.
int record_facts_read(const cJSON *o, struct record_facts *f);
void record_facts_free(struct record_facts *f);
// Returns the algorithm of this name for the device `id`. NULL: the record does not list it.
const struct record_algo *record_facts_algo(const struct record_facts *f, const char *name,
                                            const char *id);
// Returns the name of the device. NULL: the record does not list it.
const char *record_facts_device(const struct record_facts *f, const char *id);

#endif
