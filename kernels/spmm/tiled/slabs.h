// The option `slabs` of the format `tiled`, which depends on k.
#ifndef TILED_SLABS_H
#define TILED_SLABS_H

#include "algos/algo.h"
#include "formats/tiled.h"

// Sets the number of slabs of `factor` columns, which is the number of blocks per panel.
static inline void choose_slabs(struct task *t, const struct problem *p)
{
    const int64_t factor = (int64_t)task_option(t, "factor");
    const int64_t slabs = (p->in[0].cols + factor - 1) / factor;
    task_choose(t, "slabs", (double)min64(max64(1, slabs), TILED_SLABS_MOST));
}

#endif
