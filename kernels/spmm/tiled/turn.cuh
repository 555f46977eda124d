// Conversion of a dense matrix between column-major and row-major, by 64 lines of 32 elements at a
// time in shared memory. A thread has eight loads in flight.
#ifndef TILED_TURN_H
#define TILED_TURN_H

#include "kernel.cuh"

#define TURN_LINES  64
#define TURN_LENGTH 32
#define TURN_ROWS   8 // rows of threads in a block

// to[j * to_step + i] = from[i * from_step + j] for i < lines, j < length.
template <typename T>
static __global__ void __launch_bounds__(TURN_LENGTH *TURN_ROWS)
    turn(int64_t lines, int64_t length, const T *__restrict__ from, int64_t from_step,
         T *__restrict__ to, int64_t to_step)
{
    start_next();                                   // the next kernel waits before it reads
    __shared__ T part[TURN_LINES][TURN_LENGTH + 1]; // elements of a column are in different banks
    const int x = (int)threadIdx.x, row = (int)threadIdx.y;
    const int64_t j0 = (int64_t)blockIdx.x * TURN_LENGTH;
    for (int64_t i0 = (int64_t)blockIdx.y * TURN_LINES; i0 < lines;
         i0 += (int64_t)gridDim.y * TURN_LINES) {
        T value[TURN_LINES / TURN_ROWS];
#pragma unroll
        for (int y = 0; y < TURN_LINES / TURN_ROWS; y++) {
            const int64_t i = i0 + row + y * TURN_ROWS;
            value[y] = i < lines && j0 + x < length ? from[i * from_step + j0 + x] : (T)0;
        }
#pragma unroll
        for (int y = 0; y < TURN_LINES / TURN_ROWS; y++) part[row + y * TURN_ROWS][x] = value[y];
        __syncthreads();
#pragma unroll
        for (int y = row; y < TURN_LENGTH; y += TURN_ROWS)
#pragma unroll
            for (int i = x; i < TURN_LINES; i += TURN_LENGTH)
                if (j0 + y < length && i0 + i < lines) to[(j0 + y) * to_step + i0 + i] = part[i][y];
        __syncthreads(); // the next part overwrites this part
    }
}

// Launches the row-major copy of column-major D. `to_step`: elements between rows of the copy.
template <typename T>
static void start_turn(const struct device *d, const struct dense_dev *D, T *to, int64_t to_step)
{
    const dim3 grid((unsigned)ceil_div(D->rows, TURN_LENGTH),
                    (unsigned)min64(ceil_div(D->cols, TURN_LINES), 65535));
    if (!D->rows || !D->cols) return;
    auto kernel = turn<T>;
    LAUNCH(kernel, grid, dim3(TURN_LENGTH, TURN_ROWS), 0, d->stream, D->cols, D->rows,
           (const T *)D->val, D->ld, to, to_step);
}

#endif
