// Files of records made up by hand, to be compared.
#ifndef COMPARED_H
#define COMPARED_H

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "compare/compare.h"
#include "test.h"

static const struct compare_rule usual = {.threshold = 0.03, .consecutive = 2};
static char files[SIDES][64];

static inline void files_make(void)
{
    for (int side = 0; side < SIDES; side++) {
        snprintf(files[side], sizeof files[side], P_tmpdir "/test_compare.XXXXXX");
        int fd = mkstemp(files[side]);
        CHECK(fd >= 0 && !close(fd), "cannot make %s", files[side]);
    }
}

static inline void files_remove(void)
{
    for (int side = 0; side < SIDES; side++) unlink(files[side]);
}

static inline FILE *file_open(const char *path, const char *mode)
{
    FILE *f = fopen(path, mode);
    if (!f) {
        printf("%s: cannot be opened\n", path);
        exit(1);
    }
    return f;
}

static inline void put_environment(FILE *f, const char *run, int minute)
{
    fprintf(f,
            "{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"%s\",\"date\":"
            "\"2026-11-22T03:%02d:00Z\"}\n",
            run, minute);
}

#define RUN_MAX 16

// Writes the environment of process i, and its name "r0", "r1" ... into `run`.
static inline void put_process(FILE *f, int i, int minute, char run[RUN_MAX])
{
    snprintf(run, RUN_MAX, "r%d", i);
    put_environment(f, run, minute);
}

#define HALF 0.002
// What a record has that a comparison reads. Its operation is none of this build.
struct line {
    const char *run, *name, *status, *reason, *library, *device; // NULL: r, m, ok, none, none, cpu
    double ms, half; // half of the interval, as a share; 0: HALF
    bool throttled, busy;
    int samples; // 0: enough for an interval
    double back; // ms back to back, and so half of its interval; 0: not told
    double back_half;
    bool overtakes; // it was seen not to wait for the work ahead of it
    bool unchecked; // measured with -check off
    double low;     // ms of a further sample; 0: there is none
};

static inline void put(FILE *f, struct line l)
{
    if (!l.half) l.half = HALF;
    if (!l.run) l.run = "r";
    const char *name = l.name ? l.name : "m", *status = l.status ? l.status : "ok";
    const char *device = l.device ? l.device : "cpu";
    char time[384] = "null", library[64] = "null", reason[64] = "null", in_key[64] = "";
    char back[128] = "", low[32] = "";
    if (l.low > 0) snprintf(low, sizeof low, "%.9g,", l.low);
    if (l.back > 0)
        snprintf(back, sizeof back,
                 ",\"back_to_back\":%.9g,\"back_to_back_ci_lo\":%.9g,\"back_to_back_ci_hi\":%.9g",
                 l.back, l.back * (1 - l.back_half), l.back * (1 + l.back_half));
    if (l.library) {
        snprintf(library, sizeof library, "\"Lib %s\"", l.library);
        snprintf(in_key, sizeof in_key, " Lib-%s", l.library);
    }
    if (l.reason) snprintf(reason, sizeof reason, "\"%s\"", l.reason);
    if (l.ms > 0)
        snprintf(time, sizeof time,
                 "{\"median\":%.9g,\"ci_lo\":%.9g,\"ci_hi\":%.9g,\"samples\":[%s%.9g],"
                 "\"throttled\":%s,\"busy\":%s%s}",
                 l.ms, l.samples ? NAN : l.ms * (1 - l.half), l.samples ? NAN : l.ms * (1 + l.half),
                 low, l.ms, l.throttled ? "true" : "false", l.busy ? "true" : "false", back);
    for (char *nan; (nan = strstr(time, "nan"));) memcpy(nan, "0e0", 3);
    fprintf(f,
            "{\"schema\":\"spbench/1\",\"kind\":\"result\",\"status\":\"%s\",\"reason\":%s,"
            "\"case\":\"made-up alg %s f32 k=4%s 5x5:9 %s\",\"op\":\"made-up\",\"alg\":\"alg\","
            "\"device\":\"%s\",\"prec\":\"f32\",\"library\":%s,\"run\":\"%s\",\"matrix\":"
            "{\"name\":\"%s\",\"path\":\"%s.mtx\"},\"check\":{\"method\":\"%s\"%s},"
            "\"time_ms\":%s,\"gflops\":%.9g}\n",
            status, reason, device, in_key, name, device, library, l.run, name, name,
            l.unchecked ? "off" : "full", l.overtakes ? ",\"in_order\":false" : "", time,
            l.ms > 0 ? 1 / l.ms : 0);
}

#define PUT(...) put(f, (struct line){__VA_ARGS__})
#define PUT_IN(...)                                                                                \
    put(f, (struct line){.run = run, __VA_ARGS__}) // in a function with the run's name

// The same in all, up to half a percent.
static inline double wobble(int i, int of)
{
    return 1 + 0.005 * ((double)((i * 7 + of * 3) % 11) / 11 - 0.5);
}

static inline const struct compared *case_of(const struct comparison *c, const char *name)
{
    for (int64_t i = 0; i < c->count; i++)
        if (!strcmp(compared_any(&c->cases[i])->matrix, name)) return &c->cases[i];
    static const struct compared none = {.verdict = VERDICT_COUNT};
    CHECK(false, "there is no case %s", name);
    return &none;
}

#define CHECK_VERDICT(c, name, want)                                                               \
    CHECK(case_of(c, name)->verdict == (want), "%s: %s, want %s (%s)", name,                       \
          verdict_name(case_of(c, name)->verdict), verdict_name(want), case_of(c, name)->why)

#endif
