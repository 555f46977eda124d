// A device that fails: the n-th call of the runtime, the n-th allocation on the host, or memory
// that is too small. An algorithm then ends with an error, or with the right result, and leaves
// nothing behind. For every algorithm of this build, on the CPU and on the emulated device.
#include "emu.h"

extern "C" {
#include "cases.h"
#include "data/gen.h"
}

static bool last_layout; // column-major; false: the first layout of the algorithm

// Sets the first value that is tried of each axis. A product of sparse matrices takes the last of
// its words: it then has two factors.
static void choose_axes(const struct algo_entry *e, int64_t axis[AXES_MAX])
{
    const struct op *op = e->op;
    memset(axis, 0, AXES_MAX * sizeof *axis);
    for (int a = 0; op->axes[a]; a++) {
        bool other = op->result == RESULT_SPARSE || last_layout ||
                     (e->algo->layouts && !(e->algo->layouts & ROW_MAJOR));
        bool all = op->axes[a]->words && other;
        int64_t value;
        for (int i = 0; (all || !i) && axis_try(op->axes[a], i, &value); i++) axis[a] = value;
    }
}

static enum prec prec =
    F64;              // for algorithms that have this precision; others: their first precision
static int64_t width; // of the dense operands; 0: the first that is tried

static int make_inputs(struct inputs *in, const struct algo_entry *e, const struct csr *A,
                       struct device *dev)
{
    int64_t axis[AXES_MAX];
    choose_axes(e, axis);
    if (width) axis[0] = width;
    const enum prec its =
        e->algo->precs & BIT(prec) ? prec : (enum prec)__builtin_ctz(e->algo->precs);
    return inputs_make(in, dev, e->op, A, its, axis, false, 0);
}

// What is set for an algorithm that is named, on the devices where it has it; NULL: nothing.
static struct {
    const char *name;
    double value;
} option;

// From prepared inputs to the check.
static int run_inputs(const struct algo_entry *e, struct inputs *in, struct check *check)
{
    double opt[ALGO_OPTIONS_MAX] = {};
    algo_defaults(e->algo, opt);
    if (option.name && algo_option_find(e->algo, option.name) >= 0)
        set_option(e, opt, option.name, option.value);
    struct case_outcome out = case_run(in, e, opt, CHECK_FULL);
    *check = out.check;
    CHECK(!out.left, "%s on %s: the run left %lld bytes", e->name, in->o.dev->id,
          (long long)out.left);
    return out.err;
}

// One case from the matrix to the check.
static int run_case(const struct algo_entry *e, const struct csr *A, struct device *dev,
                    struct check *check)
{
    struct inputs in;
    int err = make_inputs(&in, e, A, dev);
    if (err) return err;
    err = run_inputs(e, &in, check);
    inputs_free(&in);
    return err;
}

static int64_t
    kept_bytes; // of operands that are made before the failures, and what was told to be left

static void expect(const struct algo_entry *e, struct device *dev, int err,
                   const struct check *check, const char *fault, int64_t n)
{
    bool known = !err || err == ERR_MEMORY || err == ERR_DEVICE || err == ERR_UNCHECKED;
    CHECK(known && (!err || fail_text()[0]), "%s on %s, %s %lld: error %d, %s", e->name, dev->id,
          fault, (long long)n, err, fail_text());
    CHECK(err || check->ok, "%s on %s, %s %lld: %s", e->name, dev->id, fault, (long long)n,
          check->reason);
    CHECK(dev->used_bytes == kept_bytes && !dev->closed && !dev->poison,
          "%s on %s, %s %lld: %lld bytes left", e->name, dev->id, fault, (long long)n,
          (long long)(dev->used_bytes - kept_bytes));
    kept_bytes = dev->used_bytes;
}

