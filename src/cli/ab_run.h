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
int ab_run_measure(struct ab_run *d, const struct compare_rule *rule);
void ab_run_close(struct ab_run *d);

#endif
