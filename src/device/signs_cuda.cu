// Changes of sign in the memory of a CUDA device.
#include "device/signs.h"
#include "device/warp.cuh"

#define THREADS       256
#define BLOCKS_PER_SM 8

static int blocks_for(const struct device *d, int64_t threads)
{
    return (int)min64(max64(ceil_div(threads, THREADS), 1), (int64_t)d->units * BLOCKS_PER_SM);
}

static __global__ void negate_elements(struct device_view v)
{
    const int64_t count = v.lines * v.length, step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; q < count; q += step)
        sign_change(v.p, v.width, digest_at(&v, q));
}

// A warp for each row.
static __global__ void sign_rows(struct device_signs s)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x / WARP;
    int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    for (; i < s.m; i += step) {
        const bool sign = sign_of(s.key, i);
        const int64_t end = sign_start(&s, i + 1);
        for (int64_t q = sign_start(&s, i) + lane_id(); q < end; q += WARP)
            if (sign != sign_of(s.key, s.idx[q])) sign_change(s.val, s.width, q);
    }
}

int negate_cuda(struct device *d, const struct device_view *v)
{
    LAUNCH(negate_elements, blocks_for(d, v->lines * v->length), THREADS, 0, d->stream, *v);
    return launch_check("a change of signs");
}

int sign_cuda(struct device *d, const struct device_signs *s)
{
    LAUNCH(sign_rows, blocks_for(d, s->m * WARP), THREADS, 0, d->stream, *s);
    return launch_check("a change of signs");
}
