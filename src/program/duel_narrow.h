// The words that make a process measure only the algorithms of a matrix with an unclear case.
#ifndef DUEL_NARROW_H
#define DUEL_NARROW_H

#include "program/options.h"
#include "run/compare.h"

#define NARROW_WORDS 6 // beside those that are passed on

struct narrowed {
    char op[32];    // of the cases
    char algs[512]; // names by commas; "": all, as the options say
    char opts[512]; // values of -opt that one of them takes; "": none
};

// Returns false if no case of the matrix of this name is unclear.
bool narrow_cases(struct narrowed *n, const struct options *o, const struct comparison *all,
                  const char *matrix);
// Writes the words that are passed on to argv, and returns their number: those of the options, or
// -op, -alg and -opt of the narrowed cases in place of these three.
int narrow_words(const struct narrowed *n, const struct options *o, const char **argv);

#endif
