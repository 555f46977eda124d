// The table-driven test: every operation x algorithm x precision x values of its axes x tiny
// matrix, with whole-number values, so that the result must be exact. On the CPU, a GPU, or the
// emulator.
//
//     test_algos [cpu|cuda] [short|tiny|even|odd] [own] [OPERATION...] [ALGORITHM...]
//
// cpu, cuda: a kind of device. short, tiny: each third or ninth shape and value of k. even, odd: a
// half of the shapes, with each third value of k. own: no vendor's algorithms. Names: no others.
#include "cases.h"
#include "exact/exact.h"

#define NAMES_MAX 16
static struct {
    int device;                      // -1: all
    int first, step;                 // shapes
    int axis_step;                   // values of numbers that axes are tried at
    bool own;                        // leaves out the vendor's algorithms
    const struct op *ops[NAMES_MAX]; // only these, if any
    const char *algs[NAMES_MAX];     // only these, if any
    int op_count, alg_count;
} wanted = {.device = -1, .step = 1, .axis_step = 1};

static int refused;
static int *cases_of; // by algos[]: cases that were run

static bool is_wanted(void *arg, const struct algo_entry *e)
{
    (void)arg;
    bool op = !wanted.op_count, alg = !wanted.alg_count;
    for (int i = 0; i < wanted.op_count; i++) op |= wanted.ops[i] == e->op;
    for (int i = 0; i < wanted.alg_count; i++) alg |= !strcmp(wanted.algs[i], e->name);
    return op && alg && (wanted.device < 0 || wanted.device == (int)e->device) &&
           !(wanted.own && e->algo && e->algo->vendor);
}

static int take(void *arg, const struct exact_case *c, enum exact_result result, const char *why)
{
    const struct algo_entry *e = c->entry;
    char axes[OP_AXES_TEXT];
    (void)arg;
    cases_of[e - algos]++;
    refused += result == EXACT_UNSUPPORTED;
    if (result != EXACT_UNSUPPORTED)
        CHECK(result == EXACT_RIGHT, "%s %s on %s, %s, %s, \"%s\"%s: %s", e->op->name, e->name, c->dev->id,
              prec_name(c->prec), op_axes_text(e->op, c->axis, axes), c->name, c->note, why);
    return OK;
}

// Dense matrices whose rows lie so far apart that offsets do not fit in 32 bits: of elements as
// int, then as unsigned. Only where the device has the memory, and the host has not to fill it.
static void test_far(struct device *dev, const struct op *op)
{
    const struct shape shape = {.name = "far rows", .m = 70000, .n = 70000, .rule = NULL};
    const int64_t k = 5, pads[] = {32768 - k, 65536 - k};
    struct csr A;
    struct inputs in;
    double opt[ALGO_OPTIONS_MAX] = {0};
    int64_t axis[AXES_MAX] = {0};
    if (device_is_host(dev) || !op->axes[0] || op->axes[0]->words) return;
    if (csr_alloc(&A, shape.m, shape.n, 2 * (int64_t)shape.m)) return;
    for (int32_t i = 0; i < A.m; i++) {
        A.ptr[i] = 2 * (int64_t)i;
        A.idx[2 * i] = i % 7;
        A.idx[2 * i + 1] = A.n - 1 - i % 11;
        A.val[2 * i] = i % 5 - 2;
        A.val[2 * i + 1] = i % 3 + 1;
    }
    A.ptr[A.m] = A.nnz;
    axis[0] = k;
    for (int x = 0; x < COUNT(pads); x++) {
        int err = inputs_make(&in, dev, op, &A, F32, axis, true, pads[x]);
        CHECK(!err, "inputs: %s", fail_text());
        for (const struct algo_entry *e = algos; e < algos + algo_count && !err; e++) {
            if (!is_wanted(NULL, e) || !exact_can_run(dev, e, &in.p)) continue;
            algo_defaults(e->algo, opt);
            struct case_outcome out = case_run(&in, e, opt, CHECK_FULL);
            if (out.err == ERR_MEMORY) {
                SKIP("%s, offsets past 32 bits: %s", op->name, fail_text());
                break;
            }
            bool right = !out.err && out.check.error_ratio == 0;
            CHECK(right || out.err == ERR_UNSUPPORTED, "%s %s, rows %lld apart: %s", op->name,
                  e->name, (long long)(pads[x] + k), out.err ? fail_text() : out.check.reason);
        }
        if (!err) inputs_free(&in);
    }
    csr_free(&A);
}

