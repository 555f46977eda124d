// The ceilings of a device from run to run: what is kept, what is refused, when they are measured
// again, and what a case can add to them. The device is a script, but for one test of those that
// are here.
#include "measure/bound.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "measure/roof_file.h"
#include "test.h"

#define MIB           ((int64_t)1 << 20)
#define CLOCK_STEP_MS 0.5 // ends a try on the CPU after 10 looks at the clock

static double speed = 1; // of the whole device; less: other work holds it up
static int probe_err;
static double probe_now; // what a probe finds; 0: as fast as the measurement
static int measured, probed, clock_max = 2000, measure_err;
static char folder[] = "/tmp/spbench-model-XXXXXX", file[128];

// Memory 16 GB/s, a cache of 64 that holds between 32 and 64 MiB, 60 and 30 GFLOPS; rows of 32
// bytes at 4 GB/s out of 1 MiB and at 1 out of 16, longer ones so much faster.
static int fake_measure(struct device *d, struct roof *r)
{
    static const double gb_s[] = {90, 64, 60, 60, 60, 16, 16, 16};
    (void)d;
    measured++;
    if (measure_err) return fail((enum err)measure_err, "a script");
    r->copy_gb_s = 12 * speed;
    r->memory_low_gb_s = 14 * speed;
    r->near_gb_s = 200 * speed;
    r->probe_gb_s = 20 * speed;
    r->fma_measured[0] = 60 * speed, r->fma_measured[1] = 30 * speed;
    r->gather_count = 2;
    for (int i = 0; i < 2 * ROOF_ROWS; i++) {
        struct roof_gather *g = &r->gathers[i / ROOF_ROWS];
        g->bytes = MIB << 4 * (i / ROOF_ROWS); // 1 and 16 MiB
        g->gb_s[i % ROOF_ROWS] = (4 << i % ROOF_ROWS) / (i / ROOF_ROWS ? 4.0 : 1.0) * speed;
    }
    r->step_count = COUNT(gb_s);
    for (int i = 0; i < COUNT(gb_s); i++)
        r->steps[i] = (struct roof_step){2 * MIB << i, gb_s[i] * speed};
    roof_derive(r);
    return OK;
}
static int fake_probe(struct device *d, double *gb_s)
{
    (void)d;
    probed++;
    *gb_s = probe_now > 0 ? probe_now : 20 * speed;
    return probe_err;
}
static int fake_clock(struct device *d, int *now, int *max)
{
    (void)d;
    *now = 1000, *max = clock_max;
    return OK;
}
static const struct device_ops fake_ops = {
    .clock_mhz = fake_clock, .measure_roof = fake_measure, .probe_roof = fake_probe};

static struct device new_device(void)
{
    struct device d = {.ops = &fake_ops, .units = 2, .cache_bytes = 500 * MIB};
    strcpy(d.name, "fake\tdevice");
    strcpy(d.detail, "driver 1");
    d.cache_least_bytes = MIB;
    return d;
}

static void forget(void) { remove(file); }

static struct roof roof_of(struct device *d, bool fresh)
{
    struct roof r;
    CHECK(!bound_roof(d, fresh, &r), "%s", fail_text());
    return r;
}

static void write_file(const char *text)
{
    FILE *f = fopen(file, "w");
    CHECK(f && fputs(text, f) >= 0 && !fclose(f), "cannot write %s", file);
}

static char *read_file(void)
{
    static char text[200000];
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f) fclose(f);
    return text;
}

// How often it is measured for this device as it is now.
static int measures(struct device *d)
{
    int before = measured;
    roof_of(d, false);
    return measured - before;
}

static bool same(double x, double want) { return fabs(x - want) <= 1e-5 * want; }

