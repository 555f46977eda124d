// Rows with few nonzeros of A: merges their rows of S (option merge). The merge yields the columns
// in order, without a table or a sort.
//
// Four threads compute a row of C. Each has LISTS rows of S, which are first copied to shared
// memory. A step finds the least next column of these rows. The column is a column of C. Its value
// is the sum of the products of all rows of S with the column. These rows then advance to their
// next column. All rows of a warp step together, so a warp takes as many steps as its longest row
// of C.
//
// H100, f64: merged rows take 0.64 to 0.93 of the time by tables. Rows are merged up to 8 nonzeros
// of A and 64 products: with up to 16 nonzeros the product takes 0.95 to 1.2 of the time, with up
// to 1,024 products 1.75 to 3.3 (PGPgiantcompo).
//
// list    a row of S in shared memory: its columns with NO_COLUMN at the end, and its values
// pool    shared memory of a warp for lists; if the lists of its rows do not fit, the warp computes
//         the rows in several passes
// buffer  columns of a row of C with their values, which are written to C together
#ifndef SPGEMM_HASH_TUNED_MERGE_H
#define SPGEMM_HASH_TUNED_MERGE_H

#include "device/copy.cuh"
#include "binning.cuh"

#define MERGE_BLOCK 256                  // threads
#define MERGE_COPY  8                    // lanes that copy a row of S
#define MERGE_ROWS  (WARP / MERGE_LANES) // rows of a warp
#define BUFFER      16                   // columns of a row in a buffer
#define BUFFER_STEP (BUFFER + 4)         // stride between rows: avoids bank conflicts
#define NO_COLUMN   INT32_MAX            // no column has this number

// Returns the elements of a pool. A row needs its products and an end for each list: 36 or 72 at
// most.
template <int LISTS> static __host__ __device__ constexpr int32_t merge_pool()
{
    return LISTS == 1 ? 192 : 384;
}

// Returns the elements in the shared memory of a block: the pools of its warps, then their buffers.
template <int LISTS> static __host__ __device__ constexpr int32_t merge_elements(bool values)
{
    return MERGE_BLOCK / WARP * (merge_pool<LISTS>() + (values ? MERGE_ROWS * BUFFER_STEP : 0));
}

// Returns the bytes of these elements: values, if any, and columns.
template <typename T> static int64_t merge_bytes(int lists, bool values)
{
    const int64_t elements = lists == 1 ? merge_elements<1>(values) : merge_elements<2>(values);
    return elements * (int64_t)(4 + (values ? sizeof(T) : 0));
}

// Columns and values in shared memory.
template <typename T> struct staged {
    int32_t *col;
    T *val; // none in the symbolic phase
};

// Lists of a thread.
template <int LISTS, typename T> struct lists {
    T a[LISTS];           // nonzero of A
    uint32_t from[LISTS]; // start of the row of S
    int32_t count[LISTS]; // nonzeros of the row of S
    int32_t at[LISTS];    // next element of the list in shared memory
    int32_t col[LISTS];   // column of the next element
};

// Finds the rows of S for the row [p, p + length) of A. Thread `sub` of the row gets nonzeros sub,
// sub + MERGE_LANES, ...
template <bool VALUES, int LISTS, typename T>
static __device__ __forceinline__ void
lists_find(const struct factors<T> &x, struct lists<LISTS, T> &s, int32_t p, int32_t length)
{
    const int sub = lane_id() % MERGE_LANES;
    int32_t row[LISTS];
#pragma unroll
    for (int l = 0; l < LISTS; l++) {
        const bool there = sub + l * MERGE_LANES < length;
        const int64_t q = (int64_t)p + sub + l * MERGE_LANES;
        row[l] = there ? __ldg(x.A_idx + q) : -1;
        s.a[l] = VALUES && there ? __ldg(x.A_val + q) : 0;
    }
#pragma unroll
    for (int l = 0; l < LISTS; l++) {
        const bool there = row[l] >= 0;
        s.from[l] = there ? (uint32_t)__ldg(x.S_ptr + row[l]) : 0;
        s.count[l] = there ? (int32_t)((uint32_t)__ldg(x.S_ptr + row[l] + 1) - s.from[l]) : 0;
    }
}

