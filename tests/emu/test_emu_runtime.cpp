// The emulator's host side does what CUDA does: limits of launches, memory, streams, events,
// errors; and lets a run() that keeps to the rules pass.
#include "emu.h"
#include "device/cub.cuh"
#include "test.h"

static cudaStream_t stream; // of all launches

static __global__ void empty_kernel() {}
static __global__ void shared_kernel(int n)
{
    SHARED_DYNAMIC(char, all);
    __shared__ volatile char own[1000];
    all[n - 1] = own[threadIdx.x] = 1;
}

static void expect_launch(dim3 grid, dim3 block, size_t shared, cudaError_t want, const char *what)
{
    if (shared)
        LAUNCH(shared_kernel, grid, block, shared, stream, (int)shared);
    else
        LAUNCH(empty_kernel, grid, block, 0, stream);
    CHECK(cudaPeekAtLastError() == want, "%s", what);
    cudaError_t e = cudaGetLastError();
    CHECK(e == want, "%s: %s", what, cudaGetErrorName(e));
    CHECK(cudaGetLastError() == cudaSuccess, "%s: the error stays", what);
}

// What a profiler would see that waits for its marks.
static void test_profiler(void)
{
    for (int i = 0; i < 2; i++) {
        int64_t before = emu_profiled();
        LAUNCH(empty_kernel, 1, 1, 0, stream);
        CHECK(cudaProfilerStart() == cudaSuccess, "start");
        for (int launch = 0; launch < 3; launch++) LAUNCH(empty_kernel, 1, 1, 0, stream);
        CHECK(cudaProfilerStop() == cudaSuccess, "stop");
        LAUNCH(empty_kernel, 1, 1, 0, stream);
        CHECK(cudaGetLastError() == cudaSuccess && emu_profiled() == before + 3, "%lld kernels",
              (long long)(emu_profiled() - before));
    }
}

static void test_launch_limits(void)
{
    expect_launch(1, 1024, 0, cudaSuccess, "1024 threads");
    expect_launch(1, 1025, 0, cudaErrorInvalidConfiguration, "1025 threads");
    expect_launch(1, dim3(64, 32), 0, cudaErrorInvalidConfiguration, "2048 threads");
    expect_launch(1, dim3(1, 1, 65), 0, cudaErrorInvalidConfiguration, "a block 65 deep");
    expect_launch(1, 0, 0, cudaErrorInvalidConfiguration, "no threads");
    expect_launch(0, 32, 0, cudaErrorInvalidConfiguration, "no blocks");
    expect_launch(1u << 31, 32, 0, cudaErrorInvalidConfiguration, "2^31 blocks");
    expect_launch(dim3(1, 65536), 32, 0, cudaErrorInvalidConfiguration, "65536 rows of blocks");
    expect_launch(dim3(1, 65535), 1, 0, cudaSuccess, "65535 rows of blocks");
    expect_launch(1, 32, 48 * 1024 - 1000, cudaSuccess, "48 KB with the static 1000 bytes");
    expect_launch(1, 32, 48 * 1024 - 999, cudaErrorInvalidValue, "a byte more");
    auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    cudaError_t e = cudaFuncSetAttribute(shared_kernel, attribute, 227 * 1024);
    CHECK(e == cudaErrorInvalidValue && cudaGetLastError() == e, "227 KB and 1000 bytes");
    CHECK(cudaFuncSetAttribute(shared_kernel, attribute, 100000) == cudaSuccess, "attribute");
    expect_launch(1, 32, 100000, cudaSuccess, "as much as the attribute");
    expect_launch(1, 32, 100001, cudaErrorInvalidValue, "more than the attribute");
    cudaFuncAttributes facts;
    cudaFuncGetAttributes(&facts, shared_kernel);
    CHECK(facts.sharedSizeBytes == 1000, "%zu bytes of static shared", facts.sharedSizeBytes);
    int blocks;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_kernel, 256, 0);
    CHECK(blocks == 8, "%d blocks on a multiprocessor", blocks);
    LAUNCH(empty_kernel, 0, 1, 0, stream);
    CHECK(launch_check("empty") == ERR_DEVICE, "launch_check");
    CHECK_TEXT(fail_text(), "empty: launch: invalid configuration argument");
}

