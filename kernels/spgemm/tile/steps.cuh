// Part of spgemm_tile.cu: steps 2 and 3 of paper 5 on tiles in the device's memory, C = A * S.
#ifndef SPGEMM_TILE_STEPS_CUH
#define SPGEMM_TILE_STEPS_CUH

#include "match.cuh"

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
    each_tile<BITS>(w, (uint32_t *)(shared + at.bits),
                    [&](int64_t t, const struct tile_row &row, struct tile_column column) {
                        uint32_t mask = 0;
                        intersect<BITS>(w, row, column, pairs, [&](int32_t count, bool) {
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

// c += a * b, 8 x 8 x 4 in double precision, by all lanes of a warp. Lane l has a(l / 4, l % 4),
// b(l % 4, l / 4), and in c two neighbours, c(l / 4, l % 4 * 2) first.
static __device__ __forceinline__ void multiply_8x8x4(double c[2], double a, double b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0]), "+d"(c[1])
                 : "d"(a), "d"(b));
#else // the emulator; kernels need sm_80
    const int a_lane = lane_id() / 4 * 4, b_lane = lane_id() % 4 * 8;
    for (int k = 0; k < 4; k++) {
        const double a_k = __shfl_sync(FULL_MASK, a, a_lane + k);
        c[0] += a_k * __shfl_sync(FULL_MASK, b, b_lane + k);
        c[1] += a_k * __shfl_sync(FULL_MASK, b, b_lane + 4 + k);
    }
#endif
}

// What a row of a tile has in the column that `bit` stands for: `mask` says which columns it has,
// and `at` is the place of the first one's value.
template <typename T>
static __device__ __forceinline__ double element(const T *__restrict__ val, uint32_t at,
                                                 uint32_t mask, uint32_t bit)
{
    at += (uint32_t)__popc(mask & (bit - 1));
    return mask & bit ? (double)val[at] : 0;
}

// One pair as full tiles, by all lanes of a warp, on tensor cores where there are some for double
// precision. A lane has eight sums: c(i, j) for i = lane / 4 and 8 more, j = lane % 4 * 2, 1 and 8
// more. The order of the sums is always the same. All values are finite, so a zero that stands for
// what is not there adds nothing.
template <typename T>
static __device__ __forceinline__ void multiply_full(const struct multiply &w, int2 pair,
                                                     double sums[2][2][2])
{
    const int lane = lane_id(), i = lane / 4;
    const int64_t a = (int64_t)pair.x * TILE + lane % TILE;
    const int64_t s = (int64_t)pair.y * TILE + lane % TILE;
    const uint32_t A_row = w.A.mask[a] | (uint32_t)w.A.row_ptr[a] << 16;
    const uint32_t S_row = w.S.mask[s] | (uint32_t)w.S.row_ptr[s] << 16;
    const uint32_t A_upper = __shfl_sync(FULL_MASK, A_row, i);
    const uint32_t A_lower = __shfl_sync(FULL_MASK, A_row, i + 8);
    const uint32_t common = w.A.used[pair.x] & w.S.used[pair.y] >> 16; // columns of A, rows of S
    // Places in 32 bits, as a factor has fewer than 2^31 nonzeros.
    const T *A_val = (const T *)w.A.val, *S_val = (const T *)w.S.val;
    const uint32_t A_start = (uint32_t)w.A.start[pair.x], S_start = (uint32_t)w.S.start[pair.y];
    const uint32_t A_upper_at = A_start + (A_upper >> 16), A_lower_at = A_start + (A_lower >> 16);
#pragma unroll 1 // more would take registers from all that goes on around it
    for (int x = 0; x < 4; x++) {
        if (!(common >> (4 * x) & 15)) continue;
        const int k = 4 * x + lane % 4;
        const uint32_t S_k = __shfl_sync(FULL_MASK, S_row, k), S_k_at = S_start + (S_k >> 16);
        const double upper = element(A_val, A_upper_at, A_upper, 1u << k);
        const double lower = element(A_val, A_lower_at, A_lower, 1u << k);
        const double left = element(S_val, S_k_at, S_k, 1u << i);
        const double right = element(S_val, S_k_at, S_k, 256u << i);
        multiply_8x8x4(sums[0][0], upper, left);
        multiply_8x8x4(sums[0][1], upper, right);
        multiply_8x8x4(sums[1][0], lower, left);
        multiply_8x8x4(sums[1][1], lower, right);
    }
}

// Calls f(q, cell, sum) for the nonzeros of a tile of C of which multiply_full() made sums: the
// q-th one, in row cell / 16 and column cell % 16. `row` has row lane % 16, as above.
template <typename F>
static __device__ __forceinline__ void each_sum(uint32_t row, const double sums[2][2][2], F f)
{
    const int lane = lane_id();
#pragma unroll
    for (int x = 0; x < 8; x++) {
        const int i = lane / 4 + x / 4 * 8, j = lane % 4 * 2 + x / 2 % 2 * 8 + x % 2;
        const uint32_t mine = __shfl_sync(FULL_MASK, row, i);
        if (mine >> j & 1)
            f((int)(mine >> 16) + __popc(mine & bits_below(j)), i << 4 | j,
              sums[x / 4][x / 2 % 2][x % 2]);
    }
}

// Nonzeros of up to 32 tiles of A, one after the other: lane p has the p-th pair. A tile of A is
// not empty, a lane without one has `before` = total.
struct dealt {
    int32_t tile;   // of S
    int32_t length; // nonzeros of this tile
    int32_t before; // nonzeros of the tiles before this one
    int32_t offset; // number x of them is nonzero offset + x of A
    int32_t total;
};

static __device__ __forceinline__ struct dealt deal(const struct multiply &w, const int2 *pairs,
                                                    int32_t count)
{
    const int lane = lane_id();
    struct dealt d = {};
    int32_t first = 0;
    if (lane < count) {
        const int2 pair = pairs[lane];
        d.tile = pair.y;
        first = (int32_t)w.A.start[pair.x]; // a factor has fewer than 2^31 nonzeros
        d.length = (int32_t)w.A.start[pair.x + 1] - first;
    }
    int32_t upto = d.length;
    for (int step = 1; step < WARP; step *= 2) {
        const int32_t other = __shfl_up_sync(FULL_MASK, upto, step);
        if (lane >= step) upto += other;
    }
    d.before = upto - d.length;
    d.offset = first - d.before;
    d.total = warp_broadcast(upto, WARP - 1);
    return d;
}

// Whether this lane's pair is better multiplied as two full tiles.
static __device__ __forceinline__ bool worth_full(const struct multiply &w, const struct dealt &d)
{
    const int32_t S_length = (int32_t)(w.S.start[d.tile + 1] - w.S.start[d.tile]);
    return d.length * S_length >= w.full * w.full;
}

// Moves the pairs of the lanes whose bits are set in `first` to the front.
static __device__ __forceinline__ void move_to_front(int2 *__restrict__ pairs, int32_t count,
                                                     uint32_t first)
{
    const int lane = lane_id(), before = __popc(first & bits_below(lane));
    const int2 pair = lane < count ? pairs[lane] : make_int2(0, 0);
    __syncwarp();
    if (lane < count) pairs[first >> lane & 1 ? before : __popc(first) + lane - before] = pair;
    __syncwarp();
}

// Up to 32 pairs at once: a lane takes a nonzero of A, whichever tile it is in, and adds its
// products with a row of S to the warp's sums in shared memory. `rows` has C's masks and row
// pointers, which say where a sparse accumulator has a nonzero. By all lanes of a warp.
template <typename T, bool SPARSE>
static __device__ __forceinline__ void
multiply_scattered(const struct multiply &w, const struct dealt &d,
                   const uint32_t *__restrict__ rows, T *__restrict__ sums)
{
    const int lane = lane_id();
    for (int32_t from = 0; from < d.total; from += WARP) {
        // The pair of nonzero from + lane: those begun before `from`, and those up to it.
        const int32_t ahead = d.before - from;
        const uint32_t begun = __ballot_sync(FULL_MASK, ahead <= 0);
        const uint32_t begins =
            __reduce_or_sync(FULL_MASK, ahead > 0 && ahead < WARP ? 1u << ahead : 0u);
        const int p = __popc(begun) - 1 + __popc(begins & ((2u << lane) - 1));
        const int32_t q = __shfl_sync(FULL_MASK, d.offset, p) + from + lane;
        const int32_t tile = __shfl_sync(FULL_MASK, d.tile, p);
        if (from + lane >= d.total) continue;
        const uint32_t cell = w.A.idx[q], r = cell >> 4;
        const int64_t s = (int64_t)tile * TILE + (cell & 15);
        uint32_t mask = w.S.mask[s];
        if (!mask) continue; // in most pairs of nearly empty tiles
        const T a = ((const T *)w.A.val)[q];
        const T *s_val = (const T *)w.S.val + w.S.start[tile] + w.S.row_ptr[s];
        const uint32_t C_row = SPARSE ? rows[r] : 0;
        T *to = sums + (SPARSE ? C_row >> 16 : r * TILE);
        for (; mask; mask &= mask - 1) {
            const uint32_t below = (mask - 1) & ~mask;
            atomicAdd(&to[__popc(SPARSE ? C_row & below : below)], a * *s_val++);
        }
    }
    __syncwarp(); // full tiles that come next are added without atomics
}

// Writes a tile of C whose sums are in shared memory alone. `row` is that of lane % 16; half a warp
// has the left half of the rows, the other one the right half.
template <typename T>
static __device__ __forceinline__ void write_scattered(const struct multiply &w, int64_t start,
                                                       int32_t nonzeros, bool sparse, uint32_t row,
                                                       const T *__restrict__ sums)
{
    const int lane = lane_id(), r = lane % TILE;
    uint32_t mask = row & (lane < TILE ? 0xffu : 0xff00u);
    T *val = (T *)w.C.val + start;
    uint8_t *idx = w.C.idx + start;
    int32_t q = (int32_t)(row >> 16) + (lane < TILE ? 0 : __popc(row & 0xff));
    if (sparse) {
#pragma unroll 1
        for (int32_t p = lane; p < nonzeros; p += WARP) val[p] = sums[p];
#pragma unroll 1
        for (; mask; mask &= mask - 1, q++) idx[q] = (uint8_t)(r << 4 | (__ffs((int)mask) - 1));
    } else {
#pragma unroll 1
        for (; mask; mask &= mask - 1, q++) {
            const int cell = r << 4 | (__ffs((int)mask) - 1);
            idx[q] = (uint8_t)cell;
            val[q] = sums[cell];
        }
    }
}

// Step 3: values and indices of each tile of C, a warp for a tile. FULL: pairs that hold much are
// multiplied as full tiles, with the sums in registers; without it none is.
template <typename T, bool BITS, bool FULL>
static __global__ void __launch_bounds__(MULTIPLY_WARPS *WARP, FULL ? 4 : 5)
    multiply_tiles(struct multiply w)
{
    SHARED_DYNAMIC(unsigned char, shared);
    const struct multiply_shared at(w, true, sizeof(T));
    const int warp = (int)threadIdx.x / WARP, lane = lane_id(), side = lane / TILE, j = lane % TILE;
    T *shared_sums = (T *)(shared + at.sums) + warp * TILE * TILE;
    int2 *pairs = (int2 *)(shared + at.pairs) + warp * w.matches;
    uint32_t *rows = (uint32_t *)(shared + at.rows) + warp * TILE;
    auto multiply_tile = [&](int64_t t, const struct tile_row &row, struct tile_column column) {
        const int64_t start = w.C.start[t];
        const int32_t nonzeros = (int32_t)(w.C.start[t + 1] - start);
        if (nonzeros == 0) return;
        const bool sparse = nonzeros <= w.tnnz;
        const uint32_t C_row = w.C.mask[t * TILE + j] | (uint32_t)w.C.row_ptr[t * TILE + j] << 16;
        bool started = false, written = false;
        auto start_sums = [&]() {
            if (started) return;
#pragma unroll 1
            for (int32_t q = lane; q < (sparse ? nonzeros : TILE * TILE); q += WARP)
                shared_sums[q] = 0;
            if (side == 0) rows[j] = C_row;
            started = true;
            __syncwarp();
        };
        auto multiply_pairs = [&](int2 *some, int32_t count, bool all) {
            struct dealt d = deal(w, some, count);
            if (FULL) {
                const bool is_full = lane < count && worth_full(w, d);
                const uint32_t full = __ballot_sync(FULL_MASK, is_full);
                const int32_t fulls = __popc(full);
                if (fulls > 0) {
                    if (fulls < count) move_to_front(some, count, full);
                    double sums[2][2][2] = {};
                    for (int32_t p = 0; p < fulls; p++) multiply_full<T>(w, some[p], sums);
                    written = all && fulls == count;
                    if (!written) start_sums();
                    each_sum(C_row, sums, [&](int q, int cell, double sum) {
                        if (!written) {
                            shared_sums[sparse ? q : cell] += (T)sum;
                        } else {
                            w.C.idx[start + q] = (uint8_t)cell;
                            ((T *)w.C.val)[start + q] = (T)sum;
                        }
                    });
                    __syncwarp();
                    if (fulls == count) return;
                    d = deal(w, some + fulls, count - fulls);
                }
            }
            start_sums();
            if (sparse)
                multiply_scattered<T, true>(w, d, rows, shared_sums);
            else
                multiply_scattered<T, false>(w, d, rows, shared_sums);
        };
        intersect<BITS>(w, row, column, pairs, [&](int32_t count, bool last) {
            const bool all = last && !started && count <= WARP;
            for (int32_t base = 0; base < count; base += WARP)
                multiply_pairs(pairs + base, min(WARP, count - base), all);
            return false;
        });
        if (!written) write_scattered(w, start, nonzeros, sparse, C_row, shared_sums);
        __syncwarp();
    };
    each_tile<BITS>(w, (uint32_t *)(shared + at.bits), multiply_tile);
}

#endif
