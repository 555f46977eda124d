// The folder of a list's matrices, and which file in it is the one that the list calls Group/Name.
#ifndef MATRIX_FOLDER_H
#define MATRIX_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/base.h"

// A line of fetch.lock: whose file it is.
struct folder_owner {
    char *file, *matrix; // without .mtx; Group/Name; owned
};

struct matrix_folder {
    char path[PATH_MAX];
    struct folder_owner *owners; // size count
    int64_t count, room;
};

// Reads the folder's fetch.lock, if there is one. ERR_INPUT where that is none.
int matrix_folder_open(struct matrix_folder *f, const char *path);
void matrix_folder_close(struct matrix_folder *f);
// The file of Group/Name, or of a name alone, packed or not; the first of
//     Group-Name.mtx, Name.mtx        as fetch_suitesparse.sh names them, unless fetch.lock has
//                                     them as another group's
//     Group/Name/Name.mtx, Group/Name.mtx, Name/Name.mtx    as the collection's archives unpack
// False: there is none.
bool matrix_folder_find(const struct matrix_folder *f, const char *word, char path[PATH_MAX],
                        struct stat *facts);

#endif
