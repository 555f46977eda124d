// An algorithm is one file in kernels/ that exports its descriptor, and one line in algos.def,
// which says its operation, name, device and idea. Help, `spbench list`, records, tests and plots
// all come from the two.
#ifndef ALGO_H
#define ALGO_H

#include "algos/op.h"
#include "device/device.h"
#include "formats/csr.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bits for `layouts` and `precs`.
#define ROW_MAJOR    BIT(LAYOUT_ROW)
#define COL_MAJOR    BIT(LAYOUT_COL)
#define BOTH_LAYOUTS (ROW_MAJOR | COL_MAJOR)
#define BOTH_PRECS   (BIT(F32) | BIT(F64))

// What the tolerance of the check is derived from.
enum arith {
    ARITH_PREC,   // products and sums in the precision of the case
    ARITH_DOUBLE, // products and sums in double, rounded once at the end
};

// What predicts its speed from the sparsity pattern, see measure/tiled_model.h.
enum model_kind {
    MODEL_NONE,
    MODEL_NAIVE, // a thread for each element of C
    MODEL_TILED, // panels and stages, by its options `rows`, `stage` and `factor`
};

struct dense_dev { // element (i, j) at i * ld + j (row) or j * ld + i (col)
    int64_t rows, cols, ld;
    enum layout layout;
    void *val;
};

// Where the time of one run goes, measured in a run of its own that waits at each boundary.
#define PHASES_MAX 8
struct phases {
    struct {
        const char *name;
        double ms;
    } list[PHASES_MAX];
    int count;
    int current;  // index of the phase under way, -1: none
    double since; // when it began
};

#define PICKS_MAX   12
#define FORMATS_MAX 2 // of one matrix, for one algorithm

// One case, ready to run. The caller sets entry, algo and opt, task_prepare() the rest up to `val`.
// Operands lie in the device's memory, aligned to 256 bytes (on the CPU to 64); values are float or
// double by `prec`.
struct task {
    const struct algo_entry *entry;
    const struct algo *algo; // entry->algo
    struct device *dev;
    enum prec prec;
    double opt[PARAMS_MAX];              // by algo_param()
    int64_t work;                        // multiply-adds of the operation
    const struct sparse *A[FORMATS_MAX]; // in the formats of algo->A, in their order
    const struct sparse *S[FORMATS_MAX]; // the second sparse factor, likewise; A's own if it is A
    struct dense_dev in[DENSE_MAX];      // dense inputs: B, or X and Y
    struct dense_dev C;                  // RESULT_DENSE
    const int32_t *order;                // of it, set by prepare() where its rows are permuted:
                                         // row i of C is row order[i] of the result
    void *val;                           // RESULT_PATTERN: a value for each nonzero of A
    struct csr_dev R;      // RESULT_SPARSE: allocated with device_alloc by run or finish
    void *state;           // the algorithm's own, from prepare to teardown
    struct phases *phases; // NULL except in the run that measures them
    struct figures figures;
};

struct algo {
    unsigned layouts;                    // ROW_MAJOR | ..., of dense operands; 0: it has none
    unsigned precs;                      // BIT(F32) | ...
    const struct format *A[FORMATS_MAX]; // formats that it takes A in
    const struct format *S[FORMATS_MAX]; // and the second sparse factor, where there is one
    enum arith arith;
    int variant;                 // of op->variants: what it computes
    const struct param *options; // NULL: none but those of its formats
    const char *cite;            // where it comes from
    const char *differs;         // from there, whatever the options; NULL: in nothing

