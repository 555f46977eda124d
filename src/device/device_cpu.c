// The CPU with its OpenMP threads as a device.
#define _GNU_SOURCE // sched_getaffinity
#include "base/cpus.h"
#include "base/sysfs.h"
#include "device/device.h"
#include "device/digest_cpu.h"
#include "device/roof.h"
#include "device/signs.h"

#include <malloc.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct cpu {
    double start_ms;      // start of the timer
    unsigned char *flush; // 2 x device_cached_bytes(); NULL before the first flush
    int64_t flush_bytes;
    struct digest_table digest;
};

static int cpu_count(const char **missing)
{
    *missing = NULL;
    return 1;
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

// Returns the widest vector instructions, or NULL. Linux lists them as "flags" on x86 and
// "Features" on Arm.
static const char *vector_set(void)
{
    static const struct {
        const char *flag, *name;
    } sets[] = {{"avx512f", "avx512"}, {"avx2", "avx2"}, {"avx", "avx"},   {"sse2", "sse2"},
                {"sve2", "sve2"},      {"sve", "sve"},   {"asimd", "neon"}};
    static char flags[8192];
    sysfs_value("/proc/cpuinfo", "flags", flags, sizeof flags);
    if (!flags[0]) sysfs_value("/proc/cpuinfo", "Features", flags, sizeof flags);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (has_word(flags, sets[i].flag)) return sets[i].name;
    return NULL;
}

static bool read_cache_fact(int cpu, int cache, const char *fact, char *text, int size)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, cache, fact);
    return sysfs_line(path, text, size);
}

// The caches of a level, of the processors that this process may run on.
struct cache {
    int level;
    int64_t block; // size of the largest cache
    int64_t total; // size of all caches
    int sharers;   // processors that share the caches
};

// Returns the size of a processor's data cache at a level; 0 if there is none. Sets the first
// processor that shares the cache, and the number of these processors.
static int64_t cache_of(int cpu, int level, int *first, int *sharers)
{
    char text[CPUS_TEXT];
    for (int i = 0; read_cache_fact(cpu, i, "level", text, sizeof text); i++) {
        char unit = 0;
        long long size = 0;
        if (atoi(text) != level || !read_cache_fact(cpu, i, "type", text, sizeof text) ||
            !strcmp(text, "Instruction") ||
            !read_cache_fact(cpu, i, "shared_cpu_list", text, sizeof text))
            continue;
        struct cpus shared;
        cpus_parse(text, &shared);
        if (shared.count == 0) continue;
        *first = atoi(text);
        *sharers = shared.count;
        if (!read_cache_fact(cpu, i, "size", text, sizeof text) ||
            sscanf(text, "%lld%c", &size, &unit) < 1)
            continue;
        return size * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
    }
    return 0;
}

static struct cache find_cache(const cpu_set_t *allowed, int level)
{
    struct cache cache = {.level = level};
    cpu_set_t seen; // caches found, each by the first processor that shares the cache
    CPU_ZERO(&seen);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int first = -1, sharers = 1;
        if (!CPU_ISSET(cpu, allowed)) continue;
        int64_t size = cache_of(cpu, level, &first, &sharers);
        if (size <= 0 || first < 0 || first >= CPU_SETSIZE || CPU_ISSET(first, &seen)) continue;
        CPU_SET(first, &seen);
        cache.block = max64(cache.block, size);
        cache.total += size;
        cache.sharers += sharers;
    }
    return cache;
}

// Sizes for a system that does not report its caches: common on a server.
#define LAST_CACHE   ((int64_t)32 << 20)
#define CORE_CACHE   ((int64_t)1 << 20) // per thread
#define CACHE_LEVELS 4                  // most levels in /sys

// Sets the cache sizes of d: the last-level caches that the threads may use, and the caches one
// level below of `threads` cores. If the sharers are unknown, the last-level cache counts as
// LAST_CACHE at most.
static void cache_sizes(struct device *d, int threads)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) CPU_ZERO(&allowed);
    struct cache last = {0}, before = {0};
    for (int level = CACHE_LEVELS; level > 0 && !last.total; level--)
        last = find_cache(&allowed, level);
    if (last.total) before = find_cache(&allowed, last.level - 1);
    d->cache_bytes = last.total ? last.total : sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (d->cache_bytes <= 0) d->cache_bytes = LAST_CACHE;
    d->cache_block_bytes = d->cache_part_bytes = min64(d->cache_bytes, LAST_CACHE);
    if (last.total) {
        d->cache_block_bytes = last.block;
        d->cache_part_bytes = max64(1, last.total * min64(threads, last.sharers) / last.sharers);
    }
    d->cache_least_bytes = min64(before.total, threads * before.block);
    if (!before.total) d->cache_least_bytes = threads * CORE_CACHE;
}

// Freed blocks up to KEPT_BLOCK stay in the heap, KEPT bytes at most. By default the C library
// adapts this threshold, from 128 kB on, to the blocks that were freed. Then the matrices measured
// before decide if a result of some megabytes gets mapped pages or new ones, at half the speed. MKL
// uses the same heap (mkl.c).
#define KEPT_BLOCK (32 << 20) // the most that mallopt() accepts
#define KEPT       (64 << 20)

static void keep_pages(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
    mallopt(M_TRIM_THRESHOLD, KEPT);
#endif
}

