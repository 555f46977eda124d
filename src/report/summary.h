// Tables of many cases. An algorithm has a line: wins, geometric mean of the speedups over a
// baseline, worst case, failures.
//
// A table has cases of one operation, device, revision and set of inputs: precision, axes, cache,
// launch. Means never mix them.
// Rows come from records or from results.
#ifndef SUMMARY_H
#define SUMMARY_H

#include <math.h>

#include "bench/bench.h"
#include "report/doubt.h"

struct collected_case; // see collect.h

// A row: the case of an algorithm on a matrix.
struct summary_row {
    // Set by the caller. The texts must outlive the row.
    const char *op;
    const char *device;     // name of the device of -device; NULL: the id in the key
    const char *own_device; // name of the device of the case
    const char *revision;   // "": unknown
    const char *partial;    // part that the algorithm omits, see struct algo; NULL: none
    enum status status;
    struct rank_case rank; // for summary_make(), which compares the cases of a matrix
    unsigned doubt;        // marks of its time, see enum doubt
    const struct collected_case *x; // its record; NULL: none
    // Set by summary_add() from the key of the case:
    char *key;             // owned; the texts below point into it
    const char *id;        // "cuda:0"
    const char *inputs;    // "f32 k=64 layout=row cache=warm", then optional axes
    const char *variant;   // optional axes, options and library; "": none
    const char *size_name; // "5x5:9 cage5"
    const char *matrix;    // "cage5"
};

// A line of a table: an algorithm with its options and library.
struct summary_line {
    char *name;                    // algorithm, the options in which its lines differ, and the
                                   // device if that is not the table's; owned
    const struct summary_row *row; // a row of the line
    struct summary_row **cells;    // its row by matrix; NULL: none; size matrix_count; owned
    int64_t timed, wins, failed;   // number of matrices: with a time, won, failed
    double mean;                   // geometric mean of baseline / ms over the shared matrices; NAN:
                                   // none
    double mean_ms;                // geometric mean of ms over the same matrices
    double over_best;              // geometric mean of over_best, see struct rank_case
    double prep_ms, pays_after;    // medians over the matrices with a time, see struct rank_case
    double worst;                  // least baseline / ms over all matrices; NAN: none
    int64_t worst_at;              // matrix of the worst case; -1: none
    int64_t few, busy;             // number of times with DOUBT_FEW, and with DOUBT_BUSY
    // Marks of all times that a number is made of.
    unsigned wins_doubt, mean_doubt, over_best_doubt, worst_doubt;
};

struct summary_table {
    const struct summary_row *row; // a row of the table: operation, inputs, device, revision
    int64_t rows;
    struct summary_line *lines; // chosen lines, size line_count
    int64_t line_count;
    const struct summary_row **matrices; // a row of each matrix, size matrix_count
    int64_t matrix_count;
    const struct summary_row **base_rows; // row of the baseline by matrix; NULL: none
    char base[192];                       // description of the baseline
    bool compared;                        // the baseline is a vendor's or a named one
    int64_t shared; // number of matrices on which the baseline and each timed line have a time
    struct doubt_counts times;      // of the means: those of the lines and of the baseline
    struct doubt_counts base_times; // of the baseline, on all matrices
    int64_t unopposed;  // number of matrices where a line has a time and the baseline has none
    int64_t base_fewer; // number of matrices where another candidate for the baseline failed
};

enum summary_sort { SUMMARY_AS_IS, SUMMARY_NAME, SUMMARY_TIME, SUMMARY_SPEEDUP };

struct summary_rule {
    const char *algs; // names and patterns, comma-separated; gives the order of lines; NULL: all
    const char *baseline; // an algorithm or a vendor; NULL: the best of a vendor, else of all
    enum summary_sort sort;
};

struct summaries {
    struct summary_row *rows; // capacity `room`
    int64_t count, room;
    struct summary_table *tables; // made by summary_make(), in the order of the rows; size
                                  // table_count
    int table_count;
};

// Adds a row from the key of its case. Returns ERR_INPUT if the key does not match the row or the
// matrix.
int summary_add(struct summaries *s, const struct summary_row *row, const char *key,
                const char *matrix);
// Makes the tables. Returns ERR_USAGE if a name of the rule matches nothing.
int summary_make(struct summaries *s, const struct summary_rule *rule);
void summaries_free(struct summaries *s);

// Returns the index of a matrix in the table; -1: none.
int64_t summary_find_matrix(const struct summary_table *t, const char *size_name);
// Returns the fastest of the lines on matrix j; NULL: no line has a time.
const struct summary_row *summary_fastest(const struct summary_table *t, int64_t j);
// Returns the time of the baseline on matrix j; NAN: none.
static inline double summary_base_ms(const struct summary_table *t, int64_t j)
{
    return t->base_rows[j] ? t->base_rows[j]->rank.ms : NAN;
}
// Returns baseline / ms of line i on matrix j; NAN if either has no time.
double summary_speedup(const struct summary_table *t, int64_t i, int64_t j);
// Fills order[line_count] with the lines of a table, sorted by their results on matrix j.
void summary_order(const struct summary_table *t, int64_t j, enum summary_sort sort,
                   int64_t *order);
// Returns true if a word matches a name or pattern of the comma-separated list.
bool summary_fits(const char *list, const char *word);

#endif
