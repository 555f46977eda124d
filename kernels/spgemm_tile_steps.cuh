// Steps 1, 2 and 3 of paper 5 on tiles in the device's memory, C = A * S; see spgemm_tile.cu.
#ifndef SPGEMM_TILE_STEPS_CUH
#define SPGEMM_TILE_STEPS_CUH

#include "spgemm_tile_format.cuh"

// Step 1: the tile columns of C are those of the tile rows of S that a tile row of A names. `lanes`
// threads read one tile row of S.
struct product_source {
    const int64_t *A_ptr, *S_ptr;
    const int32_t *A_col, *S_col;
    int32_t lanes;

    __device__ __forceinline__ void span(int32_t i, int32_t *low, int32_t *high) const
    {
        for (int64_t a = A_ptr[i] + threadIdx.x; a < A_ptr[i + 1]; a += blockDim.x) {
            const int32_t k = A_col[a];
            const int64_t begin = S_ptr[k], end = S_ptr[k + 1];
            if (begin == end) continue;
            *low = min(*low, S_col[begin]);
            *high = max(*high, S_col[end - 1]);
        }
    }
    template <typename F> __device__ __forceinline__ void each(int32_t i, F f) const
    {
        const int32_t group = (int32_t)threadIdx.x / lanes, lane = (int32_t)threadIdx.x % lanes;
        const int32_t groups = (int32_t)blockDim.x / lanes;
        for (int64_t a = A_ptr[i] + group; a < A_ptr[i + 1]; a += groups) {
            const int32_t k = A_col[a];
            for (int64_t s = S_ptr[k] + lane; s < S_ptr[k + 1]; s += lanes) f(S_col[s], 0);
        }
    }
    __device__ __forceinline__ void found(int32_t, int32_t, int64_t) const {}
};

#define MULTIPLY_WARPS  8     // of a block in steps 2 and 3
#define MULTIPLY_WINDOW 65536 // tile columns that a tile row of A may span to be held as bits
#define MATCHES_MAX     128

struct multiply {
    struct tiles A, S, C;
    struct tile_columns columns; // of S
    int32_t share;               // tiles of C for a block
    int32_t window;              // bits for a tile row of A, 0: none
    int32_t matches;             // pairs that a warp gathers before it multiplies them
    int32_t by_rows;             // of 32 pairs, up to so many are multiplied one by one
    int32_t tnnz;                // with more nonzeros a tile of C is accumulated as a full one
};

// Shared memory of a block, in this order.
struct multiply_shared {
    int sums, pairs, rows, bits, bytes; // where each begins
    __host__ __device__ multiply_shared(const struct multiply &w, bool numeric, size_t value_bytes)
    {
        const bool scatter = numeric && w.by_rows < WARP;
        sums = 0;
        pairs = sums + (scatter ? MULTIPLY_WARPS * TILE * TILE * (int)value_bytes : 0);
        rows = pairs + MULTIPLY_WARPS * w.matches * (int)sizeof(int2);
        bits = rows + (scatter ? MULTIPLY_WARPS * TILE * (int)sizeof(uint32_t) : 0);
        bytes = bits + w.window / 4; // a bit of each, and a rank of each 32
    }
};

// A tile row of A as a set: bit k - first says whether tile column k is there, rank how many are
// before a word of bits.
struct tile_row {
    int64_t begin; // tiles begin .. begin + length
    int32_t length;
    int32_t first; // its first tile column
    uint32_t size; // columns that the bits span, 0: there are none
    uint32_t *bits;
    int32_t *rank;
};

static __device__ __forceinline__ struct tile_row tile_row_plain(const struct multiply &w,
                                                                 int32_t i)
{
    struct tile_row row = {};
    row.begin = w.A.ptr[i];
    row.length = (int32_t)(w.A.ptr[i + 1] - row.begin);
    return row;
}

