// Where A is dense enough, another way than by pieces: see strips.cu.
#ifndef GRADED_STRIPS_H
#define GRADED_STRIPS_H

#include "kernel.cuh"

struct strips {
    int rows;       // of A that a warp has; 0: this way is out of the question
    bool unsure;    // a trial is to tell whether it is the faster one
    int32_t panels; // of rows, a block's each
    int32_t slabs;
    int32_t height; // rows of B in a strip
    int32_t count;  // strips
    uint32_t B_step, C_step;
    int32_t *steps;  // of each piece, in the order in which a warp comes to them, warp after warp
    int64_t *starts; // of each warp: its first block of nonzeros
    void *blocks;
};

// Decides whether the case may be computed by strips, and how.
int strips_choose(struct task *t, struct strips *s);

// Prepares what was chosen; not where memory is short, unless an option asks for strips: s->rows is
// 0 then. After an error strips_free() frees what there is.
int strips_make(struct task *t, struct strips *s);

void strips_start(const struct task *t, const struct strips *s);

void strips_free(struct device *d, struct strips *s);

#endif
