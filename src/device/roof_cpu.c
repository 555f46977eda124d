// What the processor can do at most: a large copy, reads out of the last-level cache, multiply-adds
// in registers.
//
// Every thread works for the same time at its own pace, and the rates are added up. Waiting for the
// others after equal work would measure the scheduler on a machine that has more to do.
#include "device/roof.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define COPY_MIN   ((int64_t)16 << 20) // of the block that is copied
#define COPY_MAX   ((int64_t)512 << 20)
#define REPEATS    3    // the best of them counts
#define REPEAT_MS  15.0 // of each
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

CPU_CLONES static void fma_f32(float *restrict x, float a, float b){FMA_BODY(float)} CPU_CLONES
    static void fma_f64(double *restrict x, double a, double b){FMA_BODY(double)}

CPU_CLONES static uint64_t read_words(const uint64_t *restrict p, int64_t count)
{
    uint64_t x = 0;
    for (int64_t i = 0; i < count; i++) x ^= p[i];
    return x;
}

static volatile uint64_t sink; // results go here, so that no work is optimised away

static void keep(uint64_t x)
{
#pragma omp atomic
    sink ^= x;
}

struct work {
    char *block, *copy; // copy[] is written; both of `bytes`
    int64_t bytes;
};

// One round of one thread. Returns its work in bytes or flops.
typedef double (*phase)(const struct work *w, int thread, int threads);

// memcpy in one piece; for pieces this large the C library writes past the caches.
static double copy_piece(const struct work *w, int thread, int threads)
{
    int64_t piece = w->bytes / threads;
    memcpy(w->copy + thread * piece, w->block + thread * piece, (size_t)piece);
    return 2.0 * (double)piece;
}

// Every thread reads the whole block, from another place on, so that it comes from the cache that
// they share and not from their own.
static double read_block(const struct work *w, int thread, int threads)
{
    const uint64_t *p = (const uint64_t *)w->block;
    int64_t count = w->bytes / (int64_t)sizeof *p, first = count / threads * thread;
    keep(read_words(p + first, count - first) ^ read_words(p, first));
    return (double)w->bytes;
}

#define FMA_PHASE(name, T)                                                                         \
    static double name##_rounds(const struct work *w, int thread, int threads)                     \
    {                                                                                              \
        (void)w, (void)threads;                                                                    \
        _Alignas(64) T x[FMA_LANES];                                                               \
        for (int i = 0; i < FMA_LANES; i++) x[i] = (T)i;                                           \
        name(x, (T)0.9375, (T)0.0625);                                                             \
        keep((uint64_t)x[thread % FMA_LANES]);                                                     \
        return 2.0 * FMA_CHAIN * FMA_LANES * FMA_ROUNDS;                                           \
    }
FMA_PHASE(fma_f32, float)
FMA_PHASE(fma_f64, double)

// Work per nanosecond, that is GB/s or GFLOP/s.
static double best_rate(phase run, const struct work *w)
{
    double best = 0;
    // More threads than processors add nothing, and each would have a smaller piece, in its cache.
    const int crew = (int)min64(omp_get_max_threads(), omp_get_num_procs());
    for (int i = 0; i < REPEATS; i++) {
        double rate = 0, start = 0;
#pragma omp parallel reduction(+ : rate) num_threads(crew)
        {
            int thread = omp_get_thread_num(), threads = omp_get_num_threads();
            run(w, thread, threads); // pages, caches and clocks come up
            // One start for all: a thread that has to wait for a processor counts from there, too.
#pragma omp barrier
#pragma omp single
            start = clock_ms();
            double amount = 0, ms;
            do {
                amount += run(w, thread, threads);
                ms = clock_ms() - start;
            } while (ms < REPEAT_MS);
            rate += amount / 1e6 / ms;
        }
        best = fmax(best, rate);
    }
    return best;
}

int roof_measure_cpu(int64_t cache_block, struct roof *roof)
{
    // Two blocks, together at least four times the cache, as far as memory and patience reach.
    int64_t wanted = max64(COPY_MIN, min64(2 * cache_block, COPY_MAX));
    int64_t bytes = min64(wanted, mem_available() / 8) & ~(int64_t)4095;
    if (bytes < wanted / 2) // it would be the cache that is measured
        return fail(ERR_MEMORY, "too little host memory is free to measure it");
    struct work w = {.bytes = bytes};
    int err = ERR_MEMORY;
    w.block = mem_alloc(bytes, 1);
    w.copy = mem_alloc(bytes, 1);
    if (!w.block || !w.copy) goto done;
    memset(w.block, 1, (size_t)bytes);

    roof->copy_gb_s = best_rate(copy_piece, &w);
    w.bytes = min64(bytes, cache_block / 2) & ~(int64_t)4095;
    roof->cache_gb_s = best_rate(read_block, &w);
    roof->fma_gflops[0] = best_rate(fma_f32_rounds, &w);
    roof->fma_gflops[1] = best_rate(fma_f64_rounds, &w);
    err = OK;
done:
    mem_free(w.block);
    mem_free(w.copy);
    return err;
}
