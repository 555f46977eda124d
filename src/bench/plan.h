// The plan: the list of cases for each matrix, and the rules of measuring. No device is needed.
#ifndef PLAN_H
#define PLAN_H

#include "bench/case.h"
#include "measure/check.h"
#include "measure/timing.h"

// `-opt name=value`, for every chosen algorithm with an option of that name. A name that comes
// several times has several values; each value makes a case.
struct given_option {
    const char *name;
    double value;
};

// An algorithm and its device.
struct choice_entry {
    const struct algo_entry *entry;
    char device[16]; // id; only the kind if there is no device
    bool by_pattern; // chosen by a pattern: no cases of a k that the algorithm does not take
};

// Sets of values; a plan has every combination.
struct plan_request {
    const struct op *op;
    const struct choice_entry *entries; // algorithms of `op`, size entry_count
    int entry_count;
    const enum prec *precs; // size prec_count
    int prec_count;
    struct axis_values axes[AXES_MAX];     // by op->axes
    const struct given_option *opts;       // given values of options, size opt_count
    int opt_count;
    bool cold;
    bool stream; // see struct bench_case
};

struct plan {
    const struct op *op;
    // In the order of running: algorithms of the program, then each plug-in; within these by
    // precision, axes, algorithm and options. Cases with the same inputs follow each other.
    struct bench_case *cases; // size count
    int64_t count;
    struct timing_rule rule;
    enum check_mode check;
    uint64_t seed;
    bool profile; // run each case once between a profiler's marks, measure nothing
    // Called with true before anything is timed (also conversions), which begins when the call
    // returns, and with false after it, so that other processes can pause. NULL: not called.
    int (*quiet)(void *arg, bool on);
    // Called ahead of each measurement of a case. NULL: not called.
    int (*begin)(void *arg, const struct bench_case *c);
    void *hook_arg; // of quiet() and begin()
    bool race;      // see race.h
    double end_ms;  // of a race: clock_ms() at which no further turn begins; 0: never
};

// Makes the list of cases. The caller sets the other fields of the plan.
int plan_make(struct plan *plan, const struct plan_request *r);
void plan_free(struct plan *plan);

#endif
