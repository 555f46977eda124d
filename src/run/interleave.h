// Who measures what when, so that what changes with time (clocks, neighbours) falls on all alike.
//
// Rounds are spread over the whole time. In a round each matrix has its turn, and there each side,
// one right after the other, so that they can be compared as a pair. The side that begins changes
// from turn to turn, and from round to round for each matrix (AB BA, BA AB, ...); the matrix that
// begins changes from round to round. After as many rounds as there are sides each has begun as
// often as the others.
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stdint.h>

struct interleave {
    int rounds, matrices, sides;
};
struct turn {
    int round, matrix, side;
};

static inline int64_t interleave_count(const struct interleave *s)
{
    return (int64_t)s->rounds * s->matrices * s->sides;
}
// The i-th of them, from 0.
struct turn interleave_turn(const struct interleave *s, int64_t i);

#endif