static bool any_wanted(const struct op *op, enum device_kind kind)
{
    for (int e = 0; e < algo_count; e++)
        if (algos[e].op == op && algos[e].device == kind && is_wanted(NULL, &algos[e])) return true;
    return false;
}

static void test_device(enum device_kind kind)
{
    struct device dev;
    const struct exact_rule rule = {.first = wanted.first,
                                    .step = wanted.step,
                                    .axis_step = wanted.axis_step,
                                    .wants = is_wanted,
                                    .take = take};
    if (!open_kind(kind, &dev)) return;
    for (int x = 0; x < op_count; x++) {
        if (!any_wanted(ops[x], kind)) continue;
        CHECK(!exact_run(&dev, ops[x], &rule), "%s: %s", ops[x]->name, fail_text());
        if (wanted.step < 3 && !wanted.first) test_far(&dev, ops[x]);
    }
    CHECK(dev.used_bytes == 0, "%lld bytes left on %s", (long long)dev.used_bytes, dev.id);
    device_close(&dev);
    // A descriptor without .precs or .layouts would pass by not being tried at all.
    for (int e = 0; e < algo_count; e++)
        CHECK(algo_missing(&algos[e]) || algos[e].device != kind || !is_wanted(NULL, &algos[e]) ||
                  cases_of[e],
              "%s %s on %s: no case runs it", algos[e].op->name, algos[e].name,
              device_list[kind].name);
}

// One word of the command line; false if it is none.
static bool parse(const char *word)
{
    for (int k = 0; k < DEVICE_KINDS; k++)
        if (!strcmp(word, device_list[k].name)) return wanted.device = k, true;
    if (!strcmp(word, "short")) return wanted.step = wanted.axis_step = 3, true;
    if (!strcmp(word, "tiny")) return wanted.step = wanted.axis_step = 9, true;
    if (!strcmp(word, "even")) return wanted.step = 2, wanted.axis_step = 3, true;
    if (!strcmp(word, "odd")) return wanted.first = 1, wanted.step = 2, wanted.axis_step = 3, true;
    if (!strcmp(word, "own")) return wanted.own = true;
    if (op_find(word) && wanted.op_count < NAMES_MAX)
        return wanted.ops[wanted.op_count++] = op_find(word), true;
    for (int e = 0; e < algo_count; e++)
        if (!strcmp(word, algos[e].name) && wanted.alg_count < NAMES_MAX)
            return wanted.algs[wanted.alg_count++] = word, true;
    return false;
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++)
        CHECK(parse(argv[a]),
              "%s: not a device, operation, algorithm, short, tiny, even, odd or own", argv[a]);
    cases_of = mem_zero_alloc(algo_count, sizeof *cases_of);
    if (!cases_of || test_failed) return TEST_END();
    for (int kind = 0; kind < DEVICE_KINDS; kind++)
        if (wanted.device < 0 || wanted.device == kind) test_device((enum device_kind)kind);
    for (int e = 0; e < algo_count; e++)
        if (algo_missing(&algos[e]) && is_wanted(NULL, &algos[e]))
            SKIP("%s %s: %s", algos[e].op->name, algos[e].name, algo_missing(&algos[e]));
    if (refused) printf("%d cases refused by their algorithm\n", refused);
    mem_free(cases_of);
    return TEST_END();
}
