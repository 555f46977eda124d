// What the processor can do at most: a large copy, reads out of the last-level cache, multiply-adds
// in registers. All threads work; the best of a few repetitions counts.
#include "roof.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define COPY_MIN   ((int64_t)16 << 20) // of the block that is copied
#define COPY_MAX   ((int64_t)512 << 20)
#define PHASE_MS   40.0 // time for each of the four figures, ...
#define PHASE_RUNS 5    // ... but at least so many repetitions
#define FMA_LANES  512  // elements that one thread works on: in L1, and many independent chains
#define FMA_CHAIN  8    // multiply-adds on an element between its load and its store
#define FMA_ROUNDS 1000

// x = x * a + b, again and again; with a < 1 it stays finite. The empty asm keeps the compiler from
// joining rounds: with long chains fewer of them fit into the processor's window.
#define FMA_BODY(T)                                                                                \
    for (int r = 0; r < FMA_ROUNDS; r++) {                                                         \
        for (int i = 0; i < FMA_LANES; i++) {                                                      \
            T y = x[i];                                                                            \
            y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                            \
            y = y * a + b, y = y * a + b, y = y * a + b, y = y * a + b;                            \
            x[i] = y;                                                                              \
        }                                                                                          \
        __asm__ volatile("" ::: "memory");                                                         \
    }

CPU_CLONES static void fma_f32(float *restrict x, float a, float b) { FMA_BODY(float) }
CPU_CLONES static void fma_f64(double *restrict x, double a, double b) { FMA_BODY(double) }

CPU_CLONES static uint64_t read_words(const uint64_t *restrict p, int64_t count)
{
    uint64_t x = 0;
    for (int64_t i = 0; i < count; i++) x ^= p[i];
    return x;
}

static volatile uint64_t sink; // results go here, so that no work is optimised away

struct work {
    char *block, *copy; // copy[] is written; both of `bytes`
    int64_t bytes;
};

// Each returns the work of one repetition, in bytes or flops.
typedef double (*phase)(const struct work *w);

// memcpy in one piece per thread; for pieces this large the C library writes past the caches.
static double copy_once(const struct work *w)
{
#pragma omp parallel
    {
        int64_t threads = omp_get_num_threads(), t = omp_get_thread_num();
        int64_t from = w->bytes / threads * t;
        int64_t to = t + 1 == threads ? w->bytes : w->bytes / threads * (t + 1);
        memcpy(w->copy + from, w->block + from, (size_t)(to - from));
    }
    return 2.0 * (double)w->bytes;
}

// Every thread reads the whole block, from another place on, so that it comes from the cache that
// they share and not from their own.
static double read_once(const struct work *w)
{
    const uint64_t *p = (const uint64_t *)w->block;
    int64_t count = w->bytes / (int64_t)sizeof *p;
    int threads = 1;
#pragma omp parallel
    {
#pragma omp single
        threads = omp_get_num_threads();
        int64_t first = count / threads * omp_get_thread_num();
        uint64_t x = read_words(p + first, count - first) ^ read_words(p, first);
#pragma omp atomic
        sink ^= x;
    }
    return (double)w->bytes * threads;
}

#define FMA_ONCE(name, T, kernel)                                                                  \
    static double name(const struct work *w)                                                       \
    {                                                                                              \
        (void)w;                                                                                   \
        int threads = 1;                                                                           \
        _Pragma("omp parallel")                                                                    \
        {                                                                                          \
            _Alignas(64) T x[FMA_LANES];                                                           \
            for (int i = 0; i < FMA_LANES; i++) x[i] = (T)i;                                       \
            _Pragma("omp single") threads = omp_get_num_threads();                                 \
            kernel(x, (T)0.9375, (T)0.0625);                                                       \
            _Pragma("omp atomic") sink ^= (uint64_t)x[omp_get_thread_num() % FMA_LANES];           \
        }                                                                                          \
        return 2.0 * FMA_CHAIN * FMA_LANES * FMA_ROUNDS * threads;                                 \
    }
FMA_ONCE(fma_f32_once, float, fma_f32)
FMA_ONCE(fma_f64_once, double, fma_f64)

// Work per nanosecond, that is GB/s or GFLOP/s: the best repetition after a first one that counts
// for nothing (pages, threads and clocks come up in it).
static double best_rate(phase run, const struct work *w)
{
    double best = 0;
    int count = 0;
    run(w);
    double start = clock_ms();
    do {
        double before = clock_ms();
        double amount = run(w);
        best = fmax(best, amount / 1e6 / fmax(clock_ms() - before, 1e-6));
    } while (++count < PHASE_RUNS || clock_ms() - start < PHASE_MS);
    return best;
}

int roof_measure_cpu(int64_t cache_block, struct roof *roof)
{
    // Two blocks, together at least four times the cache, as far as memory and patience reach.
    int64_t bytes = max64(COPY_MIN, min64(2 * cache_block, COPY_MAX));
    bytes = min64(bytes, mem_available() / 8) & ~(int64_t)4095;
    struct work w = {.bytes = bytes};
    int err = ERR_MEMORY;
    w.block = mem_alloc(bytes, 1);
    w.copy = mem_alloc(bytes, 1);
    if (!w.block || !w.copy) goto done;
    memset(w.block, 1, (size_t)bytes);

    roof->copy_gb_s = best_rate(copy_once, &w);
    w.bytes = min64(bytes, cache_block / 2) & ~(int64_t)4095;
    roof->cache_gb_s = best_rate(read_once, &w);
    roof->fma_gflops[0] = best_rate(fma_f32_once, &w);
    roof->fma_gflops[1] = best_rate(fma_f64_once, &w);
    err = OK;
done:
    mem_free(w.block);
    mem_free(w.copy);
    return err;
}
