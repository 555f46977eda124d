// Output of `run` on stderr: a table for each matrix, the fastest algorithms, and on a terminal a
// progress line.
#ifndef TABLE_H
#define TABLE_H

#include "bench/bench.h"

// A row waits until all cases with the same inputs have run. Its comparing columns need all of
// them.
struct table_row {
    const struct bench_case *c; // of the plan
    char *head, *tail;          // text before and behind the comparing columns, owned; NULL: hidden
    bool timed;                 // false: the row has no comparing columns
    char *name;                 // owned
    char *refusal; // reason of "unsupported" on the last matrix, owned; NULL: supported
    struct rank_case rank[TIMING_KINDS]; // ms NAN: not ranked
};

struct table {
    const struct plan *plan;
    int matrix_count, matrix; // number of matrices; the current one, from 0
    const char *matrix_name;
    int64_t done; // cases of this matrix that have run
    double start_ms;
    bool quiet, verbose, terminal;
    int alg_width, axis_width[AXES_MAX]; // of columns; 0: there is none
    bool devices_vary, precs_vary;       // false: the first line names it
    struct table_row *rows;              // size plan->count, by the cases of this matrix
    int64_t printed;                     // rows of this matrix that are on stderr
    struct rank_case **list;             // size plan->count, for comparisons
    bool any;                            // a matrix had its header
    enum timing_kind kind; // TIMING_BACK_TO_BACK: such times have a column and a verdict
};

int table_start(struct table *t, const struct plan *plan, int matrix_count, bool quiet,
                bool verbose);
void table_free(struct table *t);
// Version, devices of the plan and their ceilings; once, before the first matrix.
void table_head(const struct table *t, const struct bench_devices *devices);
// A matrix is being read; then, once it is there, its header.
void table_loading(struct table *t, const char *name);
void table_matrix(struct table *t, const struct matrix *M);
int table_result(struct table *t, const struct result *r);
// Ends a matrix: prints the rows that are left. `whole`: all cases have run; then prints the
// fastest of the cases with the same inputs.
void table_matrix_end(struct table *t, bool whole);
// Takes the progress line away, before something else is said on stderr.
void table_clear(const struct table *t);
// A progress line of other text.
void table_progress_text(const struct table *t, const char *text);

#endif
