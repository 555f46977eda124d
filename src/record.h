// Records: schema spbench/1, one JSON object a line. src/record.schema.json describes them.
#ifndef RECORD_H
#define RECORD_H

#include <stdio.h>

#include "bench.h"

// Where the records of a run go. Every line is written in one piece and flushed.
struct record_file {
    FILE *f;
    const char *path; // for messages; "-" is stdout
};

// `path` NULL or "-" is stdout; else the file is created, or appended to if `append`.
int record_open(struct record_file *out, const char *path, bool append);
int record_close(struct record_file *out);

// The first record of a run: versions, devices with their facts and roofs, compiler, flags, git
// revision, host, command line.
int record_environment(struct record_file *out, const struct bench_device devices[2], int argc,
                       char **argv);
int record_result(struct record_file *out, const struct result *r);

#endif
