// Reads records back: the case, its status and its numbers.
#ifndef RECORD_READ_H
#define RECORD_READ_H

#include "bench/bench.h"
#include "records/json.h"

// Facts of an environment record: the algorithms and devices of its results.
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

// Records of the doctor have no other field than their kind here.
enum record_kind { RECORD_ENVIRONMENT, RECORD_RESULT, RECORD_DOCTOR };

struct record {
    enum record_kind kind;
    char *run; // id of the run, owned; results have that of their environment. NULL: of the doctor
    // Fields of an environment; its main device is `device`, by name.
    int64_t when;   // date of writing, in seconds since 1970. 0: unknown
    char *revision; // revision of the program. NULL: unknown
    struct record_facts facts;
    // Fields of a result; texts are owned.
    enum status status;
    char *reason;            // NULL: none
    char *key;               // see case_key()
    char *op, *alg, *device; // names
    char *library;           // name and version. NULL: none
    char *matrix, *path;
    char *content;          // hash of the matrix. NULL: none
    double file_bytes;      // size of the file. NAN: none
    double file_changed_ns; // last write, to a quarter of a microsecond. NAN: likewise
    const struct algo_entry *entry;              // NULL: this build does not have the algorithm
    bool own_values;                             // an option differs from the default of `entry`
    double gflops, median, ci_lo, ci_hi;         // NAN: no time, or no interval
    double bytes, efficiency, gather_efficiency; // see struct result; NAN: unknown
    char *method;                                // method of the check. NULL: not checked
    double error_ratio;                          // see struct check; NAN: unknown
    double back_to_back, back_ci_lo, back_ci_hi; // NAN: no such time
    double min_ms;                               // the fastest sample; NAN: no time
    double prep_ms;  // conversion from CSR, and analysis; NAN: not known
    char *picked;    // the algorithm that `alg` picked; NULL: none
    double *samples; // milliseconds, size sample_count; owned
    int sample_count;
    bool throttled, busy;
    bool dropped;   // from a race: the case is not near the fastest
    bool overtakes; // a run did not wait for the work before it
};

// Parses one line. ERR_INPUT, with the fault in the text: nothing to free.
int record_read(const char *line, struct record *out);
void record_free(struct record *r);
// Returns the algorithm of this name for the device `id`. NULL: the record does not list it.
const struct record_algo *record_facts_algo(const struct record_facts *f, const char *name,
                                            const char *id);
// Returns the name of the device. NULL: the record does not list it.
const char *record_facts_device(const struct record_facts *f, const char *id);
// Returns true if a result has a time, checked or not.
bool record_is_timed(const struct record *r);
// Calls `take` for each line of a file of records, plain or gzip, until it returns a negative
// number (enough) or an error. ERR_INPUT: the file cannot be read, or its first line is no record.
int record_each_line(const char *path,
                     int (*take)(void *arg, const char *path, const char *line, long long number),
                     void *arg);

#endif
