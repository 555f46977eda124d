// How long: warm-up, samples, the rule that stops them, and what they say.
#ifndef TIMING_H
#define TIMING_H

#include "device/device.h"
#include "measure/busy.h"

struct timing_rule {
    int reps;        // exactly so many samples; 0: until one of the rules below holds
    int warmup;      // exactly so many runs come before; 0: as many as it takes
    double limit_ms; // stop after so long, once there are TIMING_MIN_SAMPLES
    double most_ms;  // stop after so long in any case, once there is one; 0: never
    bool cold;       // the cache is flushed before each sample
    bool stream;     // no graphs: a batch is launched run by run
};
#define TIMING_MIN_SAMPLES 10
#define TIMING_INTERVAL_SAMPLES                                                                    \
    6 // fewer have no 95 % interval: not even from the least to the most

// What is timed, and what is done around it, untimed. Each function returns 0, or an error that
// ends the measuring; what a run that failed has left is the caller's.
struct timed_work {
    int (*run)(void *arg); // starts the work once
    // Ahead of each sample: spoils the old result. NULL: nothing to do.
    int (*before)(void *arg, bool last);
    // Behind a sample that is_due(): looks at the result. NULL: nothing to do. `last` is true for
    // one more sample of each kind, taken like the others after the last of them, and not counted.
    int (*after)(void *arg, bool last);
    // Returns true if sample number 0, 1, ... is looked at; the last one always is. NULL: all are.
    bool (*is_due)(void *arg, int64_t sample);
    // Not NULL: each run makes its result from nothing. Then no batches are taken, and this
    // releases the result of each run that after() does not look at.
    int (*release)(void *arg);
    void *arg;
};

struct timing {
    double *samples; // milliseconds of one run each, in the order they were taken
    int count;
    int batch;          // runs in one sample
    int warmup;         // runs before the first sample
    const char *launch; // how a batch was: graph (at once), stream (run by run), call (on the host)
    const char *stop;   // which rule ended it: precision, noise, time, reps
    bool throttled;     // the device held its clocks down at the start or at the end
    int clock_mhz[2];   // before and after, 0 where unknown
    double median, min, mean, p5, p95;
    double ci_lo, ci_hi; // 95 % confidence interval of the median; NAN: too few samples
    // Runs that can overlap are kept apart: an empty kernel, the separator, follows each run of a
    // sample. Its time is taken off: the measured time is longer by separator_ms a run. Each sample
    // has a second sample beside it, back to back, without separators. H200, 753 cases: if nothing
    // overlaps, a run back to back takes 0.4 % longer (median), -0.3 to 1.9 % in 9 of 10 cases. NAN
    // and NULL without separators:
    double separator_ms;  // one of them after the other: no kernel that waits takes less
    double *back_samples; // likewise `count` of them
    double back_to_back, back_ci_lo, back_ci_hi; // their median and its interval
    // What else there was for the host to do, the warm-up included; and whether that was so much
    // that the times may be too long.
    struct machine_load machine;
    bool busy;
};

// Of runs that are kept apart, or of runs of which the next one may begin before one has ended.
enum timing_kind { TIMING_SEPARATE, TIMING_BACK_TO_BACK, TIMING_KINDS };
extern const char *const timing_kind_words[]; // as on the command line, ended by a NULL
// A median and its 95 % confidence interval; of what has but one time that one.
struct timed_median {
    double ms, ci_lo, ci_hi;
};
struct timed_median timing_of_kind(const struct timing *t, enum timing_kind kind);

// Runs the work, which starts on the device, until the rule is content.
int timing_measure(struct device *dev, const struct timed_work *work,
                   const struct timing_rule *rule, struct timing *out);
void timing_free(struct timing *t);
// Fills median ... ci_hi from samples and count, back_to_back ... back_ci_hi if there are samples.
int timing_summarise(struct timing *t);
// The median of n numbers, which are sorted in place.
double timing_median(double *x, int n);
// Indices [lo, hi] of the order statistics that bound the median with 95 % confidence.
void timing_median_ranks(int n, int *lo, int *hi);

#endif
