// The emulator's graphs: a captured launch is done when the graph is launched, each time; what
// cannot be captured spoils the capture, and the stream can be used again.
#include "emu.h"
#include "device/cuda.cuh"
#include "device/graph_cuda.h"
#include "planted.h"

static struct device dev;
static cudaStream_t stream; // the device's
static int *counters;       // on the device, two of them

static __global__ void add(int *to, int x) { *to += x; }
static __global__ void shared_sum(int *to, int n)
{
    SHARED_DYNAMIC(int, all);
    all[threadIdx.x] = n;
    __syncthreads();
    if (threadIdx.x == 0) *to += all[0] + all[blockDim.x - 1];
}

static int counter(int i)
{
    int now[2];
    CHECK(device_download(&dev, now, counters, sizeof now) == OK, "%s", fail_text());
    return now[i];
}

static int clear(void) { return device_fill(&dev, counters, 0, 2 * sizeof *counters); }

// The arguments are those at the capture.
static int launch_three(void *arg)
{
    int x = *(int *)arg;
    LAUNCH(add, 1, 1, 0, stream, counters, x);
    x = 100;
    LAUNCH(shared_sum, 1, 32, 32 * sizeof(int), stream, counters, 3);
    cudaMemcpyAsync(counters + 1, counters, sizeof(int), cudaMemcpyDeviceToDevice, stream);
    LAUNCH_EARLY(add, 1, 1, 0, stream, counters, 1);
    return launch_check("three");
}

static void test_launches(void)
{
    int x = 7;
    void *graph = NULL;
    int64_t before = emu_launches();
    CHECK(clear() == OK, "%s", fail_text());
    CHECK(dev.ops->graph_make(&dev, launch_three, &x, &graph) == OK && graph, "%s", fail_text());
    x = 8;
    CHECK(counter(0) == 0 && emu_launches() == before, "a captured launch is done at once: %d",
          counter(0));
    for (int i = 1; i <= 3; i++) {
        CHECK(dev.ops->graph_launch(&dev, graph) == OK, "%s", fail_text());
        CHECK(counter(0) == 14 * i && counter(1) == 14 * i - 1, "launch %d: %d, and %d", i,
              counter(0), counter(1));
        CHECK(emu_launches() == before + 3 * i, "%lld launches", (long long)emu_launches());
    }
    dev.ops->graph_free(&dev, graph);
}

static int fill_it(void *)
{
    cudaMemsetAsync(counters, 1, 1, stream);
    return OK;
}
static void test_fill(void)
{
    void *graph = NULL;
    CHECK(clear() == OK, "%s", fail_text());
    CHECK(dev.ops->graph_make(&dev, fill_it, NULL, &graph) == OK, "%s", fail_text());
    CHECK(counter(0) == 0, "filled at once");
    CHECK(dev.ops->graph_launch(&dev, graph) == OK && counter(0) == 1, "%d", counter(0));
    dev.ops->graph_free(&dev, graph);
}

static cudaEvent_t event;
static void *block;
static int host;

// What a run() may do and a capture may not; each returns an error, as that of the runtime.
static const struct spoiler {
    const char *what;
    cudaError_t (*deed)();
} spoilers[] = {
    {"waits", [] { return cudaStreamSynchronize(stream); }},
    {"waits for the device", [] { return cudaDeviceSynchronize(); }},
    {"allocates", [] { return cudaMalloc(&block, 8); }},
    {"allocates in the stream", [] { return cudaMallocAsync(&block, 8, stream); }},
    {"allocates on the host", [] { return cudaMallocHost(&block, 8); }},
    {"frees", [] { return cudaFree(counters); }},
    {"frees in the stream", [] { return cudaFreeAsync(counters, stream); }},
    {"copies down",
     [] { return cudaMemcpyAsync(&host, counters, 4, cudaMemcpyDeviceToHost, stream); }},
    {"copies up",
     [] { return cudaMemcpyAsync(counters, &host, 4, cudaMemcpyHostToDevice, stream); }},
    {"copies and waits", [] { return cudaMemcpy(&host, counters, 4, cudaMemcpyDeviceToHost); }},
    {"fills and waits", [] { return cudaMemset(counters, 0, 4); }},
    {"records an event", [] { return cudaEventRecord(event, stream); }},
    {"asks for the stream", [] { return cudaStreamQuery(stream); }},
    {"asks for an event", [] { return cudaEventQuery(event); }},
};
static const struct spoiler *spoiler;
static bool is_told; // by run(), as CUDA_TRY does

static int spoil(void *)
{
    LAUNCH(add, 1, 1, 0, stream, counters, 1);
    cudaError_t e = spoiler->deed();
    CHECK(e == cudaErrorStreamCaptureUnsupported, "%s: %s", spoiler->what, cudaGetErrorName(e));
    cudaGetLastError();
    LAUNCH(add, 1, 1, 0, stream, counters, 1);
    int err = launch_check("after it");
    CHECK(err == ERR_DEVICE, "%s: a launch after it", spoiler->what);
    return is_told ? err : OK;
}

