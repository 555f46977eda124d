// The emulator does what CUDA does: intrinsics, order of threads, the runtime API and its errors.
// test_emu_faults.cpp has what it must catch.
#include "emu.h"
#include "kernel.cuh"
#include "test.h"

#include <vector>

// Device memory with the contents of a vector, and back.
template <typename T> static T *to_device(const std::vector<T> &v)
{
    T *p = NULL;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}

template <typename T> static std::vector<T> to_host(T *p, size_t n)
{
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(p);
    return v;
}

// Each test kernel counts what is wrong; 0 is right.
#define EXPECT(cond)                                                                               \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("line %d: thread %u: %s\n", __LINE__, threadIdx.x, #cond);                      \
            atomicAdd(wrong, 1);                                                                   \
        }                                                                                          \
    } while (0)

#define RUN(kernel, grid, block, shared, ...)                                                      \
    do {                                                                                           \
        int *wrong_dev = to_device(std::vector<int>(1, 0));                                        \
        LAUNCH(kernel, grid, block, shared, NULL, wrong_dev, ##__VA_ARGS__);                       \
        cudaError_t e = cudaGetLastError();                                                        \
        CHECK(e == cudaSuccess, "%s: %s", #kernel, cudaGetErrorString(e));                         \
        int n = to_host(wrong_dev, 1)[0];                                                          \
        CHECK(n == 0, "%s: %d wrong", #kernel, n);                                                 \
    } while (0)

static __global__ void index_kernel(int *wrong, int *seen)
{
    EXPECT(blockDim.x == 5 && blockDim.y == 3 && blockDim.z == 2);
    EXPECT(gridDim.x == 4 && gridDim.y == 3 && gridDim.z == 2);
    int64_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int64_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    seen[block * 30 + thread]++;
}

template <typename T> static __global__ void shuffle_kernel(int *wrong)
{
    int lane = lane_id();
    T x = (T)(lane * 3 + 1);
    EXPECT(__shfl_sync(FULL_MASK, x, 5) == (T)16);
    EXPECT(__shfl_sync(FULL_MASK, x, lane + 33) == (T)((lane + 1) % 32 * 3 + 1));
    EXPECT(__shfl_sync(FULL_MASK, x, 2, 8) == (T)((lane / 8 * 8 + 2) * 3 + 1));
    int up = lane >= 4 ? lane - 4 : lane, down = lane + 4 < 32 ? lane + 4 : lane;
    EXPECT(__shfl_up_sync(FULL_MASK, x, 4) == (T)(up * 3 + 1));
    EXPECT(__shfl_down_sync(FULL_MASK, x, 4) == (T)(down * 3 + 1));
    up = lane % 8 >= 3 ? lane - 3 : lane;
    EXPECT(__shfl_up_sync(FULL_MASK, x, 3, 8) == (T)(up * 3 + 1));
    EXPECT(__shfl_xor_sync(FULL_MASK, x, 9) == (T)((lane ^ 9) * 3 + 1));
    EXPECT(warp_sum(x) == (T)(31 * 32 / 2 * 3 + 32));
    EXPECT(warp_broadcast(x, 31) == (T)94);
    // The two halves of the warp go different ways, and meet often, out of step.
    unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
    for (int i = 0; i < (lane < 16 ? 3 : 7); i++)
        EXPECT(__shfl_xor_sync(half, x, 1) == (T)((lane ^ 1) * 3 + 1));
    __syncwarp();
}

static __global__ void wide_kernel(int *wrong)
{
    int lane = lane_id();
    uint64_t x = (uint64_t)0xfedcba9800000000u + (unsigned)lane;
    EXPECT(__shfl_sync(FULL_MASK, x, 7) == (uint64_t)0xfedcba9800000007u);
    double d = 1.0 / (lane + 1);
    EXPECT(__shfl_down_sync(FULL_MASK, d, 1) == (lane < 31 ? 1.0 / (lane + 2) : d));
    // A lane that is not in the mask has no value to give.
    if (lane < 8) EXPECT(__shfl_sync(0xffu, lane, 20) == -1);
}

static __global__ void vote_kernel(int *wrong)
{
    int lane = lane_id();
    EXPECT(__ballot_sync(FULL_MASK, lane % 3 == 0) == 0x49249249u);
    EXPECT(__any_sync(FULL_MASK, lane == 17) && !__any_sync(FULL_MASK, lane == 40));
    EXPECT(__all_sync(FULL_MASK, lane < 32) && !__all_sync(FULL_MASK, lane < 31));
    EXPECT(__match_any_sync(FULL_MASK, lane % 2) == (lane % 2 ? 0xaaaaaaaau : 0x55555555u));
    int all;
    EXPECT(__match_all_sync(FULL_MASK, 4, &all) == FULL_MASK && all);
    EXPECT(__reduce_add_sync(FULL_MASK, lane - 16) == -16);
    EXPECT(__reduce_min_sync(FULL_MASK, lane - 16) == -16);
    EXPECT(__reduce_max_sync(FULL_MASK, (unsigned)lane) == 31);
    EXPECT(__reduce_or_sync(FULL_MASK, 1u << lane) == FULL_MASK);
    EXPECT(__activemask() >> lane & 1);
    int t = (int)threadIdx.x;
    EXPECT(__syncthreads_count(t % 4 == 0) == 32);
    EXPECT(__syncthreads_count(t % 2) == 64);
    EXPECT(__syncthreads_or(t == 127) && !__syncthreads_or(t == 128));
    EXPECT(__syncthreads_and(t < 128) && !__syncthreads_and(t < 127));
}

static __global__ void bits_kernel(int *wrong)
{
    EXPECT(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64);
    EXPECT(__ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41);
    EXPECT(__clz(0) == 32 && __clz(1) == 31 && __clzll(0) == 64 && __clzll(1ll << 40) == 23);
    EXPECT(__brev(1u) == 0x80000000u && __brev(0xc0u) == 0x03000000u);
    EXPECT(__float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2.0f);
    EXPECT(__longlong_as_double(__double_as_longlong(0.1)) == 0.1);
    EXPECT(min(3, -2) == -2 && max(3u, 7u) == 7);
    EXPECT(max(1.5f, 2.5f) == 2.5f && min(1.0, 2.0f) == 1.0);
    EXPECT(max((int64_t)1 << 40, (int64_t)3) == (int64_t)1 << 40);
    EXPECT(__fmaf_rn(2.0f, 3.0f, 4.0f) == 10.0f && __fmul_rn(2.0f, 3.0f) == 6.0f);
    EXPECT(__umulhi(0x80000000u, 6u) == 3);
    float4 v = make_float4(1, 2, 3, 4);
    EXPECT(__ldg(&v).w == 4 && sizeof v == 16 && alignof(double2) == 16 && alignof(int3) == 4);
    __stcs(&v, make_float4(5, 6, 7, 8));
    EXPECT(__ldcs(&v).x == 5);
    EXPECT(warpSize == 32 && clock64() > 0);
}

static __global__ void atomic_kernel(int *wrong, int *i, unsigned long long *u, float *f, double *d)
{
    atomicAdd(&i[0], 1);
    atomicSub(&i[1], 2);
    atomicMax(&i[2], (int)threadIdx.x);
    atomicMin(&i[3], -(int)threadIdx.x);
    atomicOr(&i[4], 1 << threadIdx.x % 7);
    atomicXor(&i[5], 5);
    atomicAdd(u, 1ull << 33);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    int old = i[6], now; // the usual loop around a compare and swap
    do {
        now = old;
        old = atomicCAS(&i[6], now, now + 3);
    } while (old != now);
    EXPECT(atomicExch(&i[7], 9) >= 0);
    while (atomicExch(&i[8], 1)) {} // a lock that every thread takes
    i[9] = i[9] + 1;
    atomicExch(&i[8], 0);
}

// Reverses its block's part through shared memory; without its barrier, wrongly.
static __global__ void reverse_kernel(int *wrong, int n, bool barrier)
{
    SHARED_DYNAMIC(int, all);
    __shared__ int own[256];
    int t = (int)threadIdx.x;
    if (blockIdx.x == 0) EXPECT(all[t] == -1 && own[t] == -1); // nothing from before
    all[t] = t;
    own[t] = 2 * t;
    if (barrier) __syncthreads();
    if (all[n - 1 - t] != n - 1 - t || own[n - 1 - t] != 2 * (n - 1 - t)) atomicAdd(wrong, 1);
}

// Each lane reads its neighbour's word; without the __syncwarp, wrongly.
static __global__ void neighbour_kernel(int *wrong, bool sync)
{
    __shared__ volatile int word[32];
    int lane = lane_id();
    word[lane] = lane;
    if (sync) __syncwarp();
    if (word[lane ? lane - 1 : 0] != (lane ? lane - 1 : 0)) atomicAdd(wrong, 1);
}

static int wrong_with(enum emu_order order, bool block_wide, bool sync)
{
    emu_set_order(order, 7);
    int *wrong = to_device(std::vector<int>(1, 0));
    if (block_wide)
        LAUNCH(reverse_kernel, 1, 256, 256 * sizeof(int), NULL, wrong, 256, sync);
    else
        LAUNCH(neighbour_kernel, 1, 32, 0, NULL, wrong, sync);
    return to_host(wrong, 1)[0];
}

static __global__ void order_kernel(int *count, int *at) { at[blockIdx.x] = atomicAdd(count, 1); }

static void test_device(void)
{
    int *seen = to_device(std::vector<int>(24 * 30, 0));
    RUN(index_kernel, dim3(4, 3, 2), dim3(5, 3, 2), 0, seen);
    for (int n : to_host(seen, 24 * 30)) CHECK(n == 1, "a thread ran %d times", n);
    auto ints = shuffle_kernel<int>;
    auto longs = shuffle_kernel<long long>;
    auto floats = shuffle_kernel<float>;
    auto doubles = shuffle_kernel<double>;
    enum emu_order orders[] = {EMU_FORWARD, EMU_REVERSE, EMU_SHUFFLE, EMU_MIXED};
    for (enum emu_order order : orders) {
        emu_set_order(order, 3);
        RUN(ints, 3, 96, 0);
        RUN(longs, 3, 96, 0);
        RUN(floats, 3, 96, 0);
        RUN(doubles, 3, 96, 0);
        RUN(wide_kernel, 2, 64, 0);
        RUN(bits_kernel, 1, 1, 0);
        int *i = to_device(std::vector<int>(10, 0));
        auto *u = to_device(std::vector<unsigned long long>(1, 0));
        float *f = to_device(std::vector<float>(1, 0));
        double *d = to_device(std::vector<double>(1, 0));
        RUN(atomic_kernel, 4, 100, 0, i, u, f, d);
        std::vector<int> want = {400, -800, 99, -99, 127, 0, 1200, 9, 0, 400};
        CHECK(to_host(i, 10) == want, "atomics on int");
        CHECK(to_host(u, 1)[0] == 400ull << 33, "atomicAdd on 64 bits");
        CHECK(to_host(f, 1)[0] == 200.0f && to_host(d, 1)[0] == 100.0, "atomicAdd on floats");
        CHECK(wrong_with(order, true, true) == 0, "with __syncthreads, order %d", order);
        CHECK(wrong_with(order, false, true) == 0, "with __syncwarp, order %d", order);
    }
    RUN(vote_kernel, 2, 128, 0);
    CHECK(wrong_with(EMU_FORWARD, true, false) > 0, "a missing __syncthreads does not show");
    int lanes = wrong_with(EMU_FORWARD, false, false) + wrong_with(EMU_REVERSE, false, false);
    CHECK(lanes > 0, "a missing __syncwarp does not show");
    emu_set_order(EMU_MIXED, 1);
}

static void test_orders(void)
{
    for (int order = EMU_FORWARD; order <= EMU_SHUFFLE; order++) {
        emu_set_order((enum emu_order)order, 5);
        int *count = to_device(std::vector<int>(1, 0)), *at = to_device(std::vector<int>(50, -1));
        LAUNCH(order_kernel, 50, 1, 0, NULL, count, at);
        std::vector<int> v = to_host(at, 50);
        CHECK(to_host(count, 1)[0] == 50, "50 blocks");
        CHECK((v[0] == 0 && v[1] == 1) == (order == EMU_FORWARD), "order %d", order);
        CHECK((v[0] == 49 && v[1] == 48) == (order == EMU_REVERSE), "order %d", order);
    }
    emu_set_order(EMU_MIXED, 1);
}

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
        LAUNCH(shared_kernel, grid, block, shared, NULL, (int)shared);
    else
        LAUNCH(empty_kernel, grid, block, 0, NULL);
    CHECK(cudaPeekAtLastError() == want, "%s", what);
    cudaError_t e = cudaGetLastError();
    CHECK(e == want, "%s: %s", what, cudaGetErrorName(e));
    CHECK(cudaGetLastError() == cudaSuccess, "%s: the error stays", what);
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
    LAUNCH(empty_kernel, 0, 1, 0, NULL);
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
    CHECK(cudaMemcpyAsync(q, p, 10, cudaMemcpyDeviceToDevice, 0) == cudaSuccess, "across");
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
    cudaStream_t stream;
    cudaEvent_t a, b;
    float ms = -1;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "stream");
    CHECK(cudaEventCreate(&a) == cudaSuccess && cudaEventCreate(&b) == cudaSuccess, "events");
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle, "not recorded");
    CHECK(cudaEventRecord(a, stream) == cudaSuccess, "record");
    LAUNCH(empty_kernel, 2000, 32, 0, stream);
    cudaEventRecord(b, stream);
    CHECK(cudaStreamWaitEvent(stream, b) == cudaSuccess, "wait");
    CHECK(cudaEventSynchronize(b) == cudaSuccess && cudaStreamSynchronize(stream) == cudaSuccess,
          "synchronise");
    CHECK(cudaEventElapsedTime(&ms, a, b) == cudaSuccess && ms > 0, "%g ms", ms);
    CHECK(cudaEventDestroy(a) == cudaSuccess && cudaEventDestroy(b) == cudaSuccess &&
              cudaStreamDestroy(stream) == cudaSuccess,
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
    LAUNCH(empty_kernel, 1, 1, 0, NULL);
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources, "a launch fails");
    CHECK(emu_launches() == launches + 1, "launches are counted");
    emu_fail_at(0);
    cudaFree(p);
}

static __global__ void search_kernel(int *wrong)
{
    int32_t ptr[] = {0, 0, 0, 4, 4, 9}; // rows 0, 1 and 3 are empty
    EXPECT(upper_bound(ptr, 6, 0) - 1 == 2 && upper_bound(ptr, 6, 3) - 1 == 2);
    EXPECT(upper_bound(ptr, 6, 4) - 1 == 4 && upper_bound(ptr, 6, 8) - 1 == 4);
    EXPECT(upper_bound(ptr, 6, 9) == 6 && upper_bound(ptr, 6, -1) == 0);
    EXPECT(upper_bound(ptr, 0, 3) == 0 && ceil_div(7, 3) == 3 && ceil_div(6, 3) == 2);
}

int main(void)
{
    test_device();
    test_orders();
    test_launch_limits();
    test_memory();
    test_runtime();
    test_failures();
    RUN(search_kernel, 1, 1, 0);
    return TEST_END();
}
