// Files of records -> cases, each once, as rows of a summary. A case of one revision and device
// that was measured more than once: the last record counts, or the median of the last runs of one
// program.
#ifndef COLLECT_H
#define COLLECT_H

#include "compare/summary.h"
#include "records/record_read.h"

struct collected {
    struct collected_case {
        struct record r;
        const char *run;     // id, "" where the record has none
        int64_t environment; // place of it; -1: none
        int runs;            // the times are the median of so many
        bool counts;         // it stands for its case
    } * cases;               // in the order of the files; size room, count are there
    int64_t count, room;
    struct record *environments; // likewise
    int64_t environment_count, environment_room;
    int64_t file_environment;     // first of the file that is read
    int64_t bad_lines;            // that are no records
    char bad_text[FAIL_TEXT_MAX]; // of the first of them
    int64_t replaced, medians;    // cases with records that do not count, and of several runs
};

// Adds the results of a file. ERR_INPUT: it cannot be read, is no file of records, or has no
// results.
int collect_file(struct collected *c, const char *path);
// Decides which record of each case counts. Its times become those of all runs that count.
int collect_settle(struct collected *c);
// Adds the cases that count as rows; only those whose matrix fits `matrices`, NULL: all. The texts
// of the rows are those of `c`. cases[place of the row] is the place of its case, owned by the
// caller.
int collect_rows(struct collected *c, const char *matrices, struct summaries *s, int64_t **cases);
void collect_free(struct collected *c);

#endif
