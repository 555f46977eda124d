// Two programs measure the same cases by turns, each time in a process of its own, one at a time.
#ifndef DUEL_H
#define DUEL_H

#include "program/options.h"
#include "run/compare.h"

struct duel {
    const struct options *o;    // runs, budget_ms, keep, quiet, and the words that are passed on
    const char *program[SIDES]; // what starts them
    char *const *matrices;      // size matrix_count
    int matrix_count;
    char path[SIDES][4096]; // where their records are
    char folder[4096];      // of records that are not kept; "": they are
    char broken[128];       // how a process of NEW broke off; "": none did
};

// Measures with -runs processes a side; without -runs until no case is unclear by `rule`, or the
// budget is spent. Cases are judged at the looks of compare_stats.h. The algorithms of a matrix
// that have no unclear case are not measured again. The records are there afterwards, until
// duel_close(), which also goes after a failure. ERR_USAGE where a program takes its options to be
// wrong.
int duel_run(struct duel *d, const struct compare_rule *rule);
void duel_close(struct duel *d);

#endif
