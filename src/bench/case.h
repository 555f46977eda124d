// A case: algorithm, device, precision, axes and options. Its key tells cases apart.
#ifndef CASE_H
#define CASE_H

#include "algos/algo.h"
#include "data/load.h"

struct bench_case {
    const struct algo_entry *entry; // operation, algorithm, kind of device
    char device[16];                // id: "cuda:0"; only the kind if there is no device
    enum prec prec;
    int64_t axis[AXES_MAX]; // by entry->op->axes
    double opt[ALGO_OPTIONS_MAX]; // by algo_option_at(entry->algo)
    bool cold;              // the cache is flushed before each sample
    bool stream;            // no graphs although there could be; see timing_rule
};

// Returns true if two cases have the same inputs, which tasks can share.
bool case_same_inputs(const struct bench_case *a, const struct bench_case *b);
// Returns true if two cases compute the same product, so that their times compare.
bool case_same_product(const struct bench_case *a, const struct bench_case *b);
// Returns name and version of the measured library, or version and hash of a plug-in; NULL: none.
const char *case_library(const struct bench_case *c);
// Returns true if an option has another value than its default.
bool case_has_own_values(const struct bench_case *c);

// Writes the key of a case and its matrix, for example
//     spmm merge cuda:0 f32 k=64 layout=row cache=warm columns=1 share=32 5x5:9 cage5
// with operation, algorithm, device, precision, axes in their order, cache, launch=stream if asked
// for, optional axes unless standard, options by name, library (blanks become dashes), rows x
// columns : nonzeros, and the name of the matrix (-:- if the matrix could not be read). Records
// have the key.
#define CASE_KEY_MAX 1024
const char *case_key(const struct bench_case *c, const struct matrix *M, char text[CASE_KEY_MAX]);
// Writes the key up to the matrix.
const char *case_prefix(const struct bench_case *c, char text[CASE_KEY_MAX]);
// Returns the length of that prefix in a key of the matrix `name`; 0: the key has another form.
int64_t case_key_prefix(const char *key, const char *name);
// Removes the options at their default from a key. A case then keeps its key when its algorithm
// gains an option. `algo`: the algorithm of the key. `name`: its matrix.
void case_key_shorten(char *key, const char *name, const struct algo *algo);
// Returns true if the key is of a matrix that could not be read.
bool case_key_unread(const char *key, const char *name);

#endif
