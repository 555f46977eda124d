// Table I of the paper: the groups of rows, and the rule of bins.cuh for the groups.
#ifndef SPGEMM_HASH_GROUPS_H
#define SPGEMM_HASH_GROUPS_H

#include "spgemm/global_tables.cuh"
#include "spgemm/hash_sort.cuh"

// A group of rows. A row is in the first group of table_1 whose bound holds its products or
// nonzeros.
struct group {
    int32_t products; // most products of a row, and the size of its table in the symbolic phase
    int32_t nonzeros; // most nonzeros of a row, and the size of its table in the numeric phase
    int row;          // threads of a row: 4 are PWARP/ROW, a block is TB/ROW
    int block;        // threads of a block
};

// Rows of group 0 try the largest table of the symbolic phase. Rows that do not fit, and all rows
// of group 0 in the numeric phase, have tables in global memory.
#define GROUPS 7
static constexpr struct group table_1[GROUPS] = {
    {32, 16, 4, 512},         // group 6
    {512, 256, 64, 64},       // group 5
    {1024, 512, 128, 128},    // group 4
    {2048, 1024, 256, 256},   // group 3
    {4096, 2048, 512, 512},   // group 2
    {8192, 4096, 1024, 1024}, // group 1
    {8192, 0, 1024, 1024},    // group 0
};
static constexpr int GROUP_6 = 0, GROUP_0 = GROUPS - 1;

// Entries of table_1 that are TB/ROW with tables in shared memory in both phases.
#define FOR_TB(X) X(1) X(2) X(3) X(4) X(5)

// The rule of bins.cuh.
struct groups {
    int32_t count, most_products[GROUPS], most_nonzeros[GROUPS];

    __device__ __forceinline__ int32_t store(int32_t, int32_t products, int32_t) const
    {
        return products;
    }
    __device__ __forceinline__ int32_t products(int32_t stored) const { return stored; }
    __device__ __forceinline__ int by_products(int32_t, int32_t products) const
    {
        if (products == 0) return -1;
        int g = 0;
        while (g < GROUP_0 && products > most_products[g]) g++;
        return g;
    }
    __device__ __forceinline__ int by_nonzeros(int32_t, int32_t nz, int32_t) const
    {
        int g = 0;
        while (g < GROUP_0 && nz > most_nonzeros[g]) g++;
        return g;
    }
    __device__ __forceinline__ bool giant(unsigned long long, int32_t, int32_t) const
    {
        return false;
    }
};

static struct groups groups_of_table_1(void)
{
    struct groups rule = {};
    rule.count = GROUPS;
    for (int g = 0; g < GROUPS; g++) {
        rule.most_products[g] = table_1[g].products;
        rule.most_nonzeros[g] = table_1[g].nonzeros;
    }
    return rule;
}

#endif
