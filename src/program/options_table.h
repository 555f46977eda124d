// The table of options, for what shows it: options.c has it, and parses by it; options_help.c makes
// the help from it, and what completion and the manual page are made from.
#ifndef OPTIONS_TABLE_H
#define OPTIONS_TABLE_H

#include "program/options.h"

struct option {
    const char *name;  // without its dash
    const char *value; // what follows it, for the help; NULL: nothing does
    const char *about; // a line, with the default
    unsigned commands; // BIT(enum command): who takes it
    int (*parse)(struct options *o, const struct option *self, const char *text);
};

// The i-th row; NULL after the last.
const struct option *option_at(int i);
bool takes_axis(enum command command, const struct axis *axis);
// What options take that are no axes: words, ended by a NULL.
extern const char *const cache_words[], *const launch_words[], *const check_words[],
                                                                   *const missing_words[];

#endif
