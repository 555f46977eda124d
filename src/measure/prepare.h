// Prepares a task: converts sparse matrices to the formats that the algorithm asks for, draws dense
// operands, allocates the result, and uploads everything to the device.
#ifndef PREPARE_H
#define PREPARE_H

#include "measure/store.h"

// A format of the case.
struct format_use {
    const char *of; // "A"; OF_TRANSPOSE; "S": the second sparse factor, if that is another matrix
    const struct format *format;
    int64_t bytes, csr_bytes; // csr_bytes: size of the matrix in CSR with 32-bit row starts
    struct format_cost cost;  // with the cost of its source, unless that is a format of the case
};
#define OF_TRANSPOSE    "A^T" // name of an operand that is A^T, made from A
#define FORMAT_USES_MAX (2 * FORMATS_MAX)

// Times and bytes of the preparation of a case.
struct setup {
    int count; // number of formats; a second factor equal to A is not counted again
    struct format_use formats[FORMAT_USES_MAX];
    int64_t format_bytes; // bytes of all formats
    double dense_ms;      // layout and upload of the dense operands
    double analyse_ms;    // the algorithm's prepare(), with the first use of a library
};
double setup_convert_ms(const struct setup *s);
double setup_warm_ms(const struct setup *s);
double setup_upload_ms(const struct setup *s);
// Returns the time from a matrix in CSR to the first run: conversion to other formats, or to the
// transpose, and analysis.
double setup_prep_ms(const struct setup *s);

// Operands that the tasks of one matrix on one device share.
struct operands {
    struct device *dev;
    const struct problem *p; // problem of the dense operands
    int64_t pad;             // elements between the rows of dense matrices (for tests)
    struct store store;
    struct dense_dev in[DENSE_MAX], C;
    void *val;
    double dense_ms;
    uint64_t bits[DENSE_MAX]; // checksum of in[] as uploaded
    bool lost;                // the values are unknown: see operands_free_lost()
};

void operands_init(struct operands *o, struct device *dev);
// Sets the problem of the next tasks. Frees operands that the problem before does not share.
void operands_use(struct operands *o, const struct problem *p);
void operands_free(struct operands *o);
// Frees the formats that the last prepared task does not use. Returns false if there were none.
bool operands_drop_others(struct operands *o);
// Returns the device bytes of these formats.
int64_t operands_other_bytes(const struct operands *o);

// Overwrites the dense operands with those of a problem of the same sizes.
int operands_upload(struct operands *o, const struct problem *p);
// Frees all operands if they are lost. The next task makes them again.
void operands_free_lost(struct operands *o);
// Checks that no run changed an operand, since later tasks use the same operands. Frees a changed
// operand, which must be in no task, and sets `what` to its name; "": nothing changed.
int operands_verify(struct operands *o, char what[64]);

// Prepares `t`. The caller sets t->entry, t->algo and t->opt; this function sets the rest. Returns
// ERR_UNSUPPORTED with the reason if the algorithm does not support the case. After a failure there
// is nothing to tear down.
int task_prepare(struct task *t, struct operands *o, struct setup *setup);
void task_teardown(struct task *t);

// Return the number of lines of a dense matrix (rows; columns if column-major) and their length.
int64_t dense_lines(const struct dense_dev *D);
int64_t dense_length(const struct dense_dev *D);
struct device_view dense_view(const struct dense_dev *D, enum prec type);
// Returns the memory of a dense matrix, with the gaps between its lines.
struct device_block dense_block(const struct dense_dev *D, enum prec type);

#endif
