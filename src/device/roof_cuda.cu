// What a CUDA device can do at most: a large copy, reads out of the L2, multiply-adds in registers.
// Medians of a few repetitions between events.
#include "device/cuda.cuh"
#include "device/roof.h"

#define THREADS       256
#define BLOCKS_PER_SM 8 // 2,048 threads, all that a multiprocessor takes
#define COPY_MAX      ((int64_t)1 << 30)
#define COPY_CACHES   16 // the copied block is so many times the L2, which then holds little of it
#define SAMPLES       15
#define SAMPLE_MS     1.0 // a repetition takes at least so long, many times what starting it takes
#define CHAINS        8   // independent multiply-adds of a thread
#define CHAIN_STEPS   16  // of each chain in one round of the loop

struct alignas(16) quad { // the widest load and store
    float x, y, z, w;
};

static __global__ void copy_quads(const quad *from, quad *to, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = from[i];
}

// Every round starts elsewhere, so that an L1 does not find again what it has read.
static __global__ void read_quads(const quad *p, int64_t count, int rounds, float *never)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x, shift = 0;
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
            int64_t j = i + shift;
            quad q = p[j < count ? j : j - count];
            sum += q.x + q.y + q.z + q.w;
        }
        shift = (shift + 7 * (int64_t)blockDim.x) % count;
    }
    // The block holds zeros; the compiler does not know.
    if (sum == 1.5f) *never = sum;
}

template <typename T> static __global__ void fma_chains(T a, T b, int rounds, T *never)
{
    T x[CHAINS], sum = 0;
    for (int c = 0; c < CHAINS; c++) x[c] = (T)(threadIdx.x + c);
    for (int r = 0; r < rounds; r++)
        for (int s = 0; s < CHAIN_STEPS; s++)
            for (int c = 0; c < CHAINS; c++) x[c] = x[c] * a + b; // stays finite for a < 1
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    if (sum == (T)-1.5) *never = sum;
}

int roof_cuda_read(struct device *d, const void *block, int64_t bytes, int rounds)
{
    LAUNCH(read_quads, d->units * BLOCKS_PER_SM, THREADS, 0, d->stream, (const quad *)block,
           bytes / (int64_t)sizeof(quad), rounds, (float *)block);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

// Two blocks of `bytes`, zero.
struct work {
    void *from, *to;
    int64_t bytes;
};

// Each starts `rounds` rounds of one kind of work; `amount` is the bytes or flops of one round.
typedef int (*phase)(struct device *d, const struct work *w, int rounds, double *amount);

static int copy_by_kernel(struct device *d, const struct work *w, int rounds, double *amount)
{
    for (int r = 0; r < rounds; r++)
        LAUNCH(copy_quads, d->units * BLOCKS_PER_SM * 4, THREADS, 0, d->stream,
               (const quad *)w->from, (quad *)w->to, w->bytes / (int64_t)sizeof(quad));
    CUDA_TRY(cudaGetLastError());
    *amount = 2.0 * (double)w->bytes;
    return OK;
}

static int copy_by_runtime(struct device *d, const struct work *w, int rounds, double *amount)
{
    for (int r = 0; r < rounds; r++)
        CUDA_TRY(cudaMemcpyAsync(w->to, w->from, (size_t)w->bytes, cudaMemcpyDeviceToDevice,
                                 (cudaStream_t)d->stream));
    *amount = 2.0 * (double)w->bytes;
    return OK;
}

static int read_cached(struct device *d, const struct work *w, int rounds, double *amount)
{
    *amount = (double)w->bytes;
    return roof_cuda_read(d, w->from, w->bytes, rounds);
}

template <typename T>
static int fma_rounds(struct device *d, const struct work *w, int rounds, double *amount)
{
    auto kernel = fma_chains<T>;
    int blocks = d->units * BLOCKS_PER_SM;
    LAUNCH(kernel, blocks, THREADS, 0, d->stream, (T)0.9375, (T)0.0625, rounds, (T *)w->to);
    CUDA_TRY(cudaGetLastError());
    *amount = 2.0 * CHAINS * CHAIN_STEPS * (double)blocks * THREADS;
    return OK;
}

static int time_once(struct device *d, phase run, const struct work *w, int rounds, double *amount,
                     double *ms)
{
    int err = d->ops->timer_start(d);
    if (!err) err = run(d, w, rounds, amount);
    return err ? err : d->ops->timer_stop(d, ms);
}

// Work per nanosecond, that is GB/s or GFLOP/s.
static int median_rate(struct device *d, phase run, const struct work *w, double *rate)
{
    double ms[SAMPLES], amount;
    int rounds = 1;
    int err = time_once(d, run, w, rounds, &amount, ms); // loads the kernel; counts for nothing
    if (!err) err = time_once(d, run, w, rounds, &amount, ms);
    while (!err && ms[0] < SAMPLE_MS && rounds < 1 << 20) {
        rounds *= 4;
        err = time_once(d, run, w, rounds, &amount, ms);
    }
    for (int i = 0; i < SAMPLES && !err; i++) err = time_once(d, run, w, rounds, &amount, &ms[i]);
    if (err) return err;
    *rate = amount * rounds / 1e6 / roof_median(ms, SAMPLES);
    return OK;
}

static int measure(struct device *d, struct work *w, struct roof *roof)
{
    double by_kernel, by_runtime;
    int err = median_rate(d, copy_by_kernel, w, &by_kernel);
    if (!err) err = median_rate(d, copy_by_runtime, w, &by_runtime);
    if (err) return err;
    roof->copy_gb_s = by_kernel > by_runtime ? by_kernel : by_runtime;
    w->bytes = min64(w->bytes, d->cache_bytes / 2) & ~(int64_t)4095;
    err = median_rate(d, read_cached, w, &roof->cache_gb_s);
    if (!err) err = median_rate(d, fma_rounds<float>, w, &roof->fma_gflops[0]);
    if (!err) err = median_rate(d, fma_rounds<double>, w, &roof->fma_gflops[1]);
    return err;
}

int roof_measure_cuda(struct device *d, struct roof *roof)
{
    size_t free_bytes, total_bytes;
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    int64_t bytes = min64(COPY_MAX, min64(COPY_CACHES * d->cache_bytes, (int64_t)free_bytes / 4));
    struct work w = {NULL, NULL, bytes & ~(int64_t)4095};
    if (w.bytes < 2 * d->cache_bytes) // it would be the cache that is measured
        return fail(ERR_MEMORY, "too little memory is free on %s to measure it", d->id);
    int err = d->ops->alloc(d, w.bytes, &w.from);
    if (!err) err = d->ops->alloc(d, w.bytes, &w.to);
    if (!err) err = d->ops->fill(d, w.from, 0, w.bytes);
    if (!err) err = d->ops->fill(d, w.to, 0, w.bytes);
    if (!err) err = measure(d, &w, roof);
    if (w.from) d->ops->release(d, w.from);
    if (w.to) d->ops->release(d, w.to);
    return err;
}