// The same with bits, unless it is too wide. By all threads of the block.
static __device__ __forceinline__ struct tile_row tile_row_bits(const struct multiply &w, int32_t i,
                                                                uint32_t *bits)
{
    struct tile_row row = tile_row_plain(w, i);
    const int32_t *col = w.A.col + row.begin;
    const int32_t words = (col[row.length - 1] - col[0]) / 32 + 1;
    if (words > w.window / 32) return row;
    row.first = col[0];
    row.size = (uint32_t)words * 32;
    row.bits = bits;
    row.rank = (int32_t *)(bits + w.window / 32);
    for (int32_t x = (int32_t)threadIdx.x; x < words; x += (int32_t)blockDim.x) bits[x] = 0;
    __syncthreads();
    for (int32_t p = (int32_t)threadIdx.x; p < row.length; p += (int32_t)blockDim.x) {
        const int32_t u = col[p] - row.first;
        atomicOr(&bits[u / 32], 1u << (u % 32));
        if (p == 0 || (col[p - 1] - row.first) / 32 != u / 32) row.rank[u / 32] = p;
    }
    __syncthreads();
    return row;
}

// Calls use(t, row) for each tile t of C that is this block's, a warp for a tile, with the tile row
// of A that it comes from. With BITS that row is kept as bits, for all tiles that come from it.
template <bool BITS, typename F>
static __device__ __forceinline__ void each_tile(const struct multiply &w, uint32_t *bits, F use)
{
    const int warp = (int)threadIdx.x / WARP;
    const int64_t first = (int64_t)blockIdx.x * w.share, end = min(first + w.share, w.C.count);
    if (!BITS) {
        for (int64_t t = first + warp; t < end; t += MULTIPLY_WARPS)
            use(t, tile_row_plain(w, w.C.row[t]));
    } else {
        for (int64_t begin = first; begin < end;) {
            const int32_t i = w.C.row[begin];
            const int64_t stop = min(end, w.C.ptr[i + 1]);
            const struct tile_row row = tile_row_bits(w, i, bits);
            for (int64_t t = begin + warp; t < stop; t += MULTIPLY_WARPS) use(t, row);
            __syncthreads();
            begin = stop;
        }
    }
}

