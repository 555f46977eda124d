// The parameter `slabs` of the format `tiled`, which depends on k.
#ifndef TILED_SLABS_H
#define TILED_SLABS_H

#include "algos/algo.h"
#include "formats/tiled.h"

// Returns the number of slabs of `factor` columns, which is the number of blocks per panel.
static inline double slabs_of(int64_t cols, int64_t factor)
{
    return (double)min64(max64(1, (cols + factor - 1) / factor), TILED_SLABS_MOST);
}

static inline void choose_slabs(struct task *t, const struct problem *p)
{
    task_choose(t, "slabs", slabs_of(p->in[0].cols, (int64_t)task_option(t, "factor")));
}

#endif
