// Ceilings of the CPU: reads of blocks of growing size, reads of rows at random places, a large
// copy, reads from the caches of cores, and multiply-adds in registers.
//
// All threads work for the same time without waiting for each other, and their rates are added.
// After equal amounts of work they would wait for the slowest, so on a busy machine the scheduler
// would be measured. Tries of each kind of work are spread over the whole measurement. The best
// counts.
#include "device/roof.h"

#include "base/cpu_kind.h"
#include "device/roof_fma.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TRIES       5
#define WARM_MS     8.0    // longest first pass over a block, per try
#define TRY_MS      5.0    // time of a try after all threads have begun
#define INTERVAL_MS 0.5    // a try is split into intervals of this length
#define INTERVALS   240    // most intervals of a try
#define STARTS      5      // most repetitions of a try in which no thread began in time
#define BUDGET_MS   1700.0 // no round of tries begins after this time

#define TOP_LEAST    ((int64_t)64 << 20)  // bytes of the largest block, at least
#define TOP_MOST     ((int64_t)512 << 20) // bytes of the largest block, at most: the larger of
#define TOP_EACH     ((int64_t)64 << 20)  // TOP_MOST and of TOP_EACH per thread
#define TOP_CACHES   8                    // bytes of the largest block per byte of cache
#define FIRST_CACHES 2                    // bytes of the smallest block per byte of cores' caches
#define GATHER_FIRST ((int64_t)1 << 20)   // bytes of the smallest block of the gathers
#define NEAR_BYTES   ((int64_t)16 << 10)  // bytes that the L1 of every core holds
#define PROBE_BYTES  ((int64_t)16 << 20)  // bytes of a probe: the larger of
#define PROBE_EACH   ((int64_t)1 << 20)   // PROBE_BYTES and of PROBE_EACH per thread
#define PROBE_TRIES  3
#define PIECE        ((int64_t)256 << 10) // bytes of a round; then a thread reads the clock

// A round of work of a thread on the `bytes` at `part`, from *at on. Returns the bytes or flops of
// the round.
typedef double (*phase)(char *part, int64_t bytes, int64_t *at);

static volatile uint64_t sink; // takes results, to keep the compiler from removing the work

static void keep(uint64_t x)
{
#pragma omp atomic
    sink ^= x;
}

// Reads `count` random rows of a block of `rows` rows. x: start of the random sequence. Returns a
// value that depends on every byte, so that the compiler keeps all loads.
typedef uint64_t (*row_reader)(const char *block, uint32_t rows, uint64_t x, int64_t count);

// 32 bytes of a row: vectors for which AVX2 has registers.
typedef uint64_t quad __attribute__((vector_size(32)));

#define KIND_BODY "device/roof_cpu.inl"
#include "base/each_kind.inl"

// Parts of the block are multiples of this.
#define STEP ((int64_t)256)

static double read_part(char *part, int64_t bytes, int64_t *at)
{
    uint64_t x = 0;
    for (int64_t done = 0, n; done < PIECE; done += n) {
        n = min64(PIECE - done, bytes - *at);
        x ^= CPU_OF_KIND(read_words)((const uint64_t *)(part + *at), n / (int64_t)sizeof(uint64_t));
        *at = *at + n == bytes ? 0 : *at + n;
        __asm__ volatile("" ::: "memory"); // keeps the compiler from reading a block only once
    }
    keep(x);
    return (double)PIECE;
}

// Copies with non-temporal stores, for which memory need not read the overwritten lines. memcpy()
// uses such stores only beyond a size that depends on the last-level cache.
static void copy_lines(char *to, const char *from, int64_t bytes)
{
#ifdef __SSE2__
    for (int64_t i = 0; i < bytes; i += 64) {
        __m128i x[4];
        for (int k = 0; k < 4; k++) x[k] = _mm_load_si128((const __m128i *)(from + i) + k);
        for (int k = 0; k < 4; k++) _mm_stream_si128((__m128i *)(to + i) + k, x[k]);
    }
    _mm_sfence();
#else
    memcpy(to, from, (size_t)bytes);
#endif
}

// Copies from the first to the second half of the part.
static double copy_part(char *part, int64_t bytes, int64_t *at)
{
    int64_t half = max64(STEP, bytes / 2 & -STEP);
    if (*at >= half) *at = 0;
    int64_t n = min64(PIECE, half - *at);
    copy_lines(part + half + *at, part + *at, n);
    *at = *at + n == half ? 0 : *at + n;
    return 2.0 * (double)n;
}