static void test_spoilers(void)
{
    for (const struct spoiler &s : spoilers) {
        for (int told = 0; told < 2; told++) {
            void *graph = &host;
            int64_t used = emu_used();
            spoiler = &s;
            is_told = told;
            CHECK(clear() == OK, "%s", fail_text());
            int err = dev.ops->graph_make(&dev, spoil, NULL, &graph);
            CHECK(err == ERR_UNSUPPORTED && !graph, "%s: error %d", s.what, err);
            CHECK(strstr(fail_text(), "no graph: ") == fail_text(), "%s", fail_text());
            CHECK(cudaGetLastError() == cudaSuccess, "%s: the error stays", s.what);
            CHECK(emu_used() == used, "%s: it was done", s.what);
            LAUNCH(add, 1, 1, 0, stream, counters, 5);
            CHECK(launch_check("as before") == OK && device_sync(&dev) == OK && counter(0) == 5,
                  "%s: the stream afterwards: %d", s.what, counter(0));
        }
    }
}

// Whichever call fails: there is a graph that works, or none, and the stream works.
static void test_failures(void)
{
    bool failed = true;
    for (int n = 1; failed && n < 100; n++) {
        int x = 7;
        void *graph = NULL;
        CHECK(clear() == OK, "%s", fail_text());
        emu_fail_at(n);
        int err = dev.ops->graph_make(&dev, launch_three, &x, &graph);
        failed = emu_failed();
        emu_fail_at(0);
        CHECK(err == (failed ? ERR_UNSUPPORTED : OK) && !graph == failed, "call %d: error %d", n,
              err);
        CHECK(cudaGetLastError() == cudaSuccess, "call %d: the error stays", n);
        err = graph ? dev.ops->graph_launch(&dev, graph) : launch_three(&x);
        CHECK(!err && counter(0) == 14, "call %d: %d", n, counter(0));
        dev.ops->graph_free(&dev, graph);
        CHECK(failed || n > 6, "only %d calls", n);
    }
    CHECK(!failed, "the failures did not end");
    void *graph = NULL;
    int x = 1;
    CHECK(dev.ops->graph_make(&dev, launch_three, &x, &graph) == OK, "%s", fail_text());
    emu_fail_at(1);
    CHECK(dev.ops->graph_launch(&dev, graph) == ERR_DEVICE, "a launch that fails");
    emu_fail_at(0);
    dev.ops->graph_free(&dev, graph);
}

// The runtime's own answers.
static void test_calls(void)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamCaptureStatus status;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState, "an end alone");
    CHECK(cudaStreamBeginCapture(stream, mode) == cudaSuccess, "begin");
    CHECK(cudaStreamBeginCapture(stream, mode) == cudaErrorIllegalState, "begin twice");
    CHECK(!cudaStreamIsCapturing(stream, &status) && status == cudaStreamCaptureStatusActive,
          "status %d", status);
    cudaGetLastError();
    // Another stream goes on as ever.
    cudaStream_t other;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph, "end");
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking) == cudaSuccess, "stream");
    CHECK(cudaGraphDestroy(graph) == cudaSuccess, "destroy");
    CHECK(clear() == OK && cudaStreamBeginCapture(stream, mode) == cudaSuccess, "begin again");
    LAUNCH(add, 1, 1, 0, other, counters, 2);
    CHECK(launch_check("other") == OK, "%s", fail_text());
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess && counter(0) == 2, "%d", counter(0));
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "instantiate");
    CHECK(cudaGraphLaunch(exec, stream) == cudaSuccess && counter(0) == 2, "an empty graph");
    CHECK(cudaGraphDestroy(graph) == cudaSuccess && cudaGraphExecDestroy(exec) == cudaSuccess, "freed");
    CHECK(cudaGraphInstantiate(&exec, NULL, 0) == cudaErrorInvalidValue && !exec, "of nothing");
    CHECK(cudaGraphLaunch(NULL, stream) == cudaErrorInvalidValue, "launch nothing");
    CHECK(cudaGraphUpload(NULL, stream) == cudaErrorInvalidValue, "upload nothing");
    CHECK(cudaGraphDestroy(NULL) == cudaErrorInvalidValue, "destroy nothing");
    CHECK(cudaGraphExecDestroy(NULL) == cudaErrorInvalidValue, "destroy nothing");
    cudaStreamDestroy(other);
    cudaGetLastError();
}

// Memory that was freed before the graph is launched.
static int *gone;
static int launch_gone(void *)
{
    LAUNCH(add, 1, 1, 0, stream, gone, 1);
    return launch_check("gone");
}
static void use_freed()
{
    void *graph;
    cudaMalloc(&gone, sizeof *gone);
    if (dev.ops->graph_make(&dev, launch_gone, NULL, &graph)) return;
    cudaFree(gone);
    dev.ops->graph_launch(&dev, graph);
}
static void begin_on_null() { cudaStreamBeginCapture(NULL, cudaStreamCaptureModeThreadLocal); }

int main(void)
{
    if (device_open("cuda", &dev) || cudaMalloc(&counters, 2 * sizeof *counters) != cudaSuccess ||
        cudaEventCreate(&event) != cudaSuccess)
        return 1;
    stream = (cudaStream_t)dev.stream;
    test_launches();
    test_fill();
    test_spoilers();
    test_failures();
    test_calls();
    expect_fault("freed memory", use_freed, "heap-use-after-free");
    expect_fault("NULL stream", begin_on_null,
                 "emulator: cudaStreamBeginCapture: on the NULL stream");
    cudaEventDestroy(event);
    cudaFree(counters);
    device_close(&dev);
    return TEST_END();
}
