#include "base/clock.h"

#include <time.h>

static double step_ms, ahead_ms; // for tests
void clock_step_by(double ms) { step_ms = ms; }

double clock_process_ms(void)
{
    struct timespec t = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

double clock_ms(void)
{
    struct timespec t;
    double ahead = ahead_ms;
    if (step_ms > 0) {
#pragma omp atomic capture
        ahead = ahead_ms += step_ms;
    }
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6 + ahead;
}
