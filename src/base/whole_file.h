// A file that is there whole or not at all: it is written under a name of its own in the same
// folder, and takes the place of what was there at the end. A pipe or a device is written as it is.
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
    const char *name;                    // as the caller has it, for messages
    char path[PATH_MAX];                 // where it is to be, links resolved
    char temporary[PATH_MAX + NAME_MAX]; // where it is; "" if it is written as it is
};

// One at a time, which stays where it is in memory. On failure there is nothing to close.
int whole_file_open(struct whole_file *f, const char *name);
// Ends the file: with OK as `err` it takes its name, else it is gone, and what was there before
// stays. Returns `err`, or what went wrong with writing.
int whole_file_close(struct whole_file *f, int err);
// For a signal handler that ends the program: removes what is open.
void whole_file_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
