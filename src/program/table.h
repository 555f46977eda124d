// What a person sees of a run, on stderr: a table for each matrix, its winner, and on a terminal a
// line that tells how far the run is.
#ifndef TABLE_H
#define TABLE_H

#include "run/bench.h"

// A row, kept until the last one with the same inputs is there: only then the columns that compare
// it with the others are known.
struct table_row {
    const struct bench_case *c; // of the plan
    char *head, *tail;          // text before and behind these columns, owned; NULL: not shown
    bool timed;                 // else it has no such columns
    char *name;                 // owned
    char *refusal; // why it was unsupported on the last matrix, owned; NULL: it was not
    struct rank_case rank[TIMING_KINDS]; // ms NAN: not ranked
};

struct table {
    const struct plan *plan;
    int matrix_count, matrix; // how many there are; which one it is, from 0
    const char *matrix_name;
    int64_t done; // cases of this matrix
    double start_ms;
    bool quiet, verbose, terminal;
    int alg_width, axis_width[AXES_MAX]; // of columns; 0: there is none
    bool devices_vary, precs_vary;       // else the first line says them
    struct table_row *rows;              // size plan->count, by the cases of this matrix
    int64_t printed;                     // rows of this matrix that are on stderr
    struct rank_case **list;             // size plan->count, for comparisons
    bool any;                            // a matrix had its header
    enum timing_kind kind;               // back to back: its times have a column, and a winner
};

#define TABLE_NAME_MAX 256

int table_start(struct table *t, const struct plan *plan, int matrix_count, bool quiet,
                bool verbose);
void table_free(struct table *t);
// Version, devices of the plan and their ceilings; once, before the first matrix.
void table_head(const struct table *t, const struct bench_devices *devices);
// A matrix is being read; then, once it is there, its header.
void table_loading(struct table *t, const char *name);
void table_matrix(struct table *t, const struct matrix *M);
int table_result(struct table *t, const struct result *r);
// After the last case of a matrix that was measured, be it that not all were: prints rows that are
// left. `whole`: then the fastest among those with the same inputs.
void table_matrix_end(struct table *t, bool whole);
// Takes the progress line away, before something else is said on stderr.
void table_clear(const struct table *t);
// What the row of a case of the plan is called: its algorithm, and those of its options in which
// cases of it with the same inputs differ.
const char *table_name(const struct table *t, const struct bench_case *c,
                       char text[TABLE_NAME_MAX]);
// Four digits that count: 0.01234, 1.234, 123.4, 12345. Writes into `text` and returns it.
const char *table_number(double x, char text[32]);
// Half an interval in percent of the median: "0.42", "12", ">99"; "-": there is no interval.
const char *table_interval(double median, double lo, double hi, char text[32]);
// Milliseconds of a preparation: "0.003", "18.12"; "-": not known.
const char *table_prep(double ms, char text[32]);
// A number of runs: "21", "never"; "-": NAN.
const char *table_runs(double runs, char text[32]);
// A progress line of other text.
void table_progress_text(const struct table *t, const char *text);

#endif
