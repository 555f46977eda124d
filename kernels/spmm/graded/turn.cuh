// The copy of column-major B in row-major slabs.
#ifndef GRADED_TURN_H
#define GRADED_TURN_H

#include "kernel.cuh"

#define TURN_ROWS 128
#define TURN_MAX  32 // columns of a slab

// Copies slab first_slab + blockIdx.y of B, 1 << log_slab of the k columns, to n rows of that many
// elements. A block has TURN_ROWS rows. Columns past column k are not written.
template <typename T>
static __global__ void __launch_bounds__(TURN_ROWS)
    turn(int64_t n, int32_t k, int32_t first_slab, const T *__restrict__ B, int64_t step,
         T *__restrict__ to, int log_slab)
{
    start_next(); // the next kernel waits before it reads
    __shared__ T part[TURN_ROWS * (TURN_MAX + 1)];
    const int slab = 1 << log_slab, thread = (int)threadIdx.x;
    const int64_t s = first_slab + (int64_t)blockIdx.y, top = (int64_t)blockIdx.x * TURN_ROWS;
    const int columns = (int)min((int64_t)slab, k - s * slab);
    const int rows = (int)min((int64_t)TURN_ROWS, n - top);
    const T *from = B + s * slab * step + top + thread;
#pragma unroll 8
    for (int j = 0; j < columns; j++)
        if (thread < rows) part[thread * (slab + 1) + j] = from[j * step];
    __syncthreads();
    T *own = to + ((s * n + top) << log_slab);
    for (int e = thread; e < rows << log_slab; e += TURN_ROWS)
        if ((e & (slab - 1)) < columns) own[e] = part[(e >> log_slab) + e];
}

// Launches the copy of all slabs.
template <typename T>
static void start_turn(const struct device *d, const struct dense_dev *B, T *to, int log_slab)
{
    const int32_t slabs = (int32_t)ceil_div(B->cols, 1 << log_slab), most = 65535;
    auto kernel = turn<T>;
    if (!B->rows) return;
    for (int32_t first = 0; first < slabs; first += most)
        LAUNCH(kernel,
               dim3((unsigned)ceil_div(B->rows, TURN_ROWS), (unsigned)min(slabs - first, most)),
               TURN_ROWS, 0, d->stream, B->rows, (int32_t)B->cols, first, (const T *)B->val, B->ld,
               to, log_slab);
}

#endif
