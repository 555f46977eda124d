// Operands made ready: sparse matrices in the formats that an algorithm asks for, dense ones, room
// for the result, all in the device's memory and handed over as a task.
#ifndef PREPARE_H
#define PREPARE_H

#include "measure/store.h"

// A format of the case.
struct format_use {
    const char *of; // "A", or "S": the second sparse factor, where that is another matrix
    const struct format *format;
    int64_t bytes, csr_bytes; // csr_bytes: of the same in CSR with 32-bit row starts
    struct format_cost cost; // with that of what it is made from, unless it is a format of the case
};
#define FORMAT_USES_MAX (2 * FORMATS_MAX)

// What making a case ready took.
struct setup {
    int count; // of formats; a second factor that is A again is not counted again
    struct format_use formats[FORMAT_USES_MAX];
    int64_t format_bytes; // of all of them
    double dense_ms;      // layout and upload of the dense operands
    double analyse_ms;    // the algorithm's own prepare, first use of the device included
};
double setup_convert_ms(const struct setup *s);
double setup_warm_ms(const struct setup *s);
double setup_upload_ms(const struct setup *s);
// Time to prepare the first run from a matrix in CSR: conversion to other formats, and analysis.
double setup_prep_ms(const struct setup *s);

// What the tasks of one matrix on one device share.
struct operands {
    struct device *dev;
    const struct problem *p; // the dense operands are of this one
    int64_t pad;             // elements between the rows of dense matrices (for tests)
    struct store store;
    struct dense_dev in[DENSE_MAX], C;
    void *val;
    double dense_ms;
    uint64_t bits[DENSE_MAX]; // of what in[] holds, as it was uploaded
};

void operands_init(struct operands *o, struct device *dev);
// From here on the tasks are of this problem: what an earlier one does not share with it is freed.
void operands_use(struct operands *o, const struct problem *p);
void operands_free(struct operands *o);
// Frees all but the formats that the task that was prepared last uses; false if there was nothing.
bool operands_drop_others(struct operands *o);
// Device bytes of formats that it does not use.
int64_t operands_other_bytes(const struct operands *o);

// Whether all operands that are there are as they were made: nothing that runs may change what
// others use after it. What is changed is freed, and must be in no task; in `what` is its name, ""
// if there is none.
int operands_verify(struct operands *o, char what[64]);

// Makes `t` ready to run: t->entry, t->algo and t->opt are set by the caller, the rest is filled
// here. ERR_UNSUPPORTED with the reason where the algorithm does not do the case. On failure
// nothing is left to tear down.
int task_prepare(struct task *t, struct operands *o, struct setup *setup);
void task_teardown(struct task *t);

// Lines of a dense matrix, rows or, if it is column-major, columns; and elements of each.
int64_t dense_lines(const struct dense_dev *D);
int64_t dense_length(const struct dense_dev *D);
struct device_view dense_view(const struct dense_dev *D, enum prec prec);
// All of it, what lies between the lines included.
struct device_block dense_block(const struct dense_dev *D, enum prec prec);

#endif
