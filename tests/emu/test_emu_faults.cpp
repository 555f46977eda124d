// Faults planted in kernels, each run in a child process: the emulator must stop it, and say which
// kernel, block and thread it was. test_emu_rules.cpp has those of the host's code around them.
#include "kernel.cuh"
#include "planted.h"

static cudaStream_t stream; // of all launches

template <typename T> static T *zeros(size_t n)
{
    T *p = NULL;
    if (cudaMalloc(&p, n * sizeof(T)) != cudaSuccess || cudaMemset(p, 0, n * sizeof(T))) abort();
    return p;
}

static __global__ void global_overrun(float *y, int n)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i <= n) y[i] = 1;
}

static __global__ void missing_row_guard(const int *ptr, float *y)
{
    int row = (int)(blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP);
    if (lane_id() == 0) y[row] = (float)(ptr[row + 1] - ptr[row]);
}

template <typename T> static __device__ __attribute__((noinline)) void put(T *p, T x) { *p = x; }

template <typename T> static __global__ void static_overrun(T *y)
{
    __shared__ T part[32];
    put(part + threadIdx.x, (T)1); // out of the compiler's sight
    __syncthreads();
    y[threadIdx.x % 32] = part[threadIdx.x % 32];
}

static __global__ void array_index(int *y)
{
    __shared__ int part[32];
    part[threadIdx.x] = 1;
    y[threadIdx.x] = part[threadIdx.x];
}

