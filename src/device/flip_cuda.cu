// Inverts all bits of blocks of memory. With `late`, the next kernel can begin before the
// inversion.
#include "device/flip_cuda.h"
#include "device/warp.cuh"

#define THREADS       256
#define BLOCKS_PER_SM 8
#define LATE_BLOCKS   8     // few blocks, which leave multiprocessors to the next kernel
#define LATE_BYTES    65536 // bytes per block, if these need more blocks
#define LATE_SHARE    2     // at most 1 / LATE_SHARE of the multiprocessors
#define LATE_NS       50000 // delay, within which the host launches the next kernel

struct flips {
    struct device_block list[DEVICE_FLIPS_MAX];
    int count;
};

static __global__ void flip_bits(const __grid_constant__ flips all, bool late)
{
    if (late) {
        start_next();
        wait_ns(LATE_NS);
    }
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int b = 0; b < all.count; b++) {
        uint64_t *words = (uint64_t *)all.list[b].p;
        const int64_t whole = all.list[b].bytes / 8, left = all.list[b].bytes % 8;
        for (int64_t q = first; q < whole; q += step) words[q] = ~words[q];
        unsigned char *rest = (unsigned char *)(words + whole);
        for (int64_t q = first; q < left; q += step) rest[q] = (unsigned char)~rest[q];
    }
}

static int blocks_for(const struct device *d, int64_t bytes, bool late)
{
    const int64_t useful = max64(ceil_div(bytes, 8 * THREADS), 1);
    if (!late) return (int)min64(useful, (int64_t)d->units * BLOCKS_PER_SM);
    const int64_t wanted = max64(LATE_BLOCKS, bytes / LATE_BYTES);
    return (int)min64(min64(useful, wanted), max64(d->units / LATE_SHARE, 1));
}

int flip_cuda(struct device *d, const struct device_block *blocks, int count, bool late)
{
    struct flips all = {};
    int64_t bytes = 0;
    if (count > DEVICE_FLIPS_MAX) bug("%s: %d blocks to be inverted at once", d->id, count);
    if (late && !can_launch_early(flip_bits))
        return fail(
            ERR_UNSUPPORTED,
            "%s: this build has no kernels for programmatic dependent launch on this device",
            d->id);
    for (int b = 0; b < count; b++) {
        all.list[all.count++] = blocks[b];
        bytes += blocks[b].bytes;
    }
    LAUNCH(flip_bits, blocks_for(d, bytes, late), THREADS, 0, d->stream, all, late);
    return launch_check("the inversion of a block");
}
