// What ncu prints, and what becomes of it; and the run that it looks at.
#include "bench/counters.h"

#include "plans.h"

#include <math.h>

#define HEAD                                                                                       \
    "\"ID\",\"Kernel Name\",\"l1tex__t_bytes.sum\",\"dram__bytes.sum\",\"lts__t_bytes.sum\"\n"
#define UNITS "\"\",\"\",\"byte\",\"byte\",\"byte\"\n"

static void test_good(void)
{
    static const struct {
        const char *text;
        double memory, l2, l1;
        int64_t kernels;
    } table[] = {
        {HEAD UNITS "\"0\",\"f\",\"30\",\"10\",\"20\"\n", 10, 20, 30, 1},
        {HEAD UNITS "\"0\",\"f\",\"30\",\"10\",\"20\"", 10, 20, 30, 1},
        // Several kernels, other lines between and around.
        {"==PROF== Connected to process 9 (/spbench)\nspbench says\n" HEAD UNITS
         "\"0\",\"f\",\"3\",\"1\",\"2\"\n==PROF== Profiling \"g\" - 1: 0%....\n"
         "\"1\",\"g\",\"300\",\"100\",\"200\"\n==PROF== Disconnected from process 9\n",
         101, 202, 303, 2},
        // Separators, decimals, and units of a thousand.
        {HEAD "\"\",\"\",\"Kbyte\",\"Mbyte\",\"Gbyte\"\n"
              "\"0\",\"f\",\"1,234.5\",\"1,000\",\"0.25\"\n",
         1e9, 25e7, 1234500, 1},
        {HEAD "\"\",\"\",\"Tbyte\",\"byte\",\"byte\"\n\"0\",\"f\",\"2\",\"0\",\"0\"\n", 0, 0, 2e12,
         1},
        // Without a line of units: bytes, as was asked for.
        {HEAD "\"0\",\"f\",\"30\",\"10\",\"20\"\n", 10, 20, 30, 1},
        // Quotes and commas of a kernel's name, and lines that end as on other systems.
        {HEAD UNITS "\"0\",\"f<\"\"a\"\", int>(float, 3)\",\"30\",\"10\",\"20\"\r\n", 10, 20, 30,
         1},
        {"\"ID\",\"dram__bytes.sum\",lts__t_bytes.sum,\"l1tex__t_bytes.sum\",\"more\"\r\n"
         "\"0\",10,20,\"30\",\"n/a\"\r\n",
         10, 20, 30, 1},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct counters c = {.asked = true};
        counters_read(table[i].text, 0, &c);
        CHECK(c.known && c.asked && !c.reason[0], "row %d: %s", i, c.reason);
        CHECK(c.memory_bytes == table[i].memory && c.l2_bytes == table[i].l2 &&
                  c.l1_bytes == table[i].l1 && c.kernels == table[i].kernels,
              "row %d: %g, %g, %g of %lld kernels", i, c.memory_bytes, c.l2_bytes, c.l1_bytes,
              (long long)c.kernels);
    }
}

