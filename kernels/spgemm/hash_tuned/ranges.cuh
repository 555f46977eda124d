// Rows too long for a table in shared memory, on devices whose shared memory does not hold bitmaps.
// A block computes a row, one range of columns at a time. The nonzeros of a range fit in the table.
// Ranges ascend, so each range continues C where the range before ended. Most rows need one range
// of all columns. An empty range costs a walk over all products. Rows with all columns close to the
// end have empty ranges.
#ifndef SPGEMM_HASH_TUNED_RANGES_H
#define SPGEMM_HASH_TUNED_RANGES_H

#include "long.cuh"

#define RANGES_BLOCK LONG_BLOCK // threads
#define RANGES_EACH  16         // most places of the table for each thread

// Returns the most columns for a table of `size` places. A thread that has not yet seen the current
// count may insert one more column. The table keeps a free place for each thread, as table_place()
// does not end in a full table.
static __host__ __device__ __forceinline__ int32_t ranges_room(int32_t size)
{
    return size - max(size / 8, RANGES_BLOCK);
}

// Returns the buckets of the sort: one for every two places of the table.
static __host__ __device__ __forceinline__ int32_t ranges_buckets(int32_t size) { return size / 2; }

// Returns the bytes of shared memory: values, keys, and a count of 16 bits for each bucket.
template <typename T> static __host__ __device__ __forceinline__ int64_t ranges_bytes(int32_t size)
{
    return size * (int64_t)(sizeof(T) + 4) + ranges_buckets(size) * (int64_t)2;
}

// Returns the width of the next range, which begins at `first`. `left` nonzeros remain up to column
// n. Evenly spread nonzeros would fill at most 3/4 of `room`.
static __device__ __forceinline__ int32_t range_width(int32_t first, int32_t n, int32_t left,
                                                      int32_t room)
{
    if (left <= room) return n - first;
    return (n - first) / (int32_t)ceil_div(left, room - room / 4);
}

// The columns [first, first + width) of a row.
struct range {
    int32_t first, width;
    bool certain; // the nonzeros certainly fit in the table
};

// Table of a row, in shared memory.
template <typename T> struct range_table {
    T *vals;
    int32_t *keys;
    uint32_t *pairs;             // buckets of the sort, two in a word
    int32_t size, room, buckets; // room: most columns
};

template <typename T>
static __device__ __forceinline__ struct range_table<T>
range_table_in(unsigned char *memory, int32_t most, int32_t count) {
    struct range_table<T> t;
    t.vals = (T *)memory;
    t.keys = (int32_t *)(t.vals + most);
    t.pairs = (uint32_t *)(t.keys + most);
    t.room = ranges_room(most);
    t.size = table_size(min(count, t.room), most);
    t.buckets = ranges_buckets(most);
    return t;
}

// Adds the products of the row [p, end) of A within a range to the table. If the range is not
// certain to fit, `found` counts the columns. Above t.room the rest of the products is skipped. By
// all threads, after a barrier; ends with a barrier.
template <typename T>
static __device__ __forceinline__ void
add_range(const struct factors<T> &x, int32_t p, int32_t end, const struct range_table<T> &t,
          const struct range &r, team_round<RANGES_BLOCK, T> &round, int32_t *found)
{
    const volatile int32_t *seen = found;
    walk<true, RANGES_BLOCK>(x, p, end, true, whole_row(), round, r.certain ? NULL : found, t.room,
                             [&](int32_t col, T v, unsigned lanes) {
                                 const bool in = (uint32_t)(col - r.first) < (uint32_t)r.width &&
                                                 (r.certain || *seen <= t.room);
                                 bool is_new = false;
                                 const uint32_t h =
                                     in ? table_place(t.keys, t.size - 1, col, is_new) : 0;
                                 if (is_new && !r.certain) atomicAdd(found, 1);
                                 __syncwarp(lanes); // lanes add together
                                 if (in) atomicAdd(&t.vals[h], v);
                             });
}

// Writes the `count` columns of a table and their values to C, from `start` on.
template <typename T>
static __device__ __forceinline__ void write_range(const struct range_table<T> &t, int32_t count,
                                                   int32_t low, int32_t high, uint32_t *sums,
                                                   const struct result<T> &c, int64_t start)
{
    const struct spread spread = spread_range(low, high, t.buckets);
    const bool sorted = sort_in_place<RANGES_BLOCK, RANGES_EACH>(t.keys, t.vals, t.size, count,
                                                                 spread, t.buckets, t.pairs, sums);
    for (int32_t e = (int32_t)threadIdx.x; e < count; e += RANGES_BLOCK) {
        const int32_t to =
            sorted ? e : place_in_order(t.keys, count, e, spread, t.buckets, t.pairs);
        c.idx[start + to] = t.keys[e];
        c.val[start + to] = t.vals[e];
    }
}

template <typename T>
static __global__ __launch_bounds__(RANGES_BLOCK,
                                    1) void numeric_ranges(struct factors<T> x, struct rows rows,
                                                           const int32_t *__restrict__ nz,
                                                           struct result<T> c)
{
    SHARED_DYNAMIC(unsigned char, memory);
    __shared__ team_round<RANGES_BLOCK, T> round;
    __shared__ uint32_t sums[RANGES_BLOCK / WARP];
    __shared__ int32_t found, ends[2];
    const int me = (int)threadIdx.x;
    const int32_t i = rows.list[blockIdx.x], count = nz[i];
    const struct range_table<T> t = range_table_in<T>(memory, rows.size, count);
    const int64_t start = row_start(c, i);
    const int32_t p = __ldg(x.A_ptr + i), end = __ldg(x.A_ptr + i + 1);
    struct range r = {0, range_width(0, x.n, count, t.room), false};
    for (int32_t done = 0; done < count;) {
        for (int32_t s = me; s < t.size; s += RANGES_BLOCK) {
            t.keys[s] = EMPTY;
            t.vals[s] = 0;
        }
        for (int32_t w = me; w < t.buckets / 2; w += RANGES_BLOCK) t.pairs[w] = 0;
        if (me == 0) {
            found = ends[1] = 0;
            ends[0] = INT32_MAX;
        }
        __syncthreads();
        r.certain = count - done <= t.room;
        add_range(x, p, end, t, r, round, &found);
        const int32_t here = r.certain ? count - done : found;
        if (here > t.room) {
            r.width /= 2;
            __syncthreads();
            continue;
        }
        if (here > 0) {
            int32_t low, high;
            table_ends<RANGES_BLOCK>(t.keys, t.size, ends, low, high);
            write_range(t, here, low, high, sums, c, start + done);
        }
        __syncthreads();
        done += here;
        r.first += r.width;
        r.width = range_width(r.first, x.n, count - done, t.room);
    }
}

#endif
