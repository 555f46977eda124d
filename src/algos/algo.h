// An algorithm is one file in kernels/ that exports its descriptor, and one line in algos.def.
// Help, `spbench list`, records, tests and plots all come from that list.
#ifndef ALGO_H
#define ALGO_H

#include "device/device.h"
#include "algos/op.h"

#ifdef __cplusplus
extern "C" {
#endif

enum layout { LAYOUT_ROW, LAYOUT_COL };
const char *layout_name(enum layout layout);

// Formats of A that prepare.c converts to and uploads before an algorithm starts; as bits.
enum format { FORMAT_CSR = 1, FORMAT_COO = 2, FORMAT_SELLP = 4 };

// Bits for `layouts` and `precs`.
#define BIT(x)     (1u << (x))
#define BOTH_PRECS (BIT(F32) | BIT(F64))

// What the tolerance of the check is derived from.
enum arith {
    ARITH_PREC,   // products and sums in the precision of the case
    ARITH_DOUBLE, // products and sums in double, rounded once at the end
};

// Operands in the device's memory. Values are float or double by the precision of the case.
struct csr_dev {
    int32_t m, n;
    int64_t nnz;
    void *ptr;     // row starts, size m + 1, of `ptr_bytes` each
    int ptr_bytes; // inputs: 8 (int64_t) on the CPU, 4 (int32_t) on CUDA; results: either
    int32_t *idx;  // columns, size nnz
    void *val;     // values, size nnz
};

// What its arrays take.
int64_t csr_dev_bytes(const struct csr_dev *A, enum prec prec);

struct coo_dev { // entries in the order of the csr
    int32_t m, n;
    int64_t nnz;
    int32_t *row, *col; // size nnz
    void *val;          // size nnz
};

struct sellp_dev { // see sellp.h
    int32_t m, n, slice, pad;
    int64_t slices, stored;
    int64_t *ptr; // slice starts, size slices + 1
    int32_t *idx; // columns, -1 where padded, size stored
    void *val;    // size stored
};

struct dense_dev { // element (i, j) at i * ld + j (row) or j * ld + i (col)
    int64_t rows, cols, ld;
    enum layout layout;
    void *val;
};

// A parameter that `-opt name=value` sets.
struct algo_option {
    const char *name; // NULL ends a list
    double value;     // default: the paper's
    double min, max;
    bool whole; // only whole numbers
    const char *about;
};
#define ALGO_OPTIONS_MAX 12

// A figure of the algorithm's own, for the record's `stats`.
struct figure {
    char name[32];
    char text[32]; // empty: the figure is `number`
    double number;
};
#define FIGURES_MAX 16

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

// One case, ready to run. prepare.c fills everything above `state`.
struct task {
    const struct algo *algo;
    struct device *dev;
    const struct inputs *in;      // host side: in->A, in->prec, in->k
    enum layout layout;           // of the dense operands
    double opt[ALGO_OPTIONS_MAX]; // values of algo->options, in their order
    struct csr_dev A;             // only the formats that the descriptor asks for are there
    struct coo_dev coo;
    struct sellp_dev sellp;
    struct dense_dev B, C; // SpMM: C = A * B
    struct csr_dev S;      // SpGEMM: C = A * S; the arrays of A where S is A
    struct csr_dev R;      // SpGEMM: the result, allocated with device_alloc by run or finish
    void *state;           // the algorithm's own, from prepare to teardown
    double repeat_ms; // of prepare(): what it did again only so that a figure is of a warm device
    struct phases *phases; // NULL except in the run that measures them
    struct figure figures[FIGURES_MAX];
    int figure_count;
};

struct algo {
    const char *name; // as in -alg
    enum op_kind op;
    enum device_kind device;
    unsigned layouts, precs; // BIT(LAYOUT_ROW) ..., BIT(F32) ...
    unsigned formats;        // of A
    enum arith arith;
    const struct algo_option *options; // NULL: none
    const char *about;                 // one line, no full stop
    const char *cite;                  // where it comes from
    // Called once: analysis, scratch memory. NULL: nothing to do. Timed as `analyse`, but for
    // t->repeat_ms.
    int (*prepare)(struct task *t);
    // Starts the whole operation on t->dev->stream, writing every element of the result. Called
    // many times. A dense result: it must not wait, allocate or print. A sparse one: it makes the
    // result from nothing, allocates it and all scratch with device_alloc, frees the scratch, waits
    // where it must know a size, and calls task_phase() as each phase begins. After an error
    // nothing of it is left but what release() frees.
    int (*run)(struct task *t);
    // NULL: nothing to do. Also called if prepare failed, or was not reached.
    void (*teardown)(struct task *t);
    // Only for sparse results. finish() makes t->R from a result in another format, untimed, before
    // a check, and run() sets R.nnz alone; NULL: run() has made it all. release() frees what the
    // last run() and finish() left of the algorithm's own; t->R is freed by the caller.
    int (*finish)(struct task *t);
    void (*release)(struct task *t);
};

// The list: algos.def in the order of its lines.
struct algo_entry {
    const char *name;
    enum op_kind op;
    enum device_kind device;
    const struct algo *algo; // NULL: not in this build, `missing` says why
    const char *missing;
};
extern const struct algo_entry algos[];
extern const int algo_count;

// The value of an option of this task's algorithm.
double task_option(const struct task *t, const char *name);
void task_number(struct task *t, const char *name, double number);
void task_text(struct task *t, const char *name, const char *text);
// Ends the phase under way, and begins one (NULL: none). Costs nothing unless phases are measured.
int task_phase(struct task *t, const char *name);
// Frees the sparse result of the last run, so that the next one begins with nothing.
void task_release_result(struct task *t);

#ifdef __cplusplus
}
#endif
#endif