static void test_memory(void)
{
    char host[64] = "0123456789", back[64] = "";
    void *p = &p, *q = NULL;
    int64_t before = emu_used();
    CHECK(cudaMalloc(&p, 0) == cudaSuccess && !p, "nothing allocated");
    emu_set_memory(before + 1000);
    CHECK(cudaMalloc(&p, 900) == cudaSuccess, "900 of 1000 bytes");
    CHECK(cudaMalloc(&q, 101) == cudaErrorMemoryAllocation && !q, "1001 of 1000 bytes");
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation, "the error is kept");
    CHECK(cudaMalloc(&q, 100) == cudaSuccess, "1000 of 1000 bytes");
    size_t left, total;
    cudaMemGetInfo(&left, &total);
    CHECK(left == 0 && total == (size_t)before + 1000, "%zu of %zu bytes left", left, total);
    CHECK(cudaMemcpy(back, p, 10, cudaMemcpyDeviceToHost) == cudaSuccess && back[3] == (char)0xff,
          "new memory is poisoned");
    CHECK(cudaMemcpy(p, host, 10, cudaMemcpyHostToDevice) == cudaSuccess, "up");
    CHECK(cudaMemcpyAsync(q, p, 10, cudaMemcpyDeviceToDevice, stream) == cudaSuccess, "across");
    CHECK(cudaMemset((char *)q + 2, 'x', 3) == cudaSuccess, "memset");
    CHECK(cudaMemcpy(back, q, 10, cudaMemcpyDefault) == cudaSuccess, "down");
    back[10] = 0;
    CHECK_TEXT(back, "01xxx56789");
    cudaMemset(p, '.', 40);
    CHECK(cudaMemcpy2D((char *)p + 1, 10, host, 3, 2, 3, cudaMemcpyHostToDevice) == cudaSuccess,
          "rectangle");
    cudaMemcpy(back, p, 30, cudaMemcpyDeviceToHost);
    back[30] = 0;
    CHECK_TEXT(back, ".01........34........67.......");
    CHECK(cudaMemcpy(p, host, 901, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "too long");
    CHECK(cudaMemset((char *)q + 90, 0, 11) == cudaErrorInvalidValue, "memset too long");
    CHECK(cudaMemcpy(host, p, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue, "wrong way");
    CHECK(cudaFree(host) == cudaErrorInvalidValue, "free of host memory");
    CHECK(cudaFree(p) == cudaSuccess && cudaFree(q) == cudaSuccess, "free");
    CHECK(cudaFree(p) == cudaErrorInvalidValue, "free twice");
    CHECK(cudaMallocHost(&p, 10) == cudaSuccess && cudaFreeHost(p) == cudaSuccess, "host memory");
    cudaGetLastError();
    CHECK(emu_used() == before, "%lld bytes are left over", (long long)emu_used());
    emu_set_memory((int64_t)1 << 30);
}

static void test_runtime(void)
{
    cudaDeviceProp prop;
    int count = 0, value = 0;
    CHECK(cudaGetDeviceCount(&count) == cudaSuccess && count == 1, "%d devices", count);
    CHECK(cudaSetDevice(0) == cudaSuccess && cudaSetDevice(1) == cudaErrorInvalidDevice, "devices");
    CHECK(cudaGetDeviceProperties(&prop, 0) == cudaSuccess, "properties");
    CHECK_TEXT(prop.name, "emulated CUDA device");
    cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0);
    CHECK(value == prop.multiProcessorCount && value > 0, "%d multiprocessors", value);
    emu_set_devices(0);
    CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0, "no device");
    emu_set_devices(1);
    cudaGetLastError();
    CHECK_TEXT(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    CHECK_TEXT(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    cudaStream_t own;
    cudaEvent_t a, b;
    float ms = -1;
    CHECK(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess, "stream");
    CHECK(cudaEventCreate(&a) == cudaSuccess && cudaEventCreate(&b) == cudaSuccess, "events");
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle, "not recorded");
    CHECK(cudaEventRecord(a, own) == cudaSuccess, "record");
    LAUNCH(empty_kernel, 2000, 32, 0, own);
    cudaEventRecord(b, own);
    CHECK(cudaStreamWaitEvent(own, b) == cudaSuccess, "wait");
    CHECK(cudaEventSynchronize(b) == cudaSuccess && cudaStreamSynchronize(own) == cudaSuccess,
          "synchronise");
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess && ms > 0, "%g ms", ms);
    CHECK(cudaEventDestroy(a) == cudaSuccess && cudaEventDestroy(b) == cudaSuccess &&
              cudaStreamDestroy(own) == cudaSuccess,
          "destroy");
    cudaGetLastError();
}

static void test_failures(void)
{
    void *p = NULL, *q = NULL;
    emu_fail_at(2);
    CHECK(cudaMalloc(&p, 8) == cudaSuccess && !emu_failed(), "the first works");
    CHECK(cudaMalloc(&q, 8) == cudaErrorMemoryAllocation && emu_failed(), "the second fails");
    CHECK(cudaMemset(p, 0, 8) == cudaSuccess, "the third works");
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation, "the error is kept");
    emu_fail_at(1);
    int64_t launches = emu_launches();
    LAUNCH(empty_kernel, 1, 1, 0, stream);
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources, "a launch fails");
    CHECK(emu_launches() == launches + 1, "launches are counted");
    emu_fail_at(0);
    cudaFree(p);
}

int main(void)
{
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
    test_launch_limits();
    test_profiler();
    test_memory();
    test_runtime();
    test_failures();
    cudaStreamDestroy(stream);
    return TEST_END();
}
