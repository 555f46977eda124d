// CUB's scan for the emulator: only the call that src/device/cub.cuh makes, done on the host.
#ifndef EMU_CUB_SCAN_H
#define EMU_CUB_SCAN_H

#include <cuda_runtime.h>

#include <vector>

namespace cub
{

struct DeviceScan {
    template <typename T, typename R, typename F>
    static cudaError_t InclusiveScan(void *scratch, size_t &scratch_bytes, const T *in, R *out, F f,
                                     int64_t n, cudaStream_t stream)
    {
        if (!scratch) {
            scratch_bytes = 1;
            return cudaSuccess;
        }
        std::vector<T> x((size_t)n);
        std::vector<R> y((size_t)n);
        cudaError_t e =
            emu::library_copy(x.data(), in, x.size() * sizeof(T), cudaMemcpyDeviceToHost, stream);
        if (e != cudaSuccess) return e;
        for (size_t i = 0; i < x.size(); i++) y[i] = i ? f(y[i - 1], x[i]) : (R)x[i];
        return emu::library_copy(out, y.data(), y.size() * sizeof(R), cudaMemcpyHostToDevice,
                                 stream);
    }
};

} // namespace cub
#endif
