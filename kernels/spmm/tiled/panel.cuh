// The work of a block of Tiled SpMM: all stages of its panel, one slab of R columns of B and C
// after the other.
#ifndef TILED_PANEL_H
#define TILED_PANEL_H

#include "formats/tiled.h"
#include "kernel.cuh"

#define MAX_ROWS 512        // threads of a block
static const int BATCH = 4; // entries that a lane loads at once
static const int AHEAD = 2; // columns of the next stage that a thread loads ahead

// A column of a stage in shared memory: R elements of B.
template <typename T, int R> struct column {
    static const int VEC = R < (int)(16 / sizeof(T)) ? R : (int)(16 / sizeof(T));
    static const int PACKS = R / VEC;
    static const int STEP = PACKS % 2 ? PACKS : PACKS + 1; // packs from one column to the next
    pack<T, VEC> x[STEP];
};

// A slab of R columns of B and C, of which `cols` exist.
template <typename T> struct slab {
    const T *B;
    T *C, *parts;
    int64_t B_step, C_step, parts_step; // elements from one column to the next
    int cols;
};

// Loads the elements of B for column `col` of A in the slab's columns.
template <typename T, int R>
static __device__ __forceinline__ void load_column(column<T, R> &to, int32_t col, const slab<T> &s)
{
    const int VEC = column<T, R>::VEC;
    const T *b = s.B + col;
    pack<T, VEC> x[column<T, R>::PACKS];
#pragma unroll
    for (int f = 0; f < R; f++) x[f / VEC].x[f % VEC] = f < s.cols ? b[f * s.B_step] : (T)0;
#pragma unroll
    for (int p = 0; p < column<T, R>::PACKS; p++) to.x[p] = x[p];
}

// The first columns of a stage that a thread stages. They are loaded during the stage before.
struct ahead {
    int32_t col[AHEAD];
};

static __device__ __forceinline__ struct ahead read_ahead(const int32_t *__restrict__ map,
                                                          int count)
{
    struct ahead a;
#pragma unroll
    for (int i = 0; i < AHEAD; i++) {
        const int n = (int)(threadIdx.x + i * blockDim.x);
        a.col[i] = n < count ? __ldcs(map + n) : 0;
    }
    return a;
}

// Stages the elements of B for columns map[0 .. count) of A.
template <typename T, int R>
static __device__ __forceinline__ void load_stage(column<T, R> *stage, const struct ahead &a,
                                                  const int32_t *__restrict__ map, int count,
                                                  const slab<T> &s)
{
    int n = (int)threadIdx.x;
#pragma unroll
    for (int i = 0; i < AHEAD; i++, n += (int)blockDim.x)
        if (n < count) load_column(stage[n], a.col[i], s);
    for (; n < count; n += (int)blockDim.x) load_column(stage[n], __ldcs(map + n), s);
}

// A batch of a lane's entries of a slice: from q on, 32 apart.
template <typename T> struct batch {
    uint32_t place[BATCH];
    T val[BATCH];
};

template <typename T>
static __device__ __forceinline__ batch<T> read_batch(const struct tiled &A, int64_t q, int64_t end)
{
    batch<T> b;
#pragma unroll
    for (int i = 0; i < BATCH; i++) {
        const bool there = q + i * WARP < end;
        b.place[i] = there ? __ldcs(A.idx + q + i * WARP) : 0;
        b.val[i] = there ? __ldcs((const T *)A.val + q + i * WARP) : (T)0;
    }
    return b;
}

// sum += the products of a lane's entries of one slice, from q on. `b` is the first batch.
template <typename T, int R>
static __device__ __forceinline__ void add_slice(T (&sum)[R], const column<T, R> *stage,
                                                 const struct tiled &A, batch<T> b, int64_t q,
                                                 int64_t end)
{
    const int VEC = column<T, R>::VEC;
    while (q < end) {
        const batch<T> next = read_batch<T>(A, q + BATCH * WARP, end);
#pragma unroll
        for (int i = 0; i < BATCH; i++) {
            if (q + i * WARP >= end) break; // the same for all lanes
            const column<T, R> &c = stage[b.place[i]];
#pragma unroll
            for (int p = 0; p < column<T, R>::PACKS; p++) {
                const pack<T, VEC> x = c.x[p];
#pragma unroll
                for (int e = 0; e < VEC; e++) sum[p * VEC + e] += b.val[i] * x.x[e];
            }
        }
        q += BATCH * WARP;
        b = next;
    }
}

// Computes all stages of the block's panel for one slab.
template <typename T, int R>
static __device__ __forceinline__ void multiply_panel(const struct tiled &A, column<T, R> *stage,
                                                      const slab<T> &s)
{
    const int warps = (int)blockDim.x / WARP, warp = warp_broadcast((int)threadIdx.x / WARP, 0);
    const int64_t segment = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t first = A.panel[blockIdx.x], last = A.panel[blockIdx.x + 1];
    const int32_t *map =
        A.map + A.map_ptr[first]; // columns of this stage, followed by those of the next stage
    int columns = (int)(A.map_ptr[last] - A.map_ptr[first]); // from this stage on
    struct ahead a = read_ahead(map, columns);
    T sum[R] = {};
    for (int64_t x = first; x < last; x++) {
        const int64_t slice = x * warps + warp, end = A.slice[slice + 1];
        const int64_t q = A.slice[slice] + lane_id();
        const batch<T> b = read_batch<T>(A, q, end);
        load_stage(stage, a, map, columns < A.stage ? columns : A.stage, s);
        map += A.stage;
        columns -= A.stage;
        a = read_ahead(map, columns);
        __syncthreads();
        add_slice(sum, stage, A, b, q, end);
        __syncthreads(); // the next stage overwrites this stage
    }
    if (segment >= A.segments) return;
    const int64_t to = A.to ? A.to[segment] : segment;
    T *c = to >= 0 ? s.C + to : s.parts + (-1 - to);
    const int64_t step = to >= 0 ? s.C_step : s.parts_step;
    if (A.to) {
#pragma unroll
        for (int f = 0; f < R; f++)
            if (f < s.cols) c[f * step] = sum[f];
    } else {
#pragma unroll
        for (int f = 0; f < R; f++)
            if (f < s.cols) __stcs(c + f * step, sum[f]);
    }
}

template <typename T, int R>
static __global__ void __launch_bounds__(MAX_ROWS)
    multiply(struct tiled A, int32_t k, const T *__restrict__ B, int64_t B_step, T *__restrict__ C,
             int64_t C_step, T *__restrict__ parts)
{
    typedef column<T, R> column_t;
    SHARED_DYNAMIC(column_t, stage); // and one column of zeros
    for (int p = (int)threadIdx.x; p < column_t::STEP; p += (int)blockDim.x)
        stage[A.stage].x[p] = {};
    const int64_t slabs = ceil_div(k, R);
    for (int64_t y = blockIdx.y; y < slabs; y += gridDim.y) {
        const int64_t j = y * R;
        const slab<T> s = {B + j * B_step, C + j * C_step, parts + j * A.parts,         B_step,
                           C_step,         A.parts,        k - j < R ? (int)(k - j) : R};
        multiply_panel(A, stage, s);
    }
}

#endif
