// A/B measurement: two programs measure the same cases alternately. Each measurement is a process;
// only one process runs at a time.
#ifndef AB_RUN_H
#define AB_RUN_H

#include "cli/options/options.h"
#include "compare/compare.h"

struct ab_run {
    const struct options *o;    // runs, budget_ms, keep, quiet, and the words to pass on
    const char *program[SIDES]; // path or name of the executable
    char *const *matrices;      // size matrix_count
    int matrix_count;
    char path[SIDES][4096]; // files of records
    char folder[4096];      // temporary folder of the records; "": -keep names files
    char broken[128];       // exit of a process of NEW that broke off; "": none
};

// With -runs, each side has that many processes. Without, they go on until `rule` finds no case
// unclear, or the budget is spent. compare_stats.h says after how many pairs cases are judged. An
// algorithm that has no unclear case on a matrix is not measured there again. The records stay
// until ab_run_close(), which is legal after a failure. ERR_USAGE: a program rejects its options.
int ab_run_measure(struct ab_run *run, const struct compare_rule *rule);
void ab_run_close(struct ab_run *run);

#define NARROW_WORDS 6 // most words that narrow_words() adds to the passed ones

// Cases that a process measures: the algorithms with an unclear case on a matrix.
struct narrowed {
    char op[32];    // operation of the cases
    char algs[512]; // names, separated by commas; "": as the passed options say
    char opts[512]; // values of -opt for these algorithms; "": none
};

// Fills in the algorithms with an unclear case on the matrix of this name. Returns false if there
// is none.
bool narrow_cases(struct narrowed *n, const struct options *o, const struct comparison *all,
                  const char *matrix);
// Writes the passed words to argv, and returns their number. -op, -alg and -opt are those of the
// narrowed cases.
int narrow_words(const struct narrowed *n, const struct options *o, const char **argv);

// Order of the processes.
//
// Changes over time, such as clocks and neighbours, must affect all cases and both sides alike. A
// round measures each matrix once with each side. The sides of a matrix run one right after the
// other and make a pair. The first side alternates from matrix to matrix and from round to round
// (AB BA, BA AB, ...). The first matrix changes from round to round. After an even number of
// rounds, both sides have begun equally often.
struct ab_order {
    int rounds, matrices, sides;
};
struct ab_step {
    int round, matrix, side;
};

static inline int64_t ab_order_count(const struct ab_order *s)
{
    return (int64_t)s->rounds * s->matrices * s->sides;
}
// Returns the i-th process of the measurement, from 0.
struct ab_step ab_order_step(const struct ab_order *s, int64_t i);

#endif
