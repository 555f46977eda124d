// Lines below a table of cases with the same inputs: the fastest case, and the noise.
#ifndef FASTEST_H
#define FASTEST_H

#include "bench/rank.h"
#include "report/doubt.h"
#include "report/grid.h"

// Prints the line "fastest", and a line "noise" for each case that another case picked. `what`
// follows these words: ", f32 k 64". doubts[i] has the marks of case i of the rank, see enum doubt.
// Prints nothing if no case has a time.
void fastest_print(FILE *out, const char *what, const struct rank *r, const unsigned *doubts,
                   enum grid_style style);

#endif
