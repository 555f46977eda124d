// CUB's radix sort for the emulator: only the call that src/device/cub.cuh makes, done on the host.
#ifndef EMU_CUB_RADIX_SORT_H
#define EMU_CUB_RADIX_SORT_H

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace cub
{

template <typename T> struct DoubleBuffer {
    T *d_buffers[2];
    int selector;
    DoubleBuffer(T *current, T *alternate) : d_buffers{current, alternate}, selector(0) {}
    T *Current() { return d_buffers[selector]; }
    T *Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceRadixSort {
    template <typename K, typename V>
    static cudaError_t SortPairs(void *scratch, size_t &scratch_bytes, DoubleBuffer<K> &keys,
                                 DoubleBuffer<V> &values, int64_t n, int begin_bit, int end_bit,
                                 cudaStream_t stream)
    {
        if (!scratch) {
            scratch_bytes = 1;
            return cudaSuccess;
        }
        size_t count = (size_t)n, key_bytes = count * sizeof(K), value_bytes = count * sizeof(V);
        std::vector<K> k(count);
        std::vector<V> v(count);
        cudaError_t e =
            emu::library_copy(k.data(), keys.Current(), key_bytes, cudaMemcpyDeviceToHost, stream);
        if (e == cudaSuccess)
            e = emu::library_copy(v.data(), values.Current(), value_bytes, cudaMemcpyDeviceToHost,
                                  stream);
        if (e != cudaSuccess) return e;
        std::vector<std::pair<K, V>> pairs(count);
        for (size_t i = 0; i < count; i++) pairs[i] = {k[i], v[i]};
        int width = end_bit - begin_bit, all = 8 * (int)sizeof(K);
        K mask = width < all ? (K)(((K)1 << width) - 1) : (K) ~(K)0;
        auto part = [=](K key) { return (K)(key >> begin_bit & mask); };
        std::stable_sort(pairs.begin(), pairs.end(),
                         [=](const std::pair<K, V> &a, const std::pair<K, V> &b) {
                             return part(a.first) < part(b.first);
                         });
        for (size_t i = 0; i < count; i++) k[i] = pairs[i].first, v[i] = pairs[i].second;
        // The odd number of passes that CUB may make; callers must not count on either buffer.
        keys.selector ^= 1, values.selector ^= 1;
        e = emu::library_copy(keys.Current(), k.data(), key_bytes, cudaMemcpyHostToDevice, stream);
        if (e == cudaSuccess)
            e = emu::library_copy(values.Current(), v.data(), value_bytes, cudaMemcpyHostToDevice,
                                  stream);
        return e;
    }
};

} // namespace cub
#endif
