// Makes the format tile8 from csr on CUDA.
#include "formats/tile8.h"
#include "formats/tile_find.cuh"

#define BLOCK 256 // threads of count_nonzeros()

// The tiles of a CSR matrix, as a source of tile_find.cuh.
struct tile8_source : csr_tiles<TILE8> {
    uint64_t *mask;

    // Returns the bit of nonzero p of tile row i in the mask of its tile.
    __device__ __forceinline__ uint64_t bit(int32_t i, int32_t p) const
    {
        return (uint64_t)1 << (TILE8 * row_of(i, p) + idx[p] % TILE8);
    }
    __device__ __forceinline__ void found(int32_t i, int32_t p, int64_t t) const
    {
        tile_of[p] = (int32_t)t;
        atomicOr((unsigned long long *)&mask[t], (unsigned long long)bit(i, p));
    }
};

static __global__ void count_nonzeros(int64_t tiles, const uint64_t *__restrict__ mask,
                                      int32_t *__restrict__ length)
{
    const int64_t t = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (t < tiles) length[t] = __popcll(mask[t]);
}

// Writes each value to its place in its tile. A block per tile row.
template <typename W>
static __global__ void place_values(struct tile8_source s, struct tile8 t,
                                    const W *__restrict__ val, W *__restrict__ to)
{
    const int32_t i = (int32_t)blockIdx.x;
    s.each(i, [&](int32_t, int32_t p) {
        const int32_t tile = s.tile_of[p];
        to[t.start[tile] + __popcll(t.mask[tile] & (s.bit(i, p) - 1))] = val[p];
    });
}

template <typename W>
static void start_place(struct device *d, const struct tile8_source &s, const struct csr_dev *A,
                        struct tile8 *T)
{
    auto kernel = place_values<W>;
    LAUNCH(kernel, (unsigned)T->tile_m, s.threads(A), 0, d->stream, s, *T, (const W *)A->val,
           (W *)T->val);
}

extern "C" int tile8_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                               struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct tile8 *T = (struct tile8 *)out;
    T->tile_m = tile8_count(A->m);
    T->tile_n = tile8_count(A->n);
    struct tile8_source s = {{A->m, (const int32_t *)A->ptr, A->idx, NULL}, NULL};
    int32_t *length = NULL;
    int err = find_csr_tiles(d, A, sizeof *T->mask, T, &T->row, &s);
    if (!err) err = device_alloc(d, T->tiles + 1, sizeof *T->start, (void **)&T->start);
    if (!err) err = device_alloc(d, T->tiles, sizeof *length, (void **)&length);
    if (!err) err = device_alloc(d, A->nnz, type_bytes(A->type), &T->val);
    if (!err && T->tiles > 0) {
        LAUNCH(count_nonzeros, (unsigned)ceil_div(T->tiles, BLOCK), BLOCK, 0, d->stream, T->tiles,
               T->mask, length);
        err = launch_check("tile8: count");
    }
    if (!err) err = cub_exclusive_sum(d, length, T->tiles, T->start);
    if (!err && T->tiles > 0) {
        BY_BYTES(type_bytes(A->type), start_place, d, s, A, T);
        err = launch_check("tile8: values");
    }
    device_free(d, length);
    device_free(d, s.tile_of);
    return err;
}
