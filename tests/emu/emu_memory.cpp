// The runtime API's memory: allocations of exact size, copies that check both ends.
#include "emu_internal.h"

#include <map>

namespace emu
{
namespace
{

// Allocations up to this size are closed to the host while no kernel runs.
constexpr size_t CLOSED_MOST = 1024 * KIB;

// Blocks of device memory, size by address. The addresses are stored inverted, so that
// LeakSanitizer does not take this table for an owner.
std::map<uintptr_t, size_t> allocations;
size_t used_bytes;

// The allocation that `p` lies in, and the bytes from p to its end. False: not device memory.
bool find(const void *p, size_t *room)
{
    auto a = allocations.lower_bound(~(uintptr_t)p); // inverted, so the first start that is <= p
    if (a == allocations.end()) return false;
    size_t offset = (size_t)((uintptr_t)p - ~a->first);
    if (offset >= a->second) return false;
    *room = a->second - offset;
    return true;
}

// Opens device memory for as long as it lives, or closes it again.
void gate(bool open)
{
#if EMU_ASAN
    for (auto &a : allocations) {
        if (a.second > CLOSED_MOST) continue;
        if (open)
            ASAN_UNPOISON_MEMORY_REGION((void *)~a.first, a.second);
        else
            ASAN_POISON_MEMORY_REGION((void *)~a.first, a.second);
    }
#else
    (void)open;
#endif
}

// Whether one end of a copy is where the kind of copy says, with enough room.
bool end_ok(const void *p, size_t bytes, bool on_device)
{
    size_t room;
    bool device = find(p, &room);
    return device == on_device && (!device || bytes <= room);
}

// Within device memory a copy is like a launch, else the host waits for it.
bool is_within(const void *to, const void *from, cudaMemcpyKind kind)
{
    size_t room;
    return kind == cudaMemcpyDefault ? find(to, &room) && find(from, &room)
                                     : kind == cudaMemcpyDeviceToDevice;
}

void copy_rule(const char *call, const void *to, const void *from, cudaMemcpyKind kind)
{
    if (!is_within(to, from, kind)) rule_closed(call, COPIES);
}

cudaError_t copy(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    MAY_FAIL(cudaErrorUnknown);
    if (!is_capturing(stream)) {
        if (!stream) NOT_CAPTURED();
        return copy_now(to, to_pitch, from, from_pitch, width, height, kind);
    }
    if (!is_within(to, from, kind)) NOT_CAPTURED();
    return capture_copy(to, to_pitch, from, from_pitch, width, height);
}

cudaError_t fill(void *p, int byte, size_t bytes, cudaStream_t stream)
{
    MAY_FAIL(cudaErrorUnknown);
    if (is_capturing(stream)) return capture_fill(p, byte, bytes);
    if (!stream) NOT_CAPTURED();
    return fill_now(p, byte, bytes);
}

cudaError_t release(void *p)
{
    NOT_CAPTURED();
    if (!p) return cudaSuccess;
    auto a = allocations.find(~(uintptr_t)p);
    if (a == allocations.end()) return done(cudaErrorInvalidValue);
    used_bytes -= a->second;
#if EMU_ASAN
    ASAN_UNPOISON_MEMORY_REGION(p, a->second);
#endif
    allocations.erase(a);
    free(p);
    return cudaSuccess;
}

} // namespace

opened::opened() { gate(true); }
opened::~opened() { gate(false); }

cudaError_t copy_now(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                     size_t height, cudaMemcpyKind kind)
{
    size_t room;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return done(cudaErrorInvalidMemcpyDirection);
    if (!width || !height) return cudaSuccess;
    if (!to || !from || width > to_pitch || width > from_pitch) return done(cudaErrorInvalidValue);
    bool to_device = kind == cudaMemcpyDefault
                         ? find(to, &room)
                         : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDefault
                           ? find(from, &room)
                           : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (!end_ok(to, (height - 1) * to_pitch + width, to_device) ||
        !end_ok(from, (height - 1) * from_pitch + width, from_device))
        return done(cudaErrorInvalidValue);
    opened all;
    for (size_t i = 0; i < height; i++)
        memmove((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return cudaSuccess;
}

cudaError_t fill_now(void *p, int byte, size_t bytes)
{
    if (!bytes) return cudaSuccess;
    if (!end_ok(p, bytes, true)) return done(cudaErrorInvalidValue);
    opened all;
    memset(p, byte, bytes);
    return cudaSuccess;
}

size_t memory_used() { return used_bytes; }

void memory_reset()
{
    gate(true);
    for (auto &a : allocations) free((void *)~a.first);
    allocations.clear();
    used_bytes = 0;
}

cudaError_t device_malloc(const char *call, void **p, size_t bytes)
{
    rule_closed(call, ALLOCATES);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorMemoryAllocation);
    if (!p) return done(cudaErrorInvalidValue);
    *p = NULL;
    if (!bytes) return cudaSuccess;
    if (bytes > (size_t)set().memory || used_bytes > (size_t)set().memory - bytes ||
        posix_memalign(p, 256, bytes))
        return done(cudaErrorMemoryAllocation);
    memset(*p, 0xff, bytes);
    allocations[~(uintptr_t)*p] = bytes;
    used_bytes += bytes;
    gate(false);
    return cudaSuccess;
}

cudaError_t device_malloc_async(void **p, size_t bytes, cudaStream_t stream)
{
    rule_stream("cudaMallocAsync", stream);
    return device_malloc("cudaMallocAsync", p, bytes);
}

cudaError_t host_malloc(const char *call, void **p, size_t bytes)
{
    rule_closed(call, ALLOCATES);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorMemoryAllocation);
    *p = NULL;
    if (bytes && posix_memalign(p, 256, bytes)) return done(cudaErrorMemoryAllocation);
    return cudaSuccess;
}

cudaError_t copy_to_symbol(void *symbol, size_t size, const void *from, size_t bytes, size_t offset)
{
    rule_closed("cudaMemcpyToSymbol", COPIES);
    rule_no_stream("cudaMemcpyToSymbol");
    NOT_CAPTURED();
    if (offset > size || bytes > size - offset) return done(cudaErrorInvalidValue);
    memcpy((char *)symbol + offset, from, bytes);
    return cudaSuccess;
}

cudaError_t library_copy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                         cudaStream_t stream)
{
    rule_stream("CUB", stream);
    return copy(to, bytes, from, bytes, bytes, 1, kind, stream);
}

} // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    *total_bytes = (size_t)set().memory;
    *free_bytes = used_bytes < *total_bytes ? *total_bytes - used_bytes : 0;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    rule_closed("cudaFree", FREES);
    return release(p);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    rule_closed("cudaFreeAsync", FREES);
    rule_stream("cudaFreeAsync", stream);
    return release(p);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int)
{
    static char only;
    *pool = (cudaMemPool_t)(void *)&only;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void *)
{
    rule_closed("cudaMemPoolSetAttribute", CONFIGURES);
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t)
{
    rule_closed("cudaMemPoolTrimTo", FREES);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
    rule_closed("cudaFreeHost", FREES);
    NOT_CAPTURED();
    free(p);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    copy_rule("cudaMemcpy", to, from, kind);
    rule_no_stream("cudaMemcpy");
    return copy(to, bytes, from, bytes, bytes, 1, kind, NULL);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    copy_rule("cudaMemcpyAsync", to, from, kind);
    rule_stream("cudaMemcpyAsync", stream);
    return copy(to, bytes, from, bytes, bytes, 1, kind, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    copy_rule("cudaMemcpy2D", to, from, kind);
    rule_no_stream("cudaMemcpy2D");
    return copy(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    copy_rule("cudaMemcpy2DAsync", to, from, kind);
    rule_stream("cudaMemcpy2DAsync", stream);
    return copy(to, to_pitch, from, from_pitch, width, height, kind, stream);
}

cudaError_t cudaMemset(void *p, int byte, size_t bytes)
{
    rule_no_stream("cudaMemset");
    return fill(p, byte, bytes, NULL);
}

cudaError_t cudaMemsetAsync(void *p, int byte, size_t bytes, cudaStream_t stream)
{
    rule_stream("cudaMemsetAsync", stream);
    return fill(p, byte, bytes, stream);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p)
{
    size_t room;
    *a = {};
    a->type = find(p, &room) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    if (a->type == cudaMemoryTypeDevice) a->devicePointer = (void *)p;
    return cudaSuccess;
}

} // extern "C"
