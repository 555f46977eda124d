// The settings that all workers of a sweep share, and the start of a worker. A survey is a worker
// that reports the device and the cases.
#ifndef WORKER_CONFIG_H
#define WORKER_CONFIG_H

#include "base/cpus.h"
#include "sweep/worker.h"

struct worker_config {
    char *const *words; // words of the command line without matrices; size word_count
    int word_count;
    struct texts command; // command line of the sweep
    struct texts plugins; // descriptions of the files of -plugin
    const char *device;   // -device of a worker
    char expected[16];    // id that the device must have; "": any
    int threads;          // threads of each worker; 0: default
    bool input;   // a matrix is "-", stdin of this process
    int64_t memory_bytes; // limit of host memory of each worker; 0: none
};

// The arguments of one worker; fields as in struct worker_request.
struct worker_args {
    const char *matrix; // path; NULL: a survey, or a standby
    bool standby;
    bool survey;         // of a standby: write the plan before it is ready
    bool describe;       // as in struct worker_request
    const char *conform; // as in struct worker_request
    int64_t skip;
    const char *library; // loaded before all others; NULL: none
    const char *setting; // NAME=VALUE that makes its device visible; NULL: none
    const char *cpus;
    const char *run;
    struct texts done, unverified, without;
    const char *lost;
    enum status lost_as;
};

int worker_config_start(const struct worker_config *config, const struct worker_args *args,
                        struct worker *w);
// Sends a standby with the same setting and library its second request.
int worker_config_begin(const struct worker_config *config, const struct worker_args *args,
                        struct worker *w);

struct survey {
    char id[16];           // id of the device
    char name[128];        // its name
    int count;             // visible devices of its kind
    char near[CPUS_TEXT];  // processors next to the device; "": unknown
    struct texts prefixes; // keys of the cases, up to the matrix; owned
    char *plugin;          // description of a plug-in; owned; NULL: none
    bool stays;            // the worker stays as a standby
    bool plugin_follows;   // the next line is the description
};
int survey_make(const struct worker_config *config, const struct worker_args *args,
                struct survey *out);
// Makes a survey that opens no device and has only the keys of the cases. Its worker *w stays as a
// standby, which can begin a matrix.
int survey_start(const struct worker_config *config, const struct worker_args *args,
                 struct survey *out, struct worker *w);
void survey_free(struct survey *s);

#endif
