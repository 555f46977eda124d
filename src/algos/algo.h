// Descriptors of algorithms, and the task that an algorithm runs. An algorithm is a descriptor in a
// .c file of kernels/, its functions, and one line in algos.def with its operation, name, device
// and idea. Help, `spbench list`, records, tests and plots use these. Every build has all
// descriptors. Functions that need nvcc are in a .cu file, and NULL in a build without that file.
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
#define EVERY_PREC   (BIT(PRECS) - 1)
// The precisions that BY_TYPE of kernel.cuh handles: inputs in f32, f64, f16 or bf16.
#define BY_TYPE_PRECS (BOTH_PRECS | BIT(F16) | BIT(BF16) | BIT(F16_F32) | BIT(BF16_F32))

// Precision of the arithmetic, which the tolerance of the check depends on.
enum arith {
    ARITH_PREC,   // sums in the type prec_sum() of the case
    ARITH_DOUBLE, // products and sums in double, rounded once at the end
    ARITH_RESULT, // products and sums in the type of the result
};

// Model that predicts the speed from the sparsity pattern, see measure/tiled_model.h.
enum model_kind {
    MODEL_NONE,
    MODEL_NAIVE, // a thread for each element of C
    MODEL_TILED, // panels and stages, by options `rows`, `stage` and `factor`
};

struct dense_dev { // element (i, j) at i * ld + j (row) or j * ld + i (col)
    int64_t rows, cols, ld;
    enum layout layout;
    void *val;
};

// Times of the phases of a run, measured in a separate run that waits at the end of each phase.
#define PHASES_MAX 8
struct phases {
    struct {
        char name[32];
        double ms;
    } list[PHASES_MAX];
    int count;
    int current;  // index of the current phase, -1: none
    double since; // start of the current phase
};

#define PICKS_MAX   4
#define FORMATS_MAX 2 // formats of a matrix for an algorithm

// A format that prepare() made from a CSR matrix of the task.
struct made_format {
    const struct sparse *of;
    struct sparse *X;
    const struct task *task; // with the options of the format
};
#define MADE_MAX 8

// A case that is ready to run. The caller sets entry, algo and opt; task_prepare() sets the rest up
// to `val`. Operands are in the device's memory, aligned to 256 bytes (on the CPU to 64). Values
// have the types prec_in() and prec_out() of `prec`.
struct task {
    const struct algo_entry *entry;
    const struct algo *algo; // entry->algo
    struct device *dev;
    enum prec prec;
    double opt[ALGO_OPTIONS_MAX];        // by algo_option_at()
    int64_t work;                        // multiply-adds of the operation
    bool transposed;                     // A[] is the transpose of the operation's A
    const struct sparse *A[FORMATS_MAX]; // in the formats of algo->A, in their order
    const struct sparse *S[FORMATS_MAX]; // second sparse factor; those of A if it is A
    struct dense_dev in[DENSE_MAX];      // dense inputs: B, or X and Y
    struct dense_dev C;                  // RESULT_DENSE
    const int32_t *order;                // NULL, or set by prepare() if the rows of C are permuted:
                                         // row i of C is row order[i] of the result
    void *val;                           // RESULT_PATTERN: a value for each nonzero of A
    struct csr_dev R; // RESULT_SPARSE: allocated with device_alloc by run or finish
    void *state;      // state of the algorithm, from prepare to teardown
    struct made_format made[MADE_MAX]; // size made_count; the algorithm frees them
    int made_count;
    struct phases *phases; // NULL except in the run that measures them
    struct algo_stats stats;
    bool exact; // no sum of the present operands is rounded: measure/whole.h
};

// A file that is part of a plug-in.
struct algo_file {
    const char *file;
    const char *sha256; // hexadecimal
};

// The plug-in of an algorithm, see plugin/plugin.h.
struct algo_plugin {
    struct algo_file own;
    const char *version;
    const struct algo_file *libraries; // loaded with the plug-in; size library_count
    int library_count;
    const char *text; // in keys and records, as a library: "1.0 sha256:" and 16 digits of the hash,
                      // or of the hash of all hashes if there are libraries
};

