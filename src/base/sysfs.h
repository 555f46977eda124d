// Reading files of /proc and /sys.
#ifndef SYSFS_H
#define SYSFS_H

#include <stdio.h>

#include "base/base.h"

// For tests: reads the files below `folder`; "": those of the system.
void sysfs_root(const char *folder);
// Opens a file for reading. Returns NULL if the file is missing or not readable.
FILE *sysfs_open(const char *path);
// Sets `line` to the first line without its newline. On failure returns false, and `line` is "".
bool sysfs_line(const char *path, char *line, int size);
// Returns the number at the beginning of a file; `missing` if there is none.
int64_t sysfs_number(const char *path, int64_t missing);
// Sets `value` from the first line "key : value", with runs of blanks as one. On failure returns
// false, and `value` is "".
bool sysfs_value(const char *path, const char *key, char *value, size_t size);

// Parses a list such as "0-3,8": sets listed[i] for each i below `most` and returns their number.
int sysfs_list(const char *text, bool *listed, int most);

#endif