// Makes the lists of the rows in this pass. `most` is the largest number of nonzeros of A in a row
// of the warp. MERGE_COPY lanes copy a row of S together. By all lanes.
template <bool VALUES, int LISTS, typename T>
static __device__ __forceinline__ void
lists_copy(const struct factors<T> &x, const struct staged<T> &to, struct lists<LISTS, T> &s,
           bool in_pass, int32_t most)
{
    const int lane = lane_id();
#pragma unroll
    for (int l = 0; l < LISTS; l++) {
        // Place and count of a list in one number.
        const uint32_t list = (uint32_t)s.at[l] << 8 | (in_pass ? (uint32_t)s.count[l] : 0);
        if (in_pass) to.col[s.at[l] + s.count[l]] = NO_COLUMN;
#pragma unroll
        for (int n = 0; n < MERGE_LANES; n++) {
            if (l * MERGE_LANES + n >= most) break;
#pragma unroll
            for (int r = 0; r < MERGE_COPY / MERGE_LANES; r++) {
                const int owner = lane / MERGE_COPY * MERGE_COPY + r * MERGE_LANES + n;
                const uint32_t its = __shfl_sync(FULL_MASK, list, owner);
                const uint32_t from = __shfl_sync(FULL_MASK, s.from[l], owner);
                const uint32_t count = its & 255, at = its >> 8;
#pragma unroll 1
                for (uint32_t e = (uint32_t)lane % MERGE_COPY; e < count; e += MERGE_COPY) {
                    copy_begin<4>(to.col + at + e, x.S_idx + (from + e));
                    if (VALUES) copy_begin<(int)sizeof(T)>(to.val + at + e, x.S_val + (from + e));
                }
            }
        }
    }
    copies_wait();
    __syncwarp();
#pragma unroll
    for (int l = 0; l < LISTS; l++) s.col[l] = in_pass ? to.col[s.at[l]] : NO_COLUMN;
}

// Returns the next column of the row to all its threads, or NO_COLUMN at the end. Sets `part` to
// the thread's part of the value. Lists with this column advance. By all lanes.
template <bool VALUES, int LISTS, typename T>
static __device__ __forceinline__ int32_t lists_next(const struct staged<T> &pools,
                                                     struct lists<LISTS, T> &s, T &part)
{
    int32_t least = s.col[0];
#pragma unroll
    for (int l = 1; l < LISTS; l++) least = min(least, s.col[l]);
    least = group_min<MERGE_LANES>(least);
    const int32_t met = least == NO_COLUMN ? -1 : least; // a list stays at its end
    part = 0;
#pragma unroll
    for (int l = 0; l < LISTS; l++)
        if (s.col[l] == met) {
            if (VALUES) part += s.a[l] * pools.val[s.at[l]];
            s.col[l] = pools.col[++s.at[l]];
        }
    return least;
}

// Calls f(place, column, value, last) for the columns of the rows in order, four at a time. Thread
// `sub` of a row gets column number place + sub, or NO_COLUMN past the end. `last`: no row of the
// warp has more columns in this pass. All lanes call this function, and call f together.
template <bool VALUES, int LISTS, typename T, typename F>
static __device__ __forceinline__ void lists_merge(const struct staged<T> &pools,
                                                   struct lists<LISTS, T> &s, F f)
{
    const int sub = lane_id() % MERGE_LANES;
    bool more = true;
    for (uint32_t place = 0; more; place += MERGE_LANES) {
        T part[MERGE_LANES];
        int32_t col = NO_COLUMN;
#pragma unroll
        for (int step = 0; step < MERGE_LANES; step++) {
            const int32_t next = lists_next<VALUES>(pools, s, part[step]);
            if (step == sub) col = next;
        }
        const T val = VALUES ? group_sums<MERGE_LANES>(part) : 0;
        more = __any_sync(FULL_MASK, sub == MERGE_LANES - 1 && col != NO_COLUMN);
        f(place, col, val, !more);
    }
}