static void test_kept(void)
{
    struct device d = new_device();
    forget();
    int64_t now = (int64_t)time(NULL);
    struct roof first = roof_of(&d, false), again = {0};
    CHECK(first.measured >= now && first.measured <= now + 60, "measured at %lld",
          (long long)first.measured);
    CHECK(measures(&d) == 0 && bound_kept(&d, &again), "it is not kept");
    CHECK(same(again.memory_low_gb_s, 14) && again.busy == first.busy, "low %g, busy %d",
          again.memory_low_gb_s, again.busy);
    CHECK(same(again.memory_gb_s, 16) && same(again.copy_gb_s, 12) && same(again.cache_gb_s, 64) &&
              same(again.near_gb_s, 200) && same(again.fma_gflops[0], 60) &&
              same(again.fma_gflops[1], 30) && again.step_count == 8 &&
              again.measured == first.measured && again.gather_count == 2 &&
              again.gathers[1].bytes == 16 * MIB && same(again.gathers[0].gb_s[1], 8) &&
              same(again.gathers[1].gb_s[4], 16),
          "memory %g, cache %g, %d gathers", again.memory_gb_s, again.cache_gb_s,
          again.gather_count);
    CHECK(llabs(again.cache_seen_bytes - first.cache_seen_bytes) < 4096, "%lld, not %lld",
          (long long)again.cache_seen_bytes, (long long)first.cache_seen_bytes);
    // The flush goes by what was seen, not by the 500 MB that the system tells of.
    CHECK(device_cached_bytes(&d) == again.cache_seen_bytes, "%lld",
          (long long)device_cached_bytes(&d));

    // Each fact of which the ceilings depend has its own.
    struct device other = new_device();
    strcpy(other.detail, "driver 2");
    CHECK(measures(&other) == 1 && measures(&other) == 0, "another driver");
    other = new_device(), other.units = 3;
    CHECK(measures(&other) == 1 && measures(&other) == 0, "other units");
    other = new_device(), strcpy(other.name, "fake");
    CHECK(measures(&other) == 1 && measures(&other) == 0, "another name");
    clock_max = 1500;
    CHECK(measures(&d) == 1 && measures(&d) == 0, "another clock");
    clock_max = 2000;
    CHECK(measures(&d) == 0, "the first one was lost");
    char text[4096], *name;
    forget();
    roof_of(&d, false);
    snprintf(text, sizeof text, "%s", read_file());
    name = strstr(text, COMPILER);
    CHECK(name != NULL, "no compiler in %s", text);
    if (name) *name = 'x';
    write_file(text);
    CHECK(measures(&d) == 1 && measures(&d) == 0, "another compiler");
}

// A measurement beside other work does not stay, and does not take the place of a better one.
static void test_better(void)
{
    struct device d = new_device();
    forget();
    speed = 0.5;
    CHECK(same(roof_of(&d, false).memory_gb_s, 8) && measures(&d) == 0, "the first is not kept");
    speed = 1; // the probe finds the device twice as fast
    struct roof r = roof_of(&d, false);
    CHECK(same(r.memory_gb_s, 16) && same(r.fma_gflops[0], 60), "memory %g, f32 %g", r.memory_gb_s,
          r.fma_gflops[0]);
    CHECK(measures(&d) == 0, "measured again for nothing");
    // Asked for, it takes the place of all that was kept.
    speed = 0.5;
    int before = measured;
    r = roof_of(&d, true);
    CHECK(measured == before + 1 && same(r.memory_gb_s, 8) && same(r.near_gb_s, 100) &&
              same(r.cache_gb_s, 32) && same(r.fma_gflops[1], 15),
          "memory %g, cache %g", r.memory_gb_s, r.cache_gb_s);
    CHECK(bound_kept(&d, &r) && same(r.memory_gb_s, 8), "%g was kept", r.memory_gb_s);
    speed = 1;
    CHECK(measures(&d) == 1 && bound_kept(&d, &r) && same(r.memory_gb_s, 16),
          "the probe does not help: %g", r.memory_gb_s);
    // A probe that the measurement does not bear out asks but once.
    probe_now = 50;
    CHECK(measures(&d) == 1 && measures(&d) == 0, "it is measured at each start");
    // Where it could not be measured it asks again.
    probe_now = 100, measure_err = ERR_MEMORY;
    CHECK(measures(&d) == 1 && measures(&d) == 1, "it is forgotten that it was held down");
    measure_err = OK;
    // What a probe found before it failed counts for nothing.
    probe_err = ERR_DEVICE;
    CHECK(measures(&d) == 0, "measured for a probe that failed");
    probe_err = OK;
    CHECK(measures(&d) == 1 && measures(&d) == 0, "it is measured at each start");
    probe_now = 0;
}

