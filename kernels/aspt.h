// Options of SpMM and SDDMM on adaptive sparse tiles (ASpT), and OpenMP code that they share: tile
// sizes, parts of a row. Changwan Hong, Aravind Sukumaran-Rajam, Israt Nisa, Kunal Singh, P.
// Sadayappan: Adaptive Sparse Tiling for Sparse Matrix Multiplication, PPoPP 2019, sections 4.2
// and 4.4.
#ifndef ASPT_CPU_H
#define ASPT_CPU_H

#include "cpu.h"
#include "formats/aspt.h"
#include "option_limits.h"

// `threshold`: the authors' value. tools/aspt_threshold.py measures from which value on tiles beat
// CSR on random matrices. EPYC, 2 threads, 35 matrices: rowsplit takes 0.79 to 0.88 of the time of
// aspt, because the last cache holds the rows of B without tiles. `fill`: low, because a CPU copies
// no rows of B.
#define ASPT_CPU_OPTIONS                                                                           \
    {"panel", 0, 0, 4096, true, "rows of a panel; 0: as many as fit in a thread's cache"},         \
        {"width", 0, 0, 4096, true, "columns of a tile, at most; 0: as many as a panel has rows"}, \
        {"threshold", 16, 1, 4096, true, "nonzeros in a panel from which on a column is heavy"},   \
    {                                                                                              \
        "fill", 25, 0, 100, true, "percent of the width: a tile with fewer columns is not made"    \
    }

// `threshold`: nonzeros of a column in a panel from which the column is tiled. H200, f32: the
// paper's 16 takes 1.0 to 1.46 times the time of 64 on bands. fem:28, k = 32, takes 47 us without
// tiles and 73 us with 16: L1 holds the panel's rows of B, and a stage is a copy behind two
// barriers.
#define ASPT_CUDA_OPTIONS                                                                          \
    {"threshold", 64, 1, 4096, true, "nonzeros in a panel from which on a column is heavy"},       \
        {"width", 0, 0, 256, true, "columns of a tile, at most; 0: by k, 32 KB of B"},             \
        {"split", 0,    0,                                                                         \
         1 << 30, true, "nonzeros of a light part that a group goes through; 0: by the lengths"},  \
        {"span", 4, 1, 1 << 30, true, "most neighbouring tiles of a panel for a block"},           \
    {                                                                                              \
        "threads", 0, 0, ASPT_THREADS, true, "per block, rounded down to 32s; 0: by the size"      \
    }

// Sets the rows and columns of a tile, the same number, so that the tile's rows of both dense
// matrices fill the cache of a thread: (T_M + T_N) T_K sizeof(word), T_K = k. A power of two.
static inline void aspt_choose_cpu(struct task *t, const struct problem *p)
{
    int64_t row_bytes = p->in[0].cols * (int64_t)type_bytes(prec_in(p->prec)), size = 16;
    int64_t cache = t->dev->cache_least_bytes / max64(1, t->dev->units);
    while (size < 4096 && 2 * (2 * size) * row_bytes <= cache) size *= 2;
    task_choose(t, "panel", (double)size);
    task_choose(t, "width", task_option(t, "panel"));
}

// Returns the parts of row i: part t has the nonzeros at[t] .. at[t + 1], and the last part is
// light. Sets *parts to the number of parts.
static inline const int64_t *aspt_parts(const struct aspt *A, int64_t i, int64_t *parts)
{
    int64_t b = i / A->panel;
    *parts = A->panel_ptr[b + 1] - A->panel_ptr[b];
    return A->tile_row_ptr + A->panel_ptr[b] * A->panel + i % A->panel * *parts;
}

#endif
