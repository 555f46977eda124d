// Rule of bins.cuh for hash-tuned, and the arguments of the kernels of a bin.
#ifndef SPGEMM_HASH_TUNED_BINNING_H
#define SPGEMM_HASH_TUNED_BINNING_H

#include "option_limits.h"
#include "spgemm/bins_host.cuh"

#define MERGE_LANES     4     // threads of a merged row, with one or two nonzeros of A each
#define MERGE_EACH      8     // most products of a merged row per nonzero that its bin allows
#define OVERLAY_LEAST   512   // least nonzeros of the longest row of S of an overlaid row
#define OVERLAY_LONGEST 32768 // most nonzeros of that row, as one block copies them
#define HEAVY           32    // products that count as much as a nonzero of C in the numeric phase
#define SLOTS           2     // places of a table for each column, if shared memory has room

// The rule of bins.cuh. The first bins have rows without tables, and are the same in both phases.
struct binning {
    int32_t count;           // number of bins
    int32_t limit[BIN_MOST]; // the largest count in each bin, ascending; 0 in bins without tables,
                             // INT32_MAX from the last bin on
    int32_t merging;         // bins of merged rows: bins 0 to merging - 1
    int32_t overlaying;      // 1: the next bin has overlaid rows; 0: there is none
    int32_t overlay;         // most products of an overlay
    int32_t giant_least;     // least products of a giant
    int32_t giant_parts;     // a giant has at least 1 / giant_parts of all products

    // Returns the bin of a merged row, or -1 if the row is not merged.
    __device__ __forceinline__ int merge_bin(int32_t length, int32_t products) const
    {
        const uint32_t each = ((uint32_t)products + MERGE_EACH - 1) / MERGE_EACH;
        const uint32_t need = max((uint32_t)length, each);
        return need <= (uint32_t)(merging * MERGE_LANES) ? (int)((need - 1) / MERGE_LANES) : -1;
    }

    // Returns the bin of a row with a table, a bitmap or ranges.
    __device__ __forceinline__ int bin_of(int32_t size) const
    {
        int i = 0;
#pragma unroll
        for (int g = 0; g < BIN_MOST; g++) i += size > limit[g];
        return i;
    }

    // The bitwise complement of the products marks an overlaid row.
    __device__ __forceinline__ int32_t store(int32_t length, int32_t products,
                                             int32_t longest) const
    {
        const bool overlaid = overlaying && length <= OVERLAY_MOST && longest >= OVERLAY_LEAST &&
                              longest <= OVERLAY_LONGEST && products - longest <= overlay;
        return overlaid ? ~products : products;
    }
    __device__ __forceinline__ int32_t products(int32_t stored) const
    {
        return stored < 0 ? ~stored : stored;
    }

    __device__ __forceinline__ int by_products(int32_t length, int32_t stored) const
    {
        if (stored == 0) return -1;
        if (stored < 0) return merging;
        const int merged = merge_bin(length, stored);
        return merged >= 0 ? merged : bin_of(stored);
    }

    __device__ __forceinline__ int by_nonzeros(int32_t length, int32_t nz, int32_t stored) const
    {
        if (stored < 0) return merging;
        const int merged = merging ? merge_bin(length, stored) : -1;
        if (merged >= 0) return merged;
        // A row of few nonzeros and many products gets more threads. With the copies of dense
        // values, old over new time, H200, f64, A*A^T: fit2d_A 18, nw04_A 16, fast0507_A 2.9;
        // 33 matrices 1.25 in the geometric mean.
        return bin_of(max(nz, stored / HEAVY));
    }

    __device__ __forceinline__ bool giant(unsigned long long all, int32_t length,
                                          int32_t stored) const
    {
        if (stored < giant_least || stored < (int64_t)(all / giant_parts)) return false;
        return !merging || merge_bin(length, stored) < 0;
    }
};

// Rows of a bin, for its kernel.
struct rows {
    const int32_t *list;
    int32_t count;
    int32_t size;      // places of the largest table, or words of a bitmap; LONG: values
    int32_t limit;     // most nonzeros of a row, and buckets to sort them; numeric only
    int32_t bit_words; // words of a row's bitmap, a multiple of 4; 0: no bitmaps
};

// Returns the places of a table for `need` columns, a power of two up to `most`. A small table is
// cleared faster.
static __device__ __forceinline__ int32_t table_size(int32_t need, int32_t most)
{
    if ((int64_t)need * SLOTS >= most) return most;
    return min(most, max(WARP, 1 << (32 - __clz(max(need, 1) * SLOTS - 1))));
}

#endif
