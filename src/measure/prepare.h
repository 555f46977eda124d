// Formats made ready: host data converted, uploaded, and handed to an algorithm as a task.
#ifndef PREPARE_H
#define PREPARE_H

#include "algos/algo.h"

// Times of making a case ready, for every operand.
struct setup {
    double convert_ms; // host: to the precision, layout and formats the algorithm asks for
    double upload_ms;  // to the device, A and the dense operands
    double analyse_ms; // the algorithm's own prepare, first use of the device included
};

// What making one operand took.
struct cost {
    double convert_ms, upload_ms;
};

// What the tasks of one (matrix, precision, k, layout) share; each operand is uploaded when the
// first task needs it. `used_bytes` of a task counts only what its algorithm asked for.
struct operands {
    struct device *dev;
    const struct inputs *in;
    enum layout layout;
    struct csr_dev A;
    struct csr_dev S;   // SpGEMM's second factor, where it is not A
    struct coo_dev coo; // its col and val are those of A
    struct dense_dev B, C;
    struct cost A_cost, S_cost, coo_cost, dense_cost;
};

// A format of A, for `spbench list formats`.
struct format_info {
    enum format format;
    const char *name, *about;
};
extern const struct format_info formats[];
extern const int format_count;

void operands_init(struct operands *o, struct device *dev, const struct inputs *in,
                   enum layout layout);
void operands_free(struct operands *o);

// Makes `t` ready to run: t->algo and t->opt are set by the caller, the rest is filled here.
// ERR_UNSUPPORTED with the reason where the algorithm does not do the case. `format_bytes` is the
// size of A in the formats that were asked for. On failure nothing is left to tear down.
int task_prepare(struct task *t, struct operands *o, struct setup *setup, int64_t *format_bytes);
void task_teardown(struct task *t);
// Device bytes of the operands that `t` does not use but that are there for other tasks.
int64_t operands_foreign_bytes(const struct operands *o, const struct task *t);

#endif