static __global__ void dynamic_overrun(float *y)
{
    SHARED_DYNAMIC(float, part);
    part[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = part[threadIdx.x + 1];
}

static __global__ void host_pointer_in_use(float *y, float *gone) { y[0] = gone[threadIdx.x]; }

static __global__ void early_return(int n)
{
    if ((int)threadIdx.x >= n) return;
    __syncthreads();
}

static __global__ void two_barriers()
{
    if (threadIdx.x < 7)
        __syncthreads();
    else
        __syncthreads();
}

static __global__ void barrier_in_one_warp()
{
    if (threadIdx.x < 32) __syncthreads();
    __syncwarp();
    if (threadIdx.x >= 32) __syncthreads_or(1);
}

static __global__ void missing_lanes(float *y)
{
    if (lane_id() < 20) y[lane_id()] = warp_sum(y[lane_id()]);
}

static __global__ void partial_warp(float *y) { y[threadIdx.x] = warp_sum(1.0f); }

static __global__ void bad_mask(int *y)
{
    y[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 0);
}

static __global__ void two_shuffles(int *y)
{
    int x = lane_id();
    if (x % 2)
        x = __shfl_sync(FULL_MASK, x, 0);
    else
        x = __shfl_sync(FULL_MASK, x, 1);
    y[lane_id()] = x;
}

static __global__ void bad_width(int *y) { y[0] = __shfl_sync(FULL_MASK, y[0], 0, 12); }

static __global__ void overflow(int *y)
{
    if (threadIdx.x == 9) y[9] += INT32_MAX + (int)threadIdx.x;
}

static __global__ void misaligned(float *y)
{
    *(float4 *)(y + threadIdx.x) = make_float4(0, 0, 0, 0);
}

static __global__ void endless_wait(int *flag)
{
    while (atomicCAS(flag, 1, 1) == 0) {}
}

static __global__ void trap()
{
    if (threadIdx.x == 3) __trap();
}

static __global__ void oversize_block() {}

template <typename T> __global__ void not_static(T *y)
{
    __shared__ T part[32];
    part[threadIdx.x] = y[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = part[31 - threadIdx.x];
}

static void f_global_overrun() { LAUNCH(global_overrun, 4, 32, 0, stream, zeros<float>(100), 100); }
static void f_row_guard()
{
    LAUNCH(missing_row_guard, 3, 128, 0, stream, zeros<int>(11), zeros<float>(10));
}
static void f_static_overrun()
{
    auto kernel = static_overrun<double>;
    LAUNCH(kernel, 2, 33, 0, stream, zeros<double>(32));
}
static void f_dynamic_overrun()
{
    LAUNCH(dynamic_overrun, 1, 64, 64 * sizeof(float), stream, zeros<float>(64));
}
static void f_after_free()
{
    float *gone = zeros<float>(64);
    cudaFree(gone);
    LAUNCH(host_pointer_in_use, 1, 32, 0, stream, zeros<float>(1), gone);
}
static void f_on_host() { printf("%g\n", (double)zeros<float>(8)[3]); }
static void f_early_return() { LAUNCH(early_return, 1, 128, 0, stream, 100); }
static void f_two_barriers() { LAUNCH(two_barriers, 1, 32, 0, stream); }
static void f_one_warp() { LAUNCH(barrier_in_one_warp, 1, 64, 0, stream); }
static void f_missing_lanes() { LAUNCH(missing_lanes, 1, 64, 0, stream, zeros<float>(64)); }
static void f_partial_warp() { LAUNCH(partial_warp, 1, 48, 0, stream, zeros<float>(48)); }
static void f_bad_mask() { LAUNCH(bad_mask, 1, 32, 0, stream, zeros<int>(32)); }
static void f_two_shuffles() { LAUNCH(two_shuffles, 1, 32, 0, stream, zeros<int>(32)); }
static void f_bad_width() { LAUNCH(bad_width, 1, 32, 0, stream, zeros<int>(32)); }
static void f_overflow() { LAUNCH(overflow, dim3(1, 2), 32, 0, stream, zeros<int>(32)); }
static void f_misaligned() { LAUNCH(misaligned, 1, 32, 0, stream, zeros<float>(64)); }
static void f_endless() { LAUNCH(endless_wait, 1, 2, 0, stream, zeros<int>(1)); }
static void f_trap() { LAUNCH(trap, 1, 32, 0, stream); }
static void f_oversize() { LAUNCH(oversize_block, 1, 1056, 0, stream); }
static void f_zero_grid() { LAUNCH(oversize_block, 0, 32, 0, stream); }
static void f_array_index() { LAUNCH(array_index, 1, 40, 0, stream, zeros<int>(32)); }
static void f_not_static() { LAUNCH(not_static<float>, 1, 32, 0, stream, zeros<float>(32)); }
static void f_leak() { zeros<double>(1234); }
static void f_fine() { LAUNCH(early_return, 1, 64, 0, stream, 64); }

// Every fault, and what is told of it, with "..." for what need not be the same.
static const struct {
    const char *name;
    void (*run)();
    const char *report;
} faults[] = {
    {"global overrun", f_global_overrun,
     "kernel global_overrun (test_emu_faults.cpp:...block (3,0,0), thread (4,0,0): memory "
     "fault...heap-buffer-overflow"},
    {"missing row guard", f_row_guard,
     "kernel missing_row_guard (...block (2,0,0), thread (64,0,0): memory fault...overflow"},
    {"static shared overrun", f_static_overrun,
     "kernel kernel = static_overrun<double> (...block (0,0,0), thread (32,0,0): memory "
     "fault...global-buffer-overflow"},
    {"index past a shared array", f_array_index,
     "kernel array_index (...thread (32,0,0): undefined behaviour...index 32 out of bounds"},
    {"dynamic shared overrun", f_dynamic_overrun,
     "kernel dynamic_overrun (...thread (63,0,0): memory fault...heap-buffer-overflow"},
    {"use after free", f_after_free,
     "kernel host_pointer_in_use (...thread (0,0,0): memory fault...heap-use-after-free"},
    {"device memory read by the host", f_on_host, "emulator: outside a kernel...use-after-poison"},
    {"return before a barrier", f_early_return,
     "kernel early_return (...divergent barrier: 100 threads wait in __syncthreads at line ..., 28 "
     "threads have returned\n"},
    {"two barriers", f_two_barriers,
     "kernel two_barriers (...thread (7,0,0): divergent barrier: in __syncthreads (...where 7 "
     "threads wait in __syncthreads at line "},
    {"barrier in one warp", f_one_warp,
     "kernel barrier_in_one_warp (...divergent barrier: in __syncthreads_or "
     "(test_emu_faults.cpp:...where 32 threads wait in __syncthreads at"},
    {"lanes that never come", f_missing_lanes,
     "kernel missing_lanes (...thread (0,0,0): __shfl_xor_sync at line ...with mask 0xffffffff "
     "waits for lane 20, which has returned\n"},
    {"lanes that do not exist", f_partial_warp,
     "kernel partial_warp (...waits for lane 16, which does not exist: the block has 48 threads\n"},
    {"not in its own mask", f_bad_mask,
     "kernel bad_mask (...thread (16,0,0): __shfl_sync (...lane 16 is not in its own mask "
     "0x0000ffff\n"},
    {"two shuffles", f_two_shuffles,
     "kernel two_shuffles (...waits for lane 1, which waits in __shfl_sync at line "},
    {"width of a shuffle", f_bad_width, "kernel bad_width (...width 12 is not 1, 2, 4, 8, 16"},
    {"integer overflow", f_overflow,
     "kernel overflow (...block (0,0,0), thread (9,0,0): undefined behaviour...signed integer "
     "overflow"},
    {"misaligned vector", f_misaligned,
     "kernel misaligned (...thread (1,0,0): undefined behaviour...misaligned address"},
    {"endless wait", f_endless, "kernel endless_wait (...threads spin without progress"},
    {"trap", f_trap, "kernel trap (...thread (3,0,0): __trap\n"},
    {"oversize block", f_oversize,
     "kernel oversize_block (...invalid configuration argument: a block of (1056,1,1) "
     "threads...the program did not look\n"},
    {"zero grid", f_zero_grid,
     "kernel oversize_block (...a grid of (0,1,1) blocks...the program did not look\n"},
    {"kernel that is not static", f_not_static, "kernel not_static<float> (...make it static"},
    {"leak of device memory", f_leak, "LeakSanitizer: detected memory leaks...9872 byte(s)"},
};

int main(void)
{
    static char text[1 << 16];
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return 1;
    CHECK(!fails(f_fine, text, sizeof text), "no fault, but: %s", text);
    for (const auto &f : faults) expect_fault(f.name, f.run, f.report);
    cudaStreamDestroy(stream);
    return TEST_END();
}