static int cpu_open(struct device *d)
{
    struct cpu *cpu = mem_zero_alloc(1, sizeof *cpu);
    if (!cpu) return ERR_MEMORY;
    keep_pages();
    digest_table_fill(&cpu->digest);
    struct utsname system;
    sysfs_value("/proc/cpuinfo", "model name", d->name, sizeof d->name);
    if (!d->name[0])
        snprintf(d->name, sizeof d->name, "%s", uname(&system) ? "processor" : system.machine);
    d->units = omp_get_max_threads();
    const int processors = omp_get_num_procs();
    const char *set = vector_set();
    int n = snprintf(d->detail, sizeof d->detail, "%s%s%d thread%s", set ? set : "",
                     set ? ", " : "", d->units, d->units == 1 ? "" : "s");
    if (d->units != processors)
        snprintf(d->detail + n, sizeof d->detail - (size_t)n, " on %d processor%s", processors,
                 processors == 1 ? "" : "s");
    d->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    cache_sizes(d, (int)min64(d->units, processors));
    d->backend = cpu;
    return OK;
}

static void cpu_close(struct device *d)
{
    struct cpu *cpu = d->backend;
    mem_free(cpu->flush);
    mem_free(cpu);
}

static int cpu_alloc(struct device *d, int64_t bytes, void **p)
{
    (void)d;
    *p = mem_alloc(bytes, 1);
    return *p ? OK : ERR_MEMORY;
}

static void cpu_release(struct device *d, void *p)
{
    (void)d;
    mem_free(p);
}

// Bytes that a thread copies or fills at a time. All threads take part, which spreads the pages of
// a large block over the memory of all sockets. Threads that share the rows of a matrix do the
// same.
#define PIECE ((int64_t)1 << 20)

static int cpu_copy(struct device *d, void *to, const void *from, int64_t bytes)
{
    (void)d;
#pragma omp parallel for schedule(static) if (bytes > PIECE)
    for (int64_t i = 0; i < bytes; i += PIECE)
        memcpy((char *)to + i, (const char *)from + i, (size_t)min64(PIECE, bytes - i));
    return OK;
}

static int cpu_fill(struct device *d, void *p, int byte, int64_t bytes)
{
    (void)d;
#pragma omp parallel for schedule(static) if (bytes > PIECE)
    for (int64_t i = 0; i < bytes; i += PIECE)
        memset((char *)p + i, byte, (size_t)min64(PIECE, bytes - i));
    return OK;
}

static int cpu_digest(struct device *d, const struct device_view *v, uint64_t *bits)
{
    *bits = digest_cpu(&((struct cpu *)d->backend)->digest, v);
    return OK;
}

static int cpu_spoil(struct device *d, const struct device_view *v, uint64_t seed)
{
    (void)d;
    for (int64_t s = 0; s < digest_spots(v); s++)
        memset((char *)v->p + digest_spot(v, seed, s) * v->width, 0xff, (size_t)v->width);
    return OK;
}

static int cpu_fetch(struct device *d, const struct device_view *v, uint64_t seed, void *to)
{
    (void)d;
    for (int64_t s = 0; s < digest_spots(v); s++)
        memcpy((char *)to + s * v->width, (const char *)v->p + digest_spot(v, seed, s) * v->width,
               (size_t)v->width);
    return OK;
}

static int cpu_sync(struct device *d)
{
    (void)d;
    return OK;
}

static void cpu_run_begin(struct device *d, bool closed) { (void)d, (void)closed; }

static int cpu_run_end(struct device *d)
{
    (void)d;
    return OK;
}

static int cpu_timer_start(struct device *d)
{
    ((struct cpu *)d->backend)->start_ms = clock_ms();
    return OK;
}

static int cpu_timer_stop(struct device *d, double *ms)
{
    *ms = clock_ms() - ((struct cpu *)d->backend)->start_ms;
    return OK;
}

// Reads a large block. Reading, unlike writing, leaves no dirty lines that would be written back in
// the timed run.
static int cpu_flush_cache(struct device *d)
{
    struct cpu *cpu = d->backend;
    if (!cpu->flush) {
        cpu->flush_bytes = 2 * device_cached_bytes(d);
        cpu->flush = mem_alloc(cpu->flush_bytes, 1);
        if (!cpu->flush) return ERR_MEMORY;
        cpu_fill(d, cpu->flush, 1, cpu->flush_bytes);
    }
    unsigned sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < cpu->flush_bytes; i++) sum += cpu->flush[i];
    static volatile unsigned sink; // keeps the compiler from removing the reads
    sink = sum;
    (void)sink;
    return OK;
}

static int cpu_clock_mhz(struct device *d, int *now, int *max)
{
    (void)d;
    char text[64];
    *now = *max = 0;
    if (sysfs_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", text, sizeof text))
        *now = (int)(atoll(text) / 1000);
    if (sysfs_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text, sizeof text))
        *max = (int)(atoll(text) / 1000);
    if (!*now) {
        sysfs_value("/proc/cpuinfo", "cpu MHz", text, sizeof text);
        *now = (int)atof(text);
    }
    return OK;
}

static int cpu_throttled(struct device *d)
{
    (void)d;
    return 0;
}

extern const struct device_ops device_cpu;
const struct device_ops device_cpu = {
    .units = "threads",
    .row_start_bytes = sizeof(int64_t),
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .upload = cpu_copy,
    .download = cpu_copy,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .digest = cpu_digest,
    .spoil = cpu_spoil,
    .sign_dense = sign_dense_cpu,
    .sign_sparse = sign_sparse_cpu,
    .fetch = cpu_fetch,
    .sync = cpu_sync,
    .sync_all = cpu_sync,
    .run_begin = cpu_run_begin,
    .run_end = cpu_run_end,
    .timer_start = cpu_timer_start,
    .timer_stop = cpu_timer_stop,
    .flush_cache = cpu_flush_cache,
    .clock_mhz = cpu_clock_mhz,
    .throttled = cpu_throttled,
    .measure_roof = roof_measure_cpu,
    .probe_roof = roof_probe_cpu,
};
