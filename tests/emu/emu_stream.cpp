// The runtime API's streams and events. Everything asynchronous is done at once, so a stream has
// nothing to do, and an event is a time.
#include "emu_internal.h"

#include <time.h>

struct CUstream_st {
    int device;
};
struct CUevent_st {
    bool recorded;
    double ms;
};

namespace emu
{

double now_ms()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void stream_touch(cudaStream_t s) { (void)*(volatile int *)&s->device; }

} // namespace emu

using namespace emu;

long long clock64() { return (long long)(now_ms() * 1e6); }
unsigned long long __globaltimer() { return (unsigned long long)(now_ms() * 1e6); }

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    rule_closed("cudaStreamCreateWithFlags", ALLOCATES);
    MAY_FAIL(cudaErrorMemoryAllocation);
    *stream = new CUstream_st{0};
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    rule_closed("cudaStreamCreate", ALLOCATES);
    return cudaStreamCreateWithFlags(stream, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    rule_closed("cudaStreamDestroy", FREES);
    NOT_CAPTURED();
    if (!stream) return done(cudaErrorInvalidResourceHandle);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    rule_closed("cudaStreamSynchronize", WAITS);
    rule_stream("cudaStreamSynchronize", stream);
    return cudaDeviceSynchronize();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    rule_closed("cudaStreamQuery", WAITS);
    rule_stream("cudaStreamQuery", stream);
    NOT_CAPTURED();
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    rule_stream("cudaStreamWaitEvent", stream);
    NOT_CAPTURED();
    return event ? cudaSuccess : done(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    rule_closed("cudaEventCreateWithFlags", ALLOCATES);
    MAY_FAIL(cudaErrorMemoryAllocation);
    *event = new CUevent_st{false, 0};
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    rule_closed("cudaEventCreate", ALLOCATES);
    return cudaEventCreateWithFlags(event, 0);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    rule_closed("cudaEventDestroy", FREES);
    if (!event) return done(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    rule_stream("cudaEventRecord", stream);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorUnknown);
    if (!event) return done(cudaErrorInvalidResourceHandle);
    event->recorded = true;
    event->ms = now_ms();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    rule_closed("cudaEventSynchronize", WAITS);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorUnknown);
    return event ? cudaSuccess : done(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    rule_closed("cudaEventQuery", WAITS);
    NOT_CAPTURED();
    return event ? cudaSuccess : done(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    if (!start || !stop || !start->recorded || !stop->recorded)
        return done(cudaErrorInvalidResourceHandle);
    *ms = (float)(stop->ms - start->ms);
    return cudaSuccess;
}

} // extern "C"
