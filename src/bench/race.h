// A race measures all cases of a list briefly, then repeats those that matter:
//
//   any case                    its interval is near that of the fastest, or of a vendor's fastest
//   a chooser, and its pick     always
//
// A turn has RACE_GROWTH times the time limit of the turn before. The last turn has the rule of the
// plan. A case has no further turn if its samples ended before the limit, if its interval is within
// RACE_WIDTH, or after the last turn.
#ifndef RACE_H
#define RACE_H

#include "bench/bench.h"

#define RACE_TURNS  4
#define RACE_GROWTH 4
#define RACE_WIDTH  0.01 // half the interval over the median
#define RACE_MARGIN 0.05 // share above the end of the fastest interval that is near

struct race {
    int count; // number of cases
    const struct timing_rule *rule;
    double end_ms; // clock_ms() at which no turn begins; 0: never
    // Measures case i from 0 by the rule and sets *r, which the race frees.
    int (*measure)(void *arg, int i, const struct timing_rule *rule, struct result *r);
    bench_emit emit; // takes bad results first, the others in the order of the list
    void *arg;       // of both functions
};

// Runs a race and emits the results. A case whose first turn would begin after end_ms has none.
// Returns the first error of measure() and emit().
int race_run(const struct race *race);

#endif