// As a tool leaves them that holds up every access, but for the probe.
#define HELD_DOWN 20.0
static struct roof held_down(struct roof r)
{
    double *rates[] = {&r.memory_low_gb_s, &r.memory_gb_s,    &r.copy_gb_s,
                       &r.near_gb_s,       &r.fma_gflops[0],  &r.fma_gflops[1],
                       &r.fma_measured[0], &r.fma_measured[1]};
    for (int i = 0; i < COUNT(rates); i++) *rates[i] /= HELD_DOWN;
    for (int i = 0; i < r.step_count; i++) r.steps[i].gb_s /= HELD_DOWN;
    for (int i = 0; i < r.gather_count * ROOF_ROWS; i++)
        r.gathers[i / ROOF_ROWS].gb_s[i % ROOF_ROWS] /= HELD_DOWN;
    roof_derive(&r);
    return r;
}

// Each device that is here finds by its own probe that what is kept was held down. The margins
// leave room for what else the machine does.
static void test_devices(void)
{
    static const struct {
        const char *probe;
        double factor; // of the probe that is kept, to the measured one
        bool again;
    } table[] = {{"held down, too", 1 / HELD_DOWN, true}, {"none", 0, true}, {"better", 20, false}};
    for (int k = 0; k < DEVICE_KINDS; k++) {
        struct device d;
        if (device_missing((enum device_kind)k)) continue;
        CHECK(!device_open(device_list[k].name, &d), "%s", fail_text());
        forget();
        clock_step_by(CLOCK_STEP_MS);
        struct roof good = roof_of(&d, true), low = held_down(good);
        CHECK(good.probe_gb_s > 0, "%s: no probe", d.id);
        for (int i = 0; i < COUNT(table); i++) {
            low.probe_gb_s = table[i].factor * good.probe_gb_s;
            roof_file_replace(&d, &low);
            struct roof now = roof_of(&d, false), kept = {0};
            CHECK(table[i].again ? now.memory_gb_s > 4 * low.memory_gb_s
                                 : same(now.memory_gb_s, low.memory_gb_s),
                  "%s, the kept probe %s: memory %g, kept %g", d.id, table[i].probe,
                  now.memory_gb_s, low.memory_gb_s);
            CHECK(bound_kept(&d, &kept) && same(kept.memory_gb_s, now.memory_gb_s) &&
                      kept.probe_gb_s > 4 * good.probe_gb_s / HELD_DOWN,
                  "%s, the kept probe %s: memory %g, probe %g are kept", d.id, table[i].probe,
                  kept.memory_gb_s, kept.probe_gb_s);
        }
        clock_step_by(0);
        device_close(&d);
    }
}

// Days later it is measured again, and the date is the later one.
static void test_old(void)
{
    struct device d = new_device();
    forget();
    struct roof r = roof_of(&d, false);
    char *text = read_file(), date[32], line[4096];
    snprintf(date, sizeof date, "\t%lld\t", (long long)r.measured);
    char *at = strstr(text, date);
    CHECK(at != NULL, "no date in %s", text);
    if (!at) return;
    for (int days = 1; days <= 9; days += 8) {
        snprintf(line, sizeof line, "%.*s\t%lld%s", (int)(at - text), text,
                 (long long)r.measured - days * 86400, at + strlen(date) - 1);
        write_file(line);
        struct roof kept;
        CHECK(bound_kept(&d, &kept) && kept.measured == r.measured - days * 86400, "%s", line);
        CHECK(measures(&d) == (days > 7), "kept for %d days", days);
    }
    struct roof later;
    CHECK(bound_kept(&d, &later) && later.measured >= r.measured, "the date is still the old one");
    // One that cannot be measured now serves even so; asked for, it fails.
    snprintf(line, sizeof line, "%.*s\t%lld%s", (int)(at - text), text,
             (long long)r.measured - 9 * 86400, at + strlen(date) - 1);
    write_file(line);
    measure_err = ERR_MEMORY;
    CHECK(!bound_roof(&d, false, &r) && same(r.memory_gb_s, 16), "memory %g", r.memory_gb_s);
    CHECK(bound_roof(&d, true, &r) == ERR_MEMORY && r.memory_gb_s == 0, "memory %g", r.memory_gb_s);
    measure_err = ERR_INTERRUPTED;
    CHECK(bound_roof(&d, false, &r) == ERR_INTERRUPTED, "Ctrl-C is lost");
    measure_err = OK;
}

