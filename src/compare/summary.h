// Times of many cases -> tables: per algorithm wins, the geometric mean over a baseline, the worst
// case, failures. A table has the cases of one operation, precision, axes, device and revision of
// the program: no mean is over two of them. Rows come from records or from results.
#ifndef SUMMARY_H
#define SUMMARY_H

#include <math.h>

#include "bench/bench.h"

// A case: an algorithm on a matrix.
struct summary_row {
    // By the caller, whose texts have to stay.
    const char *op;
    const char *device;   // name; NULL: its id in the key
    const char *revision; // "": not known
    const char *partial;  // see struct algo; NULL: none
    enum status status;
    struct rank_case rank; // summary_make() compares it with the shown cases of its matrix
    // By summary_add(), from the key of the case:
    char *key;             // owned; the texts below are parts of it
    const char *inputs;    // "f32 k=64 layout=row cache=warm"
    const char *variant;   // options and library; "": none
    const char *size_name; // "5x5:9 cage5"
    const char *matrix;    // "cage5"
};

// An algorithm of a table, once for each set of options and library.
struct summary_line {
    char *name;                    // with the options in which the algorithm's lines differ; owned
    const struct summary_row *row; // any of its rows
    int64_t timed, wins, failed;   // matrices: with a time, the fastest there, failed
    double mean;                   // geometric mean of baseline / ms over table->shared, NAN: none
    double mean_ms;                // the same of ms
    double over_best;              // the same of over_best in struct rank_case
    double prep_ms, pays_after;    // medians over its matrices with a time; see struct rank_case
    double worst;                  // least baseline / ms of all of its matrices, NAN: none
    int64_t worst_at;              // matrix of it; -1: none
};

struct summary_table {
    const struct summary_row *row; // any: operation, inputs, device, revision
    int64_t rows;
    struct summary_line *lines; // size line_count: the chosen ones, in order
    int64_t line_count;
    const struct summary_row **matrices; // any row of each; size matrix_count
    int64_t matrix_count;
    int64_t *cells; // place of the row of line i on matrix j at i * matrix_count + j; -1: none
    const struct summary_row **base_rows; // the baseline by matrix, NULL: none
    char base[192];                       // what the baseline is
    int64_t shared; // matrices on which each line with any time, and the baseline, have a time
};

enum summary_sort { SUMMARY_AS_IS, SUMMARY_NAME, SUMMARY_TIME, SUMMARY_SPEEDUP };

struct summary_rule {
    const char *algs; // names and patterns, comma-separated, in the order of the lines; NULL: all
    const char *baseline; // of an algorithm or a vendor. NULL: the best of a vendor, else of all
    enum summary_sort sort;
};

struct summaries {
    struct summary_row *rows; // size room, count are there
    int64_t count, room;
    struct summary_table *tables; // by summary_make(), in the order of the rows; size table_count
    int table_count;
};

// Adds a row by the key of its case. ERR_INPUT: the key does not fit the row or the matrix.
int summary_add(struct summaries *s, const struct summary_row *row, const char *key,
                const char *matrix);
// Makes the tables. ERR_USAGE: nothing is called as the rule has it.
int summary_make(struct summaries *s, const struct summary_rule *rule);
void summaries_free(struct summaries *s);

// The row of line i on matrix j; NULL: there is none.
static inline const struct summary_row *
summary_cell(const struct summaries *s, const struct summary_table *t, int64_t i, int64_t j)
{
    int64_t place = t->cells[i * t->matrix_count + j];
    return place < 0 ? NULL : &s->rows[place];
}
// Returns ms of the baseline on matrix j; NAN: no time.
static inline double summary_base_ms(const struct summary_table *t, int64_t j)
{
    return t->base_rows[j] ? t->base_rows[j]->rank.ms : NAN;
}
// Compares the lines on matrix j. Fills list[line_count], which has to outlive the comparison.
struct rank summary_rank(const struct summaries *s, const struct summary_table *t, int64_t j,
                         struct rank_case **list);
// baseline / ms of that row; NAN: either has no time.
double summary_speedup(const struct summaries *s, const struct summary_table *t, int64_t i,
                       int64_t j);
// The lines of a table, for matrix j in the order of `sort`, into order[line_count].
int summary_order(const struct summaries *s, const struct summary_table *t, int64_t j,
                  enum summary_sort sort, int64_t *order);
// Returns true if a word fits a name or pattern of the comma-separated list.
bool summary_fits(const char *list, const char *word);

#endif
