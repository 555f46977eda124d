// Atomic writing of a file: the text goes into a temporary file in the same folder, which is
// renamed at the end. Pipes and devices are written directly.
#ifndef WHOLE_FILE_H
#define WHOLE_FILE_H

#include "base/base.h"

#include <limits.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct whole_file {
    FILE *stream;
    const char *name;                    // as the caller gave it, for messages
    char path[PATH_MAX];                 // final path, links resolved
    char temporary[PATH_MAX + NAME_MAX]; // path of the temporary file; "": written directly
};

// Opens f->stream. At most one file may be open at a time, and *f must not move until
// whole_file_close(). On failure there is nothing to close.
int whole_file_open(struct whole_file *f, const char *name);
// Closes the file. If `err` is OK, the file gets its name; else the file is removed, and an old
// file of this name stays. Returns `err`, or the error of writing.
int whole_file_close(struct whole_file *f, int err);
// For a signal handler that ends the program: removes the temporary file.
void whole_file_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
