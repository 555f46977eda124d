// A CUDA device: a stream for all work, two events, and the clocks from NVML.
//
// After an illegal access every call on the device fails with the same error until the process
// ends. Each function returns that error, except for cuda_close().
#include "device/cuda.cuh"
#include "device/device.h"
#include "device/digest_cuda.h"
#include "device/flip_cuda.h"
#include "device/graph_cuda.h"
#include "device/nvml.h"
#include "device/product_cuda.h"
#include "device/roof.h"
#include "device/signs.h"

#include <cuda_profiler_api.h>
#include <stdio.h>
#include <string.h>

struct cuda {
    cudaStream_t stream;
    cudaEvent_t start, stop;
    cudaMemPool_t pool;
    void *flush; // 2 x the L2; NULL before the first flush
    int64_t flush_bytes;
    uint64_t *parts[2]; // digests of warps, on the device and on the host; NULL before the first
    struct nvml nvml;
};

static struct cuda *cuda_of(struct device *d) { return (struct cuda *)d->backend; }

static int cuda_count(const char **missing)
{
    static char why[128];
    int count = 0, driver = 0, runtime = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    if (e == cudaSuccess && count > 0) return count;
    cudaGetLastError();
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    if (e == cudaErrorInsufficientDriver && !driver)
        snprintf(why, sizeof why, "no NVIDIA driver found");
    else if (e == cudaErrorInsufficientDriver)
        snprintf(why, sizeof why,
                 "the driver is too old: it supports CUDA %d.%d, this build needs %d.%d",
                 driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    else if (e == cudaSuccess || e == cudaErrorNoDevice)
        snprintf(why, sizeof why, "no CUDA device found");
    else
        snprintf(why, sizeof why, "no CUDA device can be used: %s", cudaGetErrorString(e));
    *missing = why;
    return 0;
}

static int cuda_bus_id(int index, char id[DEVICE_BUS_ID_MAX])
{
    CUDA_TRY(cudaDeviceGetPCIBusId(id, DEVICE_BUS_ID_MAX, index));
    return OK;
}

static __global__ void nothing(void) {}

static int describe(struct device *d)
{
    struct cudaDeviceProp facts;
    int major, minor, l2, driver, runtime;
    size_t free_bytes, total_bytes;
    CUDA_TRY(cudaGetDeviceProperties(&facts, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&d->units, cudaDevAttrMultiProcessorCount, d->index));
    CUDA_TRY(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, d->index));
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    CUDA_TRY(cudaDeviceGetPCIBusId(d->address, sizeof d->address, d->index));
    CUDA_TRY(cudaDriverGetVersion(&driver));
    CUDA_TRY(cudaRuntimeGetVersion(&runtime));
    snprintf(d->name, sizeof d->name, "%.*s", (int)sizeof d->name - 1, facts.name);
    snprintf(d->detail, sizeof d->detail, "sm_%d%d, driver %d.%d, runtime %d.%d", major, minor,
             driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    d->memory_bytes = (int64_t)total_bytes;
    d->cache_bytes = d->cache_least_bytes = l2;
    d->cache_block_bytes = d->cache_part_bytes = l2;
    return OK;
}

static int create_stream(struct device *d)
{
    struct cuda *cuda = cuda_of(d);
    CUDA_TRY(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreate(&cuda->start));
    CUDA_TRY(cudaEventCreate(&cuda->stop));
    d->stream = cuda->stream;
    // An empty kernel fails if this build has no code for the device.
    LAUNCH(nothing, 1, 1, 0, cuda->stream);
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) e = cudaStreamSynchronize(cuda->stream);
    if (e == cudaSuccess) return OK;
    return fail(ERR_DEVICE, "%s: %s (%s) cannot run the kernels of this build: %s", d->id, d->name,
                d->detail, cudaGetErrorString(e));
}

