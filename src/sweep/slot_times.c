#include "sweep/slot_times.h"

#include <math.h>

#include "base/base.h"

const char *const spending_names[SPENT_COUNT] = {"idle",    "starting",  "loading",  "leaving",
                                                 "waiting", "preparing", "checking", "timing"};

void spent_turn(struct spent *s, enum spending to)
{
    double now = clock_ms();
    if (s->since_ms > 0) s->ms[s->now] += now - s->since_ms;
    s->now = to;
    s->since_ms = now;
}

void spent_case(struct spent *s, double checking_ms, double timing_ms)
{
    spent_turn(s, s->now);
    // The clocks of two processes: no part is more than the whole.
    double timing = fmin(fmax(timing_ms, 0), s->ms[SPENT_PREPARING]);
    double checking = fmin(fmax(checking_ms, 0), s->ms[SPENT_PREPARING] - timing);
    s->ms[SPENT_TIMING] += timing;
    s->ms[SPENT_CHECKING] += checking;
    s->ms[SPENT_PREPARING] -= timing + checking;
}
