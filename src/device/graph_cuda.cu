// CUDA graphs: launches that are captured once and launched together. The gap between two kernels
// is 1 us in a graph and 3 us in a stream, where the host launches each kernel.
#include "device/cuda.cuh"
#include "device/graph_cuda.h"

#include <stdio.h>

static cudaStream_t stream_of(const struct device *d) { return (cudaStream_t)d->stream; }

// Returns ERR_UNSUPPORTED with the reason: the text of launch() if `err`, else of the runtime error
// e. Clears the runtime's error, which is not sticky.
static int not_captured(int err, cudaError_t e)
{
    cudaGetLastError();
    if (!err) return fail(ERR_UNSUPPORTED, "no graph: %s", cudaGetErrorString(e));
    return fail(ERR_UNSUPPORTED, "no graph: %s", fail_text());
}

// Captures the launches of launch(arg), without running them. Ends the capture also after an error:
// the stream is not usable before.
static int capture(struct device *d, int (*launch)(void *arg), void *arg, cudaGraph_t *graph)
{
    *graph = NULL;
    cudaError_t e = cudaStreamBeginCapture(stream_of(d), cudaStreamCaptureModeThreadLocal);
    if (e != cudaSuccess) return not_captured(OK, e);
    int err = launch(arg);
    e = cudaStreamEndCapture(stream_of(d), graph);
    if (!err && e == cudaSuccess) return OK;
    err = not_captured(err, e);
    if (*graph) cudaGraphDestroy(*graph);
    return err;
}

// The upload allocates the graph's memory now, so that a lack of memory shows before the timing.
int graph_cuda_make(struct device *d, int (*launch)(void *arg), void *arg, void **graph)
{
    cudaGraph_t captured;
    cudaGraphExec_t exec = NULL;
    *graph = NULL;
    int err = capture(d, launch, arg, &captured);
    if (err) return err;
    cudaError_t e = cudaGraphInstantiate(&exec, captured, 0);
    cudaGraphDestroy(captured);
    if (e == cudaSuccess) e = cudaGraphUpload(exec, stream_of(d));
    if (e != cudaSuccess) {
        if (exec) cudaGraphExecDestroy(exec);
        return not_captured(OK, e);
    }
    *graph = exec;
    return OK;
}

int graph_cuda_launch(struct device *d, void *graph)
{
    CUDA_TRY(cudaGraphLaunch((cudaGraphExec_t)graph, stream_of(d)));
    return OK;
}

// Waits first: after an error elsewhere the graph may still be running.
void graph_cuda_free(struct device *d, void *graph)
{
    if (!graph) return;
    cudaStreamSynchronize(stream_of(d));
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
    cudaGetLastError();
}
