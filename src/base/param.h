// A parameter that `-opt name=value` sets: of an algorithm, or of a format that an algorithm asks
// for.
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
#define PARAMS_MAX 16 // of an algorithm, those of its formats included

#endif
