// Digests of arrays in the memory of a CUDA device, and spoiling elements of such arrays.
#include "device/digest.h"
#include "device/digest_cuda.h"
#include "device/warp.cuh"

#define THREADS       256
#define BLOCKS_PER_SM 8

// Writes a digest per warp.
static __global__ void digest_elements(struct device_view v, uint64_t *parts)
{
    const int64_t count = v.lines * v.length, step = (int64_t)gridDim.x * blockDim.x;
    unsigned long long bits = 0;
    for (int64_t q = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; q < count; q += step)
        bits += digest_of(&v, q);
    bits = warp_sum(bits);
    if (lane_id() == 0) parts[(blockIdx.x * blockDim.x + threadIdx.x) / WARP] = bits;
}

static __global__ void spoil_spots(struct device_view v, uint64_t seed, int64_t spots)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= spots) return;
    char *p = (char *)v.p + digest_spot(&v, seed, s) * v.width;
    for (int b = 0; b < v.width; b++) p[b] = (char)0xff;
}

// Copies the elements of the spots.
static __global__ void fetch_spots(struct device_view v, uint64_t seed, int64_t spots, char *to)
{
    const int64_t s = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= spots) return;
    const char *p = (const char *)v.p + digest_spot(&v, seed, s) * v.width;
    for (int b = 0; b < v.width; b++) to[s * v.width + b] = p[b];
}

static int most_blocks(const struct device *d) { return d->units * BLOCKS_PER_SM; }

static int64_t parts_bytes(int blocks)
{
    return (int64_t)blocks * (THREADS / WARP) * (int64_t)sizeof(uint64_t);
}

int64_t digest_cuda_bytes(const struct device *d)
{
    return max64(parts_bytes(most_blocks(d)), DEVICE_SPOTS * (int64_t)sizeof(uint64_t));
}

int digest_cuda(struct device *d, const struct device_view *v, uint64_t *device_parts,
                uint64_t *host_parts, uint64_t *bits)
{
    // Few blocks for few elements, because the digest of each warp is copied to the host.
    const int64_t wanted = ceil_div(v->lines * v->length, THREADS);
    const int grid = (int)min64(most_blocks(d), max64(wanted, 1));
    const int64_t bytes = parts_bytes(grid);
    LAUNCH(digest_elements, grid, THREADS, 0, d->stream, *v, device_parts);
    CUDA_TRY(cudaGetLastError());
    int err = d->ops->download(d, host_parts, device_parts, bytes);
    for (int64_t i = 0; i < bytes / (int64_t)sizeof *host_parts && !err; i++)
        *bits += host_parts[i];
    return err;
}

int spoil_cuda(struct device *d, const struct device_view *v, uint64_t seed)
{
    const int64_t spots = digest_spots(v);
    LAUNCH(spoil_spots, (int)ceil_div(spots, THREADS), THREADS, 0, d->stream, *v, seed, spots);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

int fetch_cuda(struct device *d, const struct device_view *v, uint64_t seed, void *device_parts,
               void *to)
{
    const int64_t spots = digest_spots(v);
    LAUNCH(fetch_spots, (int)ceil_div(spots, THREADS), THREADS, 0, d->stream, *v, seed, spots,
           (char *)device_parts);
    CUDA_TRY(cudaGetLastError());
    return d->ops->download(d, to, device_parts, spots * v->width);
}