// Reads random rows of the whole block, which all threads share. *at selects other rows in each
// round.
static double gather_part(int row, const char *part, int64_t bytes, int64_t *at)
{
    const int row_bytes = roof_row_bytes[row];
    uint64_t round = ((uint64_t)omp_get_thread_num() << 48) + (uint64_t)*at;
    *at = *at + STEP < bytes ? *at + STEP : 0;
    keep(CPU_OF_KIND(row_readers)[row](part, (uint32_t)(bytes / row_bytes), mix(round * MIX_STEP),
                                       PIECE / row_bytes));
    return (double)PIECE;
}
#define GATHER_PHASE(ROW)                                                                          \
    static double gather_part_##ROW(char *part, int64_t bytes, int64_t *at)                        \
    {                                                                                              \
        return gather_part(ROW, part, bytes, at);                                                  \
    }
GATHER_PHASE(0)
GATHER_PHASE(1)
GATHER_PHASE(2)
GATHER_PHASE(3)
GATHER_PHASE(4)
static const phase gather_parts[ROOF_ROWS] = {gather_part_0, gather_part_1, gather_part_2,
                                              gather_part_3, gather_part_4};

#define FMA_PHASE(PREC, SHAPE)                                                                     \
    static double fma_##PREC##_##SHAPE(char *part, int64_t bytes, int64_t *at)                     \
    {                                                                                              \
        (void)part, (void)bytes, (void)at;                                                         \
        _Alignas(64) double x[ROOF_FMA_LANES] = {0};                                               \
        return roof_multiply_add(PREC, SHAPE, x, 0.9375, 0.0625); /* stays finite for a < 1 */     \
    }
FMA_PHASE(F32, 0)
FMA_PHASE(F32, 1)
FMA_PHASE(F32, 2)
FMA_PHASE(F64, 0)
FMA_PHASE(F64, 1)
FMA_PHASE(F64, 2)
static const phase fma_parts[2][ROOF_FMA_SHAPES] = {
    [F32] = {fma_F32_0, fma_F32_1, fma_F32_2}, [F64] = {fma_F64_0, fma_F64_1, fma_F64_2}};

// A block of memory, with a part for each thread.
struct workspace {
    int threads;
    char *block;
    int64_t part; // bytes of a part
    int64_t *at;  // next offset of each thread in its part; moves on, so that no cache has the data
};

// Returns the number of threads, at most one per processor.
static int thread_count(void) { return (int)min64(omp_get_max_threads(), omp_get_num_procs()); }

static void workspace_close(struct workspace *w)
{
    mem_free(w->block);
    mem_free(w->at);
}

static int workspace_open(struct workspace *w, int64_t bytes)
{
    w->threads = thread_count();
    w->part = bytes / w->threads & -STEP;
    w->block = mem_alloc(w->part, (size_t)w->threads);
    w->at = mem_zero_alloc(w->threads, sizeof *w->at);
    if (!w->block || !w->at) {
        workspace_close(w);
        return ERR_MEMORY;
    }
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (int t = 0; t < w->threads; t++) memset(w->block + t * w->part, 1, (size_t)w->part);
    return OK;
}

// Work done in each interval of a try, in bytes or flops.
struct intervals {
    double begin; // clock_ms() at the begin of the first interval
    double amount[INTERVALS];
};

// Spreads work done from `start` to `end` evenly over the intervals. The time includes waits for a
// processor.
static void intervals_add(struct intervals *x, double start, double end, double amount)
{
    double from = (start - x->begin) / INTERVAL_MS, to = (end - x->begin) / INTERVAL_MS;
    int first = (int)from, last = (int)to;
    for (int i = first; i <= last && i < INTERVALS && to > from; i++)
        x->amount[i] += amount * (fmin(to, i + 1) - fmax(from, i)) / (to - from);
}

// A kind of work and its best rate.
struct job {
    phase run;
    int64_t bytes; // bytes of all threads together
    double *best;
    bool whole; // each thread works on the whole block
};

// A thread's part of a try. The first pass, WARM_MS at most, loads the caches. Then the thread
// works until all threads have worked for TRY_MS. Threads do not wait for each other.
static void work(const struct workspace *w, const struct job *job, int *ready,
                 struct intervals *intervals)
{
    const int thread = omp_get_thread_num();
    const phase run = job->run;
    int64_t share = min64(job->bytes / w->threads & -STEP, w->part);
    int64_t each = job->whole ? job->bytes : max64(STEP, share);
    char *part = w->block + (job->whole ? 0 : thread * w->part);
    int64_t at = w->at[thread] < each ? w->at[thread] : 0;
    double warm = 0, now = clock_ms(), start = now, end = INFINITY;
    do {
        warm += run(part, each, &at);
        now = clock_ms();
    } while (warm < (double)each && now - start < WARM_MS);
#pragma omp atomic
    ++*ready;
    while (now < end && now - intervals->begin < INTERVALS * INTERVAL_MS) {
        int others;
        start = now;
        double amount = run(part, each, &at);
        now = clock_ms();
        intervals_add(intervals, start, now, amount);
#pragma omp atomic read
        others = *ready;
        if (end == INFINITY && others == w->threads) end = now + TRY_MS;
    }
    w->at[thread] = at;
}

