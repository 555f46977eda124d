// The clock that times are taken with.
#ifndef CLOCK_H
#define CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

// Returns milliseconds of a monotonic clock.
double clock_ms(void);

#ifdef __cplusplus
}
#endif
#endif
