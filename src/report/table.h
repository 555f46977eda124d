// Table of `run` on stderr: rows of each matrix, the fastest algorithms, and a progress line on a
// terminal.
#ifndef TABLE_H
#define TABLE_H

#include "bench/bench.h"

// A row waits until all cases with the same product have run, because its comparing columns need
// them.
struct table_row {
    const struct bench_case *c; // case in the plan
    char *head, *tail;          // text before and after the comparing columns, owned; NULL: hidden
    bool timed;                 // false: the row has no comparing columns
    char *name;                 // owned
    char *ranked;  // name in a comparison, with the way to the same product (op_add_ways); owned
    char *refusal; // reason of "unsupported" on the last matrix, owned; NULL: supported
    struct rank_case rank[TIMING_KINDS]; // ms NAN: not ranked
};

enum table_detail { TABLE_OFF, TABLE_ON, TABLE_VERBOSE };

struct table {
    const struct plan *plan;
    int matrix_count, matrix; // number of matrices, and the index of the current one
    const char *matrix_name;
    int64_t done; // number of finished cases of this matrix
    double start_ms;
    enum table_detail detail;
    bool terminal;
    int alg_width, axis_width[AXES_MAX]; // widths of columns; 0: no column
    bool devices_vary, precs_vary;       // false: the first line names the value
    struct table_row *rows;              // rows of this matrix by case, size plan->count
    int64_t printed;                     // number of printed rows of this matrix
    struct rank_case **list;             // size plan->count, for comparisons
    int headers;                         // number of matrices with a header
    enum timing_kind kind; // TIMING_BACK_TO_BACK: a column and a verdict for such times
};

int table_start(struct table *t, const struct plan *plan, int matrix_count, bool quiet,
                bool verbose);
void table_free(struct table *t);
// Prints the version, and the devices with their ceilings, once.
void table_head(const struct table *t, const struct bench_devices *devices);
// table_loading() shows that a matrix is being read. table_matrix() prints its header.
void table_loading(struct table *t, const char *name);
void table_matrix(struct table *t, const struct matrix *M);
int table_result(struct table *t, const struct result *r);
// Ends a matrix: prints the remaining rows. `whole`: all cases have run; then prints the fastest of
// the cases with the same product.
void table_matrix_end(struct table *t, bool whole);
// Removes the progress line before other output on stderr.
void table_clear(const struct table *t);
// Shows another text as the progress line.
void table_progress_text(const struct table *t, const char *text);

#endif
