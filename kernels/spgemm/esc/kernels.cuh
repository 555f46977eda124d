// Kernels of `esc`: positions of products, their expansion, and the sums of equal keys.
//
// A block has a share of SHARE products, whatever rows they belong to, so that rows of any length
// balance. add_carries() completes a sum that crosses shares, in the order of the shares.
#ifndef SPGEMM_ESC_KERNELS_H
#define SPGEMM_ESC_KERNELS_H

#include "kernel.cuh"

#define BLOCK     256
#define ITEMS     8 // consecutive products that one thread adds up
#define SHARE     (BLOCK * ITEMS)
#define PADDED(i) ((i) + (i) / ITEMS) // staggers what the threads of a warp read together

struct factors { // A and S
    int32_t m, nnz;
    const int32_t *A_ptr, *A_idx, *S_ptr, *S_idx;
    const int64_t *first; // products before each nonzero of A, size nnz + 1
};

struct chunk { // whole rows, and their products
    int32_t row, rows;
    int64_t begin, end;
};

struct row_starts { // row starts of C, in 4 or 8 bytes
    void *ptr;
    int bytes;
};

static __device__ __forceinline__ void set_start(struct row_starts s, int32_t i, int64_t x)
{
    if (s.bytes == 4) {
        ((int32_t *)s.ptr)[i] = (int32_t)x;
    } else {
        ((int64_t *)s.ptr)[i] = x;
    }
}

static __device__ __forceinline__ int64_t start_of(struct row_starts s, int32_t i)
{
    return s.bytes == 4 ? ((const int32_t *)s.ptr)[i] : ((const int64_t *)s.ptr)[i];
}

// length[p] = products of nonzero p of A.
static __global__ void count_products(int32_t nnz, const int32_t *__restrict__ idx,
                                      const int32_t *__restrict__ S_ptr,
                                      int32_t *__restrict__ length)
{
    const int64_t p = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (p < nnz) length[p] = S_ptr[idx[p] + 1] - S_ptr[idx[p]];
}

