// Choice among algorithms: the first of an order, or the fastest in trial runs.
#ifndef PICK_H
#define PICK_H

#include "select/delegate.h"

#ifdef __cplusplus
extern "C" {
#endif

// Candidates in the order of a rule.
struct pick_order {
    const char *names[PICKS_MAX]; // NULL: none
    bool unsure;                       // all are timed, and the fastest is taken
};
// prepare() of `auto` (see delegate.h). Passes the task to the first candidate, or to the fastest
// if the order is unsure, or to the next if a candidate refuses or lacks memory. Vendor libraries
// and variants of the operation are no candidates. With the option `trials` 0 no candidate is
// timed. Statistics: the choice, timed microseconds, refusals, the time of the choice since `start`
// (by clock_ms()) and of the trials. Returns ERR_UNSUPPORTED or ERR_MEMORY if all refuse, with the
// reason of the last.
int pick_by_order(struct task *t, const struct pick_order *order, double start);

#ifdef __cplusplus
}
#endif
#endif
