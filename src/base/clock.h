// The clock that times are taken with.
#ifndef CLOCK_H
#define CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

// Returns milliseconds of a monotonic clock.
double clock_ms(void);
// Returns the processor time of all threads of this process in milliseconds.
double clock_process_ms(void);
// For tests: each later call of clock_ms() sets the clock forward by `ms`; 0 switches that off.
void clock_step_by(double ms);

#ifdef __cplusplus
}
#endif
#endif
