// What the processor can do at most: reads of larger and larger blocks, rows at random out of such,
// a large copy, reads next to the cores, multiply-adds in registers.
//
// Every thread works for the same time at its own pace, and the rates are added up. Waiting for the
// others after equal work would measure the scheduler on a machine that has more to do. The tries
// of each kind of work are spread over the whole measurement, and the best counts: other work comes
// and goes.
#include "device/roof.h"
#include "device/roof_cpu_gather.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define TRIES     5
#define WARM_MS   8.0    // of each, at most for the first time through its block
#define TRY_MS    5.0    // from when all threads have begun
#define GLANCE_MS 0.5    // of a try
#define GLANCES   240    // in the longest
#define STARTS    5      // of a try in which no thread came to work in time
#define BUDGET_MS 1700.0 // after so long no further round of tries begins

#define TOP_LEAST    ((int64_t)64 << 20)  // of the ladder's last block
#define TOP_MOST     ((int64_t)512 << 20) // and
#define TOP_EACH     ((int64_t)64 << 20)  // for each of many threads
#define TOP_CACHES   8                    // times the cache that the system tells of
#define FIRST_CACHES 2                    // the ladder begins so many times above the cores' own
#define GATHER_FIRST ((int64_t)1 << 20)   // the smallest block that rows are gathered from
#define NEAR_BYTES   ((int64_t)16 << 10)  // in every core's nearest cache
#define PROBE_BYTES  ((int64_t)16 << 20)  // of a probe, or
#define PROBE_EACH   ((int64_t)1 << 20)   // for each of many threads
#define PROBE_TRIES  3
#define PIECE        ((int64_t)256 << 10) // of work between two looks at the clock
#define FMA_ROUNDS   4096

// One round of one thread on the `bytes` at `part`, from *at on. Returns its work in bytes or
// flops.
typedef double (*phase)(char *part, int64_t bytes, int64_t *at);

static volatile uint64_t sink; // results go here, so that no work is optimised away

static void keep(uint64_t x)
{
#pragma omp atomic
    sink ^= x;
}

// Four places at a time, each with its own sum: one would wait for itself.
CPU_CLONES static uint64_t read_words(const uint64_t *restrict p, int64_t count)
{
    uint64_t a = 0, b = 0, c = 0, d = 0;
    int64_t n = count / 4;
    for (int64_t i = 0; i < n; i++) a ^= p[i], b ^= p[i + n], c ^= p[i + 2 * n], d ^= p[i + 3 * n];
    return a ^ b ^ c ^ d;
}

// Parts of the block are multiples of this.
#define STEP ((int64_t)256)

static double read_part(char *part, int64_t bytes, int64_t *at)
{
    uint64_t x = 0;
    for (int64_t done = 0, n; done < PIECE; done += n) {
        n = min64(PIECE - done, bytes - *at);
        x ^= read_words((const uint64_t *)(part + *at), n / (int64_t)sizeof(uint64_t));
        *at = *at + n == bytes ? 0 : *at + n;
        __asm__ volatile("" ::: "memory"); // else the same block would be read but once
    }
    keep(x);
    return (double)PIECE;
}

// The second half of the part is written. Stores that go past the caches spare memory the reading
// of what is overwritten; memcpy uses them only beyond a size that it takes from the last-level
// cache.
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

static double copy_part(char *part, int64_t bytes, int64_t *at)
{
    int64_t half = max64(STEP, bytes / 2 & -STEP);
    if (*at >= half) *at = 0;
    int64_t n = min64(PIECE, half - *at);
    copy_lines(part + half + *at, part + *at, n);
    *at = *at + n == half ? 0 : *at + n;
    return 2.0 * (double)n;
}

