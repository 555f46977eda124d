// Ceilings of a CUDA device: reads of blocks of growing size, reads of rows at random places, a
// large copy, reads from the L1s, and multiply-adds in registers. Tries of each kind of work, timed
// by events, are spread over the whole measurement. The best counts.
#include "device/cuda.cuh"
#include "device/roof.h"

#define THREADS       256
#define BLOCKS_PER_SM 8                  // 2,048 threads, the most of a multiprocessor
#define TOP_MOST      ((int64_t)1 << 30) // bytes of the largest block, at most
#define TOP_CACHES    16                 // its size over that of the L2, at most
#define FIRST_PART    8                  // size of the L2 over that of the smallest block
#define FIRST_LEAST   ((int64_t)1 << 20) // bytes of the smallest block, at least
#define TRIES         5
#define TRY_MS        1.0   // shortest time of a try, many times the launch latency
#define BUDGET_MS     600.0 // no round of tries begins after this time
#define PROBE_TRIES   5     // tries of a probe
#define PROBE_MS      0.2   // shortest time of a try of a probe
#define NEAR_BLOCKS   2     // blocks per multiprocessor for reads from the L1
#define NEAR_THREADS  1024  // threads of such a block, which read 16 kB: an L1 holds two blocks
#define GATHER_FIRST  ((int64_t)8 << 20) // bytes of the smallest block of the gathers
#define GATHER_MOST   ((int64_t)4 << 30) // bytes of the largest block of the gathers
#define GATHER_CACHES 128                // its size over that of the L2, at most
#define FETCHES       8                  // loads in flight of a group of lanes
#define CHAINS        8                  // independent multiply-adds of a thread
#define CHAIN_STEPS   16                 // multiply-adds of a chain per round of the loop

static __global__ void copy_quads(const float4 *from, float4 *to, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        to[i] = from[i];
}

static __device__ float sum_of(float4 q) { return q.x + q.y + q.z + q.w; }

// Reads past the L1s, so from the L2 or from memory.
static __global__ void read_quads(const float4 *p, int64_t count, int rounds, float *never)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    float sum = 0;
    for (int r = 0; r < rounds; r++)
#pragma unroll 4
        for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
            sum += sum_of(__ldcg(p + i));
    // Never true, because the block holds zeros. Keeps the compiler from removing the loads.
    if (sum == 1.5f) *never = sum;
}

// Each thread block reads its own 16 kB. In each round a warp reads the data of another warp.
static __global__ void read_near(const float4 *p, int rounds, float *never)
{
    const float4 *own = p + (int64_t)blockIdx.x * NEAR_THREADS;
    float sum = 0;
#pragma unroll 8
    for (int r = 0; r < rounds; r++)
        sum += sum_of(__ldca(own + (threadIdx.x + 32 * r) % NEAR_THREADS));
    if (sum == 1.5f) *never = sum;
}

// Each group of LANES lanes reads whole rows at random places, a float4 per lane. Past the L1s,
// which are too small to hold rows for later reads.
template <int LANES>
static __global__ void gather_rows(const float4 *p, uint32_t rows, int rounds, float *never)
{
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t x = mix((thread / LANES + 1) * MIX_STEP);
    float sum = 0;
    p += thread % LANES;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int f = 0; f < FETCHES; f++) {
            sum += sum_of(__ldcg(p + (int64_t)roof_random_row(x, rows) * LANES));
            x = roof_random_next(x);
        }
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
    LAUNCH(read_quads, d->units * BLOCKS_PER_SM, THREADS, 0, d->stream, (const float4 *)block,
           bytes / (int64_t)sizeof(float4), rounds, (float *)block);
    CUDA_TRY(cudaGetLastError());
    return OK;
}

// Two blocks of zeros. Work uses the first `bytes` of each.
struct work {
    void *from, *to;
    int64_t bytes;
};

// Starts `rounds` rounds of a kind of work. Sets *amount to the bytes or flops of a round.
typedef int (*phase)(struct device *d, const struct work *w, int rounds, double *amount);

