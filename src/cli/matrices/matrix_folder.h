// Finds the file of a matrix Group/Name in the folder of a list.
#ifndef MATRIX_FOLDER_H
#define MATRIX_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/base.h"

// A line of fetch.lock: the matrix that a file belongs to.
struct folder_owner {
    char *file, *matrix; // file without .mtx; matrix as Group/Name; owned
};

struct matrix_folder {
    char path[PATH_MAX];
    struct folder_owner *owners; // size count
    int64_t count, room;
};

// Reads fetch.lock of the folder, if there is one. Returns ERR_INPUT if the file is malformed.
int matrix_folder_open(struct matrix_folder *f, const char *path);
void matrix_folder_close(struct matrix_folder *f);
// Finds the file of Group/Name, or of a name alone, compressed or not. Returns false if there is
// none. The first of these names that exists:
//   Group-Name.mtx, Name.mtx       from fetch_suitesparse.sh, if fetch.lock names no other group
//   Group/Name/Name.mtx, Group/Name.mtx, Name/Name.mtx       from the collection's archives
bool matrix_folder_find(const struct matrix_folder *f, const char *word, char path[PATH_MAX],
                        struct stat *facts);

#endif
