// The matrices that the words of a command line mean: files, gen:SPECs, folders of files, and lists
// such as matrices.txt. All of them are looked at before the first is measured.
#ifndef MATRIX_LIST_H
#define MATRIX_LIST_H

#include "cli/options/options.h"
#include "sweep/sweep.h"

struct matrix_list {
    struct sweep_matrix *all; // size count; in the order given, each once; no two of the same name
    int64_t count, room;
    int64_t left_out;        // files that are not there, and that -missing skip does without
    char left_out_text[256]; // the names of some
};

// Errors name the mistake, of files that are not there how many and which. What begins as no matrix
// does is an error as of a run: first_look.h.
int matrix_list_make(struct matrix_list *m, const struct options *o);
void matrix_list_free(struct matrix_list *m);
// Keeps one part of the matrices: of all by name, each n-th from the i-th on (i from 1). It is the
// same on every machine where the list is.
int matrix_list_shard(struct matrix_list *m, int i, int n);

#endif