// Sets the memory pool to keep freed memory. An algorithm that allocates its result in every run
// then gets memory from the pool, not from the driver.
static int open_pool(struct device *d)
{
    int supported = 0;
    uint64_t keep_all = UINT64_MAX;
    CUDA_TRY(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, d->index));
    if (!supported)
        return fail(ERR_DEVICE, "%s: %s has no memory pools, which this program needs", d->id,
                    d->name);
    CUDA_TRY(cudaDeviceGetDefaultMemPool(&cuda_of(d)->pool, d->index));
    CUDA_TRY(cudaMemPoolSetAttribute(cuda_of(d)->pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
    return OK;
}

static void cuda_close(struct device *d)
{
    struct cuda *cuda = cuda_of(d);
    nvml_close(&cuda->nvml);
    cudaFree(cuda->flush);
    cudaFree(cuda->parts[0]);
    mem_free(cuda->parts[1]);
    if (cuda->stream) cudaStreamSynchronize(cuda->stream);
    if (cuda->pool) cudaMemPoolTrimTo(cuda->pool, 0);
    if (cuda->start) cudaEventDestroy(cuda->start);
    if (cuda->stop) cudaEventDestroy(cuda->stop);
    if (cuda->stream) cudaStreamDestroy(cuda->stream);
    cudaGetLastError();
    mem_free(cuda);
}

static int cuda_open(struct device *d)
{
    CUDA_TRY(cudaSetDevice(d->index));
    d->backend = mem_zero_alloc(1, sizeof(struct cuda));
    if (!d->backend) return ERR_MEMORY;
    int err = describe(d);
    if (!err) err = create_stream(d);
    if (!err) err = open_pool(d);
    if (err) {
        cuda_close(d);
        return err;
    }
    // Without NVML the clocks are unknown.
    char bus_id[DEVICE_BUS_ID_MAX];
    if (cuda_bus_id(d->index, bus_id) || nvml_open(&cuda_of(d)->nvml, bus_id)) fail_drop();
    return OK;
}

static int cuda_alloc(struct device *d, int64_t bytes, void **p)
{
    struct cuda *cuda = cuda_of(d);
    size_t size = bytes ? (size_t)bytes : 1;
    CUDA_TRY(cudaSetDevice(d->index));
    cudaError_t e = cudaMallocAsync(p, size, cuda->stream);
    if (e == cudaErrorMemoryAllocation) {
        // The pool may be fragmented. Return its memory and try again.
        cudaGetLastError();
        cudaStreamSynchronize(cuda->stream);
        cudaMemPoolTrimTo(cuda->pool, 0);
        e = cudaMallocAsync(p, size, cuda->stream);
    }
    if (e == cudaErrorMemoryAllocation) {
        char wanted[32], left[32];
        size_t free_bytes = 0, total_bytes = 0;
        cudaGetLastError();
        cudaMemGetInfo(&free_bytes, &total_bytes);
        return fail(ERR_MEMORY, "out of memory on %s: %s wanted, %s free", d->id,
                    size_text(bytes, wanted), size_text((int64_t)free_bytes, left));
    }
    CUDA_TRY(e);
    return OK;
}

static void cuda_release(struct device *d, void *p)
{
    // An error here is of earlier work, and cuda_sync() returns the error.
    if (cudaFreeAsync(p, cuda_of(d)->stream) != cudaSuccess) cudaGetLastError();
}

static int cuda_sync(struct device *d)
{
    CUDA_TRY(cudaStreamSynchronize(cuda_of(d)->stream));
    CUDA_TRY(cudaGetLastError());
    return OK;
}

static int cuda_sync_all(struct device *d)
{
    (void)d;
    CUDA_TRY(cudaDeviceSynchronize());
    return OK;
}

static int cuda_upload(struct device *d, void *to, const void *from, int64_t bytes)
{
    CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyHostToDevice, cuda_of(d)->stream));
    return cuda_sync(d);
}

static int cuda_download(struct device *d, void *to, const void *from, int64_t bytes)
{
    CUDA_TRY(cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToHost, cuda_of(d)->stream));
    return cuda_sync(d);
}

static int cuda_copy(struct device *d, void *to, const void *from, int64_t bytes)
{
    CUDA_TRY(
        cudaMemcpyAsync(to, from, (size_t)bytes, cudaMemcpyDeviceToDevice, cuda_of(d)->stream));
    return OK;
}

static int cuda_fill(struct device *d, void *p, int byte, int64_t bytes)
{
    CUDA_TRY(cudaMemsetAsync(p, byte, (size_t)bytes, cuda_of(d)->stream));
    return OK;
}

static int make_parts(struct device *d)
{
    struct cuda *cuda = cuda_of(d);
    int64_t bytes = digest_cuda_bytes(d);
    int err = OK;
    if (!cuda->parts[0]) err = cuda_alloc(d, bytes, (void **)&cuda->parts[0]);
    if (err || cuda->parts[1]) return err;
    cuda->parts[1] = (uint64_t *)mem_alloc(bytes, 1);
    return cuda->parts[1] ? OK : ERR_MEMORY;
}

static int cuda_digest(struct device *d, const struct device_view *v, uint64_t *bits)
{
    int err = make_parts(d);
    return err ? err : digest_cuda(d, v, cuda_of(d)->parts[0], cuda_of(d)->parts[1], bits);
}

