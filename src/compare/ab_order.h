// Who measures what when, so that what changes with time (clocks, neighbours) falls on all alike.
//
// Rounds are spread over the whole time. In a round each matrix has its turn, and there each side,
// one right after the other, so that they can be compared as a pair. The side that begins changes
// from turn to turn, and from round to round for each matrix (AB BA, BA AB, ...); the matrix that
// begins changes from round to round. After as many rounds as there are sides each has begun as
// often as the others.
#ifndef AB_ORDER_H
#define AB_ORDER_H

#include <stdint.h>

struct ab_order {
    int rounds, matrices, sides;
};
struct turn {
    int round, matrix, side;
};

static inline int64_t ab_order_count(const struct ab_order *s)
{
    return (int64_t)s->rounds * s->matrices * s->sides;
}
// The i-th of them, from 0.
struct turn ab_order_turn(const struct ab_order *s, int64_t i);

#endif
