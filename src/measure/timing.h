// How long: warm-up, samples, the rule that stops them, and what they say.
#ifndef TIMING_H
#define TIMING_H

#include "device/device.h"

struct timing_rule {
    int reps;        // exactly so many samples; 0: until one of the rules below holds
    double limit_ms; // stop after so long, once there are TIMING_MIN_SAMPLES
    bool cold;       // the cache is flushed before each sample
};
#define TIMING_MIN_SAMPLES 10

struct timing {
    double *samples; // milliseconds of one run each, in the order they were taken
    int count;
    int batch;        // runs in one sample
    int warmup;       // runs before the first sample
    const char *stop; // which rule ended it: precision, noise, time, reps
    bool throttled;   // the device held its clocks down at the start or at the end
    int clock_mhz[2]; // before and after, 0 where unknown
    double median, min, mean, p5, p95;
    double ci_lo, ci_hi; // 95 % confidence interval of the median
};

// Runs run(arg), which starts work on the device, until the rule is content. after(arg), if there
// is one, is called untimed after every run, which excludes batches.
int timing_measure(struct device *dev, int (*run)(void *arg), void (*after)(void *arg), void *arg,
                   const struct timing_rule *rule, struct timing *out);
void timing_free(struct timing *t);
// Fills median ... ci_hi from samples and count.
int timing_summarise(struct timing *t);
// Indices [lo, hi] of the order statistics that bound the median with 95 % confidence.
void timing_median_ranks(int n, int *lo, int *hi);

#endif
