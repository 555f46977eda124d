// The device layer: opening by name, memory and its peak, copies, timers, failures, the roof.
// The same checks run on the CPU and, where there is one, on a CUDA device or the emulated one.
#include <omp.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/sysfs.h"
#include "device/roof.h"
#include "test.h"

static void check_refused(const char *spec, const char *says)
{
    struct device d;
    int err = device_open(spec, &d);
    CHECK(err == ERR_USAGE, "%s: %d", spec, err);
    CHECK(strstr(fail_text(), spec), "%s: \"%s\" does not name it", spec, fail_text());
    CHECK(strstr(fail_text(), says), "%s: \"%s\" does not say \"%s\"", spec, fail_text(), says);
    CHECK(!d.ops && !d.blocks, "%s: there is something to close", spec);
    device_close(&d); // legal after a failed open
}

static void check_parsed(const char *spec, enum device_kind want, int number)
{
    enum device_kind kind;
    int index = -1;
    int err = device_parse(spec, &kind, &index);
    CHECK(!err && kind == want && index == number, "%s: error %d, number %d of %s", spec, err,
          index, device_list[kind].name);
}

// Names with and without a number, of kinds that are here and that are not.
static void test_names(void)
{
    static const char *const ends[] = {":", ":x", ":-1", ":+1",  ": 1",  ":1x", ":1 ",
                                       "x", "0",  " ",   ":0:0", ":0x1", ":1.0"};
    enum device_kind kind;
    char spec[64], id[16];
    int index;
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const struct device_entry *e = &device_list[k];
        const char *comma = k + 1 < DEVICE_KINDS ? "," : "";
        snprintf(spec, sizeof spec, ", %s%s", e->name, e->numbered ? "," : comma);
        CHECK(strstr(device_names(), spec), "%s does not name %s", device_names(), e->name);
        CHECK(e->ops || e->missing, "%s: no reason", e->name);
        check_parsed(e->name, (enum device_kind)k, 0);
        for (int n = 0; n < 1200; n = 3 * n + 1) {
            device_id((enum device_kind)k, n, id);
            check_parsed(id, (enum device_kind)k, e->numbered ? n : 0);
            snprintf(spec, sizeof spec, e->numbered ? "%s:%d" : "%s", e->name, n);
            CHECK_TEXT(id, spec);
        }
        for (int i = 0; i < COUNT(ends); i++) {
            snprintf(spec, sizeof spec, "%s%s", e->name, ends[i]);
            CHECK(device_parse(spec, &kind, &index) == ERR_USAGE, "%s passes", spec);
        }
        snprintf(spec, sizeof spec, "%s:0", e->name);
        CHECK(e->numbered == !device_parse(spec, &kind, &index), "%s", spec);
        snprintf(spec, sizeof spec, "%s:99999999999999999999", e->name);
        CHECK(e->numbered == !device_parse(spec, &kind, &index), "%s", spec);
        CHECK(!e->numbered || index > 1000, "%s is number %d", spec, index);
    }
    CHECK(!device_parse("auto", &kind, &index) && !device_missing(kind) && index == 0, "auto");
    for (int k = (int)kind + 1; k < DEVICE_KINDS; k++)
        CHECK(device_missing((enum device_kind)k), "auto is not the last that is there");
    CHECK(!strncmp(device_names(), "auto, ", 6), "%s", device_names());
}

static void test_specs(void)
{
    static const char *const bad[] = {"",        "gpu",     "CPU",     "cpu:0",
                                      "cuda0",   "auto ",   "cuda:",   "cuda:x",
                                      "cuda:-1", "cuda:+1", "cuda: 1", "cuda:1x"};
    for (int i = 0; i < COUNT(bad); i++) check_refused(bad[i], device_names());
    CHECK(!device_missing(DEVICE_CPU), "%s", device_missing(DEVICE_CPU));
    CHECK(device_count(DEVICE_CPU) == 1, "%d", device_count(DEVICE_CPU));

    struct device d;
    enum device_kind best;
    char id[16], past[32];
    int index, err = device_open("auto", &d);
    CHECK(!err, "%s", err ? fail_text() : "");
    CHECK(!device_parse("auto", &best, &index) && best == d.kind, "auto is %s", d.id);
    device_id(best, 0, id);
    CHECK_TEXT(d.id, id);
    device_close(&d);
    device_close(&d); // twice is legal
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        int count = device_count((enum device_kind)k);
        CHECK(!missing == (count > 0), "%s: %d", device_list[k].name, count);
        if (missing) check_refused(device_list[k].name, missing);
        if (!device_list[k].numbered) continue;
        snprintf(past, sizeof past, "%s:%d", device_list[k].name, count);
        device_id((enum device_kind)k, count - 1, id);
        check_refused(past, missing ? missing : id);
        snprintf(past, sizeof past, "%s:99999999999999999999", device_list[k].name);
        check_refused(past, missing ? missing : id);
    }
}

