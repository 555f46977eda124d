// The interface of SpMM by strips (strips.cu), for a dense enough A.
#ifndef GRADED_STRIPS_H
#define GRADED_STRIPS_H

#include "kernel.cuh"

struct strips {
    int rows;       // rows of A per warp; 0: strips are excluded
    bool unsure;    // a trial decides
    int32_t panels; // panels of rows, one per block
    int32_t slabs;
    int32_t height; // rows of B in a strip
    int32_t count;  // strips
    uint32_t B_step, C_step;
    int32_t *steps;  // steps of each segment, in the order of use, warp after warp
    int64_t *starts; // first block of nonzeros of each warp
    void *blocks;
};

// Decides if the case is computed by strips, and sets the sizes.
int strips_choose(struct task *t, struct strips *s);

// Prepares the chosen strips. If memory is short and no option selects strips, sets s->rows to 0.
// After an error strips_free() frees all memory.
int strips_make(struct task *t, struct strips *s);

void strips_start(const struct task *t, const struct strips *s);

void strips_free(struct device *d, struct strips *s);

#endif
