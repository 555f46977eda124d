// Rows too long for a hash table in shared memory: a bitmap there, a block for each row. The walk
// marks the columns of the row in n bits, which gives the columns in order. A count of the columns
// before each 64 bits gives the place of each column in C. Products are added up there.
#ifndef SPGEMM_HASH_TUNED_LONG_H
#define SPGEMM_HASH_TUNED_LONG_H

#include "team.cuh"

#define LONG_BLOCK 1024 // threads
#define LONG_SMALL 512  // threads if three blocks fit in a multiprocessor's shared memory

// Blocks per multiprocessor for the launch bounds. Shared memory has no room for more blocks, so
// the compiler need not save registers for them. 0: the compiler chooses, because narrow matrices
// in f32 leave room for four blocks.
#define LONG_BLOCKS(TEAM, T) ((TEAM) == LONG_BLOCK ? 1 : sizeof(T) == 4 ? 0 : 3)

#define COPIES_MOST  8 // most copies of dense values
#define COPIES_SHARE 4 // least products of a row for each dense value of a further copy

// Numeric, a block for each row. Shared memory has the bitmap, the ranks and, if they fit, the
// values. There is a value for each nonzero of the row or, if `copies` > 0, for each column. Such
// dense values need no ranks: the walk that marks the columns adds them up, so there is no second
// walk. Warp w adds to copy w % copies. With more copies fewer warps wait for the same atomic. Rows of
// few products use fewer copies, because each copy must be cleared.
template <int TEAM, typename T>
static __global__ __launch_bounds__(TEAM, LONG_BLOCKS(TEAM, T)) void numeric_long(
    struct factors<T> x, struct rows rows, int copies, const int32_t *__restrict__ products,
    const int32_t *__restrict__ nz, struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ team_round<TEAM, T> round;
    __shared__ int32_t sums[TEAM / WARP];
    const int me = (int)threadIdx.x;
    const int32_t i = rows.list[blockIdx.x], groups = (int32_t)bit_groups(x.n);
    const int32_t count = nz[i];
    T *vals = (T *)memory;
    // Shared memory begins with rows.size values, or with `copies` times as many.
    const bool dense = copies > 0, inside = dense || count <= rows.size;
    uint32_t *bits = (uint32_t *)(memory + (int64_t)rows.size * max(copies, 1) * sizeof(T));
    while (copies > 1 && (int64_t)copies * x.n > products[i] / COPIES_SHARE) copies /= 2;
    int32_t *rank = (int32_t *)(bits + 2 * groups);
    const int64_t start = row_start(c, i);
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    for (int32_t w = me; w < 2 * groups; w += TEAM) bits[w] = 0;
    for (int32_t e = me; e < (dense ? copies * rows.size : count); e += TEAM)
        if (inside)
            vals[e] = 0;
        else
            c.val[start + e] = 0;
    __syncthreads();
    if (dense) {
        T *mine = vals + me / WARP % copies * rows.size;
        walk<true, TEAM>(x, p, end, true, whole_row(), round, NULL, 0,
                         [&](int32_t col, T v, unsigned) {
                             mark(bits, col);
                             atomicAdd(&mine[col], v);
                         });
    } else
        walk<false, TEAM>(x, p, end, true, whole_row(), round, NULL, 0,
                          [&](int32_t col, T, unsigned) { mark(bits, col); });
    make_ranks<TEAM>(bits, rank, groups, sums);
    write_columns<TEAM>(bits, rank, groups, c.idx + start);
    if (dense) {
        __syncthreads();
        for (int32_t e = me; e < count; e += TEAM) {
            const T *val = vals + c.idx[start + e];
            T sum = val[0];
            for (int k = 1; k < copies; k++) sum += val[k * rows.size];
            c.val[start + e] = sum;
        }
        return;
    }
    if (inside) {
        walk<true, TEAM>(
            x, p, end, true, whole_row(), round, NULL, 0,
            [&](int32_t col, T v, unsigned) { atomicAdd(&vals[rank_of(bits, rank, col)], v); });
        for (int32_t e = me; e < count; e += TEAM) c.val[start + e] = vals[e];
    } else {
        walk<true, TEAM>(x, p, end, true, whole_row(), round, NULL, 0,
                         [&](int32_t col, T v, unsigned) {
                             atomicAdd(&c.val[start + rank_of(bits, rank, col)], v);
                         });
    }
}

#endif
