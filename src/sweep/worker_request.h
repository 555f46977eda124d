// What a worker of a sweep is told: a JSON document, one line of its stdin. One that stands by
// reads what it needs to get ready, and when it is to begin the next line, which has all of it.
#ifndef WORKER_REQUEST_H
#define WORKER_REQUEST_H

#include "bench/bench.h"

#include <cjson/cJSON.h>

// Several texts.
struct texts {
    const char **list; // size count
    int64_t count;
};

struct order {
    int64_t parent;       // process that started it: without it there is no work to do
    bool survey;          // only tell what cases there are, and on what device
    bool standby;         // get ready without device and matrix, and wait for the word to begin
    const char *matrix;   // path; NULL: of a survey, or not known yet
    const char *device;   // for -device, in place of what the sweep was given
    const char *expected; // the id of the device that this must come to; NULL: any
    const char *library;  // a file that must be loaded; NULL: none
    const char *cpus;     // processors to run on, as a list; NULL: as it finds
    const char *run;      // id of the run that its records belong to
    struct texts command; // of the sweep, for the record of the environment
    struct texts done;    // keys of cases that are not to run
    struct texts maybe;   // "CONTENT KEY": likewise, if the matrix has this content
    struct texts without; // beginnings of such keys, up to the matrix
    int64_t memory_bytes; // of the host, at most; 0: as much as there is
    const char *lost;     // why the matrix cannot be loaded, which is then not tried; NULL: load it
    enum status lost_as;  // what its cases become
    cJSON *document;      // of one that was read: it has the texts
};

// To be freed with mem_free(); NULL: ERR_MEMORY.
char *order_text(const struct order *o);
// ERR_INPUT: that is no order.
int order_read(const char *text, struct order *o);
void order_free(struct order *o);

#endif
