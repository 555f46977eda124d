// Order of the processes of an A/B measurement.
//
// Changes over time, such as clocks and neighbours, must affect all cases and both sides alike. A
// round measures each matrix once with each side. The sides of a matrix run one right after the
// other and make a pair. The first side alternates from matrix to matrix and from round to round
// (AB BA, BA AB, ...). The first matrix changes from round to round. After an even number of
// rounds, both sides have begun equally often.
#ifndef AB_ORDER_H
#define AB_ORDER_H

#include <stdint.h>

struct ab_order {
    int rounds, matrices, sides;
};
struct ab_step {
    int round, matrix, side;
};

static inline int64_t ab_order_count(const struct ab_order *s)
{
    return (int64_t)s->rounds * s->matrices * s->sides;
}
// Returns the i-th process of the measurement, from 0.
struct ab_step ab_order_step(const struct ab_order *s, int64_t i);

#endif