static int copy_by_kernel(struct device *d, const struct work *w, int rounds, double *amount)
{
    for (int r = 0; r < rounds; r++)
        LAUNCH(copy_quads, d->units * BLOCKS_PER_SM * 4, THREADS, 0, d->stream,
               (const float4 *)w->from, (float4 *)w->to, w->bytes / (int64_t)sizeof(float4));
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

static int read_far(struct device *d, const struct work *w, int rounds, double *amount)
{
    *amount = (double)w->bytes;
    return roof_cuda_read(d, w->from, w->bytes, rounds);
}

static int64_t near_bytes(const struct device *d)
{
    return (int64_t)d->units * NEAR_BLOCKS * NEAR_THREADS * (int64_t)sizeof(float4);
}

static int read_next_to_cores(struct device *d, const struct work *w, int rounds, double *amount)
{
    LAUNCH(read_near, d->units * NEAR_BLOCKS, NEAR_THREADS, 0, d->stream, (const float4 *)w->from,
           rounds, (float *)w->from);
    CUDA_TRY(cudaGetLastError());
    *amount = (double)near_bytes(d);
    return OK;
}

template <int LANES>
static int gather(struct device *d, const struct work *w, int rounds, double *amount)
{
    auto kernel = gather_rows<LANES>;
    int blocks = d->units * BLOCKS_PER_SM;
    int64_t rows = w->bytes / (LANES * (int64_t)sizeof(float4));
    LAUNCH(kernel, blocks, THREADS, 0, d->stream, (const float4 *)w->from, (uint32_t)rows, rounds,
           (float *)w->from);
    CUDA_TRY(cudaGetLastError());
    *amount = (double)blocks * THREADS * FETCHES * sizeof(float4);
    return OK;
}
static const phase gathers[ROOF_ROWS] = {gather<2>, gather<4>, gather<8>, gather<16>, gather<32>};

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

// A kind of work and its best rate.
struct job {
    phase run;
    int64_t bytes;
    double *best;
    int rounds; // rounds per try
};
#define JOBS_MAX (ROOF_STEPS_MAX + ROOF_GATHERS_MAX * ROOF_ROWS + 5)

static int list_jobs(struct roof *r, struct job *jobs)
{
    int n = 0;
    int64_t top = r->steps[r->step_count - 1].bytes;
    for (int i = 0; i < r->step_count; i++)
        jobs[n++] = {read_far, r->steps[i].bytes, &r->steps[i].gb_s, 1};
    for (int i = 0; i < r->gather_count * ROOF_ROWS; i++) {
        struct roof_gather *g = &r->gathers[i / ROOF_ROWS];
        jobs[n++] = {gathers[i % ROOF_ROWS], g->bytes, &g->gb_s[i % ROOF_ROWS], 1};
    }
    jobs[n++] = {copy_by_kernel, top, &r->copy_gb_s, 1};
    jobs[n++] = {copy_by_runtime, top, &r->copy_gb_s, 1};
    jobs[n++] = {read_next_to_cores, 0, &r->near_gb_s, 1};
    jobs[n++] = {fma_rounds<float>, 0, &r->fma_measured[0], 1};
    jobs[n++] = {fma_rounds<double>, 0, &r->fma_measured[1], 1};
    return n;
}

// Runs a try. Sets its time, and its rate in GB/s or GFLOP/s.
static int try_once(struct device *d, const struct job *job, struct work *w, double *ms,
                    double *rate)
{
    double amount = 0;
    w->bytes = job->bytes;
    int err = d->ops->timer_start(d);
    if (!err) err = job->run(d, w, job->rounds, &amount);
    if (!err) err = d->ops->timer_stop(d, ms);
    if (!err) *rate = *ms > 0 ? amount * job->rounds / 1e6 / *ms : 0;
    return err;
}

// Sets job->rounds so that a try takes at least `least_ms`.
static int calibrate(struct device *d, struct job *job, struct work *w, double least_ms)
{
    double ms, rate;
    int err = try_once(d, job, w, &ms, &rate); // loads the kernel
    if (!err) err = try_once(d, job, w, &ms, &rate);
    while (!err && ms < least_ms && job->rounds < 1 << 20) {
        job->rounds *= 4;
        err = try_once(d, job, w, &ms, &rate);
    }
    return err;
}

static int measure(struct device *d, struct work *w, struct roof *roof)
{
    struct job jobs[JOBS_MAX];
    int count = list_jobs(roof, jobs), err = OK;
    double begin = clock_ms();
    for (int i = 0; i < count && !err && !interrupted; i++) err = calibrate(d, &jobs[i], w, TRY_MS);
    for (int t = 0; t < TRIES && (!t || clock_ms() - begin < BUDGET_MS); t++) {
        double ms, rate, memory = 0;
        for (int i = 0; i < count && !err && !interrupted; i++) {
            err = try_once(d, &jobs[i], w, &ms, &rate);
            if (!err) roof_add_try(roof, jobs[i].best, rate, &memory);
        }
        if (!err && !interrupted) roof_end_round(roof, memory);
    }
    if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
    if (!err) roof_derive(roof);
    return err;
}

// Returns the freed memory of the pool to the driver, for libraries that do not use the pool.
static int give_back(struct device *d)
{
    cudaMemPool_t pool;
    CUDA_TRY(cudaStreamSynchronize((cudaStream_t)d->stream));
    CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, d->index));
    CUDA_TRY(cudaMemPoolTrimTo(pool, 0));
    return OK;
}