    // What else there is to know of it when results are compared. NULL, or false, for most.
    const char *(*missing)(void); // why it cannot run here, found out when asked; NULL: it can
    const char *vendor;           // whose library it is: the fastest of a vendor's is the baseline
    const char *call; // call of the library, by the names in its header; NULL: no vendor's
    const char *(*library)(void); // its name and version, "cuSPARSE 12.6.3"; NULL if missing
    const char *built;            // with which version this program was, "12.6.3"; NULL: with none
    const char *partial;          // what of the operation it leaves out: it is in no comparison
    bool reference;               // the plain one: the baseline where there is no vendor
    const char *tuned_of;         // the name of the algorithm that it is a tuned form of
    const char *picks[PICKS_MAX]; // names of those that it chooses from, case by case
    enum model_kind model;        // that predicts its speed

    // Sets those options in t->opt that are left to it, by the problem and the device, before the
    // formats are made from them. NULL: none are. Of a problem that is handed on to it (delegate.h)
    // only precision, layout, work and sizes of dense matrices are there.
    void (*choose)(struct task *t, const struct problem *p);
    // Called once: analysis, scratch memory. NULL: nothing to do. Timed as `analyse`.
    int (*prepare)(struct task *t);
    // Starts the whole operation on t->dev->stream, writing every element of the result. Called
    // many times. A result that is there before: it must not wait, allocate, copy or print, and
    // ends with launch_check(). A sparse one: it makes the result from nothing, allocates it and
    // all scratch with device_alloc, frees the scratch, waits where it must know a size, and calls
    // task_phase() as each phase begins. After an error nothing of it is left but what release()
    // frees.
    int (*run)(struct task *t);
    // NULL: nothing to do. Also called if prepare failed: `state` may be NULL or half made.
    void (*teardown)(struct task *t);
    // Only for sparse results. finish() makes t->R from a result in another format, untimed, before
    // a check, and run() sets R.nnz alone; NULL: run() has made it all. release() frees what the
    // last run() and finish() left of the algorithm's own; t->R is freed by the caller.
    int (*finish)(struct task *t);
    void (*release)(struct task *t);
};

// The list: algos.def in the order of its lines.
struct algo_entry {
    const char *name; // as in -alg
    const struct op *op;
    enum device_kind device;
    const struct algo *algo; // NULL: not in this build, `missing` says why
    const char *missing;
};
extern const struct algo_entry algos[];
extern const int algo_count;
// Returns the idea of an entry, also of an algorithm that is not in this build: one line of 60
// characters at most.
const char *algo_idea(const struct algo_entry *entry);
// NULL if it can run where its device is there, else why not, in one line.
const char *algo_missing(const struct algo_entry *entry);
// NULL if there is none.
const struct algo_entry *algo_find(const struct op *op, const char *name, enum device_kind device);

// The i-th parameter of an algorithm: its own, then those of its formats that it has no own ones
// of the same name for. NULL after the last. More than PARAMS_MAX is a bug().
const struct param *algo_param(const struct algo *a, int i);
// The place of the parameter of this name, or -1.
int algo_param_find(const struct algo *a, const char *name);
void algo_defaults(const struct algo *a, double opt[PARAMS_MAX]);
// ERR_UNSUPPORTED unless it does the layout.
int algo_refuse_layout(const struct algo *a, enum layout layout);

// The value of an option of this task's algorithm or of its formats; of none it is a bug().
double task_option(const struct task *t, const char *name);
// For choose(): sets an option that is 0, which leaves it to the algorithm.
void task_choose(struct task *t, const char *name, double value);
// Values of a format's parameters: the task's, or the defaults of a format that is only made to
// make another one from it.
void task_format_options(const struct task *t, const struct format *format, double opt[PARAMS_MAX]);
void task_number(struct task *t, const char *name, double number);
void task_text(struct task *t, const char *name, const char *text);
// Ends the phase under way, and begins one (NULL: none). Costs nothing unless phases are measured.
int task_phase(struct task *t, const char *name);
// Runs it once, and sees to it that run() keeps to its rules.
int task_run(struct task *t);
// The teardown() of a state that owns nothing.
void task_free_state(struct task *t);
// Frees the sparse result of the last run, so that the next one begins with nothing.
void task_release_result(struct task *t);

#ifdef __cplusplus
}
#endif
#endif
