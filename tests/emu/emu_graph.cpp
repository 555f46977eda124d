// The runtime API's graphs: what a stream captures is a list, and done in its order when the graph
// is launched. Of the ways to make one there is the capture of one stream.
#include "emu_internal.h"

#include <functional>

namespace emu
{
namespace
{

typedef std::vector<std::function<cudaError_t()>> nodes;

struct {
    cudaStream_t stream; // NULL: none captures
    bool spoilt;
    nodes kept;
} capture;

} // namespace

bool is_capturing(cudaStream_t s) { return s && capture.stream == s; }

bool capture_spoil()
{
    if (!capture.stream) return false;
    capture.spoilt = true;
    return true;
}

static cudaError_t keep(std::function<cudaError_t()> node)
{
    if (capture.spoilt) return done(cudaErrorStreamCaptureInvalidated);
    capture.kept.push_back(node);
    return cudaSuccess;
}

// The arguments are those of the capture, as on a GPU.
void capture_launch(const launch &l)
{
    const char *bytes = (const char *)l.args;
    std::vector<char> args(bytes, bytes + l.args_bytes);
    keep([l, args]() mutable {
        launch again = l;
        again.args = args.data();
        count_launch(again);
        run_now(again);
        return cudaSuccess;
    });
}

cudaError_t capture_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height)
{
    return keep([=] {
        return copy_now(to, to_pitch, from, from_pitch, width, height, cudaMemcpyDeviceToDevice);
    });
}

cudaError_t capture_fill(void *p, int byte, size_t bytes)
{
    return keep([=] { return fill_now(p, byte, bytes); });
}

} // namespace emu

using namespace emu;

struct CUgraph_st {
    nodes list;
};
struct CUgraphExec_st {
    nodes list;
};

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode)
{
    rule_closed("cudaStreamBeginCapture", CONFIGURES);
    rule_stream("cudaStreamBeginCapture", stream);
    MAY_FAIL(cudaErrorUnknown);
    if (capture.stream) return done(cudaErrorIllegalState);
    capture.stream = stream;
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = NULL;
    if (!is_capturing(stream)) return done(cudaErrorIllegalState);
    bool failed = must_fail(), spoilt = capture.spoilt;
    nodes list;
    list.swap(capture.kept);
    capture.stream = NULL;
    capture.spoilt = false;
    if (spoilt) return done(cudaErrorStreamCaptureInvalidated);
    if (failed) return done(cudaErrorUnknown);
    *graph = new CUgraph_st{list};
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    *status = !is_capturing(stream) ? cudaStreamCaptureStatusNone
              : capture.spoilt      ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = NULL;
    rule_closed("cudaGraphInstantiate", ALLOCATES);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorMemoryAllocation);
    if (!graph) return done(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st{graph->list};
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    rule_closed("cudaGraphUpload", ALLOCATES);
    rule_stream("cudaGraphUpload", stream);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorMemoryAllocation);
    return exec ? cudaSuccess : done(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    rule_stream("cudaGraphLaunch", stream);
    NOT_CAPTURED();
    MAY_FAIL(cudaErrorUnknown);
    if (!exec) return done(cudaErrorInvalidValue);
    for (auto &node : exec->list) {
        cudaError_t e = node();
        if (e != cudaSuccess) return e;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    rule_closed("cudaGraphDestroy", FREES);
    if (!graph) return done(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    rule_closed("cudaGraphExecDestroy", FREES);
    if (!exec) return done(cudaErrorInvalidValue);
    delete exec;
    return cudaSuccess;
}

} // extern "C"
