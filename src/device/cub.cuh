// CUB's prefix sums and radix sort, as functions that allocate scratch memory and return an err.
// Only cub_offsets() waits for the device. The emulator has its own <cub/...> in tests/emu.
#ifndef SPBENCH_CUB_H
#define SPBENCH_CUB_H

#include "device/cuda.cuh"

// CUB has template parameters called WARP, which is a macro of warp.cuh.
#pragma push_macro("WARP")
#undef WARP
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#pragma pop_macro("WARP")

// An addition in 64 bits for terms of any type. CUB sums in the type of the result.
struct cub_add64 {
    __host__ __device__ int64_t operator()(int64_t a, int64_t b) const { return a + b; }
};

// Sets out[i] = in[0] + ... + in[i - 1] for i = 0 to n. T and S are int32_t or int64_t. `out` has
// n + 1 elements and does not overlap `in`.
template <typename T, typename S>
static int cub_exclusive_sum(struct device *d, const T *in, int64_t n, S *out)
{
    cudaStream_t stream = (cudaStream_t)d->stream;
    size_t bytes = 0;
    void *scratch = NULL;
    int err = device_fill(d, out, 0, sizeof *out);
    if (err || n == 0) return err;
    CUDA_TRY(cub::DeviceScan::InclusiveScan(NULL, bytes, in, out + 1, cub_add64(), n, stream));
    err = device_alloc(d, (int64_t)bytes, 1, &scratch);
    if (err) return err;
    cudaError_t e =
        cub::DeviceScan::InclusiveScan(scratch, bytes, in, out + 1, cub_add64(), n, stream);
    device_free(d, scratch);
    return e == cudaSuccess ? OK : cuda_fail(e, __FILE__, __LINE__, "cub::DeviceScan");
}

// cub_exclusive_sum(), then copies out[n] to *total on the host. Waits. Returns the error of an
// earlier launch, if any, with `name` in its text.
template <typename T>
static int cub_offsets(struct device *d, const char *name, const T *in, int64_t n, int64_t *out,
                       int64_t *total)
{
    int err = cub_exclusive_sum(d, in, n, out);
    return err ? err : wait_for(d, name, out + n, total, sizeof *total);
}

// Returns the number of bits of keys 0 to n - 1.
static inline int cub_key_bits(int64_t n)
{
    int bits = 0;
    while (bits < 62 && (int64_t)1 << bits < n) bits++;
    return bits;
}

// Sorts n keys and their values by bits [begin_bit, end_bit) of the unsigned keys. Stable. The
// input is in keys[0] and values[0]. keys[1] and values[1] are scratch memory of the same size. The
// function may exchange the pointers, so that the result is in keys[0] and values[0].
template <typename K, typename V>
static int cub_sort_pairs(struct device *d, K *keys[2], V *values[2], int64_t n, int begin_bit,
                          int end_bit)
{
    cudaStream_t stream = (cudaStream_t)d->stream;
    size_t bytes = 0;
    void *scratch = NULL;
    if (n < 2 || end_bit <= begin_bit) return OK;
    cub::DoubleBuffer<K> k(keys[0], keys[1]);
    cub::DoubleBuffer<V> v(values[0], values[1]);
    CUDA_TRY(cub::DeviceRadixSort::SortPairs(NULL, bytes, k, v, n, begin_bit, end_bit, stream));
    int err = device_alloc(d, (int64_t)bytes, 1, &scratch);
    if (err) return err;
    cudaError_t e =
        cub::DeviceRadixSort::SortPairs(scratch, bytes, k, v, n, begin_bit, end_bit, stream);
    device_free(d, scratch);
    if (e != cudaSuccess) return cuda_fail(e, __FILE__, __LINE__, "cub::DeviceRadixSort");
    keys[0] = k.Current(), keys[1] = k.Alternate();
    values[0] = v.Current(), values[1] = v.Alternate();
    return OK;
}

#endif
