// What to run on each matrix: a list of cases, made without a device, and how they are measured.
#ifndef PLAN_H
#define PLAN_H

#include "bench/case.h"
#include "measure/check.h"
#include "measure/timing.h"

// `-opt name=value`; it goes to every chosen algorithm that has an option of that name. A name that
// comes several times has several values: each makes a case.
struct option_setting {
    const char *name;
    double value;
};

// An algorithm, and where it is to run.
struct choice_entry {
    const struct algo_entry *entry;
    char device[16]; // id, or only the kind where there is no such device
};

// What the cases are made from: every combination.
struct plan_request {
    const struct op *op;
    const struct choice_entry *entries; // of that operation, size entry_count
    int entry_count;
    const enum prec *precs; // size prec_count
    int prec_count;
    struct axis_values axes[AXES_MAX];     // by op->axes
    const struct option_setting *settings; // size setting_count
    int setting_count;
    bool cold;
    bool stream; // see struct bench_case; in cases that would have graphs
};

struct plan {
    const struct op *op;
    // In the order in which they run: those with the same inputs follow each other, by precision,
    // then by axes, then by algorithm, then by its options.
    struct bench_case *cases; // size count
    int64_t count;
    struct timing_rule rule;
    enum check_mode check;
    uint64_t seed;
    bool profile; // each case runs once between a profiler's marks, and nothing is measured
    // Told true ahead of what is timed (conversions, too), which begins when it returns, and false
    // behind it, so that others can be kept quiet meanwhile. NULL: nobody wants to know.
    int (*quiet)(void *arg, bool on);
    void *quiet_arg;
};

// Lists the cases; the rest of the plan is the caller's.
int plan_make(struct plan *plan, const struct plan_request *r);
void plan_free(struct plan *plan);

#endif