// The first of the ascending a[low .. high) that is not below x.
static __device__ __forceinline__ int32_t lower_bound(const int32_t *__restrict__ a, int32_t low,
                                                      int32_t high, int32_t x)
{
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (a[mid] < x) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

// Intersects a tile row of A with tile column j of S. Pairs of matching tiles gather in `pairs`;
// use(count) is called when there may be no room for more, and at the end. It returns whether the
// rest of the pairs is of no use. By all lanes of a warp.
//
// As in the paper each lane searches an element of the shorter list in the longer one, by a binary
// search that starts where the last one of the warp ended. Where A's tile row is there as bits and
// the column of S is not much longer, a look at a bit replaces the search.
template <bool BITS, typename F>
static __device__ __forceinline__ void intersect(const struct multiply &w,
                                                 const struct tile_row &row, int32_t j,
                                                 int2 *__restrict__ pairs, F use)
{
    const int lane = lane_id();
    const int32_t *A = w.A.col + row.begin, begin = w.columns.ptr[j];
    const int32_t *S = w.columns.row + begin, length = w.columns.ptr[j + 1] - begin;
    const bool bits = BITS && row.size > 0;
    const bool search_A = bits ? length > 4 * row.length + WARP : length > row.length;
    const int32_t *keys = search_A ? A : S, *list = search_A ? S : A;
    const int32_t key_count = search_A ? row.length : length;
    const int32_t list_count = search_A ? length : row.length;
    int32_t low = 0, count = 0;
    for (int32_t base = 0; base < key_count; base += WARP) {
        const int32_t p = base + lane;
        const int32_t key = p < key_count ? keys[p] : -1;
        int32_t q = -1; // where the key is in the list
        if (bits && !search_A) {
            const uint32_t u = (uint32_t)(key - row.first);
            if (p < key_count && u < row.size) {
                const uint32_t word = row.bits[u / 32];
                if (word >> u % 32 & 1) q = row.rank[u / 32] + __popc(word & bits_below(u % 32));
            }
        } else {
            const int32_t at = p < key_count ? lower_bound(list, low, list_count, key) : low;
            if (p < key_count && at < list_count && list[at] == key) q = at;
            low = warp_broadcast(at, WARP - 1);
        }
        const uint32_t found = __ballot_sync(FULL_MASK, q >= 0);
        if (q >= 0) {
            const int32_t a = search_A ? p : q, s = search_A ? q : p;
            pairs[count + __popc(found & bits_below(lane))] =
                make_int2((int32_t)row.begin + a, w.columns.tile[begin + s]);
        }
        count += __popc(found);
        if (count > w.matches - WARP) {
            __syncwarp();
            const bool enough = use(count);
            count = 0;
            __syncwarp();
            if (enough) return;
        }
    }
    __syncwarp();
    if (count > 0) use(count);
    __syncwarp();
}

// What 16 lanes, one for each row, hold: sum over the lanes before this one.
static __device__ __forceinline__ int sum_of_rows_before(int x, int r)
{
    int sum = x;
    for (int step = 1; step < TILE; step *= 2) {
        const int other = __shfl_up_sync(FULL_MASK, sum, step, TILE);
        if (r >= step) sum += other;
    }
    return sum - x;
}

// Step 2: masks, row pointers and length of each tile of C, a warp for a tile. Half a warp takes
// every other pair, a lane one of its rows: row r of C's mask has what the rows of S have that row
// r of A names.
template <bool BITS>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP, 6)
    count_products(struct multiply w, int32_t *__restrict__ length)
{
    SHARED_DYNAMIC(unsigned char, shared);
    const struct multiply_shared at(w, false, 0);
    const int warp = (int)threadIdx.x / WARP, lane = lane_id(), side = lane / TILE, r = lane % TILE;
    int2 *pairs = (int2 *)(shared + at.pairs) + warp * w.matches;
    each_tile<BITS>(w, (uint32_t *)(shared + at.bits), [&](int64_t t, const struct tile_row &row) {
        uint32_t mask = 0;
        intersect<BITS>(w, row, w.C.col[t], pairs, [&](int32_t count) {
            for (int32_t p = side; p < count; p += 2) {
                const int2 pair = pairs[p];
                const uint16_t *S = w.S.mask + (int64_t)pair.y * TILE;
                uint32_t named = w.A.mask[(int64_t)pair.x * TILE + r];
                for (; named; named &= named - 1) mask |= S[__ffs((int)named) - 1];
            }
            const uint32_t both = mask | __shfl_xor_sync(FULL_MASK, mask, TILE);
            return __all_sync(FULL_MASK, both == 0xffff) != 0;
        });
        mask |= __shfl_xor_sync(FULL_MASK, mask, TILE);
        const int mine = __popc(mask), before = sum_of_rows_before(mine, r);
        if (side == 0) {
            w.C.mask[t * TILE + r] = (uint16_t)mask;
            w.C.row_ptr[t * TILE + r] = (uint8_t)before;
            if (r == TILE - 1) length[t] = before + mine;
        }
    });
}

// One pair by the whole warp: half a warp has every other row, a lane a column. Row r of C is
// touched by one half alone and column j by one lane, so the sums stay in registers, without
// atomics and in the same order every time.
template <typename T>
static __device__ __forceinline__ void multiply_rows(const struct multiply &w, int2 pair, int side,
                                                     int j, T sums[TILE / 2])
{
    const int64_t a = (int64_t)pair.x * TILE + j, s = (int64_t)pair.y * TILE + j;
    // Lane j has the mask of row j, and above it where the row starts.
    const uint32_t A_row = w.A.mask[a] | (uint32_t)w.A.row_ptr[a] << 16;
    const uint32_t S_row = w.S.mask[s] | (uint32_t)w.S.row_ptr[s] << 16;
    const T *A_val = (const T *)w.A.val + w.A.start[pair.x];
    const T *S_val = (const T *)w.S.val + w.S.start[pair.y];
#pragma unroll
    for (int x = 0; x < TILE / 2; x++) {
        const uint32_t mine = __shfl_sync(FULL_MASK, A_row, 2 * x + side);
        const T *a_val = A_val + (mine >> 16);
        uint32_t named = mine & 0xffff;
        while (__any_sync(FULL_MASK, named != 0)) {
            const uint32_t s_row = __shfl_sync(FULL_MASK, S_row, (__ffs((int)named) - 1) & 15);
            if (named && s_row >> j & 1)
                sums[x] += *a_val * S_val[(s_row >> 16) + __popc(s_row & bits_below(j))];
            named &= named - 1;
            a_val++;
        }
    }
}

