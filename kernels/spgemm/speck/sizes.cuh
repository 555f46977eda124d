// Sizes of the kernels, their tables, and the rule that chooses a kernel for a block of rows.
#ifndef SPGEMM_SPECK_SIZES_H
#define SPGEMM_SPECK_SIZES_H

#include "spgemm/counts.cuh"
#include "spgemm/hash_sort.cuh"

enum { SYMBOLIC, NUMERIC };

// Kernels 0 to 5 have hash tables for blocks of 32, 64, ... 1024 threads. Kernel 6 has 1024 threads
// and the largest shared memory. The last two have a window of columns for each block.
enum { LARGEST = 6, DENSE, DENSE_LARGEST, KERNELS };
#define HASHES (LARGEST + 1)

#define SYMBOLIC_KEYS 11904 // places of a table of kernel 5, symbolic
#define NUMERIC_BYTES 48384 // bytes of a table of kernel 5, numeric: 4,032 places of f64
#define WINDOW_BYTES  49152 // bytes of a window of kernel DENSE
#define DENSE_PERCENT 18    // columns of a row's range above which a row is dense, in percent
#define ROWS_MOST     WARP  // rows of a block
#define ROWS_LOG      5

// A hash table in shared memory.
struct table {
    int32_t size;   // places, a multiple of 4
    uint32_t magic; // 2^32 / size
    int32_t limit;  // most keys, a multiple of 4
};

// Counts of a row, from the analysis.
struct __align__(16) row_facts
{
    int32_t products, longest; // longest: nonzeros of the longest row of S
    int32_t low, high;         // columns of C are in [low, high]
};

// Rule of a phase. `weight` is the number of products in the symbolic phase, of nonzeros of C in
// the numeric phase.
struct rule {
    int32_t limit[HASHES]; // of the tables
    int32_t window[2];     // columns of a window of DENSE and DENSE_LARGEST
    int32_t balance;       // option: 1 always, 0 if a row needs kernel 5 or more, -1 by thresholds
    int32_t m, n;          // size of C
    int64_t nnz;           // of A
};

// Totals of a run in the memory of the device. `seen` of the host is a copy.
struct totals {
    unsigned long long products, nnz;
    int32_t most[2][ROWS_LOG + 1]; // greatest weight of 1, 2, 4, ... 32 aligned rows, by phase
    int32_t blocks[2][KERNELS];    // blocks in each queue
    int32_t filled[2][KERNELS];    // blocks that have been put into each queue so far
    int32_t windows[2];            // 1: a row needs several windows
    int32_t long_rows;             // rows of A for analyse_long()
    int32_t ended;                 // for tell_host()
};

// Neighbouring rows that a team computes.
struct block_rows {
    int32_t first, rows;
};

// Returns the smallest kernel with a hash table for the weight, LARGEST if there is none.
static __host__ __device__ __forceinline__ int hash_kernel(const struct rule &rule, int32_t weight)
{
    int k = 0;
    for (int e = 0; e < LARGEST; e++) k += weight > rule.limit[e];
    return k;
}

// Returns the kernel for a single row. `span` is the size of its range of columns. A row of one
// nonzero of A is `direct`: its row of C needs no accumulator.
static __device__ __forceinline__ int row_kernel(const struct rule &rule, int32_t weight,
                                                 int32_t span, bool direct)
{
    const int k = hash_kernel(rule, weight);
    if (direct) return min(k, LARGEST - 1);
    const bool dense =
        weight > rule.limit[LARGEST] || (int64_t)weight * 100 > (int64_t)span * DENSE_PERCENT;
    if (k < LARGEST - 1 || !dense) return k;
    return span <= rule.window[0] ? DENSE : DENSE_LARGEST;
}

// Returns true if the rows are merged and queued by kernel. The constants are those of the authors,
// fitted on a Titan V. `most` and `sum` are the greatest weight of a row and the sum of all
// weights.
static __host__ __device__ bool is_balanced(int phase, const struct rule &rule,
                                            const struct totals *totals)
{
    const int64_t most = totals->most[phase][0], products = (int64_t)totals->products;
    const int64_t sum = phase == SYMBOLIC ? products : (int64_t)totals->nnz;
    const int64_t mean = sum / rule.m, ratio = most / (mean > 0 ? mean : 1);
    const int64_t block = rule.limit[LARGEST - 1], largest = rule.limit[LARGEST];
    if (rule.balance > 0 || most > rule.limit[LARGEST - 2]) return true;
    if (rule.balance == 0) return false;
    if (phase == SYMBOLIC)
        return rule.nnz > 771843 || (most > block / 4 && most <= largest && rule.m > 7575) ||
               (most > largest && products > 1940177) || (ratio > 110 && products > 1164708);
    if (most > block / 4 && rule.m >= 1236 && products > 636293) return true;
    if (most <= rule.limit[0]) return false;
    return (ratio > 13 && products > 385847) || (ratio > 18 && products > 26263 && mean > 22) ||
           ratio > 146;
}

#endif
