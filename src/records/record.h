// Records: schema spbench/1, one JSON object a line. src/records/record.schema.json describes them.
//
//   record_environment.c  the first record of a run
//   record.c              the record of a case
//   record_parts.c        fields that several kinds of records have
//   record_file.c         the file that records are written to
//   record_tail.h         repair of a file's end after a crash
//   record_read.h         records read back
#ifndef RECORD_H
#define RECORD_H

#include "bench/bench.h"

#include <sys/types.h>

#define RECORD_SCHEMA "spbench/1"

// A process that writes a line locks the bytes before this one. A sweep locks this byte all the
// time, so that no second sweep takes the same file.
#define RECORD_LOCK_END ((off_t)1 << 61)

// The output of a run, and fields of all its records. Every line is written in one piece; a line
// that does not fit on the disk is removed whole.
struct record_file {
    int fd;
    const char *path; // for messages; "stdout"
    char run[17];     // id of the run: 64 random bits in hex
    uint64_t seed;
    int threads;      // threads of the CPU algorithms and of the reference
    int64_t replaced; // records that were in the file before it was emptied
    int64_t cut;      // bytes of an incomplete record that were cut off the end
    bool named;       // a regular file of this path: each write checks that it still is
    int64_t end;      // bytes of such a file after the last write
};

// Sets `run` to the id of a new run.
int record_run_id(char run[17]);
// Opens the output: stdout if `path` is NULL or "-", else a file, which is replaced, or with
// `append` continued after a repair of its end. ERR_USAGE: the file exists and has no records.
// ERR_OUTPUT: a sweep is writing to the file and `append` is false.
int record_open(struct record_file *out, const char *path, bool append, uint64_t seed);
// ERR_USAGE: the name ends with .gz or .csv, and records are plain JSON Lines.
int record_check_name(const char *path);
// Takes all records out of the file again.
int record_empty(struct record_file *out);
// ERR_OUTPUT: also if the file was removed, renamed, replaced or cut after the last write.
int record_close(struct record_file *out);

// Writes the first record of a run: versions, facts about the build, host, command line, devices
// with their roofs, the operation with its axes and algorithms. `main_device`: the device of
// -device.
int record_environment(struct record_file *out, const struct bench_devices *devices,
                       const char *main_device, const struct op *op, int argc, char **argv);
int record_result(struct record_file *out, const struct result *r);
// Writes a record that another process made, with its newline. Every write returns ERR_OUTPUT if
// the file was removed, renamed, replaced or cut: records would be lost.
int record_line(struct record_file *out, const char *line);

// "1.0.0 (revision)", for --version.
const char *record_version(void);

// Facts about this build: texts of the environment record, and lines of --version.
struct build_fact {
    const char *field; // of the record
    const char *label; // of --version
    const char *value; // NULL: built without it
};
#define BUILD_FACTS 5
void record_build(struct build_fact facts[BUILD_FACTS]);

#endif