struct algo {
    unsigned layouts;                    // ROW_MAJOR | ... for dense operands; 0: no dense operands
    unsigned precs;                      // BIT(F32) | ...
    const struct format *A[FORMATS_MAX]; // formats of A
    const struct format *S[FORMATS_MAX]; // formats of the second sparse factor
    bool transposes;                     // can multiply with the transpose of the matrix in A[]
    int columns;                         // most k that the algorithm takes; 0: every k
    enum arith arith;
    int variant;                 // index into op->variants: the formula that is computed
    const struct algo_option *options; // NULL: only the options of the formats
    const char *cite;            // source: a paper, or "Own work"
    const char *differs;         // differences from the source with any options; NULL: none

    // Facts for comparisons of results. NULL, or false, for most algorithms.
    const char *(*missing)(void); // returns why the algorithm cannot run here, or NULL
    const char *vendor; // vendor library; its fastest algorithm, `dense` apart, is the baseline
    const char *call;   // call of the library, by the names in its header
    const char *(*library)(void); // name and version, "cuSPARSE 12.6.3"; NULL if missing
    const char *built;            // version at build time, "12.6.3"; NULL: none
    const char *partial;          // part of the operation that is left out; not in comparisons
    bool reference;               // reference algorithm: never the baseline
    bool dense;                   // treats A as a dense matrix: never the baseline
    bool tensor; // may multiply on tensor cores; see is_unbounded() of bench.c and TENSOR_UNITS
    bool keeps_values;            // prepare() copies values of A into a form of its own
    bool drops_zeros;             // leaves out elements of a sparse result whose sum is exactly 0
    const char *tuned_of;         // name of the paper's algorithm that this one is a tuned form of
    const char *picks[PICKS_MAX]; // names of the algorithms that this one chooses from
    enum model_kind model;        // model that predicts the speed
    // NULL: an algorithm of the program itself.
    const struct algo_plugin *plugin;

    // Sets options in t->opt that are left to the algorithm, by the problem and the device. Called
    // before the formats are made. NULL: nothing to do. A problem that comes from a delegate
    // (delegate.h) has only precision, layout, work and sizes of dense matrices.
    void (*choose)(struct task *t, const struct problem *p);
    // Called once: analysis, scratch memory. NULL: nothing to do. Timed as `analyse`. Keeps no
    // values of operands (measure/change.h), except in t->made; those of A with keeps_values.
    int (*prepare)(struct task *t);
    // Starts the whole operation on t->dev->stream and writes every element of the result. Called
    // many times. If the result is dense or a pattern, run() must not wait, allocate, copy or
    // print, and ends with launch_check(). If the result is sparse, run() allocates the result and
    // all scratch memory with device_alloc, frees the scratch memory, waits for sizes, and calls
    // task_phase() at the begin of each phase. After an error, release() frees what is left.
    int (*run)(struct task *t);
    // NULL: nothing to do. Also called if prepare failed: `state` may be NULL or half made.
    void (*teardown)(struct task *t);
    // Only for sparse results. finish() makes t->R from a result in another format before a check,
    // untimed; run() then only sets R.nnz. NULL: run() makes t->R. release() frees the memory of
    // the algorithm that the last run() and finish() left. The caller frees t->R.
    int (*finish)(struct task *t);
    void (*release)(struct task *t);
};

// Fields of a descriptor for an algorithm with a state.
#define ALGO_FUNCTIONS(prepare_function, run_function, teardown_function)                          \
    .prepare = prepare_function, .run = run_function, .teardown = teardown_function

// Declares the functions of a descriptor that a .cu file defines, as extern "C". Functions that no
// file of this build defines are NULL.
#define WEAK __attribute__((weak))
#define DECLARE_FUNCTIONS(name)                                                                    \
    WEAK int name##_prepare(struct task *t), name##_run(struct task *t);                           \
    WEAK int name##_finish(struct task *t);                                                        \
    WEAK void name##_choose(struct task *t, const struct problem *p);                              \
    WEAK void name##_teardown(struct task *t), name##_release(struct task *t)