// Merges row i of C, in passes; i is -1 without a row. f is called in every pass, with NO_COLUMN
// for rows of other passes. By all lanes.
template <bool VALUES, int LISTS, typename T, typename F>
static __device__ __forceinline__ void merge_row(const struct factors<T> &x,
                                                 const struct staged<T> &pools, int32_t i, F f)
{
    const int32_t POOL = merge_pool<LISTS>();
    int32_t p = 0, length = 0, size = 0;
    if (i >= 0) {
        p = __ldg(x.A_ptr + i);
        length = __ldg(x.A_ptr + i + 1) - p;
    }
    struct lists<LISTS, T> s;
    lists_find<VALUES>(x, s, p, length);
#pragma unroll
    for (int l = 0; l < LISTS; l++) size += s.count[l] + 1;
    const int32_t upto = warp_scan(size), most = __reduce_max_sync(FULL_MASK, length);
    const int32_t all = warp_broadcast(upto, WARP - 1);
    const int32_t row_begin = __shfl_sync(FULL_MASK, upto - size, 0, MERGE_LANES);
    const int32_t row_end = __shfl_sync(FULL_MASK, upto, MERGE_LANES - 1, MERGE_LANES);
    for (int32_t first = 0; first < all;) {
        const bool in_pass = row_begin >= first && row_end - first <= POOL;
        int32_t at = (int32_t)threadIdx.x / WARP * POOL + (upto - size) - first;
#pragma unroll
        for (int l = 0; l < LISTS; l++) {
            s.at[l] = at;
            at += s.count[l] + 1;
        }
        lists_copy<VALUES>(x, pools, s, in_pass, most);
        lists_merge<VALUES>(pools, s, f);
        first = __reduce_max_sync(FULL_MASK, in_pass ? row_end : 0);
        __syncwarp();
    }
}

// Returns the row of the thread's MERGE_LANES threads, or -1 if there is none.
static __device__ __forceinline__ int32_t merged_row(const struct rows &rows)
{
    const int64_t r = ((int64_t)blockIdx.x * MERGE_BLOCK + threadIdx.x) / MERGE_LANES;
    return r < rows.count ? rows.list[r] : -1;
}

template <int LISTS>
static __global__ __launch_bounds__(MERGE_BLOCK) void symbolic_merge(struct factors<float> x,
                                                                     struct rows rows,
                                                                     int32_t *__restrict__ nz)
{
    SHARED_DYNAMIC(int32_t, columns);
    const staged<float> pools = {columns, NULL};
    const int32_t i = merged_row(rows);
    int32_t found = 0;
    merge_row<false, LISTS>(x, pools, i, [&](uint32_t, int32_t col, float, bool) {
        if (col != NO_COLUMN) found++;
    });
    found = group_sum<MERGE_LANES>(found);
    if (i >= 0 && lane_id() % MERGE_LANES == 0) nz[i] = found;
}

// Writes the first `filled` columns of each row of the warp's buffer to C. The row begins at
// `start` in C, and the first column of the buffer is number `place` of the row. By all lanes.
template <typename T>
static __device__ __forceinline__ void write_buffer(const struct staged<T> &buffer, int32_t filled,
                                                    uint32_t place, int64_t start,
                                                    const struct result<T> &c)
{
    const int lane = lane_id(), e = lane % BUFFER;
    __syncwarp();
#pragma unroll
    for (int r = lane / BUFFER; r < MERGE_ROWS; r += WARP / BUFFER) {
        const int64_t to = __shfl_sync(FULL_MASK, start, r * MERGE_LANES) + place + e;
        const int32_t col = e < filled ? buffer.col[r * BUFFER_STEP + e] : NO_COLUMN;
        if (col == NO_COLUMN) continue;
        c.idx[to] = col;
        c.val[to] = buffer.val[r * BUFFER_STEP + e];
    }
    __syncwarp();
}

template <int LISTS, typename T>
static __global__ __launch_bounds__(MERGE_BLOCK) void numeric_merge(struct factors<T> x,
                                                                    struct rows rows,
                                                                    struct result<T> c)
{
    SHARED_DYNAMIC(T, values);
    const staged<T> pools = {(int32_t *)(values + merge_elements<LISTS>(true)), values};
    const int warp = (int)threadIdx.x / WARP, lane = lane_id();
    const int32_t buffers =
        MERGE_BLOCK / WARP * merge_pool<LISTS>() + warp * MERGE_ROWS * BUFFER_STEP;
    const staged<T> buffer = {pools.col + buffers, pools.val + buffers};
    const int32_t i = merged_row(rows);
    const int64_t start = i >= 0 ? row_start(c, i) : 0;
    const int32_t mine = lane / MERGE_LANES * BUFFER_STEP + lane % MERGE_LANES;
    merge_row<true, LISTS>(x, pools, i, [&](uint32_t place, int32_t col, T val, bool last) {
        const int32_t before = (int32_t)(place % BUFFER);
        buffer.col[mine + before] = col;
        buffer.val[mine + before] = val;
        if (last || before == BUFFER - MERGE_LANES)
            write_buffer(buffer, before + MERGE_LANES, place - before, start, c);
    });
}

#endif