// Every number of the line becomes nonsense, and is measured again. What has no such line, too.
static void test_nonsense(void)
{
    static const char *const nonsense[] = {"nan",
                                           "inf",
                                           "-inf",
                                           "-5",
                                           "1e-300",
                                           "1e300",
                                           "",
                                           "x",
                                           "16x",
                                           "0x",
                                           "99999999999999999999999"};
    struct device d = new_device();
    forget();
    roof_of(&d, false);
    char good[4096];
    snprintf(good, sizeof good, "%s", read_file());
    int numbers = 0;
    for (char *p = strchr(good, '\t'); p && *p && *p != '\n'; p += 1 + strcspn(p + 1, "\t:\n")) {
        int length = (int)strcspn(p + 1, "\t:\n");
        numbers++;
        for (int i = 0; i < COUNT(nonsense); i++) {
            char line[4200];
            snprintf(line, sizeof line, "%.*s%s%s", (int)(p + 1 - good), good, nonsense[i],
                     p + 1 + length);
            write_file(line);
            struct roof r;
            CHECK(!bound_kept(&d, &r) && measures(&d) == 1, "number %d: %s is believed", numbers,
                  nonsense[i]);
        }
    }
    CHECK(numbers == 2 + 9 + 2 * 8 + 1 + 2 * (1 + ROOF_ROWS), "%d numbers", numbers);
    // Cut off anywhere, and of the first kind of file.
    for (size_t cut = 0; cut < strlen(good); cut += 7) {
        char line[4096];
        snprintf(line, sizeof line, "%.*s", (int)cut, good);
        write_file(line);
        struct roof r;
        CHECK(!bound_kept(&d, &r), "cut at %d", (int)cut);
    }
    write_file("fake device, driver 1, 2\t16\t64\t60\t30\n");
    CHECK(measures(&d) == 1 && measures(&d) == 0, "a line of an earlier version");
    CHECK(strstr(read_file(), "fake device, driver 1, 2\t16\t"), "another version's line is lost");
}

// Hundreds of devices: the file stays small, and the last ones are in it.
static void test_many(void)
{
    struct device d = new_device();
    forget();
    for (int i = 0; i < 100; i++) d.units = i + 1, roof_of(&d, false);
    CHECK(measures(&d) == 0, "the last one is not kept");
    int lines = 0;
    for (char *p = read_file(); *p; p++) lines += *p == '\n';
    CHECK(lines == 64, "%d lines", lines);
}

// Processes that write at the same time leave whole lines, and no other file.
static void test_at_once(void)
{
    forget();
    struct device d = new_device();
    for (int p = 0; p < 8; p++)
        if (!fork()) {
            for (int i = 0; i < 20; i++) d.units = p + 1, speed = 1 + i * 1e-3, roof_of(&d, true);
            _exit(0);
        }
    while (wait(NULL) > 0) {}
    int lines = 0, whole = 0;
    for (char *p = read_file(); *p; p++) lines += *p == '\n';
    for (int p = 0; p < 8; p++) {
        struct roof r;
        d.units = p + 1;
        whole += bound_kept(&d, &r);
    }
    CHECK(lines == whole && whole > 0, "%d lines, %d of them good", lines, whole);
    char command[200];
    snprintf(command, sizeof command, "test $(ls %s/spbench | wc -l) -eq 1", folder);
    CHECK(system(command) == 0, "something is left over");
}

// Without a place for the file everything works, and is measured each time.
static void test_no_place(void)
{
    struct device d = new_device();
    setenv("XDG_CACHE_HOME", "/proc/no such place", 1);
    CHECK(measures(&d) == 1 && measures(&d) == 1, "kept where nothing can be written");
    struct roof r = roof_of(&d, false);
    CHECK(bound_learn(&d, &r, F32, 64) && r.fma_gflops[0] == 64, "%g", r.fma_gflops[0]);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK(measures(&d) == 1 && measures(&d) == 1, "kept nowhere");
    setenv("XDG_CACHE_HOME", folder, 1);
}

