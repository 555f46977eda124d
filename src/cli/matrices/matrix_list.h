// Matrices of a sweep's command line: files, gen:SPECs, folders, and lists such as matrices.txt.
// All are opened before the first measurement.
//
// A line of a list has a matrix and its sets. '#' starts a comment. A line that begins with '@' is
// a rule for fetch_suitesparse.sh.
#ifndef MATRIX_LIST_H
#define MATRIX_LIST_H

#include "cli/options/options.h"
#include "sweep/sweep.h"

struct matrix_list {
    struct sweep_matrix *all; // size count, in the given order; `run` alone accepts a file twice
    int64_t count, room;
    int64_t left_out;        // number of missing files skipped by `-missing skip`
    char left_out_text[256]; // names of some of these files
};

// Makes the list. An error names the mistake, or the number and names of missing files. For a file
// that is no matrix the error is that of matrix_check.h.
int matrix_list_make(struct matrix_list *m, const struct options *o);
void matrix_list_free(struct matrix_list *m);
// Keeps each n-th matrix from the i-th on (from 1), in the order of names. The result is the same
// on every machine with the same list.
int matrix_list_shard(struct matrix_list *m, int i, int n);

#endif
