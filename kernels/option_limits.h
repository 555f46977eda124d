// Numbers of CUDA kernels that limit options: for the kernels and for the descriptors, which need
// no CUDA.
#ifndef OPTION_LIMITS_H
#define OPTION_LIMITS_H

#include "device/warp_size.h"
#include "formats/tile16.h"

#define ROWSPLIT_ROWS 8 // rows of a block
#define MERGE_WARPS   8 // warps of a block

// graded
#define MOST_TINY 8 // nonzeros of a tiny row
#define ALIKE     3 // rows of a bundle

#define ASPT_THREADS   256  // threads of a block
#define STRIPS_THREADS 1024 // balanced with strips: as many as a multiprocessor has registers for

// hash-tuned
#define OVERLAY_MOST 256 // most products of an overlay, and most nonzeros of its row of A

// tile
#define NO_TILE     (TILE * TILE + 1) // nonzeros: more than any tile has
#define MATCHES_MAX 128               // pairs of tiles that a warp gathers

#endif
