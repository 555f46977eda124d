// Runs a case and returns its result (bench.c). Runs the plan of a matrix, case by case
// (bench_plan.c).
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
// Returns true for ok and unsupported.
bool status_is_good(enum status status);
// Returns the status of a case that ended with this error.
enum status status_of(int err);
// Returns the status of this name; -1: there is none.
int status_find(const char *name);

// The result of a case: all that its record has.
struct result {
    struct bench_case c;
    enum status status;
    char reason[FAIL_TEXT_MAX]; // "": none
    const struct matrix *matrix;
    bool checked, timed, prepared; // check, timing, setup are set
    bool dropped;                  // from a race: the case does not matter, see race.h
    struct check check;
    enum in_order in_order;
    const char *same_as; // algorithm of the same library with equal bits and time; NULL: none
    struct verify_counts verified; // results of timed runs
    struct timing timing;
    double check_ms, timing_ms; // duration of the check and of the timing as a whole
    struct setup setup;
    int64_t flops, compulsory_bytes; // -1: unknown
    double input_error;              // of A rounded to the precision, see source_rounding()
    double gflops;                   // flops / median
    double bound_ms;                 // 0: the roof is unknown
    double efficiency;               // bound_ms / median
    int64_t gather_bytes;            // a dense row per nonzero; -1: the operation has no such rows
    double gather_ms;                // the bound without reuse on chip; 0: unknown
    double gather_efficiency;        // gather_ms / median
    bool cache_resident;             // compulsory bytes moved faster than memory can
    struct tiled_prediction model;   // predicted speed, if the algorithm has a model
    int64_t peak_bytes;              // 0: the case was not started
    double numbers[OP_NUMBERS_MAX];  // by op->numbers; NAN: unknown
    struct phases phases;            // phases of one run that waits between them (sparse results)
    struct device_trace trace;       // memory of that run; owned
    struct algo_stats stats;         // stats of the algorithm
    struct counters counters;        // counters of another run, in a process of its own
};
void result_clear(struct result *r);
// Writes "merge f32 k=64 layout=row: 0.1320 ms" into `text`.
void result_text(const struct result *r, char *text, size_t size);
// Returns the time of a kind. Back-to-back times count only if runs wait for the work before them.
struct timed_median result_time(const struct result *r, enum timing_kind kind);
// Returns the result as a case to compare. The caller sets the name. ms is NAN if the result was
// not checked, or leaves out a part of the operation.
struct rank_case result_rank(const struct result *r, enum timing_kind kind);
// Returns an empty result of a case.
struct result result_start(const struct bench_case *c, const struct matrix *matrix);

// A device of the plan, with its ceilings.
struct bench_device {
    char id[16];        // as in the cases
    struct device *dev; // NULL: not available, `missing` has the reason
    char missing[FAIL_TEXT_MAX];
    struct roof roof;
};
struct bench_devices {
    struct bench_device *list; // size count
    int count;
};
// Returns the device with this id; NULL: there is none.
struct bench_device *bench_device_find(const struct bench_devices *devices, const char *id);
// Calls the plan's quiet() before (true) and after (false) anything is timed.
int bench_keep_quiet(const struct plan *plan, bool on);

// Prepares, checks and times a case. If the case, or its check, does not fit beside the formats of
// other cases on the device, frees those and tries again. Returns only errors that end the whole
// run.
int bench_run_case(const struct plan *plan, struct reference *ref, struct bench_device *bd,
                   struct operands *o, struct result *r);
// Sets the status and reason of a case without a time.
void result_fail(struct result *r, enum status status, const char *reason);

// Takes each finished result, which is valid only during the call.
typedef int (*bench_emit)(const struct result *r, void *arg);
// Runs the plan on one matrix. Returns ERR_INTERRUPTED after Ctrl-C, the error of `emit` if it
// fails, else 0: a failed case is a result, not an error.
int bench_matrix(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, bench_emit emit, void *arg);
// Emits failed results for all cases of a matrix that could not be loaded, with the reason `why`.
int bench_unread(const struct plan *plan, const struct bench_devices *devices,
                 const struct matrix *matrix, int load_err, const char *why, bench_emit emit,
                 void *arg);

#endif
