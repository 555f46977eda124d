// A race measures all cases of a list briefly. Then it measures by turns the cases that still
// matter: those that may be the fastest, those that may be the fastest of a vendor, algorithms that
// choose, and their picks. A turn has RACE_GROWTH times the time limit of the turn before. The last
// turn has the rule of the plan. A case is settled if its rule ended the samples before the limit,
// or if its interval is within RACE_WIDTH, or after the last turn.
#ifndef RACE_H
#define RACE_H

#include "bench/bench.h"

#define RACE_TURNS  4
#define RACE_GROWTH 4
#define RACE_WIDTH  0.01 // half the interval over the median
#define RACE_MARGIN 0.05 // a case matters if its interval comes that near to that of the fastest

struct race {
    int count; // number of cases
    const struct timing_rule *rule;
    double end_ms; // clock_ms() at which no turn begins; 0: never
    // Measures case i from 0 by the rule and sets *r, which the race frees.
    int (*measure)(void *arg, int i, const struct timing_rule *rule, struct result *r);
    bench_emit emit; // takes bad results first, the others in the order of the list
    void *arg;       // of both functions
};

// Runs a race and emits the results. Cases whose first turn comes after end_ms have none. Returns
// the first error of measure() and emit().
int race_run(const struct race *race);

#endif
