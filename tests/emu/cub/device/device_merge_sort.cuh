// CUB's merge sort for the emulator: only the call that src/device/cub_merge.cuh makes, done by one
// thread of a kernel, as the comparison reads device memory.
#ifndef EMU_CUB_MERGE_SORT_H
#define EMU_CUB_MERGE_SORT_H

#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

namespace cub
{

template <typename K, typename F> static __global__ void emu_sort(K *keys, int64_t n, F less)
{
    std::vector<K> k(keys, keys + n);
    std::sort(k.begin(), k.end(), less);
    std::copy(k.begin(), k.end(), keys);
}

struct DeviceMergeSort {
    template <typename K, typename F>
    static cudaError_t SortKeys(void *scratch, size_t &scratch_bytes, K *keys, int64_t n, F less,
                                cudaStream_t stream)
    {
        if (!scratch) {
            scratch_bytes = 1;
            return cudaSuccess;
        }
        auto kernel = emu_sort<K, F>;
        LAUNCH(kernel, 1, 1, 0, stream, keys, n, less);
        return cudaGetLastError();
    }
};

} // namespace cub
#endif