// Cuts the rows into chunks: as many rows as have up to `room` products, but at least one row. One
// thread: each chunk begins where the one before ends, and chunks are few.
static __global__ void cut(struct factors f, int64_t room, struct chunk *chunks, int64_t *count)
{
    int64_t c = 0;
    for (int32_t row = 0; row < f.m; c++) {
        const int64_t begin = f.first[f.A_ptr[row]];
        int32_t low = row + 1, high = f.m;
        while (low < high) {
            const int32_t middle = low + (high - low + 1) / 2;
            if (f.first[f.A_ptr[middle]] - begin <= room) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        chunks[c] = {row, low - row, begin, f.first[f.A_ptr[low]]};
        row = low;
    }
    *count = c;
}

// limits[2 b] = the nonzero of A of the first product of share b, limits[2 b + 1] = its row. The
// entries after the last share belong to the last product.
static __global__ void find_limits(struct factors f, int64_t begin, int32_t count, int32_t shares,
                                   int32_t *__restrict__ limits)
{
    const int64_t b = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (b > shares) return;
    const int64_t q = begin + (b < shares ? b * SHARE : count - 1);
    const int32_t p = upper_bound(f.first, 0, f.nnz, q) - 1;
    limits[2 * b] = p;
    limits[2 * b + 1] = upper_bound(f.A_ptr, 0, f.m, p) - 1;
}

// Writes products [begin, begin + count) with keys (row - row0, column). The kernel waits for
// memory, so its launch bounds ask for full occupancy.
template <typename T, typename K>
static __global__ void __launch_bounds__(BLOCK, 8)
    expand(struct factors f, const T *__restrict__ A_val, const T *__restrict__ S_val,
           int64_t begin, int32_t count, int32_t row0, int col_bits,
           const int32_t *__restrict__ limits, K *__restrict__ key, T *__restrict__ val)
{
    const int32_t *limit = limits + 2 * (int64_t)blockIdx.x;
    const int32_t end = min(count - (int32_t)blockIdx.x * SHARE, SHARE);
    for (int32_t j = (int32_t)threadIdx.x; j < end; j += BLOCK) {
        const int64_t i = (int64_t)blockIdx.x * SHARE + j;
        const int32_t p = upper_bound(f.first, limit[0] + 1, limit[2] + 1, begin + i) - 1;
        const int32_t row = upper_bound(f.A_ptr, limit[1] + 1, limit[3] + 1, p) - 1;
        const int32_t s = f.S_ptr[f.A_idx[p]] + (int32_t)(begin + i - f.first[p]);
        key[i] = (K)(uint32_t)(row - row0) << col_bits | (K)(uint32_t)f.S_idx[s];
        val[i] = A_val[p] * S_val[s];
    }
}

// heads[b] = keys of share b that differ from the key before.
template <typename K>
static __global__ void __launch_bounds__(BLOCK)
    count_heads(int32_t count, const K *__restrict__ key, int32_t *__restrict__ heads)
{
    int32_t sum = 0;
    for (int j = 0; j < ITEMS; j++) {
        const int32_t i = (int32_t)blockIdx.x * SHARE + j * BLOCK + (int32_t)threadIdx.x;
        sum += __syncthreads_count(i < count && (i == 0 || key[i] != key[i - 1]));
    }
    if (threadIdx.x == 0) heads[blockIdx.x] = sum;
}

// Neighbouring products: the number of sums that begin among them, and their part of the last sum.
template <typename T> struct stretch {
    int32_t heads;
    T sum;
};

// Returns the stretch of a followed by b.
template <typename T> static __device__ __forceinline__ stretch<T> join(stretch<T> a, stretch<T> b)
{
    return {a.heads + b.heads, b.heads ? b.sum : a.sum + b.sum};
}

// Returns the stretch of all products of the block before this thread's.
template <typename T> static __device__ stretch<T> before(stretch<T> own, stretch<T> *warps)
{
    const int lane = lane_id(), warp = (int)threadIdx.x / WARP;
    for (int step = 1; step < WARP; step *= 2) {
        const stretch<T> left = {__shfl_up_sync(FULL_MASK, own.heads, step),
                                 __shfl_up_sync(FULL_MASK, own.sum, step)};
        if (lane >= step) own = join(left, own);
    }
    if (lane == WARP - 1) warps[warp] = own;
    stretch<T> left = {__shfl_up_sync(FULL_MASK, own.heads, 1),
                       __shfl_up_sync(FULL_MASK, own.sum, 1)};
    if (lane == 0) left = {0, 0};
    __syncthreads();
    stretch<T> all = {0, 0};
    for (int w = 0; w < warp; w++) all = join(all, warps[w]);
    return join(all, left);
}

// Destination of a chunk's part of C.
template <typename T> struct target {
    int32_t *idx;
    T *val;
    T *carry;                 // by share: its part of a sum that began in an earlier share
    struct row_starts starts; // ptr NULL: not wanted
    int64_t nnz;              // nonzeros of C before this part
};

// base[b] = sums that began before share b.
template <typename T, typename K>
static __global__ void __launch_bounds__(BLOCK)
    compress(int32_t count, const K *__restrict__ key, const T *__restrict__ val,
             const int64_t *__restrict__ base, int32_t row0, int col_bits, struct target<T> out)
{
    __shared__ K keys[PADDED(SHARE)];
    __shared__ T vals[PADDED(SHARE)];
    __shared__ stretch<T> warps[BLOCK / WARP];
    const int64_t begin = (int64_t)blockIdx.x * SHARE;
    const int size = (int)min((int64_t)SHARE, count - begin);
    for (int i = (int)threadIdx.x; i < size; i += BLOCK) {
        keys[PADDED(i)] = key[begin + i];
        vals[PADDED(i)] = val[begin + i];
    }
    __syncthreads();
    const int first = min((int)threadIdx.x * ITEMS, size), last = min(first + ITEMS, size);
    K previous = 0;
    if (first > 0) {
        previous = keys[PADDED(first - 1)];
    } else if (begin > 0) {
        previous = key[begin - 1];
    }
    stretch<T> own = {0, 0};
    K k = previous;
    for (int i = first; i < last; i++) {
        const K next = keys[PADDED(i)];
        const T v = vals[PADDED(i)];
        own = join(own, stretch<T>{begin + i == 0 || next != k, v});
        k = next;
    }
    own = before(own, warps);

    const int64_t start = base[blockIdx.x];
    k = previous;
    for (int i = first; i < last; i++) {
        const K next = keys[PADDED(i)];
        const T v = vals[PADDED(i)];
        if (begin + i == 0 || next != k) {
            if (own.heads) {
                out.val[start + own.heads - 1] = own.sum;
            } else {
                out.carry[blockIdx.x] = own.sum;
            }
            const int64_t place = start + own.heads;
            out.idx[place] = (int32_t)(next & (((K)1 << col_bits) - 1));
            if (out.starts.ptr && (begin + i == 0 || next >> col_bits != k >> col_bits))
                set_start(out.starts, row0 + (int32_t)(next >> col_bits), out.nnz + place);
            own = {own.heads + 1, v};
        } else {
            own.sum += v;
        }
        k = next;
    }
    if (first < last && last == size) {
        if (own.heads) {
            out.val[start + own.heads - 1] = own.sum;
        } else {
            out.carry[blockIdx.x] = own.sum;
        }
    }
}

// Adds to the last sum of each share the carries of later shares. A warp for each share.
template <typename T>
static __global__ void __launch_bounds__(BLOCK)
    add_carries(int32_t shares, const int64_t *__restrict__ base, struct target<T> out)
{
    const int64_t w = ((int64_t)blockIdx.x * BLOCK + threadIdx.x) / WARP;
    if (w >= shares || base[w] == base[w + 1]) return;
    T sum = 0;
    bool more = true;
    for (int64_t b = w + 1 + lane_id(); more; b += WARP) {
        const unsigned ends = __ballot_sync(FULL_MASK, b >= shares || base[b] != base[b + 1]);
        const bool mine = b < shares && (!ends || lane_id() < __ffs((int)ends));
        sum += warp_sum(mine ? out.carry[b] : (T)0);
        more = !ends;
    }
    if (lane_id() == 0) out.val[base[w + 1] - 1] += sum;
}

// Sets the starts of rows without products: the start of the next row with products.
static __global__ void start_empty_rows(struct factors f, int64_t nnz, struct row_starts starts)
{
    const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > f.m) return;
    if (i == f.m) {
        set_start(starts, f.m, nnz);
        return;
    }
    const int32_t begin = f.A_ptr[i];
    const int64_t q = f.first[begin];
    if (f.first[f.A_ptr[i + 1]] != q) return;
    if (f.first[f.nnz] == q) {
        set_start(starts, (int32_t)i, nnz);
        return;
    }
    const int32_t p = upper_bound(f.first, begin, f.nnz, q) - 1;
    const int32_t next = upper_bound(f.A_ptr, (int32_t)i, f.m, p) - 1;
    set_start(starts, (int32_t)i, start_of(starts, next));
}

#endif