static void test_facts(struct device *d)
{
    char id[16];
    device_id(d->kind, d->index, id);
    CHECK_TEXT(d->id, id);
    CHECK(d->ops == device_list[d->kind].ops && d->ops->units[0], "no operations");
    CHECK(d->ops->row_start_bytes == 4 || d->ops->row_start_bytes == 8, "%d",
          d->ops->row_start_bytes);
    CHECK(d->name[0], "no name");
    CHECK(d->detail[0], "no detail");
    CHECK(d->units > 0, "%d", d->units);
    CHECK(d->memory_bytes > 0, "%lld", (long long)d->memory_bytes);
    CHECK(d->cache_bytes > 0 && d->cache_least_bytes > 0, "%lld, %lld", (long long)d->cache_bytes,
          (long long)d->cache_least_bytes);
    CHECK(d->cache_block_bytes > 0 && d->cache_block_bytes <= d->cache_bytes, "%lld of %lld",
          (long long)d->cache_block_bytes, (long long)d->cache_bytes);
    CHECK(d->cache_part_bytes > 0 && d->cache_part_bytes <= d->cache_bytes, "%lld of %lld",
          (long long)d->cache_part_bytes, (long long)d->cache_bytes);
    CHECK((d->stream == NULL) == device_is_host(d), "%p", d->stream);
    int now = -1, max = -1;
    CHECK(!d->ops->clock_mhz(d, &now, &max), "%s", fail_text());
    CHECK(now >= 0 && now < 20000 && max >= 0 && max < 20000, "%d, %d", now, max);
    int throttled = d->ops->throttled(d);
    CHECK(throttled == 0 || throttled == 1, "%d", throttled);
    printf("%s: %s (%s), %d units, %lld MB, cache %lld kB, %d of %d MHz\n", d->id, d->name,
           d->detail, d->units, (long long)d->memory_bytes >> 20, (long long)d->cache_bytes >> 10,
           now, max);
}

// Bytes to the device and back, across the size at which the CPU copies in pieces.
static void test_copies(struct device *d)
{
    static const int64_t sizes[] = {0, 1, 7, 4096, (1 << 20) - 1, (1 << 20) + 1, (3 << 20) + 5};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s];
        unsigned char *from = mem_alloc(n, 1), *to = mem_alloc(n, 1);
        void *p = NULL;
        CHECK(from && to, "%s", fail_text());
        if (!from || !to) exit(1);
        for (int64_t i = 0; i < n; i++) from[i] = (unsigned char)random_at(3, (uint64_t)i);
        CHECK(!device_alloc(d, n, 1, &p) && p, "%s", fail_text());
        CHECK(!device_upload(d, p, from, n), "%s", fail_text());
        memset(to, 0, (size_t)n);
        CHECK(!device_download(d, to, p, n), "%s", fail_text());
        CHECK(!memcmp(from, to, (size_t)n), "%lld bytes came back changed", (long long)n);

        if (n > 1) { // all but the first byte
            CHECK(!device_fill(d, (char *)p + 1, 0xa5, n - 1), "%s", fail_text());
            CHECK(!device_download(d, to, p, n), "%s", fail_text());
            int64_t wrong = to[0] != from[0];
            for (int64_t i = 1; i < n; i++) wrong += to[i] != 0xa5;
            CHECK(wrong == 0, "%lld of %lld bytes are wrong", (long long)wrong, (long long)n);
        }
        device_free(d, p);
        mem_free(from);
        mem_free(to);
    }
    CHECK(!device_sync(d), "%s", fail_text());
}