#define FUNCTIONS_OF(name) ALGO_FUNCTIONS(name##_prepare, name##_run, name##_teardown)

// List of all algorithms: algos.def in the order of its lines, then those of plug-ins.
struct algo_entry {
    const char *name; // as in -alg
    const struct op *op;
    enum device_kind device;
    const struct algo *algo;
};
#define ALGOS_ADDED_MAX 64 // algorithms of plug-ins

extern const struct algo_entry *const algos; // size algo_count
extern int algo_count;
// Adds an algorithm with its idea to the list. The texts must remain. ERR_USAGE: the list is full,
// or has an algorithm of this operation, name and device.
int algo_add(const struct algo_entry *entry, const char *idea);
// Returns the idea of an entry: one line of 60 characters at most.
const char *algo_idea(const struct algo_entry *entry);
// Returns NULL if this build has the functions of the algorithm, else the reason, in one line. NULL
// for an algorithm of a plug-in.
const char *algo_not_built(const struct algo_entry *entry);
// Returns NULL if the algorithm can run on its device, else the reason, in one line.
const char *algo_missing(const struct algo_entry *entry);
// Returns the algorithm, or NULL.
const struct algo_entry *algo_find(const struct op *op, const char *name, enum device_kind device);

// Returns option i of an algorithm, NULL after the last: first its own, then those of its
// formats. An option of the algorithm hides a format's of the same name. More than ALGO_OPTIONS_MAX
// is a bug().
const struct algo_option *algo_option_at(const struct algo *a, int i);
// Returns the index of the option of this name, or -1.
int algo_option_find(const struct algo *a, const char *name);
void algo_defaults(const struct algo *a, double opt[ALGO_OPTIONS_MAX]);
// Returns ERR_UNSUPPORTED unless the algorithm supports the layout.
int algo_refuse_layout(const struct algo *a, enum layout layout);
// Returns true if the algorithm takes the value of axis k, if there is one.
bool algo_takes_columns(const struct algo_entry *entry, const int64_t *axis);

// Returns the type in which the algorithm sums.
static inline enum prec algo_sums(const struct algo *a, enum prec prec)
{
    return a->arith == ARITH_DOUBLE   ? F64
           : a->arith == ARITH_RESULT ? prec_out(prec)
                                      : prec_sum(prec);
}
// Returns true if the algorithm sums in fewer bits than the precision says.
static inline bool algo_sums_narrow(const struct algo *a, enum prec prec)
{
    return type_bytes(algo_sums(a, prec)) < type_bytes(prec_sum(prec));
}
// Returns ERR_UNSUPPORTED unless B and C of one column are contiguous.
int task_refuse_gaps(const struct task *t);
// Return the bytes of an element of the inputs, and of the result.
static inline int64_t in_bytes(const struct task *t)
{
    return (int64_t)type_bytes(prec_in(t->prec));
}
static inline int64_t out_bytes(const struct task *t)
{
    return (int64_t)type_bytes(prec_out(t->prec));
}
// Returns the value of an option of the task's algorithm or of its formats. Another name is a
// bug().
double task_option(const struct task *t, const char *name);
// For choose(): sets an option if it is 0, which leaves the value to the algorithm.
void task_choose(struct task *t, const char *name, double value);
// Sets opt[] to the values of a format's options: the task's, or the defaults if the format is
// only an intermediate step.
void task_format_options(const struct task *t, const struct format *format,
                         double opt[ALGO_OPTIONS_MAX]);
void task_number(struct task *t, const char *name, double number);
void task_text(struct task *t, const char *name, const char *text);
// Ends the current phase, and begins another (NULL: none). Does nothing unless phases are measured.
// A phase that does not fit is a bug().
int task_phase(struct task *t, const char *name);
// Returns true if a phase of this name can begin: at most PHASES_MAX names of at most 31 letters.
bool task_phase_fits(const struct task *t, const char *name);
// Calls run() once, and checks that run() keeps its rules.
int task_run(struct task *t);
// teardown() for a state that owns no memory.
void task_free_state(struct task *t);
// Frees the sparse result of the last run.
void task_release_result(struct task *t);

#ifdef __cplusplus
}
#endif
#endif
