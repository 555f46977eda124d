// The rule that bins.cuh puts rows into bins by, and the arguments of the kernels of a bin.
#ifndef SPGEMM_HASH_TUNED_BINNING_H
#define SPGEMM_HASH_TUNED_BINNING_H

#include "spgemm/bins_host.cuh"

#define MERGE_LANES     4   // threads of a row that is merged, with one or two nonzeros of A each
#define MERGE_EACH      8   // products of such a row for each nonzero that its bin allows, at most
#define OVERLAY_MOST    256 // products of an overlay, and nonzeros of its row of A, at most
#define OVERLAY_LEAST   512 // nonzeros of the row of S that it is laid over, at least
#define OVERLAY_LONGEST 32768 // ... and at most, as one block copies them
#define SLOTS           2     // places of a table for each column, if shared memory has room

// The rule of bins.cuh. The first bins have rows without tables, and are the same in both phases.
struct binning {
    int32_t count;           // number of bins
    int32_t limit[BIN_MOST]; // the largest count in each bin, ascending; 0 in bins without tables,
                             // INT32_MAX from the last bin on
    int32_t merging;         // bins of rows that are merged, the first ones
    int32_t overlaying;      // 1: the bin after those is of rows that are overlaid
    int32_t overlay;         // products of an overlay, at most
    int32_t giant_least;     // products of a giant, at least,
    int32_t giant_parts;     // and its share of all products is 1 / giant_parts at least

    // Returns the bin of a row that is merged, or -1.
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

    // The bitwise complement marks a row that is overlaid.
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
        return bin_of(nz);
    }

    __device__ __forceinline__ bool giant(unsigned long long all, int32_t length,
                                          int32_t stored) const
    {
        if (stored < giant_least || stored < (int64_t)(all / giant_parts)) return false;
        return !merging || merge_bin(length, stored) < 0;
    }
};

// The rows of a bin, for its kernel.
struct rows {
    const int32_t *list;
    int32_t count;
    int32_t size;      // places of the largest table, or words of a bitmap; LONG: values
    int32_t limit;     // nonzeros that a row has at most, and buckets to sort them; numeric only
    int32_t bit_words; // words of a row's bitmap, a multiple of 4; 0: no bitmaps
};

// Returns the places for `need` columns in a table of at most `most` places, a power of two: no
// more than they must be, so that the table is cleared sooner.
static __device__ __forceinline__ int32_t table_size(int32_t need, int32_t most)
{
    if ((int64_t)need * SLOTS >= most) return most;
    return min(most, max(WARP, 1 << (32 - __clz(max(need, 1) * SLOTS - 1))));
}

#endif
