// Times a task: warm-up, samples, the rule that ends them, median and confidence interval.
#ifndef TIMING_H
#define TIMING_H

#include "device/device.h"
#include "measure/busy.h"

struct timing_rule {
    int reps;        // number of samples; 0: until one of the rules below holds
    int warmup;      // number of runs before the samples; 0: at least 3 runs and 50 ms
    double limit_ms; // time after which TIMING_MIN_SAMPLES samples are enough
    double most_ms;  // time after which TIMING_INTERVAL_SAMPLES samples are enough, or fewer that
                     // take a second; 0: never
    bool cold;       // the cache is flushed before each sample
    bool stream;     // no graphs: a batch is launched run by run
};
#define TIMING_MIN_SAMPLES 10
#define TIMING_INTERVAL_SAMPLES                                                                    \
    6 // fewer have no 95 % interval: not even from the least to the most

// The timed work, and untimed functions around it. Each function returns 0, or an error that ends
// the measurement. The caller frees the remains of a failed run.
struct timed_work {
    int (*run)(void *arg); // starts the work once
    int (*before)(void *arg); // ahead of each sample: spoils the old result; NULL: nothing to do
    int (*after)(void *arg);  // behind a sample that is_due(), and behind a trial: looks at the
                              // result; NULL: nothing to do
    // Returns true if sample number 0, 1, ... is looked at. The last sample always is. `late`: the
    // time limit has passed, and looks may take long. NULL: all are.
    bool (*is_due)(void *arg, int64_t sample, bool late);
    // Gives the inputs other values. Without `really` writes the same values. A graph can capture
    // this in front of a run that a graph can capture. NULL: the inputs stay.
    int (*change)(void *arg, bool really);
    // The changes of a graph that cannot be launched were not made: the values of the inputs are
    // unknown. NULL: nothing to do.
    void (*lose)(void *arg);
    // Reads the result, if it is in host memory. This time counts as work behind the sample. NULL:
    // nothing to do.
    void (*touch)(void *arg);
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
    const char *launch; // graph: a batch at once; stream: run by run; call: on the host
    const char *stop;   // the rule that ended the samples: precision, noise, time, reps
    bool throttled;     // the device held its clocks down at the start or at the end
    int clock_mhz[2];   // before and after, 0 where unknown
    double median, min, mean, p5, p95;
    double ci_lo, ci_hi; // 95 % confidence interval of the median; NAN: too few samples
    // Runs that can overlap are kept apart: an empty kernel, the separator, follows each run of a
    // sample. Its time is taken off: the measured time is longer by separator_ms a run. Each sample
    // has a second sample beside it, back to back, without separators. H200, 753 cases: if nothing
    // overlaps, a run back to back takes 0.4 % longer (median), -0.3 to 1.9 % in 9 of 10 cases. NAN
    // and NULL without separators:
    double separator_ms; // time of a separator behind a separator: the least of a kernel that waits
    double *back_samples;                        // back-to-back samples, size count
    double back_to_back, back_ci_lo, back_ci_hi; // their median and its interval
    // Trials: samples that are not counted. The inputs change ahead of each run, or are written
    // with the same values. Least time of a run, in a batch with its change; INFINITY: none.
    double changed_ms, same_ms;
    // Other work of the host during warm-up and samples; busy: the times may be too long.
    struct machine_load machine;
    bool busy;
    // CPU only: duration of all batches, and processor time of this process in them.
    double runs_ms, runs_cpu_ms;
    double children_cpu_ms; // processor time of child processes, from the first run to the last
};

// Times of runs that are kept apart, or of runs that may overlap.
enum timing_kind { TIMING_SEPARATE, TIMING_BACK_TO_BACK, TIMING_KINDS };
extern const char *const timing_kind_words[]; // as on the command line, ended by a NULL
// A median and its 95 % confidence interval. Runs that cannot overlap have one time for both kinds.
struct timed_median {
    double ms, ci_lo, ci_hi;
};
struct timed_median timing_of_kind(const struct timing *t, enum timing_kind kind);

// Times the work until the rule ends the samples.
int timing_measure(struct device *dev, const struct timed_work *work,
                   const struct timing_rule *rule, struct timing *out);
void timing_free(struct timing *t);
// Fills median ... ci_hi from samples and count, back_to_back ... back_ci_hi if there are samples.
int timing_summarise(struct timing *t);
// Returns the median of n numbers and sorts them.
double timing_median(double *x, int n);
// Indices [lo, hi] of the order statistics that bound the median with 95 % confidence.
void timing_median_ranks(int n, int *lo, int *hi);

#endif
