// What the system says of itself in files: /proc, /sys.
#ifndef SYSFS_H
#define SYSFS_H

#include <stdio.h>

#include "base/base.h"

// For tests: such files are looked for in this folder; "" switches that off.
void sysfs_root(const char *folder);
// NULL if there is no such file, or it may not be read.
FILE *sysfs_open(const char *path);
// The first line without its end; false, and "", where there is none.
bool sysfs_line(const char *path, char *line, int size);
// The number at the beginning of a file; `missing` where there is none.
int64_t sysfs_number(const char *path, int64_t missing);
// The value of the first "key : value", with single blanks; false, and "", if there is none.
bool sysfs_value(const char *path, const char *key, char *value, size_t size);

// A list such as "0-3,8": sets listed[i] of those below `most`, and returns how many.
int sysfs_list(const char *text, bool *listed, int most);

#endif