// A case that did more than the ceiling raises it, up to 1.1 times what was measured and no
// further.
static void test_learn(void)
{
    struct device d = new_device();
    forget();
    struct roof r = roof_of(&d, false), kept;
    CHECK(bound_learn(&d, &r, F32, 59) && r.fma_gflops[0] == 60, "%g", r.fma_gflops[0]);
    CHECK(bound_learn(&d, &r, F32, 63) && r.fma_gflops[0] == 63 && r.fma_gflops[1] == 30, "%g",
          r.fma_gflops[0]);
    CHECK(bound_kept(&d, &kept) && kept.fma_gflops[0] == 63 && kept.fma_measured[0] == 60,
          "kept: %g", kept.fma_gflops[0]);
    CHECK(bound_learn(&d, &r, F32, 65.5) && same(r.fma_gflops[0], 65.5), "%g", r.fma_gflops[0]);
    int before = measured;
    CHECK(!bound_learn(&d, &r, F32, 66.5) && same(r.fma_gflops[0], 65.5), "by small steps to %g",
          r.fma_gflops[0]);
    CHECK(!bound_learn(&d, &r, F64, 33.5) && r.fma_gflops[1] == 30, "%g", r.fma_gflops[1]);
    CHECK(!bound_learn(&d, &r, F32, 3e7) && !bound_learn(&d, &r, F32, NAN) &&
              !bound_learn(&d, &r, F32, INFINITY),
          "an empty kernel is believed");
    CHECK(measured == before, "measured again right after it was measured");
    CHECK(same(roof_of(&d, false).fma_gflops[0], 65.5), "what was learnt is not kept");
    CHECK(same(roof_of(&d, true).fma_gflops[0], 60), "what was learnt stays after a new start");

    // Ceilings that other work held down are measured again before a case is called impossible.
    forget();
    speed = 0.25;
    r = roof_of(&d, false);
    r.measured -= 3600;
    speed = 1;
    CHECK(bound_learn(&d, &r, F32, 50) && same(r.fma_gflops[0], 60), "%g", r.fma_gflops[0]);
    r.measured -= 3600, before = measured;
    CHECK(!bound_learn(&d, &r, F32, 100) && measured == before + 1, "measured %d times",
          measured - before);
    r = (struct roof){0};
    CHECK(bound_learn(&d, &r, F32, 1e9) && bound_learn_bytes(&d, &r, MIB, 1e-9), "without a roof");
}

// The time in which so many bytes move at so many GB/s.
static double ms_of(double bytes, double gb_s) { return bytes / gb_s * 1e-6; }

static void test_learn_bytes(void)
{
    struct device d = new_device();
    forget();
    struct roof r = roof_of(&d, false), kept;
    int64_t seen = r.cache_seen_bytes, many = 10 * seen;
    CHECK(bound_learn_bytes(&d, &r, MIB, ms_of(MIB, 199)) && r.memory_gb_s == 16, "%g",
          r.memory_gb_s);
    CHECK(!bound_learn_bytes(&d, &r, MIB, ms_of(MIB, 201)), "faster than next to the cores");
    CHECK(!bound_learn_bytes(&d, &r, many, 0), "no time at all");
    // What may have come from the cache tells nothing of memory, and the rest only its own part.
    CHECK(bound_learn_bytes(&d, &r, 3 * seen, ms_of(3 * (double)seen, 30)) && r.memory_gb_s == 16,
          "%g", r.memory_gb_s);
    CHECK(bound_learn_bytes(&d, &r, many, ms_of((double)many, 17)) && r.memory_gb_s == 16, "%g",
          r.memory_gb_s);
    CHECK(bound_learn_bytes(&d, &r, many, ms_of((double)many, 19)) && same(r.memory_gb_s, 17.1),
          "%g", r.memory_gb_s);
    CHECK(bound_kept(&d, &kept) && same(kept.memory_gb_s, 17.1) && same(kept.read_gb_s, 16),
          "kept: %g", kept.memory_gb_s);
    CHECK(same(bound_roofline_ms(&r, F32, 0, many), ms_of((double)many, 17.1)), "the bound");
    // Possible next to the cores, and yet not of memory: nothing is learned.
    CHECK(bound_learn_bytes(&d, &r, many, ms_of((double)many, 150)) && same(r.memory_gb_s, 17.1),
          "%g", r.memory_gb_s);
}