static void test_peak(struct device *d)
{
    void *a, *b, *c;
    int64_t before = d->used_bytes;
    device_peak_reset(d);
    CHECK(d->peak_bytes == before, "%lld", (long long)d->peak_bytes);
    CHECK(!device_alloc(d, 100, 8, &a), "%s", fail_text());
    CHECK(!device_alloc(d, 1000, 1, &b), "%s", fail_text());
    CHECK(d->used_bytes == before + 1800, "%lld", (long long)d->used_bytes);
    device_free(d, a);
    CHECK(!device_alloc(d, 300, 1, &c), "%s", fail_text());
    CHECK(d->used_bytes == before + 1300, "%lld", (long long)d->used_bytes);
    CHECK(d->peak_bytes == before + 1800, "%lld", (long long)d->peak_bytes);
    device_peak_reset(d);
    CHECK(d->peak_bytes == before + 1300, "%lld", (long long)d->peak_bytes);
    device_free(d, b);
    device_free(d, c);
    device_free(d, NULL);
    CHECK(d->used_bytes == before, "%lld", (long long)d->used_bytes);

    // More blocks than fit at first, freed from the middle outwards.
    void *many[100];
    for (int i = 0; i < 100; i++) CHECK(!device_alloc(d, i, 4, &many[i]) && many[i], "%d", i);
    CHECK(d->used_bytes == before + 4 * 4950, "%lld", (long long)d->used_bytes);
    for (int i = 50; i < 100; i++) device_free(d, many[i]), device_free(d, many[99 - i]);
    CHECK(d->used_bytes == before, "%lld", (long long)d->used_bytes);
}

// What a library says that it holds counts as allocated, until it says something else.
static void test_foreign(struct device *d)
{
    struct device_trace trace = {.start = clock_ms()};
    int64_t before = d->used_bytes;
    device_peak_reset(d);
    d->trace = &trace;
    device_count_foreign(d, 1000);
    CHECK(d->used_bytes == before + 1000, "%lld", (long long)d->used_bytes);
    device_count_foreign(d, 300);
    CHECK(d->used_bytes == before + 300, "%lld", (long long)d->used_bytes);
    CHECK(d->peak_bytes == before + 1000, "%lld", (long long)d->peak_bytes);
    device_count_foreign(d, 0);
    CHECK(d->used_bytes == before, "%lld", (long long)d->used_bytes);
    d->trace = NULL;
    CHECK(trace.count == 3 && trace.moments[1].bytes == before + 300, "%lld moments",
          (long long)trace.count);
    device_trace_free(&trace);
}

// A request that cannot be met fails in one line, changes nothing, and the device works on.
static void test_out_of_memory(struct device *d)
{
    void *p = d;
    int64_t used = d->used_bytes, peak = d->peak_bytes;
    int err = device_alloc(d, (int64_t)1 << 50, 1, &p);
    CHECK(err == ERR_MEMORY && !p, "%d", err);
    CHECK(strstr(fail_text(), "out of ") && strstr(fail_text(), "memory"), "%s", fail_text());
    err = device_alloc(d, INT64_MAX / 4, 8, &p);
    CHECK(err == ERR_MEMORY && !p, "%d", err);
    err = device_alloc(d, -1, 8, &p);
    CHECK(err == ERR_MEMORY && !p, "%d", err);
    CHECK(d->used_bytes == used && d->peak_bytes == peak, "%lld, %lld", (long long)d->used_bytes,
          (long long)d->peak_bytes);
    CHECK(!device_sync(d), "%s", fail_text());
    test_copies(d);
}

static void test_timers(struct device *d)
{
    double ms = -1;
    CHECK(!d->ops->timer_start(d), "%s", fail_text());
    CHECK(!d->ops->timer_stop(d, &ms), "%s", fail_text());
    CHECK(ms >= 0 && ms < 1000, "%g ms for nothing", ms);
    for (int i = 0; i < 2; i++) CHECK(!d->ops->flush_cache(d), "%s", fail_text());

    // A fill of 64 MB takes longer than one of 64 bytes.
    void *p;
    double small = 0, large = 0;
    int64_t many = (int64_t)64 << 20;
    CHECK(!device_alloc(d, many, 1, &p), "%s", fail_text());
    for (int i = 0; i < 2; i++) { // the first time is warm-up
        CHECK(!d->ops->timer_start(d) && !device_fill(d, p, i, 64), "%s", fail_text());
        CHECK(!d->ops->timer_stop(d, &small), "%s", fail_text());
        CHECK(!d->ops->timer_start(d) && !device_fill(d, p, i, many), "%s", fail_text());
        CHECK(!d->ops->timer_stop(d, &large), "%s", fail_text());
    }
    CHECK(large > small && small > 0, "64 bytes: %g ms, 64 MB: %g ms", small, large);
    device_free(d, p);
}

