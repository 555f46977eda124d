// The rules of an algorithm's run(), and of streams: the emulator must stop who breaks one, and say
// which call or launch it was and what would be right; and let pass who keeps to them.
#include "device/cub.cuh"
#include "planted.h"

static cudaStream_t stream; // of all launches
static cudaEvent_t event;
static char host[64];

static __global__ void one() {}
static __global__ void other() {}

enum place { OUTSIDE, CLOSED, OPEN };
#define BEFORE "a run() of a result that is there before "

// A mistake with 64 bytes of device memory, outside of any run() or in one, and what is told of it.
static const struct mistake {
    enum place place;
    void (*make)(char *p);
    const char *report;
} mistakes[] = {
    {OUTSIDE, [](char *) { LAUNCH(one, 1, 32, 0, NULL); },
     "emulator: kernel one (test_emu_rules.cpp:...): launched on the NULL stream; use "
     "t->dev->stream\n...make_mistake"},
    {OUTSIDE, [](char *) { LAUNCH(one, 1, 32, 0, cudaStreamLegacy); },
     "kernel one (...launched on the NULL stream"},
    {OUTSIDE,
     [](char *) {
         cudaStreamDestroy(stream);
         LAUNCH(one, 1, 32, 0, stream);
     },
     "heap-use-after-free"},
    {OUTSIDE, [](char *p) { cudaMemsetAsync(p, 0, 4); },
     "emulator: cudaMemsetAsync: on the NULL stream; use t->dev->stream\n...make_mistake"},
    {OUTSIDE, [](char *p) { cudaMemcpyAsync(host, p, 4, cudaMemcpyDeviceToHost); },
     "emulator: cudaMemcpyAsync: on the NULL stream"},
    {OUTSIDE, [](char *) { cudaEventRecord(event); }, "emulator: cudaEventRecord: on the NULL"},
    {OUTSIDE, [](char *) { cudaStreamSynchronize(NULL); },
     "emulator: cudaStreamSynchronize: on the NULL stream"},

    {CLOSED, [](char *p) { cudaMalloc(&p, 8); },
     "emulator: cudaMalloc: " BEFORE "allocates; that is for prepare()\n...make_mistake"},
    {CLOSED, [](char *p) { cudaMallocAsync(&p, 8, stream); },
     "emulator: cudaMallocAsync: " BEFORE "allocates"},
    {CLOSED, [](char *p) { cudaMallocHost(&p, 8); },
     "emulator: cudaMallocHost: " BEFORE "allocates"},
    {CLOSED, [](char *) { cudaEventCreate(&event); },
     "emulator: cudaEventCreate: " BEFORE "allocates"},
    {CLOSED, [](char *) { cudaStreamCreate(&stream); },
     "emulator: cudaStreamCreate: " BEFORE "allocates"},
    {CLOSED, [](char *p) { cudaFree(p); },
     "emulator: cudaFree: " BEFORE "frees; that is for teardown()\n"},
    {CLOSED, [](char *p) { cudaFreeAsync(p, stream); }, "emulator: cudaFreeAsync: " BEFORE "frees"},
    {CLOSED, [](char *) { cudaFreeHost(NULL); }, "emulator: cudaFreeHost: " BEFORE "frees"},
    {CLOSED, [](char *) { cudaStreamSynchronize(stream); },
     "emulator: cudaStreamSynchronize: " BEFORE "waits; "},
    {CLOSED, [](char *) { cudaDeviceSynchronize(); },
     "emulator: cudaDeviceSynchronize: " BEFORE "waits; "},
    {CLOSED, [](char *) { cudaEventSynchronize(event); },
     "emulator: cudaEventSynchronize: " BEFORE "waits; "},
    {CLOSED, [](char *) { cudaStreamQuery(stream); },
     "emulator: cudaStreamQuery: " BEFORE "waits; "},
    {CLOSED, [](char *p) { cudaMemcpy(p, host, 8, cudaMemcpyHostToDevice); },
     "emulator: cudaMemcpy: " BEFORE "copies from or to the host; that is for prepare()\n"},
    {CLOSED, [](char *p) { cudaMemcpyAsync(p, host, 8, cudaMemcpyHostToDevice, stream); },
     "emulator: cudaMemcpyAsync: " BEFORE "copies from or to the host; "},
    {CLOSED, [](char *p) { cudaMemcpyAsync(host, p, 8, cudaMemcpyDefault, stream); },
     "emulator: cudaMemcpyAsync: " BEFORE "copies from or to the host; "},
    {CLOSED,
     [](char *) { cudaFuncSetAttribute(one, cudaFuncAttributeMaxDynamicSharedMemorySize, 9); },
     "emulator: cudaFuncSetAttribute: " BEFORE "changes settings; that is for prepare()\n"},
    {CLOSED, [](char *p) { cudaMemset(p, 0, 8); },
     "emulator: cudaMemset: in a run(), on the NULL stream...use cudaMemsetAsync and t->dev->s"},
    {OPEN, [](char *p) { cudaMemcpy(p, p + 8, 8, cudaMemcpyDeviceToDevice); },
     "emulator: cudaMemcpy: in a run(), on the NULL stream...use cudaMemcpyAsync and t->dev->s"},

    {CLOSED,
     [](char *) {
         LAUNCH(one, 1, 32, 0, stream);
         cudaGetLastError();
         LAUNCH(other, 1, 32, 0, stream);
         cudaPeekAtLastError(); // leaves the error for the next one to find
     },
     "emulator: run() ended without launch_check(); the last launch was kernel other ("},
    {OPEN,
     [](char *) {
         LAUNCH(one, 1, 32, 0, stream);
         cudaStreamSynchronize(stream);
     },
     "emulator: run() ended without launch_check(); the last launch was kernel one ("},
    {OPEN, [](char *) { RUN_BEGIN(true); }, "emulator: RUN_BEGIN: in a run() that has not ended"},
    {OUTSIDE, [](char *) { RUN_END(); }, "emulator: RUN_END: no run() has begun"},
};