// Runs a try. Returns the rate of all threads together, in GB/s or GFLOP/s, of the best interval:
// other processes take a processor for longer than an interval.
static double try_once(const struct workspace *w, const struct job *job)
{
    double amount[INTERVALS] = {0}, best = 0, begin = clock_ms();
    int ready = 0;
#pragma omp parallel reduction(+ : amount) num_threads(w->threads)
    {
        struct intervals intervals = {.begin = begin};
        work(w, job, &ready, &intervals);
        for (int i = 0; i < INTERVALS; i++) amount[i] += intervals.amount[i];
    }
    for (int i = 0; i < INTERVALS; i++) best = fmax(best, amount[i]);
    return best / 1e6 / INTERVAL_MS;
}

#define JOBS_MAX (ROOF_STEPS_MAX + ROOF_GATHERS_MAX * ROOF_ROWS + 8)

static int list_jobs(const struct workspace *w, struct roof *r, struct job *jobs)
{
    int n = 0;
    for (int i = 0; i < r->step_count; i++)
        jobs[n++] = (struct job){read_part, r->steps[i].bytes, &r->steps[i].gb_s, false};
    for (int i = 0; i < r->gather_count * ROOF_ROWS; i++) {
        struct roof_gather *g = &r->gathers[i / ROOF_ROWS];
        int row = i % ROOF_ROWS;
        jobs[n++] = (struct job){gather_parts[row], g->bytes, &g->gb_s[row], true};
    }
    jobs[n++] = (struct job){copy_part, w->part * w->threads, &r->copy_gb_s, false};
    jobs[n++] = (struct job){read_part, NEAR_BYTES * w->threads, &r->near_gb_s, false};
    for (int i = 0; i < 2 * ROOF_FMA_SHAPES; i++) {
        int prec = i / ROOF_FMA_SHAPES, shape = i % ROOF_FMA_SHAPES;
        jobs[n++] = (struct job){fma_parts[prec][shape], 0, &r->fma_measured[prec], false};
    }
    return n;
}

static int measure(const struct workspace *w, struct roof *r)
{
    struct job jobs[JOBS_MAX];
    int count = list_jobs(w, r, jobs);
    double begin = clock_ms();
    for (int t = 0; t < TRIES && (!t || clock_ms() - begin < BUDGET_MS); t++) {
        double memory = 0;
        for (int i = 0; i < count; i++) {
            if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
            double rate = 0;
            for (int s = 0; s < STARTS && !(rate > 0); s++) rate = try_once(w, &jobs[i]);
            roof_add_try(r, jobs[i].best, rate, &memory);
        }
        roof_end_round(r, memory);
    }
    roof_derive(r);
    return OK;
}

static double probe(const struct workspace *w)
{
    const struct job copy = {copy_part, w->part * w->threads, NULL, false};
    return try_once(w, &copy);
}

// Returns the bytes of the ladder's last block, which no cache should hold; 0 without enough
// memory.
static int64_t ladder_top(const struct device *d)
{
    int64_t most = max64(TOP_MOST, thread_count() * TOP_EACH);
    int64_t top = max64(TOP_LEAST, min64(TOP_CACHES * d->cache_bytes, most));
    top = max64(top, 4 * FIRST_CACHES * d->cache_least_bytes);
    if (top > mem_available() / 8) top /= 2;
    return top > mem_available() / 8 ? 0 : top;
}

static int64_t probe_bytes(void) { return max64(PROBE_BYTES, thread_count() * PROBE_EACH); }

int roof_measure_cpu(struct device *d, struct roof *roof)
{
    struct workspace w;
    int64_t top = ladder_top(d);
    if (!top) // smaller blocks would measure the cache
        return fail(ERR_MEMORY, "too little free host memory to measure the ceilings");
    int err = workspace_open(&w, top);
    if (err) return err;
    roof_plan_ladder(roof, FIRST_CACHES * d->cache_least_bytes, top);
    roof_plan_gathers(roof, GATHER_FIRST, w.part * w.threads);
    err = measure(&w, roof);
    // Probes use a block of PROBE_BYTES.
    w.part = min64(w.part, probe_bytes() / w.threads & -STEP);
    for (int i = 0; i < PROBE_TRIES && !err; i++)
        roof->probe_gb_s = fmax(roof->probe_gb_s, probe(&w));
    workspace_close(&w);
    return err;
}

int roof_probe_cpu(struct device *d, double *gb_s)
{
    (void)d;
    struct workspace w;
    int err = workspace_open(&w, probe_bytes());
    if (err) return err;
    *gb_s = probe(&w);
    workspace_close(&w);
    return OK;
}
