// The decisions of prepare(), which the instances of the kernels follow.
#ifndef BALANCED_STATE_H
#define BALANCED_STATE_H

#include "formats/coo.h"
#include "kernel.cuh"
#include "option_limits.h"

// H200: groups of 4 or 16 lanes reach 0.97 to 1.02 of the speed, blocks of 128, 512 or 1,024
// threads 0.75 to 0.97.
#define WIDE_GROUP     8
#define NARROW_GROUP   4  // of 16-byte packs, for rows of at most NARROW_BYTES
#define NARROW_BYTES   64 // bytes of a row of X or Y
#define MAX_THREADS    256

// Bytes of rows whose loads take as long as the rest of a warp's work. H100, time over that of the
// best share: 0 costs 1.71 at worst in rows of at most 64 bytes, 128 costs 1.22 in rows of 256.
#define SHARE_BYTES 48

// Relation between k and the columns that a group loads at once.
enum fill {
    ONCE,    // equal
    TIMES,   // k is a multiple
    AT_MOST, // k is not larger: each load is compared with k
    PARTLY,  // anything else: each load is compared with k
};

// Returns the nonzeros of a share with strips. H100, worst time over that of the best share: 1.57
// with 32 for all (f64, 2,048 bytes), 1.28 with 16 for all (256 bytes), 1.14 with both.
static constexpr int strips_share(enum fill fill) { return fill == TIMES ? 16 : 32; }

struct strips {
    int32_t width;              // columns of a strip; 0: no strips
    int32_t *row, *col, *place; // each nonzero, strip by strip, and its place in A; size nnz
    void *val;                  // size nnz
};

// Decisions of prepare().
struct state {
    int vec;   // elements of a pack, unless `fill` is AT_MOST
    int loads; // packs of a row that a lane loads at once
    enum fill fill;
    int share;   // nonzeros of a warp's share
    int threads; // threads of a block
    bool overlap;
    struct strips strips;
    uint32_t X_step, Y_step;
};

// Starts the kernel for a type of values. If `resident` is not NULL, only sets *resident to the
// number of blocks that a multiprocessor holds at once, 0 after an error.
template <typename T> void balanced_start(const struct task *t, int *resident);
// Returns true if kernels can start before the previous kernel of the stream has ended.
bool balanced_can_start_early(void);

#endif
