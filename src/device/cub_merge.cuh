// CUB's sort with a comparison function. Not in cub.cuh, because the sort takes long to compile.
#ifndef SPBENCH_CUB_MERGE_H
#define SPBENCH_CUB_MERGE_H

#include "device/cuda.cuh"

// CUB has template parameters called WARP, which is a macro of warp.cuh.
#pragma push_macro("WARP")
#undef WARP
#include <cub/device/device_merge_sort.cuh>
#pragma pop_macro("WARP")

// Sorts n distinct keys by less(a, b).
template <typename K, typename F> static int cub_sort(struct device *d, K *keys, int64_t n, F less)
{
    cudaStream_t stream = (cudaStream_t)d->stream;
    size_t bytes = 0;
    void *scratch = NULL;
    if (n < 2) return OK;
    CUDA_TRY(cub::DeviceMergeSort::SortKeys(NULL, bytes, keys, n, less, stream));
    int err = device_alloc(d, (int64_t)bytes, 1, &scratch);
    if (err) return err;
    cudaError_t e = cub::DeviceMergeSort::SortKeys(scratch, bytes, keys, n, less, stream);
    device_free(d, scratch);
    return e == cudaSuccess ? OK : cuda_fail(e, __FILE__, __LINE__, "cub::DeviceMergeSort");
}

#endif
