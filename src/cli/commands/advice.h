// Advice on the fastest call for a matrix, from a few measured cases. advise.c measures.
#ifndef ADVICE_H
#define ADVICE_H

#include <stdio.h>

#include "bench/bench.h"
#include "records/json.h"

#define ADVISED_NAME 96

// A measured case, or the reason why the case has no time.
struct advised {
    struct bench_case c;        // algorithm and inputs
    enum status status;         // of the case
    char reason[FAIL_TEXT_MAX]; // of a status other than ok; "": none
    struct rank_case rank;      // times; ms NAN: no valid time
    char name[ADVISED_NAME]; // algorithm, with values of axes that give one product (op_add_ways)
    const char *library;     // name and version; NULL: an algorithm of the program
    double bound_ms, gather_ms; // as in struct result
    int64_t peak_bytes;         // most memory on the device during a run
    bool busy;                  // other programs used the processors during the case
};

#define ADVISED_MAX 256
// Cases of one product, and the advice made from these cases.
struct advice {
    const struct op *op;
    const struct matrix *matrix;
    const struct bench_device *device;
    enum prec prec;
    int64_t axis[AXES_MAX]; // given values of the axes
    int64_t runs;           // planned runs; 0: not given
    struct advised list[ADVISED_MAX];
    struct rank_case *ranks[ADVISED_MAX];
    int count;
    int left_out;           // cases not measured because the budget is spent
    char left_out_names[FAIL_TEXT_MAX]; // their algorithms
    double ms;              // duration of the measurement
    double products, nnz_c; // of a sparse product, NAN: not known
    double c_bytes;         // memory of C, at least; NAN: not known
    // advice_make() sets the fields below. A pointer is NULL if there is no such case.
    struct rank rank;
    const struct advised *call;     // fastest of a vendor
    const struct advised *standard; // default call of that vendor
    const struct advised *own;      // fastest of the program's algorithms
    const struct advised *dense;    // product with A as a dense matrix
    const struct advised *chosen;   // least time of all planned runs, preparation included
};

// Sets the fields that follow from the cases.
void advice_make(struct advice *a);
// Prints the advice as text.
void advice_print(FILE *out, const struct advice *a);
// Adds the advice as an object to `list`.
void advice_json(struct json *j, cJSON *list, const struct advice *a);

#endif
