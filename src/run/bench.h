// One case -> one result; a plan over one matrix -> its results in order.
#ifndef BENCH_H
#define BENCH_H

#include "algos/algo.h"
#include "measure/check.h"
#include "data/load.h"
#include "measure/model.h"
#include "measure/prepare.h"
#include "measure/timing.h"

enum status {
    STATUS_OK,
    STATUS_WRONG,
    STATUS_UNSUPPORTED,
    STATUS_OOM,
    STATUS_TIMEOUT,
    STATUS_CRASHED,
    STATUS_FAILED,
    STATUS_SKIPPED,
};
const char *status_name(enum status status);

// `-opt name=value`; it goes to every chosen algorithm that has an option of that name.
struct option_setting {
    const char *name;
    double value;
};

// What to run on each matrix.
struct plan {
    const struct algo_entry **entries; // size entry_count
    int entry_count;
    enum prec precs[2];
    int prec_count;
    int64_t *ks; // size k_count; SpGEMM has no k, so it is one 0 there
    int k_count;
    enum mul mul; // SpGEMM
    enum layout layouts[2];
    int layout_count;
    struct option_setting *settings; // size setting_count
    int setting_count;
    struct timing_rule rule;
    enum check_mode check;
    uint64_t seed;
};

// Everything a record says of one case.
struct result {
    enum status status;
    char reason[256]; // "" where there is nothing to say
    const struct algo_entry *entry;
    const char *device; // id
    enum prec prec;
    int64_t k; // 0 for SpGEMM
    enum layout layout;
    enum mul mul;                 // SpGEMM
    int64_t products, result_nnz; // SpGEMM; 0 where the case did not get so far
    double opt[ALGO_OPTIONS_MAX]; // by entry->algo->options, where entry->algo is there
    const struct matrix *matrix;
    bool checked, timed; // check, timing hold something
    struct check check;
    struct timing timing;
    struct setup setup;
    int64_t flops, compulsory_bytes; // 0 where the case was not started
    double gflops;                   // by the median time
    double bound_ms;                 // 0 where the roof is not known
    double efficiency;               // bound_ms / median
    bool cache_resident;             // it moved its compulsory bytes faster than memory can
    int64_t peak_bytes, format_bytes;
    struct phases phases;      // SpGEMM, where it was timed: of one run that waits between them
    struct device_trace trace; // the memory of that run
    struct figure figures[FIGURES_MAX];
    int figure_count;
};

// A device that is open for the plan, with its ceilings.
struct bench_device {
    struct device *dev; // NULL: cannot be had, `missing` says why
    const char *missing;
    struct roof roof;
};

// Runs the plan on one matrix and hands each result to `emit` as soon as it is there; the result is
// valid only during that call. `devices` is indexed by `enum device_kind`. Returns ERR_INTERRUPTED
// after Ctrl-C, the error of `emit` if it fails, else 0: a failed case is a result, not an error.
int bench_matrix(const struct plan *plan, struct bench_device devices[2],
                 const struct matrix *matrix, int (*emit)(const struct result *r, void *arg),
                 void *arg);
// The same cases of a matrix that could not be loaded, of which there is only the name: each has
// failed, for the reason `why`.
int bench_unread(const struct plan *plan, struct bench_device devices[2],
                 const struct matrix *matrix, int load_err, const char *why,
                 int (*emit)(const struct result *r, void *arg), void *arg);
// How many results these will hand out.
int64_t bench_case_count(const struct plan *plan);

#endif
