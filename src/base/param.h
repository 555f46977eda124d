// A parameter of an algorithm, or of a format that an algorithm uses. `-opt name=value` sets a
// parameter.
#ifndef PARAM_H
#define PARAM_H

#include "base/base.h"

struct param {
    const char *name; // NULL ends a list
    double value;     // default
    double min, max;
    bool whole; // only whole numbers
    const char *about;
};
#define PARAMS_MAX 16 // parameters of an algorithm and its formats together

#endif
