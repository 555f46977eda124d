#include "sweep/slot_times.h"

#include <math.h>

#include "base/base.h"

const char *const slot_time_names[SLOT_TIME_COUNT] = {"idle",    "starting",  "loading",  "leaving",
                                                      "waiting", "preparing", "checking", "timing"};

void slot_times_turn(struct slot_times *s, enum slot_time to)
{
    double now = clock_ms();
    if (s->since_ms > 0) s->ms[s->now] += now - s->since_ms;
    s->now = to;
    s->since_ms = now;
}

void slot_times_case(struct slot_times *s, double checking_ms, double timing_ms)
{
    slot_times_turn(s, s->now);
    // Two processes have measured: a part is at most the whole.
    double timing = fmin(fmax(timing_ms, 0), s->ms[SLOT_TIME_PREPARING]);
    double checking = fmin(fmax(checking_ms, 0), s->ms[SLOT_TIME_PREPARING] - timing);
    s->ms[SLOT_TIME_TIMING] += timing;
    s->ms[SLOT_TIME_CHECKING] += checking;
    s->ms[SLOT_TIME_PREPARING] -= timing + checking;
}