static void fail_allocations(const struct algo_entry *e, const struct csr *A, struct device *dev)
{
    bool more = true;
    for (int64_t n = 1; more && n < 2000; n++) {
        struct check check = {};
        mem_fail_at(n);
        int err = run_case(e, A, dev, &check);
        mem_fail_at(0);
        more = err != OK;
        CHECK(!err || err == ERR_MEMORY || err == ERR_UNCHECKED,
              "%s on %s, allocation %lld: error %d, %s", e->name, dev->id, (long long)n, err,
              fail_text());
        expect(e, dev, err, &check, "allocation", n);
    }
    CHECK(!more, "%s on %s: the failures did not end", e->name, dev->id);
}

// Whether no algorithm on this device had one of its formats before.
static bool has_new_format(const struct algo_entry *e, const struct format **seen)
{
    bool any = false;
    for (int f = 0; f < 2 * FORMATS_MAX; f++) {
        const struct format *format = f < FORMATS_MAX ? e->algo->A[f] : e->algo->S[f - FORMATS_MAX];
        int i = 0;
        while (seen[i] && seen[i] != format) i++;
        any |= !seen[i] && format;
        seen[i] = format;
    }
    return any;
}

// Where operands were made amid failures before, they are there.
static void fail_calls(const struct algo_entry *e, const struct csr *A, struct device *dev,
                       bool with_operands)
{
    bool failed = true;
    int64_t n;
    struct inputs in;
    struct check check = {};
    int err = with_operands ? OK : make_inputs(&in, e, A, dev);
    if (!err && !with_operands) err = run_inputs(e, &in, &check);
    CHECK(!err, "%s: %s", e->name, fail_text());
    kept_bytes = dev->used_bytes;
    for (n = 1; failed && n < 4000 && !err; n++) {
        check = {};
        emu_fail_at(n);
        int outcome = with_operands ? run_case(e, A, dev, &check) : run_inputs(e, &in, &check);
        failed = emu_failed();
        emu_fail_at(0);
        // Operands whose change has failed are freed. The next case makes them, and is right.
        struct check again = {};
        bool freed = !with_operands && outcome && dev->used_bytes < kept_bytes;
        CHECK(!freed || (!run_inputs(e, &in, &again) && again.ok), "%s, after call %lld: %s",
              e->name, (long long)n, again.reason);
        expect(e, dev, outcome, &check, "call", n);
    }
    if (!err && !with_operands) inputs_free(&in);
    kept_bytes = dev->used_bytes;
    CHECK(!failed, "%s: the failures did not end", e->name);
    CHECK(n > 8, "%s: only %lld calls", e->name, (long long)n);
}

// From nothing to just too little.
static void shrink_memory(const struct algo_entry *e, const struct csr *A, struct device *dev,
                          int64_t used, int64_t peak)
{
    for (int percent = 0; percent < 100; percent += 7) {
        struct check check = {};
        emu_set_memory(used + peak * percent / 100);
        int err = run_case(e, A, dev, &check);
        emu_set_memory((int64_t)1 << 30);
        // Memory may also be lacking for what only the check needs.
        bool lacking = err == ERR_MEMORY || err == ERR_UNCHECKED;
        CHECK(!err || (lacking && strstr(fail_text(), "wanted")),
              "%s, %d %% of its memory: error %d, %s", e->name, percent, err, fail_text());
        expect(e, dev, err, &check, "percent of its memory", percent);
    }
}

static void test_algorithm(const struct algo_entry *e, const struct csr *A, struct device *dev,
                           bool new_format)
{
    struct check check = {};
    int err = run_case(e, A, dev, &check);
    CHECK(!err && check.ok, "%s on %s: %s", e->name, dev->id, err ? fail_text() : check.reason);
    int64_t used = emu_used(), peak = dev->peak_bytes;
    fail_allocations(e, A, dev);
    if (device_is_host(dev)) return;
    fail_calls(e, A, dev, new_format);
    shrink_memory(e, A, dev, used, peak);
    CHECK(emu_used() == used, "%s: %lld bytes of the device left", e->name,
          (long long)(emu_used() - used));
}