static void print_roof(const struct device *d, const struct roof *r, double ms)
{
    printf("%s: memory %.3g GB/s, copy %.3g, read %.3g, cache %.3g up to %lld kB, near %.3g; "
           "multiply-add %.3g (f32) and %.3g (f64) GFLOP/s, measured in %.0f ms\n",
           d->id, r->memory_gb_s, r->copy_gb_s, r->read_gb_s, r->cache_gb_s,
           (long long)r->cache_seen_bytes >> 10, r->near_gb_s, r->fma_gflops[0], r->fma_gflops[1],
           ms);
    for (int i = 0; i < r->step_count; i++)
        printf(" %lld kB %.3g,", (long long)r->steps[i].bytes >> 10, r->steps[i].gb_s);
    for (int i = 0; i < r->gather_count; i++) {
        printf("\n rows out of %lld kB:", (long long)r->gathers[i].bytes >> 10);
        for (int w = 0; w < ROOF_ROWS; w++) printf(" %.3g", r->gathers[i].gb_s[w]);
    }
    printf("\n");
}

#define CLOCK_STEP_MS 0.5 // ends a try on the CPU after 10 looks at the clock

static void test_roof(struct device *d)
{
    struct roof roof = {0};
    clock_step_by(CLOCK_STEP_MS);
    double start = clock_ms();
    int64_t used = d->used_bytes;
    CHECK(!d->ops->measure_roof(d, &roof), "%s", fail_text());
    print_roof(d, &roof, clock_ms() - start);
    roof.measured = (int64_t)time(NULL);
    CHECK(roof_is_sane(&roof), "the roof cannot be true");
    int64_t first = roof.steps[0].bytes;
    CHECK(!device_is_host(d) || first == 2 * d->cache_least_bytes, "the ladder begins at %lld",
          (long long)first);
    CHECK(d->used_bytes == used, "%lld", (long long)d->used_bytes);
    double probe = 0;
    CHECK(!d->ops->probe_roof(d, &probe) && probe > 0 && roof.probe_gb_s > 0, "%g, %g", probe,
          roof.probe_gb_s);
    CHECK(probe < 20 * roof.probe_gb_s, "%g, %g", probe, roof.probe_gb_s);
    clock_step_by(0);
    interrupted = 1;
    CHECK(d->ops->measure_roof(d, &roof) == ERR_INTERRUPTED, "Ctrl-C is lost");
    interrupted = 0;
}

// More threads than processors take turns, are no faster together, and take no longer: two seconds
// on a machine that has nothing else to do. The bounds leave room for what else it does.
static void test_crowded_roof(void)
{
    int threads = omp_get_max_threads(), processors = omp_get_num_procs();
    struct roof roofs[2] = {{0}};
    double ms[2];
    char detail[2][128];
    for (int i = 0; i < 2; i++) {
        struct device d;
        omp_set_num_threads(i ? 100 * processors : processors);
        CHECK(!device_open("cpu", &d), "%s", fail_text());
        double start = clock_ms();
        CHECK(!d.ops->measure_roof(&d, &roofs[i]), "%s", fail_text());
        ms[i] = clock_ms() - start;
        roofs[i].measured = (int64_t)time(NULL);
        CHECK(roof_is_sane(&roofs[i]), "the roof of %s cannot be true", d.detail);
        strcpy(detail[i], d.detail);
        device_close(&d);
    }
    omp_set_num_threads(threads);
    CHECK(ms[1] < 3 * ms[0] + 2000, "%g ms alone, %g ms crowded", ms[0], ms[1]);
    CHECK(strstr(detail[1], " on ") && !strstr(detail[0], " on "), "%s; %s", detail[0], detail[1]);
    const struct roof *alone = &roofs[0], *crowded = &roofs[1];
    CHECK(crowded->step_count == alone->step_count, "%d steps, %d steps", crowded->step_count,
          alone->step_count);
    CHECK(crowded->copy_gb_s < 2.5 * alone->copy_gb_s &&
              crowded->near_gb_s < 2.5 * alone->near_gb_s,
          "crowded: copy %g, near %g GB/s; one thread for each processor: %g and %g",
          crowded->copy_gb_s, crowded->near_gb_s, alone->copy_gb_s, alone->near_gb_s);
    for (int prec = 0; prec < 2; prec++)
        CHECK(crowded->fma_gflops[prec] < 2.5 * alone->fma_gflops[prec],
              "crowded %g GFLOPS, with one for each processor %g", crowded->fma_gflops[prec],
              alone->fma_gflops[prec]);
}