static void test_bad(void)
{
    static const struct {
        const char *text;
        int status;
        const char *reason;
    } table[] = {
        {"", 0, "ncu printed no counters and ended with 0"},
        {"Killed\n", 137, "ncu printed no counters and ended with 137"},
        {HEAD UNITS, 0, "ncu printed no counters and ended with 0"},
        {HEAD UNITS "==WARNING== No kernels were profiled.\n", 0, "ncu saw no kernel"},
        {"==PROF== Connected\n==ERROR== ERR_NVGPUCTRPERM - The user does not\n", 1,
         "this user may not read the GPU's counters (ERR_NVGPUCTRPERM): an administrator has to "
         "allow it"},
        {"==ERROR== Failed to profile \"f\" in process 9\r\nx", 1,
         "ncu: Failed to profile \"f\" in process 9"},
        {"==ERROR== \033[31mred\tf\xff\n", 1, "ncu: \\x1b[31mred\\tf\\xff"},
        {"==PROF== Connected\nspbench: oom: out of memory on cuda:0\n", 1,
         "under ncu: oom: out of memory on cuda:0"},
        // It ended badly, after a kernel.
        {HEAD UNITS "\"0\",\"f\",\"3\",\"1\",\"2\"\n==ERROR== The application returned 9\n", 9,
         "ncu: The application returned 9"},
        {"\"ID\",\"dram__bytes.sum\",\"l1tex__t_bytes.sum\"\n\"0\",\"1\",\"2\"\n", 0,
         "ncu does not know lts__t_bytes.sum"},
        {HEAD "\"\",\"\",\"byte\",\"sector\",\"byte\"\n\"0\",\"f\",\"3\",\"1\",\"2\"\n", 0,
         "ncu has an unknown unit of dram__bytes.sum"},
        {HEAD UNITS "\"0\",\"f\",\"3\",\"n/a\",\"2\"\n", 0, "ncu has no value of dram__bytes.sum"},
        {HEAD UNITS "\"0\",\"f\",\"3\",\"\",\"2\"\n", 0, "ncu has no value of dram__bytes.sum"},
        {HEAD UNITS "\"0\",\"f\",\"3\",\"-1\",\"2\"\n", 0, "ncu has no value of dram__bytes.sum"},
        {HEAD UNITS "\"0\",\"f\",\"3\",\"inf\",\"2\"\n", 0, "ncu has no value of dram__bytes.sum"},
        {HEAD UNITS "\"0\",\"f\",\"3\",\"1e308\",\"2\"\n\"1\",\"f\",\"3\",\"1e308\",\"2\"\n", 0,
         "ncu has no value of dram__bytes.sum"},
        {HEAD UNITS "\"0\",\"f\",\"3\",\"1\"\n", 0, "ncu has no value of lts__t_bytes.sum"},
        {HEAD UNITS "\"0\",\"f\n", 0, "ncu has no value of dram__bytes.sum"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct counters c = {.asked = true};
        counters_read(table[i].text, table[i].status, &c);
        CHECK(!c.known && c.asked, "row %d is believed", i);
        CHECK_TEXT(c.reason, table[i].reason);
    }
}

// Lines and cells longer than anything here has room for, cut off anywhere.
static void test_long(void)
{
    static char text[200000];
    struct counters c = {0};
    char *p = text + sprintf(text, "%s%s\"0\",\"", HEAD, UNITS);
    memset(p, 'f', 100000);
    sprintf(p + 100000, "\",\"30\",\"10\",\"20\"\n");
    counters_read(text, 0, &c);
    CHECK(c.known && c.memory_bytes == 10, "a long name: %s", c.reason);
    // As ncu prints it: hundreds of facts about the device between the metrics.
    const char *const lines[] = {"\"ID\"|dram__bytes.sum|lts__t_bytes.sum|l1tex__t_bytes.sum",
                                 "\"\"|Kbyte|byte|byte", "\"0\"|1.5|2,000|3"};
    p = text;
    for (int i = 0; i < COUNT(lines); i++)
        for (const char *at = lines[i]; *at;
             at += strcspn(at, "|") + (at[strcspn(at, "|")] == '|')) {
            int length = (int)strcspn(at, "|");
            p += sprintf(p, *at == '"' ? "%.*s" : ",\"%.*s\"", length, at);
            for (int x = 0; x < 300; x++) p += sprintf(p, ",\"x\"");
            if (!at[length]) p += sprintf(p, "\n");
        }
    counters_read(text, 0, &c);
    CHECK(c.known && c.memory_bytes == 1500 && c.l2_bytes == 2000 && c.l1_bytes == 3,
          "hundreds of columns: %s", c.reason);
    const char *good = HEAD UNITS "\"0\",\"f \"\"x\"\"\",\"30\",\"10\",\"20\"\n";
    for (size_t cut = 0; cut < strlen(good); cut++) {
        memcpy(text, good, cut);
        text[cut] = 0;
        counters_read(text, 0, &c);
        CHECK(!c.known || c.kernels == 1, "cut at %zu", cut);
    }
}

// A device that notes when it was asked to profile, and an algorithm that notes when it ran.
static char events[64];
static int profile_err;
static int note_profile(struct device *d, bool on)
{
    (void)d;
    strcat(events, on ? "(" : ")");
    return profile_err ? fail((enum err)profile_err, "a script") : OK;
}
static int note_run(struct task *t)
{
    (void)t;
    strcat(events, "r");
    return OK;
}
static const struct algo noted = {
    .precs = BIT(F32) | BIT(F64), .A = {&format_csr}, .run = note_run};
static const struct algo_entry noted_entry = {"noted", &own_op, DEVICE_CPU, &noted};

static struct result last;
static int keep_result(const struct result *r, void *arg)
{
    (void)arg;
    last = *r;
    return OK;
}

static enum status profile(struct test_devices *places, const struct matrix *M)
{
    struct plan_parts x = PARTS(&own_op, &noted_entry);
    struct plan plan = parts_plan(&x);
    plan.profile = true;
    events[0] = 0;
    int err = bench_matrix(&plan, &places->all, M, keep_result, NULL);
    CHECK(!err, "%s", fail_text());
    plan_free(&plan);
    return last.status;
}

// One run between the marks, after another one; nothing is checked or timed.
static void test_profile(void)
{
    struct test_devices places;
    struct matrix M;
    if (places_open(&places)) return;
    int err = matrix_load("gen:band:9:1", 1, &M);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    const struct device_ops *plain = places.cpu.ops;
    struct device_ops with_marks = *plain;
    with_marks.profile = note_profile;
    places.cpu.ops = &with_marks;
    CHECK(profile(&places, &M) == STATUS_OK, "%s", last.reason);
    CHECK_TEXT(events, "r(r)");
    CHECK(!last.timed && !last.checked && !last.counters.asked, "it is timed or checked");
    profile_err = ERR_DEVICE;
    CHECK(profile(&places, &M) == STATUS_FAILED, "%s", status_name(last.status));
    CHECK_TEXT(events, "r(");
    profile_err = OK;
    places.cpu.ops = plain;
    CHECK(profile(&places, &M) == STATUS_UNSUPPORTED, "%s", status_name(last.status));
    CHECK_TEXT(events, "");
    matrix_free(&M);
    device_close(&places.cpu);
}

TESTS(test_good, test_bad, test_long, test_profile)
