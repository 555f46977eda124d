// List of matrices, such as matrices.txt. A line has a matrix and its sets. '#' starts a comment. A
// line that begins with '@' is a rule for fetch_suitesparse.sh.
#ifndef LIST_FILE_H
#define LIST_FILE_H

#include "base/base.h"

// Calls `take` with each matrix in one of the sets (comma-separated; NULL: all) and returns its
// error. An error in the list or in `sets` is returned as well.
int list_file_read(const char *path, const char *sets, int (*take)(void *arg, const char *word),
                   void *arg);
// Returns true if the file begins like a matrix, not like a list.
bool list_file_is_matrix(const char *path);
// Sets `folder` to the folder of the matrices: `given`, or matrices/ beside the list.
void list_file_folder(const char *path, const char *given, char folder[]);

#endif
