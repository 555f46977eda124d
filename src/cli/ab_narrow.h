// Options that make a process measure only the algorithms with an unclear case on a matrix.
#ifndef AB_NARROW_H
#define AB_NARROW_H

#include "cli/options/options.h"
#include "compare/compare.h"

#define NARROW_WORDS 6 // most words that narrow_words() adds to the passed ones

struct narrowed {
    char op[32];    // operation of the cases
    char algs[512]; // names, separated by commas; "": as the passed options say
    char opts[512]; // values of -opt for these algorithms; "": none
};

// Fills in the algorithms with an unclear case on the matrix of this name. Returns false if there
// is none.
bool narrow_cases(struct narrowed *n, const struct options *o, const struct comparison *all,
                  const char *matrix);
// Writes the passed words to argv, and returns their number. -op, -alg and -opt are those of the
// narrowed cases.
int narrow_words(const struct narrowed *n, const struct options *o, const char **argv);

#endif