// The algorithms of this name on each device, NULL: all of them.
static void test_matrix(const char *spec, const char *name)
{
    struct csr A;
    int err = gen_matrix(spec, 1, &A);
    CHECK(!err, "%s", fail_text());
    for (int kind = 0; kind < DEVICE_KINDS && !err; kind++) {
        struct device dev;
        kept_bytes = 0;
        err = device_open(device_list[kind].name, &dev);
        CHECK(!err, "%s: %s", device_list[kind].name, fail_text());
        const struct format *seen[64] = {};
        for (int e = 0; e < algo_count && !err; e++)
            if (!algo_missing(&algos[e]) && algos[e].device == dev.kind &&
                (!name || !strcmp(algos[e].name, name)))
                test_algorithm(&algos[e], &A, &dev, has_new_format(&algos[e], seen));
        device_close(&dev);
    }
    csr_free(&A);
}

// The probe fails at each of its calls.
static void test_probe(void)
{
    struct device dev;
    CHECK(!device_open("cuda", &dev), "%s", fail_text());
    int64_t n = 0, used = emu_used();
    for (bool failed = true; failed && n < 1000;) {
        double gb_s;
        emu_fail_at(++n);
        int err = dev.ops->probe_roof(&dev, &gb_s);
        failed = emu_failed();
        emu_fail_at(0);
        CHECK(failed ? err == ERR_DEVICE || err == ERR_MEMORY || !err : !err && gb_s > 0,
              "call %lld: error %d", (long long)n, err);
        CHECK(emu_used() == used, "call %lld: %lld bytes left", (long long)n,
              (long long)(emu_used() - used));
    }
    CHECK(n > 8 && n < 1000, "%lld calls", (long long)n);
    device_close(&dev);
}

// Where there is too little memory for strips, which pay here, balanced goes without them.
static void test_without_strips(void)
{
    struct csr A;
    struct device dev;
    struct check check = {};
    CHECK(!gen_matrix("uniform:200:60", 1, &A) && !device_open("cuda", &dev), "%s", fail_text());
    const struct algo_entry *e = algo_find(op_find("sddmm"), "balanced", dev.kind);
    option = {"strips", 0};
    int err = run_case(e, &A, &dev, &check);
    const int64_t used = emu_used(), without = dev.peak_bytes;
    option = {"strips", -1};
    dev.peak_bytes = 0;
    if (!err) err = run_case(e, &A, &dev, &check);
    CHECK(!err && check.ok && dev.peak_bytes > without * 5 / 4, "%lld bytes, %lld without strips",
          (long long)dev.peak_bytes, (long long)without);
    emu_set_memory(used + without * 9 / 8);
    check = {};
    err = run_case(e, &A, &dev, &check);
    CHECK(!err && check.ok, "error %d, %s", err, fail_text());
    option = {"strips", 1};
    CHECK(run_case(e, &A, &dev, &check) == ERR_MEMORY, "strips that are asked for are left out");
    emu_set_memory((int64_t)1 << 30);
    option = {};
    CHECK(emu_used() == used, "%lld bytes left", (long long)(emu_used() - used));
    device_close(&dev);
    csr_free(&A);
}

int main(void)
{
    test_probe();
    // Short rows and a long one, so that an algorithm has several groups of them.
    test_matrix("skew:110:3:100", NULL);
    option = {"turned", 1};
    last_layout = true;
    test_matrix("skew:110:3:100", "graded");
    last_layout = false;
    option = {"strips", 1};
    test_matrix("skew:110:3:100", "balanced");
    option = {};
    // A row of C of more than 256 nonzeros and 512 products: the intermediate matrix grows.
    test_matrix("skew:330:2:270", "bhsparse");
    // Bundles of 200 columns are found when they are looked for a third time.
    prec = F32;
    width = 128;
    test_matrix("aspect:21:4200", "graded");
    test_without_strips();
    return TEST_END();
}
