// Records: schema spbench/1, one JSON object a line. src/run/record.schema.json describes them.
#ifndef RECORD_H
#define RECORD_H

#include "run/bench.h"

#define RECORD_SCHEMA "spbench/1"

// Where the records of a run go. Every line is written in one piece; one that does not fit on the
// disk is taken back whole.
struct record_file {
    int fd;
    const char *path; // for messages; "stdout"
};

// `path` NULL or "-" is stdout; else the file is created, or appended to if `append`.
int record_open(struct record_file *out, const char *path, bool append);
int record_close(struct record_file *out);

// The first record of a run: versions, devices with their facts and roofs, the operation with its
// axes, all of its algorithms with what is to be known of them, compiler, flags, git revision,
// host, command line. `main_device` is the one that the run is mainly on.
int record_environment(struct record_file *out, const struct bench_devices *devices,
                       const char *main_device, const struct op *op, int argc, char **argv);
int record_result(struct record_file *out, const struct result *r);

// "0.1.0 (revision)", for --version.
const char *record_version(void);

#endif
