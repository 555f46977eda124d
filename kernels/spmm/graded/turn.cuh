// Copies of B and C between column-major and row-major order.
#ifndef GRADED_TURN_H
#define GRADED_TURN_H

#include "kernel.cuh"

#define TURN_THREADS 256
#define LOG_TILE     11 // elements of a tile, log2
#define TURN_COLUMNS 32 // most columns of a tile

// A matrix of m x k in both orders. Column-major: a column begins `step` elements after the
// previous one. Row-major: a row has `width` elements, k or more, in packs of 16 bytes.
template <typename T> struct both_orders {
    T *by_columns, *by_rows;
    int64_t m, step;
    int32_t k, width;
    int log_columns; // columns of a tile, log2
};

// The tile of a block. Rows in shared memory have an odd length. So column-major access has no bank
// conflicts, and row-major access has two-way conflicts at most.
template <typename T> struct tile {
    static const int LOG_VEC = sizeof(T) == 4 ? 2 : 1, VEC = 1 << LOG_VEC;
    static const int ELEMENTS = (1 << LOG_TILE) / TURN_THREADS,
                     PACKS = ELEMENTS / VEC; // per thread
    typedef pack<T, VEC> packed;
    const both_orders<T> &x;
    T *shared;
    int64_t top;
    int32_t left;

    __device__ __forceinline__ tile(const both_orders<T> &x_, T *shared_) : x(x_), shared(shared_)
    {
        const int32_t across = ((x.width - 1) >> x.log_columns) + 1;
        top = (int64_t)(blockIdx.x / across) << (LOG_TILE - x.log_columns);
        left = (int32_t)(blockIdx.x % across) << x.log_columns;
    }
    __device__ __forceinline__ T &at(int i, int j)
    {
        return shared[i * ((1 << x.log_columns) + 1) + j];
    }

    // Calls use(u, i, j, element) for the thread's elements u, in column-major order. (i, j): place
    // in the tile. `element`: NULL if the matrix has no such element.
    template <typename F> __device__ __forceinline__ void each_element(F use)
    {
        const int log_rows = LOG_TILE - x.log_columns;
#pragma unroll
        for (int u = 0; u < ELEMENTS; u++) {
            const int e = (int)threadIdx.x + u * TURN_THREADS;
            const int i = e & ((1 << log_rows) - 1), j = e >> log_rows;
            const bool in = top + i < x.m && left + j < x.k;
            use(u, i, j, in ? x.by_columns + (left + j) * x.step + top + i : NULL);
        }
    }

    // Calls use(u, i, j, pack) for the thread's packs u, in row-major order. `pack`: NULL if the
    // row has no such pack.
    template <typename F> __device__ __forceinline__ void each_pack(F use)
    {
        const int log_packs = x.log_columns - LOG_VEC;
#pragma unroll
        for (int u = 0; u < PACKS; u++) {
            const int e = (int)threadIdx.x + u * TURN_THREADS;
            const int i = e >> log_packs, j = (e & ((1 << log_packs) - 1)) << LOG_VEC;
            const bool in = top + i < x.m && left + j < x.width;
            use(u, i, j, in ? (packed *)(x.by_rows + (top + i) * x.width + left + j) : NULL);
        }
    }
};

// Elements of a tile in shared memory, with one more per row; a row has at least two.
#define TILE_SHARED ((1 << LOG_TILE) / 2 * 3)

// Copies a column-major matrix to row-major order, with zeros right of column k.
template <typename T>
static __global__ void __launch_bounds__(TURN_THREADS) to_rows(const both_orders<T> x)
{
    start_next(); // the next kernel waits before it reads
    __shared__ T shared[TILE_SHARED];
    tile<T> own(x, shared);
    T all[tile<T>::ELEMENTS];
    own.each_element([&](int u, int, int, const T *from) { all[u] = from ? *from : (T)0; });
    own.each_element([&](int u, int i, int j, const T *) { own.at(i, j) = all[u]; });
    __syncthreads();
    own.each_pack([&](int, int i, int j, typename tile<T>::packed *to) {
        typename tile<T>::packed y;
#pragma unroll
        for (int v = 0; v < tile<T>::VEC; v++) y.x[v] = own.at(i, j + v);
        if (to) *to = y;
    });
}

// Copies a row-major matrix to column-major order.
template <typename T>
static __global__ void __launch_bounds__(TURN_THREADS) to_columns(const both_orders<T> x)
{
    wait_for_previous();
    __shared__ T shared[TILE_SHARED];
    tile<T> own(x, shared);
    typename tile<T>::packed all[tile<T>::PACKS];
    own.each_pack([&](int u, int, int, const typename tile<T>::packed *from) {
        all[u] = {};
        if (from) all[u] = *from;
    });
    own.each_pack([&](int u, int i, int j, const typename tile<T>::packed *) {
#pragma unroll
        for (int v = 0; v < tile<T>::VEC; v++) own.at(i, j + v) = all[u].x[v];
    });
    __syncthreads();
    own.each_element([&](int, int i, int j, T *to) {
        if (to) *to = own.at(i, j);
    });
}

// Returns column-major x with the row-major array `by_rows`.
template <typename T>
static both_orders<T> orders_of(const struct dense_dev *x, void *by_rows, int64_t width)
{
    int log_columns = tile<T>::LOG_VEC;
    while (1 << log_columns < min64(width, TURN_COLUMNS)) log_columns++;
    return {(T *)x->val,      (T *)by_rows,   x->rows,    x->ld,
            (int32_t)x->cols, (int32_t)width, log_columns};
}

template <typename T> static unsigned tiles_of(const both_orders<T> &x)
{
    return (unsigned)(ceil_div(x.m, 1 << (LOG_TILE - x.log_columns)) *
                      ceil_div(x.width, 1 << x.log_columns));
}

#endif
