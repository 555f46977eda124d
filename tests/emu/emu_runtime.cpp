// The runtime API of the emulated device: settings, errors, launches, facts about the device.
#include "emu_internal.h"

#include <map>

namespace emu
{
namespace
{

constexpr size_t SHARED_DEFAULT = 48 * KIB, SHARED_MOST = 227 * KIB;
constexpr int SMS = 4, SM_THREADS = 2048, SM_BLOCKS = 32;

cudaError_t last_error;
// A launch that was refused, and that nobody has asked about yet.
char refused[1024];

std::map<const void *, int> shared_most; // kernel -> dynamic shared memory it may ask for

int64_t env_number(const char *name, int64_t other)
{
    const char *text = getenv(name);
    return text && *text ? strtoll(text, NULL, 10) : other;
}

enum emu_order env_order()
{
    const char *text = getenv("SPBENCH_EMU_ORDER");
    const char *names[] = {"mixed", "forward", "reverse", "shuffle"};
    for (int i = 0; text && i < 4; i++)
        if (!strcmp(text, names[i])) return (enum emu_order)i;
    if (text && *text) {
        fprintf(stderr, "emulator: SPBENCH_EMU_ORDER=%s: not mixed, forward, reverse or shuffle\n",
                text);
        abort();
    }
    return EMU_MIXED;
}

// Why a launch cannot be, or cudaSuccess.
cudaError_t launch_check(const launch &l, char *why, size_t size)
{
    uint64_t threads = (uint64_t)l.block.x * l.block.y * l.block.z;
    if (!threads || l.block.x > 1024 || l.block.y > 1024 || l.block.z > 64 || threads > 1024) {
        snprintf(why, size, "a block of (%u,%u,%u) threads", l.block.x, l.block.y, l.block.z);
        return cudaErrorInvalidConfiguration;
    }
    if (!l.grid.x || !l.grid.y || !l.grid.z || l.grid.x > INT32_MAX || l.grid.y > 65535 ||
        l.grid.z > 65535) {
        snprintf(why, size, "a grid of (%u,%u,%u) blocks", l.grid.x, l.grid.y, l.grid.z);
        return cudaErrorInvalidConfiguration;
    }
    auto most = shared_most.find(l.kernel);
    size_t fixed = symbols_find(l.kernel).shared_bytes;
    size_t limit = most == shared_most.end() ? SHARED_DEFAULT : (size_t)most->second + fixed;
    if (limit < SHARED_DEFAULT) limit = SHARED_DEFAULT;
    if (l.shared_bytes > limit || l.shared_bytes + fixed > limit) {
        snprintf(why, size, "%zu bytes of shared memory, where %zu are allowed",
                 l.shared_bytes + fixed, limit);
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

} // namespace

settings &set()
{
    static settings s = {env_number("SPBENCH_EMU_MEMORY", (int64_t)1 << 30),
                         env_number("SPBENCH_EMU_FAIL_NTH", 0),
                         (int)env_number("SPBENCH_EMU_DEVICES", 1),
                         0,
                         env_order(),
                         true,
                         (uint64_t)env_number("SPBENCH_EMU_SEED", 1),
                         0};
    return s;
}

cudaError_t done(cudaError_t e)
{
    if (e != cudaSuccess) last_error = e;
    return e;
}

bool must_fail()
{
    settings &s = set();
    if (s.fail_at <= 0 || --s.fail_at > 0) return false;
    s.failed = 1;
    return true;
}

void refused_check()
{
    if (refused[0]) host_fault("%s: the launch was refused, and the program did not look", refused);
}

enum emu_order order_now()
{
    settings &s = set();
    if (s.reseed) random_seed(s.seed);
    s.reseed = false;
    return s.order;
}

void count_launch(const launch &l)
{
    set().launches++;
    set().early += l.early;
}

void run(const launch &l)
{
    rule_launch(l);
    // After a failure that was planned, launches do nothing until the program looks: as on a device
    // whose context is dead, and not on data that the refused kernel never made.
    static bool planned;
    if (refused[0] && planned) return;
    refused_check();
    static bool at_exit = !atexit(refused_check);
    (void)at_exit;
    bool capturing = is_capturing((cudaStream_t)l.stream);
    if (!capturing) count_launch(l);
    if (!capturing && set().profiling) set().profiled++;
    char why[128] = "it was told to fail";
    planned = must_fail();
    cudaError_t e = planned ? cudaErrorLaunchOutOfResources : launch_check(l, why, sizeof why);
    char text[512];
    kernel_text(l, text, sizeof text);
    if (e != cudaSuccess) {
        snprintf(refused, sizeof refused, "%s: %s: %s", text, cudaGetErrorString(e), why);
        done(e);
        return;
    }
    if (symbols_find(l.kernel).unwatched)
        host_fault("%s: make it static: AddressSanitizer does not watch the __shared__ arrays of a "
                   "template that other files may have too",
                   text);
    if (capturing)
        capture_launch(l);
    else
        run_now(l);
}

void run_now(const launch &l)
{
    void *shared = NULL;
    if (l.shared_bytes && posix_memalign(&shared, 128, l.shared_bytes)) {
        done(cudaErrorMemoryAllocation);
        return;
    }
    {
        opened all;
        run_blocks(l, shared);
    }
    free(shared);
}

cudaError_t set_attribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    rule_closed("cudaFuncSetAttribute", CONFIGURES);
    MAY_FAIL(cudaErrorUnknown);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        (size_t)value + symbols_find(kernel).shared_bytes > SHARED_MOST)
        return done(cudaErrorInvalidValue);
    shared_most[kernel] = value;
    return cudaSuccess;
}

cudaError_t set_cache()
{
    rule_closed("cudaFuncSetCacheConfig", CONFIGURES);
    return cudaSuccess;
}

cudaError_t get_attributes(cudaFuncAttributes *a, const void *kernel)
{
    auto most = shared_most.find(kernel);
    *a = {};
    a->sharedSizeBytes = symbols_find(kernel).shared_bytes;
    a->maxThreadsPerBlock = 1024;
    a->numRegs = 32;
    a->ptxVersion = a->binaryVersion = 90;
    a->maxDynamicSharedSizeBytes =
        most == shared_most.end() ? (int)(SHARED_DEFAULT - a->sharedSizeBytes) : most->second;
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks, const void *kernel, int threads, size_t shared_bytes)
{
    if (threads < 1) return done(cudaErrorInvalidValue);
    size_t bytes = shared_bytes + symbols_find(kernel).shared_bytes + KIB;
    int n = SM_THREADS / ((threads + 31) / 32 * 32);
    if (n > SM_BLOCKS) n = SM_BLOCKS;
    if ((size_t)n > (SHARED_MOST + KIB) / bytes) n = (int)((SHARED_MOST + KIB) / bytes);
    *blocks = threads > 1024 ? 0 : n;
    return cudaSuccess;
}

} // namespace emu