// 32 pairs at once, one for each lane, which adds its products to the warp's sums in shared memory.
// `rows` has C's masks and row pointers, which say where a sparse accumulator has a nonzero.
template <typename T, bool SPARSE>
static __device__ __forceinline__ void multiply_scattered(const struct multiply &w, int2 pair,
                                                          const uint32_t *__restrict__ rows,
                                                          T *__restrict__ sums)
{
    const int64_t end = w.A.start[pair.x + 1];
    for (int64_t q = w.A.start[pair.x]; q < end; q++) {
        const uint32_t r = w.A.idx[q] >> 4;
        const int64_t s = (int64_t)pair.y * TILE + (w.A.idx[q] & 15);
        uint32_t mask = w.S.mask[s];
        if (!mask) continue; // in most pairs of nearly empty tiles
        const T a = ((const T *)w.A.val)[q];
        const T *s_val = (const T *)w.S.val + w.S.start[pair.y] + w.S.row_ptr[s];
        const uint32_t C_row = SPARSE ? rows[r] : 0;
        for (; mask; mask &= mask - 1) {
            const uint32_t j = (uint32_t)__ffs((int)mask) - 1;
            const uint32_t to =
                SPARSE ? (C_row >> 16) + __popc(C_row & bits_below(j)) : r * TILE + j;
            atomicAdd(&sums[to], a * *s_val++);
        }
    }
}

// Step 3: values and indices of each tile of C, a warp for a tile.
template <typename T, bool BITS>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP, 4) multiply_tiles(struct multiply w)
{
    SHARED_DYNAMIC(unsigned char, shared);
    const struct multiply_shared at(w, true, sizeof(T));
    const int warp = (int)threadIdx.x / WARP, lane = lane_id(), side = lane / TILE, j = lane % TILE;
    T *shared_sums = (T *)(shared + at.sums) + warp * TILE * TILE;
    int2 *pairs = (int2 *)(shared + at.pairs) + warp * w.matches;
    uint32_t *rows = (uint32_t *)(shared + at.rows) + warp * TILE;
    each_tile<BITS>(w, (uint32_t *)(shared + at.bits), [&](int64_t t, const struct tile_row &row) {
        const int64_t start = w.C.start[t];
        const int32_t nonzeros = (int32_t)(w.C.start[t + 1] - start);
        if (nonzeros == 0) return;
        const bool sparse = nonzeros <= w.tnnz;
        const uint32_t C_row = w.C.mask[t * TILE + j] | (uint32_t)w.C.row_ptr[t * TILE + j] << 16;
        bool scattered = false;
        T sums[TILE / 2] = {};
        intersect<BITS>(w, row, w.C.col[t], pairs, [&](int32_t count) {
            if (count <= w.by_rows * ((count + WARP - 1) / WARP)) {
                for (int32_t p = 0; p < count; p++) multiply_rows(w, pairs[p], side, j, sums);
                return false;
            }
            if (!scattered) {
                for (int32_t q = lane; q < (sparse ? nonzeros : TILE * TILE); q += WARP)
                    shared_sums[q] = 0;
                if (side == 0) rows[j] = C_row;
                scattered = true;
                __syncwarp();
            }
            for (int32_t p = lane; p < count; p += WARP) {
                if (sparse) {
                    multiply_scattered<T, true>(w, pairs[p], rows, shared_sums);
                } else {
                    multiply_scattered<T, false>(w, pairs[p], rows, shared_sums);
                }
            }
            return false;
        });
#pragma unroll
        for (int x = 0; x < TILE / 2; x++) {
            const int r = 2 * x + side;
            const uint32_t mine = __shfl_sync(FULL_MASK, C_row, r);
            if (mine >> j & 1) {
                const int32_t q = (int32_t)(mine >> 16) + __popc(mine & bits_below(j));
                if (scattered) sums[x] += shared_sums[sparse ? q : r * TILE + j];
                w.C.idx[start + q] = (uint8_t)(r << 4 | j);
                ((T *)w.C.val)[start + q] = sums[x];
            }
        }
        __syncwarp();
    });
}

#endif