static const struct mistake *made;

static void make_mistake()
{
    char *p = NULL;
    if (cudaMalloc(&p, 64) != cudaSuccess) abort();
    if (made->place != OUTSIDE) RUN_BEGIN(made->place == CLOSED);
    made->make(p);
    if (made->place != OUTSIDE) RUN_END();
    cudaFree(p);
}

// The same through the device, as the harness begins and ends a run().
static void free_in_closed_run()
{
    struct device d;
    void *p = NULL;
    if (device_open("cuda", &d) || cudaMalloc(&p, 8) != cudaSuccess) return;
    device_run_begin(&d, true);
    cudaFree(p);
}
static void device_alloc_in_closed_run()
{
    struct device d;
    void *p;
    if (device_open("cuda", &d)) return;
    device_run_begin(&d, true);
    device_alloc(&d, 8, 1, &p);
}
static void launch_unchecked()
{
    struct device d;
    if (device_open("cuda", &d)) return;
    device_run_begin(&d, false);
    LAUNCH(one, 1, 32, 0, d.stream);
    device_run_end(&d);
}

static void test_mistakes(void)
{
    for (const struct mistake &m : mistakes) {
        made = &m;
        expect_fault(m.report, make_mistake, m.report);
    }
    expect_fault("cudaFree", free_in_closed_run, "emulator: cudaFree: " BEFORE "frees");
    expect_fault("device_alloc", device_alloc_in_closed_run, "cuda:0: a run() of a ...allocates");
    expect_fault("no launch_check", launch_unchecked, "emulator: run() ended without launch_check");
}

// What a closed run() may do, through the device and without it.
static void test_closed_run(void)
{
    struct device d;
    char *p = NULL, *q = NULL, back = 0;
    int blocks, device;
    cudaEvent_t before;
    cudaStream_t second;
    CHECK(device_open("cuda", &d) == OK, "%s", fail_text());
    cudaStream_t own = (cudaStream_t)d.stream;
    cudaMalloc(&p, 64);
    cudaMalloc(&q, 64);
    cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);

    device_run_begin(&d, true);
    CHECK(device_fill(&d, p, 'x', 64) == OK, "fill");
    CHECK(cudaMemsetAsync(p, 'y', 64, own) == cudaSuccess, "memset");
    CHECK(cudaMemcpyAsync(q, p, 64, cudaMemcpyDeviceToDevice, own) == cudaSuccess, "copy");
    CHECK(cudaMemcpyAsync(q, p, 64, cudaMemcpyDefault, own) == cudaSuccess, "copy, kind left open");
    CHECK(cudaEventRecord(before, own) == cudaSuccess, "record");
    CHECK(cudaStreamWaitEvent(second, before) == cudaSuccess, "a stream waits, not the host");
    LAUNCH(one, 1, 32, 0, second);
    CHECK(cudaGetDevice(&device) == cudaSuccess, "a question");
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, one, 256, 0);
    LAUNCH(one, 1, 32, 0, own);
    CHECK(launch_check("one") == OK, "launch_check");
    CHECK(device_run_end(&d) == OK, "%s", fail_text());

    device_run_begin(&d, true); // launches nothing, so that there is nothing to check
    CHECK(device_run_end(&d) == OK, "%s", fail_text());
    cudaMemcpy(&back, q, 1, cudaMemcpyDeviceToHost);
    CHECK(back == 'y', "the copy");
    LAUNCH(one, 1, 32, 0, own); // the harness's own launches are its own affair
    cudaStreamDestroy(second);
    cudaEventDestroy(before);
    cudaFree(p);
    cudaFree(q);
    device_close(&d);
}

// An open run() allocates, waits and frees as it needs to.
static void test_open_run(void)
{
    struct device d;
    int32_t *in, *seen;
    int64_t *out;
    CHECK(device_open("cuda", &d) == OK, "%s", fail_text());
    cudaMallocHost(&seen, sizeof *seen);

    device_run_begin(&d, false);
    int err = device_alloc(&d, 4, sizeof *in, (void **)&in);
    if (!err) err = device_alloc(&d, 5, sizeof *out, (void **)&out);
    if (!err) err = device_fill(&d, in, 1, 4 * sizeof *in);
    LAUNCH(one, 1, 32, 0, d.stream);
    if (!err) err = wait_for(&d, "one", in, seen, sizeof *seen);
    if (!err) err = cub_exclusive_sum(&d, in, 4, out);
    LAUNCH(one, 1, 32, 0, d.stream);
    if (!err) err = launch_check("one");
    CHECK(device_run_end(&d) == OK && !err, "%s", fail_text());

    CHECK(*seen == 0x01010101, "%x", *seen);
    int64_t sum;
    CHECK(device_download(&d, &sum, out + 4, sizeof sum) == OK && sum == 4 * 0x01010101, "the sum");
    device_free(&d, in);
    device_free(&d, out);
    cudaFreeHost(seen);
    device_close(&d);
}

int main(void)
{
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess ||
        cudaEventCreate(&event) != cudaSuccess)
        return 1;
    test_mistakes();
    test_closed_run();
    test_open_run();
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    return TEST_END();
}