using namespace emu;

extern "C" {

void emu_set_memory(int64_t bytes) { set().memory = bytes; }
void emu_set_devices(int count) { set().devices = count; }
void emu_fail_at(int64_t n)
{
    set().fail_at = n;
    set().failed = 0;
}
int emu_failed(void) { return set().failed; }
void emu_set_order(enum emu_order order, uint64_t seed)
{
    set().order = order;
    set().seed = seed;
    set().reseed = true;
}
int64_t emu_launches(void) { return set().launches; }
int64_t emu_launches_early(void) { return set().early; }
int64_t emu_profiled(void) { return set().profiled; }
int64_t emu_used(void) { return (int64_t)memory_used(); }

cudaError_t cudaPeekAtLastError(void)
{
    refused[0] = 0;
    return last_error;
}

cudaError_t cudaProfilerStart(void)
{
    MAY_FAIL(cudaErrorUnknown);
    set().profiling = true;
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    MAY_FAIL(cudaErrorUnknown);
    set().profiling = false;
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = cudaPeekAtLastError();
    rule_checked();
    last_error = cudaSuccess;
    return e;
}

#define ERRORS(X)                                                                                  \
    X(cudaSuccess, "no error")                                                                     \
    X(cudaErrorInvalidValue, "invalid argument")                                                   \
    X(cudaErrorMemoryAllocation, "out of memory")                                                  \
    X(cudaErrorInitializationError, "initialization error")                                        \
    X(cudaErrorInvalidConfiguration, "invalid configuration argument")                             \
    X(cudaErrorInvalidSymbol, "invalid device symbol")                                             \
    X(cudaErrorInvalidDevicePointer, "invalid device pointer")                                     \
    X(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                        \
    X(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version") \
    X(cudaErrorInvalidDeviceFunction, "invalid device function")                                   \
    X(cudaErrorNoDevice, "no CUDA-capable device is detected")                                     \
    X(cudaErrorInvalidDevice, "invalid device ordinal")                                            \
    X(cudaErrorInvalidResourceHandle, "invalid resource handle")                                   \
    X(cudaErrorIllegalState, "the operation cannot be performed in the present state")             \
    X(cudaErrorNotReady, "device not ready")                                                       \
    X(cudaErrorIllegalAddress, "an illegal memory access was encountered")                         \
    X(cudaErrorLaunchOutOfResources, "too many resources requested for launch")                    \
    X(cudaErrorLaunchFailure, "unspecified launch failure")                                        \
    X(cudaErrorNotSupported, "operation not supported")                                            \
    X(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")       \
    X(cudaErrorStreamCaptureInvalidated,                                                           \
      "operation failed due to a previous error during capture")                                   \
    X(cudaErrorUnknown, "unknown error")

const char *cudaGetErrorName(cudaError_t e)
{
    switch (e) {
#define NAME(code, text)                                                                           \
    case code: return #code;
        ERRORS(NAME)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t e)
{
    switch (e) {
#define TEXT(code, text)                                                                           \
    case code: return text;
        ERRORS(TEXT)
    }
    return "unrecognized error code";
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = set().devices;
    return *count ? cudaSuccess : done(cudaErrorNoDevice);
}

static cudaError_t device_check(int device)
{
    return device >= 0 && device < set().devices ? cudaSuccess : done(cudaErrorInvalidDevice);
}

static int current_device;

cudaError_t cudaSetDevice(int device)
{
    rule_closed("cudaSetDevice", CONFIGURES);
    cudaError_t e = device_check(device);
    if (e == cudaSuccess) current_device = device;
    return e;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current_device;
    return device_check(current_device);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (device_check(device) != cudaSuccess) return cudaErrorInvalidDevice;
    *p = {};
    snprintf(p->name, sizeof p->name, "emulated CUDA device");
    p->totalGlobalMem = (size_t)set().memory;
    p->sharedMemPerBlock = SHARED_DEFAULT;
    p->sharedMemPerBlockOptin = SHARED_MOST;
    p->sharedMemPerMultiprocessor = SHARED_MOST + KIB;
    p->reservedSharedMemPerBlock = KIB;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->memPitch = INT32_MAX;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = INT32_MAX;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 64 * KIB;
    p->major = 9;
    p->multiProcessorCount = SMS;
    p->maxThreadsPerMultiProcessor = SM_THREADS;
    p->maxBlocksPerMultiProcessor = SM_BLOCKS;
    p->l2CacheSize = 1024 * KIB;
    p->memoryBusWidth = 64;
    p->unifiedAddressing = p->memoryPoolsSupported = p->canMapHostMemory = 1;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attr, int device)
{
    cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e != cudaSuccess) return e;
    switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = 2; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = 1000000; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrIntegrated: *value = p.integrated; break;
    case cudaDevAttrMemoryClockRate: *value = 1000000; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)p.sharedMemPerMultiprocessor;
        break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrManagedMemory: *value = p.managedMemory; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrMemoryPoolsSupported: *value = p.memoryPoolsSupported; break;
    default: return done(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    if (device_check(device) != cudaSuccess) return cudaErrorInvalidDevice;
    snprintf(text, (size_t)size, "0000:%02x:00.0", device);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    rule_closed("cudaDeviceSynchronize", WAITS);
    NOT_CAPTURED();
    refused_check();
    MAY_FAIL(cudaErrorUnknown);
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    rule_closed("cudaDeviceReset", FREES);
    NOT_CAPTURED();
    memory_reset();
    last_error = cudaSuccess;
    return cudaSuccess;
}

} // extern "C"