static void test_device(const char *spec)
{
    struct device d;
    int err = device_open(spec, &d);
    CHECK(!err, "%s", err ? fail_text() : "");
    if (err) return;
    test_facts(&d);
    test_copies(&d);
    test_peak(&d);
    test_foreign(&d);
    test_out_of_memory(&d);
    test_timers(&d);
    test_roof(&d);
    if (device_is_host(&d)) test_crowded_roof();
    void *left_behind; // close gives it back; the sanitizers would tell
    CHECK(!device_alloc(&d, 10, 10, &left_behind), "%s", fail_text());
    device_close(&d);
    CHECK(!d.ops && !d.blocks, "not cleared");
}

// Every allocation of a short life of the device fails once.
static void test_allocation_failures(const char *spec)
{
    bool done = false;
    for (int64_t n = 1; n < 100 && !done; n++) {
        struct device d;
        void *p = NULL;
        mem_fail_at(n);
        int err = device_open(spec, &d);
        bool open = !err;
        if (!err) err = device_alloc(&d, 16, 4, &p);
        if (!err && d.kind == DEVICE_CPU) err = d.ops->flush_cache(&d);
        mem_fail_at(0);
        CHECK(!err || err == ERR_MEMORY, "%d", err);
        CHECK(!open || d.used_bytes == (p ? 64 : 0), "%lld", (long long)d.used_bytes);
        device_close(&d);
        done = !err;
    }
    CHECK(done, "it never came to an end");
}

#ifdef __SANITIZE_ADDRESS__
static void test_kept_pages(void) { SKIP("kept pages: AddressSanitizer allocates in its own way"); }
#else
// Page faults of making and freeing as much as a small result and its scratch take.
static long faults_of_blocks(struct device *d)
{
    struct rusage before, after;
    void *p[8] = {NULL};
    const int64_t bytes = (int64_t)3 << 20; // too little for huge pages
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; i < COUNT(p); i++) {
        CHECK(!device_alloc(d, bytes, 1, &p[i]), "%s", fail_text());
        CHECK(!device_fill(d, p[i], i, bytes), "%s", fail_text());
    }
    for (int i = 0; i < COUNT(p); i++) device_free(d, p[i]);
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
}

// What one run frees the next one gets with its pages.
static void test_kept_pages(void)
{
    struct device d;
    CHECK(!device_open("cpu", &d), "%s", fail_text());
    long faults = 0;
    for (int i = 0; i < 12; i++) faults = faults_of_blocks(&d); // the first ones find the room
    CHECK(faults < 600, "%ld page faults where there should be next to none", faults);
    device_close(&d);
}
#endif

#define MIB ((int64_t)1 << 20)

