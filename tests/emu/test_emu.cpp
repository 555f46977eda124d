// The emulator does what CUDA does in kernels: intrinsics, barriers, the order of threads; and so
// do the helpers that kernels share. test_emu_runtime.cpp has the host's side, test_emu_faults.cpp
// what it must catch.
#include "emu.h"
#include "kernel.cuh"
#include "test.h"

#include <vector>

static cudaStream_t stream; // of all launches

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
        LAUNCH(kernel, grid, block, shared, stream, wrong_dev, ##__VA_ARGS__);                     \
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
        LAUNCH(reverse_kernel, 1, 256, 256 * sizeof(int), stream, wrong, 256, sync);
    else
        LAUNCH(neighbour_kernel, 1, 32, 0, stream, wrong, sync);
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
        LAUNCH(order_kernel, 50, 1, 0, stream, count, at);
        std::vector<int> v = to_host(at, 50);
        CHECK(to_host(count, 1)[0] == 50, "50 blocks");
        CHECK((v[0] == 0 && v[1] == 1) == (order == EMU_FORWARD), "order %d", order);
        CHECK((v[0] == 49 && v[1] == 48) == (order == EMU_REVERSE), "order %d", order);
    }
    emu_set_order(EMU_MIXED, 1);
}

static __global__ void search_kernel(int *wrong)
{
    const int32_t ptr[] = {0, 0, 0, 4, 4, 9}; // rows 0, 1 and 3 are empty
    EXPECT(upper_bound(ptr, 0, 6, 0) - 1 == 2 && upper_bound(ptr, 0, 6, 3) - 1 == 2);
    EXPECT(upper_bound(ptr, 0, 6, 4) - 1 == 4 && upper_bound(ptr, 0, 6, 8) - 1 == 4);
    EXPECT(upper_bound(ptr, 0, 6, 9) == 6 && upper_bound(ptr, 0, 6, -1) == 0);
    EXPECT(upper_bound(ptr, 0, 0, 3) == 0 && upper_bound(ptr, 2, 5, 0) == 3);
    EXPECT(lower_bound(ptr, 0, 6, 0) == 0 && lower_bound(ptr, 0, 6, 1) == 3);
    EXPECT(lower_bound(ptr, 0, 6, 4) == 3 && lower_bound(ptr, 0, 6, 10) == 6);
    EXPECT(lower_bound(ptr, 4, 5, 4) == 4 && lower_bound(ptr, 2, 2, 4) == 2);
    EXPECT(ceil_div(7, 3) == 3 && ceil_div(6, 3) == 2);
    EXPECT(bits_below(0) == 0 && bits_below(1) == 1 && bits_below(31) == 0x7fffffffu);
}

// Lane l brings l + 1, so the sum over the first n lanes is n * (n + 1) / 2.
static __global__ void group_kernel(int *wrong)
{
    const int lane = lane_id(), in_group = lane % 8, first = lane - in_group;
    EXPECT(group_sum<8>(lane + 1) == 8 * first + 36);
    EXPECT(warp_scan(lane + 1) == (lane + 1) * (lane + 2) / 2);
    EXPECT(group_scan<8>(lane + 1) == (in_group + 1) * first + (in_group + 1) * (in_group + 2) / 2);
    int x[4];
    for (int i = 0; i < 4; i++) x[i] = 100 * i + lane % 4;
    EXPECT(group_sums<4>(x) == 400 * (lane % 4) + 6);
    int y[2] = {in_group, 100 + in_group}, z[1] = {in_group};
    EXPECT(group_sums<8>(y) == 800 * (in_group / 4) + 28);
    EXPECT(group_sums<8>(z) == 28);
}

// Thread r of a team brings r + 1.
template <int TEAM> static __global__ void team_kernel(int *wrong)
{
    __shared__ int64_t sums[WARP];
    const int64_t rank = team_rank<TEAM>(), size = team_size<TEAM>();
    int64_t total = 0;
    for (int turn = 0; turn < 2; turn++) {
        EXPECT(team_scan<TEAM>(rank + 1, sums, total) == rank * (rank + 1) / 2);
        EXPECT(total == size * (size + 1) / 2);
    }
}

static __global__ void pack_kernel(int *wrong, int *counter)
{
    pack<float, 4> sum = {{0, 0, 0, 0}}, x = {{1, 2, 3, 4}};
    add(sum, x);
    add_product(sum, 2.0f, x);
    EXPECT(sum.x[0] == 3 && sum.x[3] == 12 && alignof(pack<double, 2>) == 16);
    EXPECT(add_dot(1.0f, sum, x) == 91);
    EXPECT(atomic_add_release(counter, 2) % 2 == 0);
}

static void test_helpers(void)
{
    auto in_warp = team_kernel<WARP>;
    auto in_two = team_kernel<64>;
    auto in_block = team_kernel<0>;
    enum emu_order orders[] = {EMU_FORWARD, EMU_REVERSE, EMU_SHUFFLE};
    for (enum emu_order order : orders) {
        emu_set_order(order, 9);
        int *counter = to_device(std::vector<int>(1, 0));
        RUN(search_kernel, 1, 1, 0);
        RUN(group_kernel, 2, 64, 0);
        RUN(in_warp, 2, 96, 0);
        RUN(in_two, 2, 64, 0);
        RUN(in_block, 2, 1024, 0);
        RUN(pack_kernel, 3, 32, 0, counter);
        CHECK(to_host(counter, 1)[0] == 192, "atomic_add_release");
    }
    emu_set_order(EMU_MIXED, 1);
}

int main(void)
{
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
    test_device();
    test_orders();
    test_helpers();
    cudaStreamDestroy(stream);
    return TEST_END();
}