// Here the part is the whole block, which all threads have in common. *at is for other rows in each
// round.
static double gather_part(int row, const char *part, int64_t bytes, int64_t *at)
{
    const int row_bytes = roof_row_bytes[row];
    uint64_t round = ((uint64_t)omp_get_thread_num() << 48) + (uint64_t)*at;
    *at = *at + STEP < bytes ? *at + STEP : 0;
    keep(gather_cpu_rows[row](part, (uint32_t)(bytes / row_bytes), mix(round * MIX_STEP),
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

// x = x * a + b, again and again; with a < 1 it stays finite. Twelve chains of vectors in registers
// keep two units busy for the time that one multiply-add takes. Which width is the fastest depends
// on the processor, and for those that have neither there are lanes that lie in the L1.
#define CHAINS 12
#define LANES  512
#define FMA_LANES(T)                                                                               \
    CPU_CLONES static double multiply_add_##T(T *restrict x, T a, T b)                             \
    {                                                                                              \
        for (int r = 0; r < FMA_ROUNDS / 64; r++) {                                                \
            for (int i = 0; i < LANES; i++) {                                                      \
                T y = x[i];                                                                        \
                y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                        \
                y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                        \
                x[i] = y;                                                                          \
            }                                                                                      \
            __asm__ volatile("" ::: "memory"); /* joined rounds would be chains too long */        \
        }                                                                                          \
        return 2.0 * 8 * LANES * (FMA_ROUNDS / 64);                                                \
    }
#define FMA_CHAINS(T, SIZE)                                                                        \
    typedef T T##SIZE __attribute__((vector_size(SIZE)));                                          \
    CPU_CLONES static double multiply_add_##T##SIZE(T *restrict x, T a, T b)                       \
    {                                                                                              \
        T##SIZE y[CHAINS];                                                                         \
        for (int c = 0; c < CHAINS; c++) y[c] = x[c] - (T##SIZE){0};                               \
        for (int r = 0; r < FMA_ROUNDS; r++)                                                       \
            for (int c = 0; c < CHAINS; c++) y[c] = y[c] * a + b;                                  \
        for (int c = 0; c < CHAINS; c++) x[c] = y[c][0];                                           \
        return 2.0 * CHAINS * FMA_ROUNDS * (SIZE / sizeof(T));                                     \
    }
#define FMA_PHASE(T, shape)                                                                        \
    static double fma_##shape(char *part, int64_t bytes, int64_t *at)                              \
    {                                                                                              \
        (void)part, (void)bytes, (void)at;                                                         \
        _Alignas(64) T x[LANES];                                                                   \
        for (int i = 0; i < LANES; i++) x[i] = (T)i;                                               \
        double flops = multiply_add_##shape(x, (T)0.9375, (T)0.0625);                              \
        keep((uint64_t)x[0]);                                                                      \
        return flops;                                                                              \
    }
#define FMA_PHASES(T)                                                                              \
    FMA_LANES(T)                                                                                   \
    FMA_CHAINS(T, 32) FMA_CHAINS(T, 64) FMA_PHASE(T, T) FMA_PHASE(T, T##32) FMA_PHASE(T, T##64)
FMA_PHASES(float)
FMA_PHASES(double)

// A block that the threads share: each works on a part of its own, wherever its pages are.
struct crew {
    int threads;
    char *block;
    int64_t part; // bytes of each
    int64_t *at;  // where each goes on: always forwards, so that no cache has what comes next
};

// More threads than processors add nothing, and take turns.
static int crew_size(void) { return (int)min64(omp_get_max_threads(), omp_get_num_procs()); }

static void crew_close(struct crew *crew)
{
    mem_free(crew->block);
    mem_free(crew->at);
}

static int crew_open(struct crew *crew, int64_t bytes)
{
    crew->threads = crew_size();
    crew->part = bytes / crew->threads & -STEP;
    crew->block = mem_alloc(crew->part, (size_t)crew->threads);
    crew->at = mem_zero_alloc(crew->threads, sizeof *crew->at);
    if (!crew->block || !crew->at) {
        crew_close(crew);
        return ERR_MEMORY;
    }
#pragma omp parallel for num_threads(crew->threads) schedule(static)
    for (int t = 0; t < crew->threads; t++)
        memset(crew->block + t * crew->part, 1, (size_t)crew->part);
    return OK;
}

// What the threads did in each short glance at them, over the time of one try.
struct glances {
    double begin; // of the first, in clock_ms()
    double amount[GLANCES];
};

// Adds work that was done from `start` to `end`, evenly: a thread that had to wait for a processor
// did little in that time.
static void glances_add(struct glances *x, double start, double end, double amount)
{
    double from = (start - x->begin) / GLANCE_MS, to = (end - x->begin) / GLANCE_MS;
    int first = (int)from, last = (int)to;
    for (int i = first; i <= last && i < GLANCES && to > from; i++)
        x->amount[i] += amount * (fmin(to, i + 1) - fmax(from, i)) / (to - from);
}

// A kind of work, and where its best rate goes.
struct job {
    phase run;
    int64_t bytes; // of all threads together
    double *best;
    bool whole; // each thread works on all of it
};

// One thread's part of a try: what it reads comes into its caches, as far as there is time, and
// then it goes on until all have been at work for a while. Nobody waits for the others.
static void work(const struct crew *crew, const struct job *job, int *ready,
                 struct glances *glances)
{
    const int thread = omp_get_thread_num();
    const phase run = job->run;
    int64_t share = min64(job->bytes / crew->threads & -STEP, crew->part);
    int64_t each = job->whole ? job->bytes : max64(STEP, share);
    char *part = crew->block + (job->whole ? 0 : thread * crew->part);
    int64_t at = crew->at[thread] < each ? crew->at[thread] : 0;
    double warm = 0, now = clock_ms(), start = now, end = INFINITY;
    do {
        warm += run(part, each, &at);
        now = clock_ms();
    } while (warm < (double)each && now - start < WARM_MS);
#pragma omp atomic
    ++*ready;
    while (now < end && now - glances->begin < GLANCES * GLANCE_MS) {
        int others;
        start = now;
        double amount = run(part, each, &at);
        now = clock_ms();
        glances_add(glances, start, now, amount);
#pragma omp atomic read
        others = *ready;
        if (end == INFINITY && others == crew->threads) end = now + TRY_MS;
    }
    crew->at[thread] = at;
}

// Work per nanosecond, that is GB/s or GFLOP/s, of all threads together: in the best of the short
// glances, as others take the processors away for longer than that.
static double try_once(const struct crew *crew, const struct job *job)
{
    double amount[GLANCES] = {0}, best = 0, begin = clock_ms();
    int ready = 0;
#pragma omp parallel reduction(+ : amount) num_threads(crew->threads)
    {
        struct glances glances = {.begin = begin};
        work(crew, job, &ready, &glances);
        for (int i = 0; i < GLANCES; i++) amount[i] += glances.amount[i];
    }
    for (int i = 0; i < GLANCES; i++) best = fmax(best, amount[i]);
    return best / 1e6 / GLANCE_MS;
}

#define JOBS_MAX (ROOF_STEPS_MAX + ROOF_GATHERS_MAX * ROOF_ROWS + 8)

static int list_jobs(const struct crew *crew, struct roof *r, struct job *jobs)
{
    int n = 0;
    for (int i = 0; i < r->step_count; i++)
        jobs[n++] = (struct job){read_part, r->steps[i].bytes, &r->steps[i].gb_s, false};
    for (int i = 0; i < r->gather_count * ROOF_ROWS; i++) {
        struct roof_gather *g = &r->gathers[i / ROOF_ROWS];
        int row = i % ROOF_ROWS;
        jobs[n++] = (struct job){gather_parts[row], g->bytes, &g->gb_s[row], true};
    }
    jobs[n++] = (struct job){copy_part, crew->part * crew->threads, &r->copy_gb_s, false};
    jobs[n++] = (struct job){read_part, NEAR_BYTES * crew->threads, &r->near_gb_s, false};
    static const phase fma[2][3] = {{fma_float, fma_float32, fma_float64},
                                    {fma_double, fma_double32, fma_double64}};
    for (int i = 0; i < 2 * 3; i++)
        jobs[n++] = (struct job){fma[i / 3][i % 3], 0, &r->fma_measured[i / 3], false};
    return n;
}

static int measure(const struct crew *crew, struct roof *r)
{
    struct job jobs[JOBS_MAX];
    int count = list_jobs(crew, r, jobs);
    double begin = clock_ms();
    for (int t = 0; t < TRIES && (!t || clock_ms() - begin < BUDGET_MS); t++)
        for (int i = 0; i < count; i++) {
            if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
            double rate = 0;
            for (int s = 0; s < STARTS && !(rate > 0); s++) rate = try_once(crew, &jobs[i]);
            *jobs[i].best = fmax(*jobs[i].best, rate);
        }
    roof_derive(r);
    return OK;
}

static double probe(const struct crew *crew)
{
    const struct job copy = {copy_part, crew->part * crew->threads, NULL, false};
    return try_once(crew, &copy);
}

// The size of the ladder's last block, which no cache should hold; 0 where memory is too short.
static int64_t ladder_top(const struct device *d)
{
    int64_t most = max64(TOP_MOST, crew_size() * TOP_EACH);
    int64_t top = max64(TOP_LEAST, min64(TOP_CACHES * d->cache_bytes, most));
    top = max64(top, 4 * FIRST_CACHES * d->cache_least_bytes);
    if (top > mem_available() / 8) top /= 2;
    return top > mem_available() / 8 ? 0 : top;
}

static int64_t probe_bytes(void) { return max64(PROBE_BYTES, crew_size() * PROBE_EACH); }

int roof_measure_cpu(struct device *d, struct roof *roof)
{
    struct crew crew;
    int64_t top = ladder_top(d);
    if (!top) // it would be the cache that is measured
        return fail(ERR_MEMORY, "too little host memory is free to measure it");
    int err = crew_open(&crew, top);
    if (err) return err;
    roof_plan_ladder(roof, FIRST_CACHES * d->cache_least_bytes, top);
    roof_plan_gathers(roof, GATHER_FIRST, crew.part * crew.threads);
    err = measure(&crew, roof);
    // As the probes that are to come: in a block of its own size.
    crew.part = min64(crew.part, probe_bytes() / crew.threads & -STEP);
    for (int i = 0; i < PROBE_TRIES && !err; i++)
        roof->probe_gb_s = fmax(roof->probe_gb_s, probe(&crew));
    crew_close(&crew);
    return err;
}

int roof_probe_cpu(struct device *d, double *gb_s)
{
    (void)d;
    struct crew crew;
    int err = crew_open(&crew, probe_bytes());
    if (err) return err;
    *gb_s = probe(&crew);
    crew_close(&crew);
    return OK;
}
