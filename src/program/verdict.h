// The lines below the cases with the same inputs: which is the fastest, and what is noise.
#ifndef VERDICT_H
#define VERDICT_H

#include "program/grid.h"
#include "run/rank.h"

// Prints "fastest" and `what`, such as ", f32 k 64", with the names and times of r. Without any
// time there is none.
void verdict_print(FILE *out, const char *what, const struct rank *r, enum grid_style style);

#endif
