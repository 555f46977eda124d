// One case -> one result (bench.c); a plan over one matrix -> its results in order (bench_plan.c).
#ifndef BENCH_H
#define BENCH_H

#include "bench/counters.h"
#include "bench/plan.h"
#include "bench/rank.h"
#include "measure/bound.h"
#include "measure/in_order.h"
#include "measure/prepare.h"
#include "measure/tiled_model.h"
#include "measure/verify.h"

enum status {
    STATUS_OK,
    STATUS_WRONG,
    STATUS_UNSUPPORTED,
    STATUS_OOM,
    STATUS_TIMEOUT,
    STATUS_CRASHED,
    STATUS_FAILED,
    STATUS_SKIPPED,
    STATUS_UNCHECKED, // there was no memory for the check, or its tolerance is too large
    STATUS_COUNT
};
const char *status_name(enum status status);
// It is as it should be, or cannot be done here.
bool status_is_good(enum status status);
// What an error of a case becomes in its record.
enum status status_of(int err);
// -1 if there is none of this name.
int status_find(const char *name);

// Everything a record says of one case.
struct result {
    struct bench_case c;
    enum status status;
    char reason[FAIL_TEXT_MAX]; // "" where there is nothing to say
    const struct matrix *matrix;
    bool checked, timed, prepared; // check, timing, setup hold something
    struct check check;
    enum in_order in_order;
    struct verify_counts looks; // at the results that were timed
    struct timing timing;
    double check_ms, timing_ms; // how long these took, all around them included
    struct setup setup;
    int64_t flops, compulsory_bytes; // -1 where they are not known
    double gflops;                   // by the median time
    double bound_ms;                 // 0 where the roof is not known
    double efficiency;               // bound_ms / median
    int64_t gather_bytes;            // of a row for each nonzero; -1 where there is no such
    double gather_ms;                // the bound without reuse on chip; 0 where it is not known
    double gather_efficiency;        // gather_ms / median
    bool cache_resident;             // it moved its compulsory bytes faster than memory can
    struct tiled_prediction model;         // of the algorithm's speed, if it has one
    int64_t peak_bytes;              // 0 where the case was not started
    double figures[OP_FIGURES_MAX];  // by op->figures, NAN: not known
    struct phases phases;            // of a result that each run makes: of a run that waits between
    struct device_trace trace;       // them, and the memory of that run; owned
    struct figures stats;            // the algorithm's own
    struct counters counters;        // of another run, in another process
};
void result_clear(struct result *r);
// The time that counts: back to back only of runs that keep their order.
struct timed_median result_time(const struct result *r, enum timing_kind kind);
// Returns the result as a case to compare. The caller sets the name. ms is NAN if the result was
// not checked, or leaves out a part of the operation.
struct rank_case result_rank(const struct result *r, enum timing_kind kind);
// Of a case of which nothing is known yet.
struct result result_start(const struct bench_case *c, const struct matrix *matrix);

// A device of the plan, with its ceilings.
struct bench_device {
    char id[16];        // as in the cases
    struct device *dev; // NULL: cannot be had, `missing` says why
    char missing[FAIL_TEXT_MAX];
    struct roof roof;
};
struct bench_devices {
    struct bench_device *list; // size count
    int count;
};
// NULL if it is none of them.
struct bench_device *bench_device_find(const struct bench_devices *devices, const char *id);
// Tells whoever asks of the plan that something is timed from here on, or that nothing is.
int bench_keep_quiet(const struct plan *plan, bool on);

// One case from its inputs, made ready on its device, to a result. Where it, or its check, does not
// fit beside what other cases have left on the device, it gets that room, and another try. Returns
// only what must end the whole run.
int bench_run_case(const struct plan *plan, struct reference *ref, struct bench_device *bd,
                   struct operands *o, struct result *r);
// That a case has no time, and why.
void result_fail(struct result *r, enum status status, const char *reason);

// Takes a result as soon as it is there; it is valid only during the call.
typedef int (*bench_emit)(const struct result *r, void *arg);
// Runs the plan on one matrix. Returns ERR_INTERRUPTED after Ctrl-C, the error of `emit` if it
// fails, else 0: a failed case is a result, not an error.
int bench_matrix(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, bench_emit emit, void *arg);
// The same cases of a matrix that could not be loaded, of which there is only the name: each has
// failed, for the reason `why`.
int bench_unread(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, int load_err, const char *why, bench_emit emit,
                 void *arg);

#endif
