// Reads files of records and keeps one record per case, as rows of a summary.
//
// A case may have several records of one revision and device. The last record counts. If one
// program ran several times, the median of its last runs counts.
#ifndef COLLECT_H
#define COLLECT_H

#include "report/summary.h"
#include "records/record_read.h"

struct collected {
    struct collected_case {
        struct record r;
        char *text;          // the record as JSON, without its samples; owned
        const char *run;     // run id, "": none
        int64_t environment; // index into `environments`, -1: none
        int runs;            // number of runs of which the times are the median
        int samples;         // number of samples of these runs
        bool chosen;         // chosen as the record of its case
    } * cases;               // in the order of the files; capacity `room`
    int64_t count, room;
    struct record *environments; // in the order of the files
    int64_t environment_count, environment_room;
    int64_t file_environment;     // first environment of the file being read
    int64_t bad_lines;            // lines that are no records
    char bad_text[FAIL_TEXT_MAX]; // message about the first bad line
    int64_t replaced, medians;    // number of cases with superseded records, and with several runs
};

// Adds the results of a file. Returns ERR_INPUT if the file cannot be read, is no file of records,
// or has no results.
int collect_file(struct collected *c, const char *path);
// Adds one record of the file `path`.
int collect_line(struct collected *c, const char *path, const char *line, long long number);
// Chooses the record of each case. Its times become the median of all runs that count.
int collect_choose(struct collected *c);
// Adds the chosen cases as rows of `s`, only those whose matrix matches `matrices` (NULL: all). The
// rows use the texts of `c`, and refer to its cases.
int collect_rows(struct collected *c, const char *matrices, struct summaries *s);
// Returns the description of a case's algorithm; NULL: its environment has none.
const struct record_algo *collect_algo(const struct collected *c, const struct collected_case *x);
void collect_free(struct collected *c);

#endif
