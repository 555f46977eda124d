// Records: schema spbench/1, one JSON object a line. src/records/record.schema.json describes them.
//
// record_file.c has where they go, record_tail.h what becomes of an end that a crash has left,
// record_environment.c the first one of a run, record.c that of a case, record_parts.c what both
// have; record_read.h reads them back.
#ifndef RECORD_H
#define RECORD_H

#include "bench/bench.h"

#include <sys/types.h>

#define RECORD_SCHEMA "spbench/1"

// Who writes a line has the bytes before this one to itself while it does so; a sweep has this one
// all the time, so that no second one takes the same file.
#define RECORD_LOCK_END ((off_t)1 << 61)

// Where the records of a run go, and what all of them say. Every line is written in one piece; one
// that does not fit on the disk is taken back whole.
struct record_file {
    int fd;
    const char *path; // for messages; "stdout"
    char run[17];     // id: 64 random bits in hex. Runs that share a file are told apart by it
    uint64_t seed;
    int threads;      // of the CPU algorithms and of the reference
    int64_t replaced; // records that were in the file before it was emptied
    int64_t cut;      // bytes of a record that a crash had left at its end, and that are gone
};

// The id of a new run.
int record_run_id(char run[17]);
// `path` NULL or "-" is stdout; else the file is created, or appended to if `append`, and its end
// mended: record_tail.h. What is there and is no file of records stays as it is: ERR_USAGE; so
// does, but for `append`, what a sweep is writing to: ERR_OUTPUT.
int record_open(struct record_file *out, const char *path, bool append, uint64_t seed);
// ERR_USAGE: the name ends with .gz or .csv, and records are plain JSON Lines.
int record_check_name(const char *path);
// Takes all records out of the file again.
int record_empty(struct record_file *out);
int record_close(struct record_file *out);

// The first record of a run: versions, devices with their facts and roofs, the operation with its
// axes, all of its algorithms with what is to be known of them, compiler, flags, git revision,
// host, command line. `main_device` is the one that the run is mainly on.
int record_environment(struct record_file *out, const struct bench_devices *devices,
                       const char *main_device, const struct op *op, int argc, char **argv);
int record_result(struct record_file *out, const struct result *r);
// One that another process has made: a line with its end.
int record_line(struct record_file *out, const char *line);

// "0.1.0 (revision)", for --version.
const char *record_version(void);

#endif
