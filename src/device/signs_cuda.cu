// Changes of sign in the memory of a CUDA device.
#include "device/signs.h"
#include "device/warp.cuh"

#define THREADS       256
#define BLOCKS_PER_SM 8

static int blocks_for(const struct device *d, int64_t threads)
{
    return (int)min64(max64(ceil_div(threads, THREADS), 1), (int64_t)d->units * BLOCKS_PER_SM);
}

// A thread for each element, so that a warp writes neighbours.
static __global__ void sign_elements(struct device_signs_dense s)
{
    const struct device_view *v = &s.view;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; q < v->lines * v->length;
         q += step) {
        const int64_t line = q / v->length, e = q % v->length;
        const int64_t row = s.by_column ? e : line, col = s.by_column ? line : e;
        sign_change(v->p, v->width, line * v->step + e,
                    sign_of_dense(s.before, row, col) != sign_of_dense(s.now, row, col));
    }
}

// A warp for each row.
static __global__ void sign_rows(struct device_signs_sparse s)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x / WARP;
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (; i < s.m; i += step)
        for (int64_t q = sign_start(&s, i) + lane_id(); q < sign_start(&s, i + 1); q += WARP)
            sign_value_change(&s, i, q);
}

int sign_dense_cuda(struct device *d, const struct device_signs_dense *s)
{
    LAUNCH(sign_elements, blocks_for(d, s->view.lines * s->view.length), THREADS, 0, d->stream, *s);
    return launch_check("a change of signs");
}

int sign_sparse_cuda(struct device *d, const struct device_signs_sparse *s)
{
    LAUNCH(sign_rows, blocks_for(d, s->m * WARP), THREADS, 0, d->stream, *s);
    return launch_check("a change of signs");
}