// Returns the bytes of the ladder's first block.
static int64_t first_bytes(const struct device *d)
{
    return max64(d->cache_bytes / FIRST_PART, FIRST_LEAST);
}

int roof_measure_cuda(struct device *d, struct roof *roof)
{
    size_t free_bytes, total_bytes;
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    int64_t first = first_bytes(d);
    int64_t top = max64(min64(TOP_MOST, TOP_CACHES * d->cache_bytes), 4 * first);
    while (top > (int64_t)free_bytes / 4 && top > 4 * d->cache_bytes) top /= 2;
    if (top > (int64_t)free_bytes / 4) // smaller blocks would measure the cache
        return fail(ERR_MEMORY, "too little free memory on %s to measure the ceilings", d->id);
    int64_t gather_top = min64(GATHER_MOST, GATHER_CACHES * d->cache_bytes);
    gather_top = max64(top, min64(gather_top, (int64_t)free_bytes / 4));
    struct work w = {NULL, NULL, max64(top, near_bytes(d))};
    roof_plan_ladder(roof, first, top);
    roof_plan_gathers(roof, min64(GATHER_FIRST, gather_top), gather_top);
    int64_t from_bytes = max64(gather_top, w.bytes);
    int err = d->ops->alloc(d, from_bytes, &w.from);
    if (!err) err = d->ops->alloc(d, w.bytes, &w.to);
    if (!err) err = d->ops->fill(d, w.from, 0, from_bytes);
    if (!err) err = d->ops->fill(d, w.to, 0, w.bytes);
    if (!err) err = measure(d, &w, roof);
    if (w.from) d->ops->release(d, w.from);
    if (w.to) d->ops->release(d, w.to);
    if (!err) err = give_back(d);
    return err ? err : roof_probe_cuda(d, &roof->probe_gb_s); // for comparison with later probes
}

// Reads the ladder's first block: small, so allocated fast, and read from the L2, where the cost
// that a tool adds to each access shows most.
int roof_probe_cuda(struct device *d, double *gb_s)
{
    struct work w = {NULL, NULL, 0};
    struct job job = {read_far, first_bytes(d), gb_s, 1};
    *gb_s = 0;
    int err = d->ops->alloc(d, job.bytes, &w.from);
    if (!err) err = d->ops->fill(d, w.from, 0, job.bytes);
    if (!err) err = calibrate(d, &job, &w, PROBE_MS);
    for (int t = 0; t < PROBE_TRIES && !err; t++) {
        double ms, rate;
        err = try_once(d, &job, &w, &ms, &rate);
        if (!err && rate > *gb_s) *gb_s = rate;
    }
    if (w.from) d->ops->release(d, w.from);
    return err ? err : give_back(d);
}
