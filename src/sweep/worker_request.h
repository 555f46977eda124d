// The request that a worker gets: a JSON document, one line of its stdin. Texts are paths and words
// of the command line. Their bytes stay as they are, also if they are not UTF-8.
#ifndef WORKER_REQUEST_H
#define WORKER_REQUEST_H

#include "bench/bench.h"

#include <cjson/cJSON.h>

struct texts {
    const char **list; // size count
    int64_t count;
};
// Adds a copy of `text`. A list of such copies is freed with texts_free().
int texts_add(struct texts *t, const char *text);
// Returns true if the list has the text.
bool texts_has(const struct texts *t, const char *text);
void texts_free(struct texts *t);

struct worker_request {
    int64_t parent;       // process that started the worker: the worker ends with it
    bool survey;          // report the device and the cases, measure nothing
    bool describe;        // describe the plug-ins, and end
    bool standby;         // get ready without device and matrix, then wait for the word begin
    const char *conform;  // run the exact cases and traps of this algorithm, and end; NULL: no
    int64_t skip;         // conform: number of exact cases that are finished
    const char *matrix;   // path; NULL: a survey, or a standby
    const char *device;   // replaces -device of the sweep
    const char *expected; // id that the device must have; NULL: any
    const char *library;  // a file that must be loaded; NULL: none
    const char *cpus;     // processors, as a list; NULL: all
    const char *run;      // id of the run of its records
    struct texts plugins; // descriptions of the files of -plugin
    struct texts command; // command line of the sweep, for the record of the environment
    struct texts done;    // keys of finished cases
    struct texts
        unverified;       // "CONTENT KEY" of cases that are finished if the matrix has this content
    struct texts without; // keys of cases to leave out, up to the matrix; conform: finished traps
    int64_t memory_bytes; // limit of host memory; 0: none
    const char *lost;     // reason why the matrix cannot be loaded; NULL: load the matrix
    enum status lost_as;  // status of its cases then
    cJSON *document;      // owner of the texts of a request that was read
};

// Returns the JSON, which the caller frees; NULL: ERR_MEMORY.
char *worker_request_text(const struct worker_request *r);
// Parses the JSON. ERR_INPUT: the text is no request.
int worker_request_read(const char *text, struct worker_request *r);
void worker_request_free(struct worker_request *r);

#endif