// The part of the last cache that one thread counts on, by who shares it. Every second processor up
// to 254 is a list of over 255 letters.
static void test_cache_part(void)
{
    static char root[] = P_tmpdir "/test_device.XXXXXX";
    static const struct {
        const char *shared; // a command that tells it
        int64_t part, block;
        bool at_most; // else exactly so much
    } table[] = {
        {"echo 0", 64 * MIB, 64 * MIB, false},
        {"echo 0-7", 8 * MIB, 64 * MIB, false},
        {"seq -s, 0 2 254", MIB / 2, 64 * MIB, false},
        {"echo garbage", 32 * MIB, 32 * MIB, true},
        {"echo", 32 * MIB, 32 * MIB, true},
    };
    CHECK(mkdtemp(root), "no folder");
    const int threads = omp_get_max_threads();
    for (int i = 0; i < COUNT(table); i++) {
        char command[512];
        struct device d;
        snprintf(command, sizeof command,
                 "cd %s && rm -rf sys && for i in $(seq 0 255); do"
                 " d=sys/devices/system/cpu/cpu$i/cache/index0; mkdir -p $d && cd $d &&"
                 " echo 3 >level && echo Unified >type && echo 65536K >size &&"
                 " %s >shared_cpu_list && cd %s; done",
                 root, table[i].shared, root);
        CHECK(!system(command), "%s", command);
        sysfs_root(root);
        omp_set_num_threads(1);
        const int err = device_open("cpu", &d);
        sysfs_root("");
        omp_set_num_threads(threads);
        CHECK(!err, "%s", fail_text());
        if (err) continue;
        const int64_t part = d.cache_part_bytes, block = d.cache_block_bytes;
        CHECK(table[i].at_most ? part <= table[i].part && block <= table[i].block
                               : part == table[i].part && block == table[i].block,
              "%s: part %lld, block %lld", table[i].shared, (long long)part, (long long)block);
        device_close(&d);
    }
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", root);
    CHECK(!system(command), "%s", command);
}

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define UNWATCHED __attribute__((no_sanitize("address")))
#endif
#endif
#ifndef UNWATCHED
#define UNWATCHED __attribute__((no_sanitize_address))
#endif
UNWATCHED static void write_at(void *p, int64_t at) { ((volatile unsigned char *)p)[at] ^= 1; }

// In a build with AddressSanitizer. NULL: another build.
extern int __asan_address_is_poisoned(const volatile void *p) __attribute__((weak));

// Writes behind a block on the CPU are found once, also in a block that is freed.
static void test_guards(void)
{
    static const int64_t sizes[] = {0, 1, 63, 64, 1000, 1 << 20, (1 << 22) + 5};
    struct device d;
    void *p, *other;
    if (device_open("cpu", &d)) return;
    for (int i = 0; i < COUNT(sizes); i++) {
        int64_t bytes = sizes[i];
        int err = device_alloc(&d, bytes, 1, &p);
        if (!err) err = device_alloc(&d, 10, 1, &other);
        CHECK(!err && (uintptr_t)p % 64 == 0, "%p: %s", p, fail_text());
        CHECK(d.used_bytes == bytes + 10, "%lld bytes", (long long)d.used_bytes);
        CHECK(!device_overrun(&d).p, "%lld: nothing was written", (long long)bytes);
        if (__asan_address_is_poisoned)
            CHECK(__asan_address_is_poisoned((char *)p + bytes), "%lld bytes", (long long)bytes);
        for (int at = 0; at < DEVICE_GUARD; at += 21) {
            write_at(p, bytes + at);
            struct device_block b = device_overrun(&d);
            CHECK(b.p == p && b.bytes == bytes, "%lld: byte %d", (long long)bytes, at);
            CHECK(!device_overrun(&d).p, "%lld: told twice", (long long)bytes);
        }
        write_at(p, bytes);
        device_free(&d, p);
        CHECK(device_overrun(&d).p == p && !device_overrun(&d).p, "a freed block");
        device_free(&d, other);
        CHECK(!device_overrun(&d).p && !d.used_bytes, "the other block");
    }
    // A block of a run that may be timed has no guard.
    for (int poison = 0; poison < 2; poison++) {
        device_run_begin(&d, false);
        d.poison = poison;
        CHECK(!device_alloc(&d, 10, 1, &p), "%s", fail_text());
        CHECK(d.blocks[0].guard == (poison ? DEVICE_GUARD : 0), "%d bytes", d.blocks[0].guard);
        device_free(&d, p);
        CHECK(!device_run_end(&d), "%s", fail_text());
    }
    device_close(&d);
}

int main(void)
{
    RUN_ALL(test_guards, test_cache_part, test_kept_pages, test_names, test_specs);
    for (int k = 0; k < DEVICE_KINDS; k++) {
        const char *missing = device_missing((enum device_kind)k);
        char id[16];
        device_id((enum device_kind)k, 0, id);
        if (missing) SKIP("%s: %s", id, missing);
        if (missing) continue;
        test_device(device_list[k].name);
        if (device_list[k].numbered) test_device(id); // again, in the same process
        test_allocation_failures(device_list[k].name);
    }
    return TEST_END();
}
