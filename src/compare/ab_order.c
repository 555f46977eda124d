#include "compare/ab_order.h"

struct ab_step ab_order_step(const struct ab_order *s, int64_t i)
{
    struct ab_step t;
    int64_t in_round = (int64_t)s->matrices * s->sides;
    t.round = (int)(i / in_round);
    t.matrix = (int)((i % in_round / s->sides + t.round) % s->matrices);
    t.side = (int)((i % s->sides + t.matrix + t.round) % s->sides);
    return t;
}