// Every row at its rate, or what streams anyway, where that takes longer.
static void test_gather(void)
{
    struct device d = new_device();
    forget();
    struct roof r = roof_of(&d, false), none = {0};
    const struct {
        struct op_gather gather;
        double bound_ms, ms;
    } table[] = {{{1000000, 64, MIB}, 1, 8},        // 64 MB at 8 GB/s
                 {{1000000, 64, MIB}, 9, 9},        // streaming takes longer
                 {{1000000, 64, 100}, 0, 8},        // no smaller block was measured
                 {{1000000, 64, 4 * MIB}, 1, 16},   // half-way from 8 to 2 GB/s
                 {{1000000, 512, 16 * MIB}, 1, 32}, // 512 MB at 16 GB/s
                 {{1000000, 1024, 16 * MIB}, 1, 64},
                 {{1000000, 4, 16 * MIB}, 1, 32}, // as of 32 bytes
                 {{0, 64, 0}, 0.5, 0.5}};
    for (int i = 0; i < COUNT(table); i++) {
        double ms = bound_gather_ms(&r, &table[i].gather, table[i].bound_ms);
        CHECK(same(ms, table[i].ms), "row %d: %g ms, not %g", i, ms, table[i].ms);
        CHECK(bound_gather_ms(&none, &table[i].gather, 1) == 0, "row %d: without a roof", i);
    }
}

// Where no cache is seen, the flush goes by the system's word, up to what the ladder has read.
static void test_flush_size(void)
{
    struct device d = new_device();
    CHECK(device_cached_bytes(&d) == 500 * MIB, "%lld", (long long)device_cached_bytes(&d));
    d.cache_least_bytes = 900 * MIB;
    CHECK(device_cached_bytes(&d) == 900 * MIB, "%lld", (long long)device_cached_bytes(&d));
}

// A pipe or an endless device in place of the file: the ceilings are measured, nothing waits.
static void test_pipe(void)
{
    struct device d = new_device();
    for (int i = 0; i < 2; i++) {
        forget();
        CHECK(!(i ? symlink("/dev/zero", file) : mkfifo(file, 0600)), "%s", file);
        alarm(20);
        int before = measured;
        struct roof r = roof_of(&d, false);
        alarm(0);
        CHECK(measured == before + 1 && r.memory_gb_s == 16, "%d measurements", measured - before);
    }
}

// A library that was loaded first can have replaced the clock: nothing is kept. What is kept
// serves.
static void test_preload(void)
{
    static const char *const names[] = {"LD_PRELOAD", "LD_AUDIT"};
    struct device d = new_device();
    for (int i = 0; i < COUNT(names); i++) {
        struct roof kept;
        forget();
        setenv(names[i], "/no/such/clock.so", 1);
        CHECK(roof_of(&d, false).memory_gb_s > 0 && access(file, F_OK), "%s: kept", names[i]);
        CHECK(roof_of(&d, true).memory_gb_s > 0 && access(file, F_OK), "%s: kept anew", names[i]);
        unsetenv(names[i]);
        struct roof good = roof_of(&d, false), other = good;
        other.memory_gb_s *= 1.05;
        setenv(names[i], "/no/such/clock.so", 1);
        int before = measured;
        CHECK(same(roof_of(&d, false).memory_gb_s, good.memory_gb_s) && measured == before,
              "%s: %d measurements", names[i], measured - before);
        roof_file_keep(&d, &other);
        setenv(names[i], "", 1); // as if unset
        CHECK(bound_kept(&d, &kept) && same(kept.memory_gb_s, good.memory_gb_s), "%s: %g, was %g",
              names[i], kept.memory_gb_s, good.memory_gb_s);
        unsetenv(names[i]);
    }
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    snprintf(file, sizeof file, "%s/spbench/roof.tsv", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
    RUN_ALL(test_kept, test_better, test_devices, test_old, test_nonsense, test_many, test_at_once,
            test_no_place, test_pipe, test_learn, test_learn_bytes, test_gather, test_preload,
            test_flush_size, forget);
    char sub[128];
    snprintf(sub, sizeof sub, "%s/spbench", folder);
    CHECK(probed > 0 && !rmdir(sub) && !rmdir(folder), "%s is not empty", folder);
    return TEST_END();
}
