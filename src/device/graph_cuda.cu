// Launches that are captured once and started as a whole: between the kernels of a graph lies 1 us,
// where the host takes 3 us to launch the next one into a stream.
#include "device/cuda.cuh"
#include "device/graph_cuda.h"

#include <stdio.h>

static cudaStream_t stream_of(const struct device *d) { return (cudaStream_t)d->stream; }

// Why there is no graph: what launch() said, or what the runtime says of the capture. Clears the
// runtime's error, which is of no consequence once the capture is given up.
static int not_captured(int err, cudaError_t e)
{
    cudaGetLastError();
    if (!err) return fail(ERR_UNSUPPORTED, "no graph: %s", cudaGetErrorString(e));
    return fail(ERR_UNSUPPORTED, "no graph: %s", fail_text());
}

// Nothing runs meanwhile. A capture that has begun is ended in any case: until then the stream can
// be used for nothing else.
static int capture(struct device *d, int (*launch)(void *arg), void *arg, cudaGraph_t *graph)
{
    *graph = NULL;
    cudaError_t e = cudaStreamBeginCapture(stream_of(d), cudaStreamCaptureModeThreadLocal);
    if (e != cudaSuccess) return not_captured(OK, e);
    int err = launch(arg);
    e = cudaStreamEndCapture(stream_of(d), graph);
    if (!err && e == cudaSuccess) return OK;
    int told = not_captured(err, e);
    if (*graph) cudaGraphDestroy(*graph);
    return told;
}

// The upload makes room on the device now, so that what does not fit is known before it is timed.
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

// It may still be under way where something else has failed.
void graph_cuda_free(struct device *d, void *graph)
{
    if (!graph) return;
    cudaStreamSynchronize(stream_of(d));
    cudaGraphExecDestroy((cudaGraphExec_t)graph);
    cudaGetLastError();
}