static int cuda_fetch(struct device *d, const struct device_view *v, uint64_t seed, void *to)
{
    int err = make_parts(d);
    return err ? err : fetch_cuda(d, v, seed, cuda_of(d)->parts[0], to);
}

static void cuda_run_begin(struct device *d, bool closed)
{
    (void)d;
    RUN_BEGIN(closed);
}

static int cuda_run_end(struct device *d)
{
    RUN_END();
    cudaError_t e = cudaPeekAtLastError();
    if (e == cudaSuccess) return OK;
    cudaGetLastError();
    return fail(ERR_DEVICE, "%s: an unchecked launch failed: %s", d->id, cudaGetErrorString(e));
}

static int cuda_timer_start(struct device *d)
{
    CUDA_TRY(cudaEventRecord(cuda_of(d)->start, cuda_of(d)->stream));
    return OK;
}

static int cuda_timer_stop(struct device *d, double *ms)
{
    struct cuda *cuda = cuda_of(d);
    float elapsed;
    CUDA_TRY(cudaEventRecord(cuda->stop, cuda->stream));
    CUDA_TRY(cudaEventSynchronize(cuda->stop));
    CUDA_TRY(cudaGetLastError());
    CUDA_TRY(cudaEventElapsedTime(&elapsed, cuda->start, cuda->stop));
    *ms = elapsed;
    return OK;
}

static int cuda_separate(struct device *d)
{
    LAUNCH(nothing, 1, 1, 0, cuda_of(d)->stream);
    return launch_check("the kernel between two runs");
}

// Reads a large block. Reading, unlike writing, leaves no dirty lines that would be written back in
// the timed run.
static int cuda_flush_cache(struct device *d)
{
    struct cuda *cuda = cuda_of(d);
    if (!cuda->flush) {
        cuda->flush_bytes = 2 * device_cached_bytes(d);
        int err = cuda_alloc(d, cuda->flush_bytes, &cuda->flush);
        if (!err) err = cuda_fill(d, cuda->flush, 0, cuda->flush_bytes);
        if (err) return err;
    }
    // No wait: the flush hides the latency of the next launch.
    return roof_cuda_read(d, cuda->flush, cuda->flush_bytes, 1);
}

static int cuda_clock_mhz(struct device *d, int *now, int *max)
{
    const struct nvml *nvml = &cuda_of(d)->nvml;
    unsigned mhz;
    *now = *max = 0;
    if (!nvml->lib) return OK;
    if (NVML_ASK(nvml, nvmlDeviceGetClockInfo, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
        *now = (int)mhz;
    if (NVML_ASK(nvml, nvmlDeviceGetMaxClockInfo, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS)
        *max = (int)mhz;
    return OK;
}

static int cuda_throttled(struct device *d)
{
    const struct nvml *nvml = &cuda_of(d)->nvml;
    unsigned long long bits = 0;
    return nvml->lib &&
           NVML_ASK(nvml, nvmlDeviceGetCurrentClocksThrottleReasons, &bits) == NVML_SUCCESS &&
           (bits & NVML_HELD_DOWN);
}

static int cuda_profile(struct device *d, bool on)
{
    int err = cuda_sync(d);
    if (err) return err;
    CUDA_TRY(on ? cudaProfilerStart() : cudaProfilerStop());
    return OK;
}

extern "C" const struct device_ops device_cuda = {
    .units = "multiprocessors",
    .visible = "CUDA_VISIBLE_DEVICES",
    .toolkit = CUDART_VERSION,
    .row_start_bytes = sizeof(int32_t),
    .count = cuda_count,
    .bus_id = cuda_bus_id,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .digest = cuda_digest,
    .spoil = spoil_cuda,
    .sign_dense = sign_dense_cuda,
    .sign_sparse = sign_sparse_cuda,
    .fetch = cuda_fetch,
    .check_product = check_product_cuda,
    .sync = cuda_sync,
    .sync_all = cuda_sync_all,
    .run_begin = cuda_run_begin,
    .run_end = cuda_run_end,
    .timer_start = cuda_timer_start,
    .timer_stop = cuda_timer_stop,
    .separate = cuda_separate,
    .flip = flip_cuda,
    .graph_make = graph_cuda_make,
    .graph_launch = graph_cuda_launch,
    .graph_free = graph_cuda_free,
    .flush_cache = cuda_flush_cache,
    .clock_mhz = cuda_clock_mhz,
    .throttled = cuda_throttled,
    .profile = cuda_profile,
    .measure_roof = roof_measure_cuda,
    .probe_roof = roof_probe_cuda,
};
