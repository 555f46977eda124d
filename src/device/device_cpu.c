// The processor and its OpenMP threads as a device.
#define _GNU_SOURCE // sched_getaffinity
#include "device/device.h"
#include "device/digest.h"
#include "device/roof.h"

#include <ctype.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct cpu {
    double start_ms;      // of the timer
    int64_t cache_block;  // last-level cache that one thread sees; the device's may be many of them
    unsigned char *flush; // 2 x the last-level cache, from the first flush on
    int64_t flush_bytes;
};

static int cpu_count(void) { return 1; }

// The first line of a file, without its end; false where it cannot be read.
static bool read_line(const char *path, char *line, int size)
{
    FILE *f = fopen(path, "r");
    if (!f) return false;
    bool ok = fgets(line, size, f) != NULL;
    fclose(f);
    if (ok) line[strcspn(line, "\n")] = 0;
    return ok;
}

// The value of the first "key : value" in /proc/cpuinfo, with single blanks; "" if there is none.
static void cpuinfo_value(const char *key, char *value, size_t size)
{
    char line[8192]; // the flags are one long line
    value[0] = 0;
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f) return;
    size_t length = strlen(key);
    while (fgets(line, sizeof line, f)) {
        const char *p = line + length;
        if (strncmp(line, key, length) || (*p != '\t' && *p != ' ' && *p != ':')) continue;
        p += strspn(p, "\t :");
        size_t n = 0;
        for (; *p && n + 1 < size; p++)
            if (!isspace((unsigned char)*p))
                value[n++] = *p;
            else if (n && value[n - 1] != ' ')
                value[n++] = ' ';
        if (n && value[n - 1] == ' ') n--;
        value[n] = 0;
        break;
    }
    fclose(f);
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)); p += n)
        if ((p == text || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

// The widest vectors, by the names that Linux gives them on x86 ("flags") and Arm ("Features").
static const char *vector_set(void)
{
    static const struct {
        const char *flag, *name;
    } sets[] = {{"avx512f", "avx512"}, {"avx2", "avx2"}, {"avx", "avx"},   {"sse2", "sse2"},
                {"sve2", "sve2"},      {"sve", "sve"},   {"asimd", "neon"}};
    static char flags[8192];
    cpuinfo_value("flags", flags, sizeof flags);
    if (!flags[0]) cpuinfo_value("Features", flags, sizeof flags);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (has_word(flags, sets[i].flag)) return sets[i].name;
    return NULL;
}

static bool read_cache_fact(int cpu, int cache, const char *fact, char *text, int size)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, cache, fact);
    return read_line(path, text, size);
}

// Sizes of the last-level cache: of the block that one core sees, and of all blocks that the
// threads of this process may run on.
static void cache_sizes(int64_t *block, int64_t *total)
{
    char text[256];
    cpu_set_t allowed, seen;
    CPU_ZERO(&seen);
    *block = *total = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) CPU_ZERO(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        int last = -1, top = 0;
        for (int i = 0; read_cache_fact(cpu, i, "level", text, sizeof text); i++)
            if (atoi(text) >= top) top = atoi(text), last = i;
        // A block is known by the first processor that shares it.
        if (last < 0 || !read_cache_fact(cpu, last, "shared_cpu_list", text, sizeof text)) continue;
        int first = atoi(text);
        if (first < 0 || first >= CPU_SETSIZE || CPU_ISSET(first, &seen)) continue;
        CPU_SET(first, &seen);
        char unit = 0;
        long long size = 0;
        if (!read_cache_fact(cpu, last, "size", text, sizeof text) ||
            sscanf(text, "%lld%c", &size, &unit) < 1)
            continue;
        size *= unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
        *block = max64(*block, size);
        *total += size;
    }
    if (*total <= 0) *block = *total = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (*total <= 0) *block = *total = (int64_t)32 << 20; // nobody tells; common on a server
}

static int cpu_open(struct device *d)
{
    struct cpu *cpu = mem_zero_alloc(1, sizeof *cpu);
    if (!cpu) return ERR_MEMORY;
    struct utsname system;
    cpuinfo_value("model name", d->name, sizeof d->name);
    if (!d->name[0])
        snprintf(d->name, sizeof d->name, "%s", uname(&system) ? "processor" : system.machine);
    d->units = omp_get_max_threads();
    const char *set = vector_set();
    snprintf(d->detail, sizeof d->detail, "%s%s%d thread%s", set ? set : "", set ? ", " : "",
             d->units, d->units == 1 ? "" : "s");
    d->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    cache_sizes(&cpu->cache_block, &d->cache_bytes);
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

// In pieces by all threads, so that the pages of a large block are spread over the memory of all
// sockets, as they are when threads share the rows of a matrix.
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

static int cpu_digest(struct device *d, const struct device_view *v, struct digest *out)
{
    (void)d;
    int64_t count = v->lines * v->length;
    uint64_t bits = 0;
    double sum = 0, size = 0;
#pragma omp parallel reduction(+ : bits, sum, size) if (count * v->width > PIECE / 16)
    {
        struct digest_part part = {0};
#pragma omp for schedule(static)
        for (int64_t q = 0; q < count; q++)
            digest_add(v, q, v->lines == 1 ? q : q / v->length * v->step + q % v->length, &part);
        struct digest mine = digest_of(&part);
        bits += mine.bits, sum += mine.sum, size += mine.size;
    }
    *out = (struct digest){bits, sum, size};
    return OK;
}

static int cpu_spoil(struct device *d, const struct device_view *v, uint64_t seed)
{
    (void)d;
    for (int64_t s = 0; s < digest_spots(v); s++)
        memset((char *)v->p + digest_spot(v, seed, s) * v->width, 0xff, (size_t)v->width);
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

// Read, not written: what was dirty goes back to memory now, and not during the timed run.
static int cpu_flush_cache(struct device *d)
{
    struct cpu *cpu = d->backend;
    if (!cpu->flush) {
        cpu->flush_bytes = 2 * d->cache_bytes;
        cpu->flush = mem_alloc(cpu->flush_bytes, 1);
        if (!cpu->flush) return ERR_MEMORY;
        cpu_fill(d, cpu->flush, 1, cpu->flush_bytes);
    }
    unsigned sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < cpu->flush_bytes; i++) sum += cpu->flush[i];
    static volatile unsigned sink; // so that the reads are not optimised away
    sink = sum;
    (void)sink;
    return OK;
}

static int cpu_clock_mhz(struct device *d, int *now, int *max)
{
    (void)d;
    char text[64];
    *now = *max = 0;
    if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", text, sizeof text))
        *now = (int)(atoll(text) / 1000);
    if (read_line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text, sizeof text))
        *max = (int)(atoll(text) / 1000);
    if (!*now) {
        cpuinfo_value("cpu MHz", text, sizeof text);
        *now = (int)atof(text);
    }
    return OK;
}

static int cpu_throttled(struct device *d)
{
    (void)d;
    return 0;
}

static int cpu_measure_roof(struct device *d, struct roof *roof)
{
    return roof_measure_cpu(((struct cpu *)d->backend)->cache_block, roof);
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
    .fill = cpu_fill,
    .digest = cpu_digest,
    .spoil = cpu_spoil,
    .sync = cpu_sync,
    .run_begin = cpu_run_begin,
    .run_end = cpu_run_end,
    .timer_start = cpu_timer_start,
    .timer_stop = cpu_timer_stop,
    .flush_cache = cpu_flush_cache,
    .clock_mhz = cpu_clock_mhz,
    .throttled = cpu_throttled,
    .measure_roof = cpu_measure_roof,
};
