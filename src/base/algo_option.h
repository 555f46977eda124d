// An option of an algorithm, or of a format that an algorithm uses. `-opt name=value` sets a
// option.
#ifndef ALGO_OPTION_H
#define ALGO_OPTION_H

#include "base/base.h"

struct algo_option {
    const char *name; // NULL ends a list
    double value;     // default
    double min, max;
    bool whole; // only whole numbers
    const char *about;
};
#define ALGO_OPTIONS_MAX 16 // options of an algorithm and its formats together

#endif
