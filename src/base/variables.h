// Environment variables that the program and its libraries read.
#ifndef VARIABLES_H
#define VARIABLES_H

#include <stdbool.h>

struct variable {
    const char *name, *about;
    bool matters; // the variable changes times: records and `doctor` have the variable if it is set
    bool spoils;  // the variable spoils times: `doctor` advises against it
};
// The name of the last entry is NULL.
extern const struct variable variables[];
// Returns the name of a variable that is set and loads libraries, which can replace the clock;
// NULL: none is set.
const char *variable_preload(void);

#endif
