// A list of matrices, such as matrices.txt: a line has the word of a matrix, and the sets that it
// is in; '#' starts a comment; a line that begins with '@' is a rule for fetch_suitesparse.sh, and
// names no matrix.
#ifndef LIST_FILE_H
#define LIST_FILE_H

#include "base/base.h"

// Calls `take` with the word of each matrix that is in one of the sets (comma-separated; NULL: all)
// and returns its error, or says what is wrong with the list or with the sets.
int list_file_read(const char *path, const char *sets, int (*take)(void *arg, const char *word),
                   void *arg);
// Whether the file begins as a matrix does, and so is no list.
bool list_file_is_matrix(const char *path);
// Where its matrices are: the folder that is given, else matrices/ beside the list.
void list_file_folder(const char *path, const char *given, char folder[]);

#endif
