// A case, as a value: what is run on one matrix, told apart from all others by its key.
#ifndef CASE_H
#define CASE_H

#include "algos/algo.h"
#include "data/load.h"

struct bench_case {
    const struct algo_entry *entry; // operation, algorithm, kind of device
    char device[16];                // id: "cuda:0"; only the kind where there is none
    enum prec prec;
    int64_t axis[AXES_MAX]; // by entry->op->axes
    double opt[PARAMS_MAX]; // by algo_param(entry->algo), where that is there
    bool cold;              // the cache is flushed before each sample
    bool stream;            // no graphs, where there would be; see timing_rule
};

// Whether two cases have the same inputs; then one comparison is of both.
bool case_same_inputs(const struct bench_case *a, const struct bench_case *b);
// The name and version of the library that it measures, NULL if none.
const char *case_library(const struct bench_case *c);
// Returns true if an option has another value than its default.
bool case_has_own_values(const struct bench_case *c);

// The case and its matrix in one line, for example
//     spmm merge cuda:0 f32 k=64 layout=row cache=warm columns=1 share=32 5x5:9 cage5
// which is operation, algorithm, device, precision, axes in their order, cache, launch=stream where
// that was asked for, options by name, library (blanks become dashes), then rows x columns :
// nonzeros and name of the matrix (-:- if it could not be read). Records have it, and all who tell
// cases apart compare it.
#define CASE_KEY_MAX 1024
const char *case_key(const struct bench_case *c, const struct matrix *M, char text[CASE_KEY_MAX]);
// The same up to the matrix, which may not be known yet.
const char *case_prefix(const struct bench_case *c, char text[CASE_KEY_MAX]);
// How many letters of a key that is, by the name of the matrix; 0 where it cannot be told.
int64_t case_key_prefix(const char *key, const char *name);
// Removes the options at their default from a key. A case then keeps its key when its algorithm
// gains an option. `algo`: the algorithm of the key. `name`: its matrix.
void case_key_shorten(char *key, const char *name, const struct algo *algo);
// Whether it is of a matrix that could not be read.
bool case_key_unread(const char *key, const char *name);

#endif
