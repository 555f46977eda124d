// Records read back: what tells a case apart, how it ended, and its numbers.
#ifndef RECORD_READ_H
#define RECORD_READ_H

#include "bench/bench.h"
#include "records/record_facts.h"

// What the doctor found is of no run: all of it is left out.
enum record_kind { RECORD_ENVIRONMENT, RECORD_RESULT, RECORD_DOCTOR };

struct record {
    enum record_kind kind;
    char *run; // its id, owned; a result belongs to the environment of the same. NULL: older
    // Of an environment: when it was written, in seconds since 1970. 0: it does not say
    int64_t when;
    char *revision; // of the program; its main device is `device`, by its name. NULL: not known
    struct record_facts facts; // of its algorithms and devices
    // Of a result; texts are owned.
    enum status status;
    char *reason;            // NULL: none
    char *key;               // of the case: see case_key()
    char *op, *alg, *device; // names
    char *library;           // name and version. NULL: none
    char *matrix, *path;
    char *content;          // of the matrix. NULL: it has none, or the record is older
    double file_bytes;      // of its file, and when it was written last. NAN: likewise
    double file_changed_ns; // (in a double, so to a quarter of a microsecond)
    enum prec prec;
    // The case itself, where this build still has its operation and its algorithm, and all fields
    // are what they may be; else entry is NULL. Options that the algorithm no longer has are left
    // out.
    struct bench_case c;
    double gflops, median, ci_lo, ci_hi;         // NAN where there is no time, or no interval
    double bytes, efficiency, gather_efficiency; // as in struct result; NAN: not known
    char *method;                                // of its check. NULL: it was not checked
    double error_ratio;                          // of its check; NAN: not known
    double back_to_back, back_ci_lo, back_ci_hi; // likewise; NAN where that is no other time
    double min_ms;                               // the fastest sample; NAN: no time
    double prep_ms;  // conversion from CSR, and analysis; NAN: not known
    char *picked;    // the algorithm that `alg` picked; NULL: none
    double *samples; // milliseconds, size sample_count; owned
    int sample_count;
    bool throttled, busy;
    bool overtakes; // it was seen not to wait for the work ahead of it
};

// Parses one line. ERR_INPUT says what is wrong with it; then there is nothing to free.
int record_read(const char *line, struct record *out);
void record_free(struct record *r);
// Returns true if a result has a time, checked or not.
bool record_is_timed(const struct record *r);
// Calls `take` for each line of a file of records, plain or gzip, until it returns a negative
// number (enough) or an error. ERR_INPUT: the file cannot be read, or its first line is no record.
int record_each_line(const char *path,
                     int (*take)(void *arg, const char *path, const char *line, long long number),
                     void *arg);

#endif
