// Traps find planted faults: each algorithm here fails one trap, and passes the others. The device
// is the CPU with graphs. Offsets of 2^18 stand for 2^31.
#include "cases.h"
#include "exact/traps.h"

#include <math.h>

enum fault {
    RIGHT,
    UNALIGNED, // needs 16-byte alignment
    LONG_LD,   // 18-bit offsets in matrices with gaps
    FAR,       // 18-bit offsets in matrices without gaps
    PADDED,    // adds 0 * B(0, j)
    WORSE,     // adds 0 * B(0, j), and loses denormal numbers
    FLUSHED,   // denormal numbers are 0
    HALVED,    // denormal numbers are too small
    VARIES,    // every other result has another last bit
    EARLY,     // does not see the result of its last run as input
    REFUSED,   // cannot be captured
    STALE,     // a replay computes nothing
    ABSENT,    // refuses all cases
    FAULTS
};
static enum fault fault;
static int runs;
static const void *last_result;

static int64_t offset_of(const struct dense_dev *D, int64_t i, int64_t j)
{
    const int64_t at = D->layout == LAYOUT_ROW ? i * D->ld + j : j * D->ld + i;
    const int64_t length = D->layout == LAYOUT_ROW ? D->cols : D->rows;
    const bool gaps = D->ld > length;
    return (fault == LONG_LD && gaps) || (fault == FAR && !gaps) ? at & 0x3ffff : at;
}

static double b_value(const struct task *t, int64_t i, int64_t j)
{
    return type_load(prec_in(t->prec), t->in[0].val, offset_of(&t->in[0], i, j));
}

// Changes the sum as the planted fault does.
static double spoiled(const struct task *t, double sum, int64_t j)
{
    const struct type_facts *type = &type_list[prec_out(t->prec)];
    const double normal = type->smallest / type->unit / 2; // a bound that denormal sums are below
    const bool denormal = sum != 0 && fabs(sum) < normal;
    if (fault == PADDED || fault == WORSE) sum += 0 * b_value(t, 0, j);
    if (denormal && (fault == FLUSHED || fault == WORSE)) sum = 0;
    if (denormal && fault == HALVED) sum = floor(sum / type->smallest / 2) * type->smallest;
    if (fault == VARIES && sum != floor(sum)) sum *= 1 + 4 * (runs % 2) * type->unit;
    return sum;
}

static int planted_prepare(struct task *t)
{
    (void)t;
    return fault == ABSENT ? fail(ERR_UNSUPPORTED, "planted") : OK;
}

static int planted_run(struct task *t)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const bool zero = (fault == UNALIGNED && (uintptr_t)t->in[0].val % 16) ||
                      (fault == EARLY && t->in[0].val == last_result);
    runs++;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < t->C.cols; j++) {
            double sum = 0;
            for (int64_t p = csr_start(A, i); p < csr_start(A, i + 1) && !zero; p++)
                sum += type_load(prec_in(t->prec), A->val, p) * b_value(t, A->idx[p], j);
            type_store(prec_out(t->prec), t->C.val, offset_of(&t->C, i, j), spoiled(t, sum, j));
        }
    last_result = t->C.val;
    return OK;
}

static const struct algo algo = {
    .layouts = BOTH_LAYOUTS,
    .precs = BY_TYPE_PRECS,
    .A = {&format_csr},
    .arith = ARITH_DOUBLE,
    .vendor = "a vendor",
    ALGO_FUNCTIONS(planted_prepare, planted_run, NULL),
};

struct planted_graph {
    int (*launch)(void *arg);
    void *arg;
};

static int make_graph(struct device *d, int (*launch)(void *arg), void *arg, void **graph)
{
    (void)d;
    *graph = NULL;
    if (fault == REFUSED) return fail(ERR_UNSUPPORTED, "no graph: planted");
    struct planted_graph *g = *graph = mem_alloc(1, sizeof *g);
    if (!g) return ERR_MEMORY;
    *g = (struct planted_graph){launch, arg};
    return OK;
}

static int launch_graph(struct device *d, void *graph)
{
    const struct planted_graph *g = graph;
    (void)d;
    return fault == STALE ? OK : g->launch(g->arg);
}

static void free_graph(struct device *d, void *graph)
{
    (void)d;
    mem_free(graph);
}

// Results of a trap over its cases.
struct seen {
    enum exact_result worst;
    int cases;
    char why[FAIL_TEXT_MAX];
};

static int take(void *arg, const struct exact_case *c, enum exact_result result, const char *why)
{
    struct seen *s = arg;
    (void)c;
    last_result = NULL; // the next case may get the same address
    s->cases++;
    if (result <= s->worst) return OK;
    s->worst = result;
    snprintf(s->why, sizeof s->why, "%s", why);
    return OK;
}

static struct seen run_trap(struct device *dev, const struct trap *trap, const struct algo_entry *e,
                            unsigned precs)
{
    struct seen s = {.worst = EXACT_NONE};
    const struct exact_rule rule = {.precs = precs, .offset = 1 << 18, .take = take, .arg = &s};
    CHECK(!trap_run(dev, trap, e, &rule), "%s %s: %s", trap->name, e->name, fail_text());
    return s;
}

// The trap that a planted fault fails, its result, and a part of the reason.
static const struct {
    const char *trap;
    enum exact_result result;
    const char *why;
} wanted[FAULTS] = {
    [UNALIGNED] = {"unaligned", EXACT_WRONG, "is 0 and should be"},
    [LONG_LD] = {"long-ld", EXACT_WRONG, "C("},
    [FAR] = {"far", EXACT_WRONG, "C("},
    [PADDED] = {"nonfinite", EXACT_WRONG, "nan and should be"},
    [WORSE] = {"nonfinite", EXACT_WRONG, "nan and should be"},
    [FLUSHED] = {"denormal", EXACT_LACKING, "is 0 and should be"},
    [HALVED] = {"denormal", EXACT_WRONG, "and should be"},
    [VARIES] = {"repeat", EXACT_LACKING, "run 2 differs"},
    [EARLY] = {"chain", EXACT_LACKING, "not in order"},
    [REFUSED] = {"graph", EXACT_LACKING, "planted"},
    [STALE] = {"graph", EXACT_WRONG, "replay 1"},
};

static void test_faults(struct device *dev)
{
    const struct algo_entry entry = {
        .name = "planted", .op = op_find("spmm"), .device = DEVICE_CPU, .algo = &algo};
    for (fault = RIGHT; fault < FAULTS; fault++)
        for (int i = 0; i < trap_count; i++) {
            const struct seen s = run_trap(dev, &traps[i], &entry, BIT(F32));
            const bool fails = wanted[fault].trap && !strcmp(wanted[fault].trap, traps[i].name);
            enum exact_result want = fault == ABSENT ? EXACT_UNSUPPORTED
                                     : !fails        ? EXACT_RIGHT
                                                     : wanted[fault].result;
            if (fault == WORSE && !strcmp(traps[i].name, "denormal")) want = EXACT_LACKING;
            CHECK(s.worst == want && s.cases == 2, "fault %d, %s: %d, not %d, %d cases: %s", fault,
                  traps[i].name, s.worst, want, s.cases, s.why);
            if (fails) CHECK(strstr(s.why, wanted[fault].why), "%s: %s", traps[i].name, s.why);
            CHECK(dev->used_bytes == 0, "%s leaves %lld bytes", traps[i].name,
                  (long long)dev->used_bytes);
        }
}

// The trap chain judges the order of sums in bf16, whose tolerance is too large for a check.
static void test_chain_of_narrow_sums(struct device *dev)
{
    static struct algo narrow;
    const struct algo_entry entry = {
        .name = "planted", .op = op_find("spmm"), .device = DEVICE_CPU, .algo = &narrow};
    int chain = 0;
    while (strcmp(traps[chain].name, "chain")) chain++;
    narrow = algo;
    narrow.arith = ARITH_RESULT;
    narrow.columns = 1;
    fault = RIGHT;
    const struct seen right = run_trap(dev, &traps[chain], &entry, BIT(BF16));
    CHECK(right.worst == EXACT_RIGHT && right.cases == 2, "%d: %s", right.worst, right.why);
    fault = EARLY;
    const struct seen early = run_trap(dev, &traps[chain], &entry, BIT(BF16));
    CHECK(early.worst == EXACT_LACKING && early.cases == 2, "%d: %s", early.worst, early.why);
}

// Traps that algorithms of the program fail: they multiply the zeros of full tiles.
static bool is_known(const struct algo_entry *e, const struct trap *trap)
{
    return !strcmp(trap->name, "nonfinite") && e->device == DEVICE_CUDA &&
           !strncmp(e->name, "tile-tuned", strlen("tile-tuned"));
}

// Atomic additions of SpGEMM kernels sum in an order that varies between runs on a GPU.
static bool may_vary(const struct device *dev, const struct algo_entry *e, const struct trap *trap)
{
    return e->device == DEVICE_CUDA && !strstr(dev->name, "emulated") &&
           !strcmp(e->op->name, "spgemm") && !strcmp(trap->name, "repeat");
}

// Traps of many runs take minutes in the emulator.
static bool is_long(const struct device *dev, const struct trap *trap)
{
    return strstr(dev->name, "emulated") &&
           (!strcmp(trap->name, "repeat") || !strcmp(trap->name, "chain"));
}

// All algorithms of a device are right in all traps, apart from the known ones.
static void test_own(struct device *dev)
{
    for (int e = 0; e < algo_count; e++)
        for (int i = 0; i < trap_count; i++) {
            const struct algo_entry *entry = &algos[e];
            if (entry->device != dev->kind || algo_missing(entry)) continue;
            if (entry->algo->vendor || is_long(dev, &traps[i])) continue;
            const struct seen s = run_trap(dev, &traps[i], entry, BIT(F32));
            const bool right = s.worst <= EXACT_RIGHT;
            if (s.worst == EXACT_LACKING && may_vary(dev, entry, &traps[i])) continue;
            CHECK(right != is_known(entry, &traps[i]), "%s %s, %s: %d: %s", entry->op->name,
                  entry->name, traps[i].name, s.worst, s.why);
        }
}

// The second product of the trap chain borrows the result of the first. If any allocation fails,
// each block is freed once, and no result is wrong.
static void test_chain_no_memory(struct device *dev)
{
    const struct algo_entry entry = {
        .name = "planted", .op = op_find("spmm"), .device = DEVICE_CPU, .algo = &algo};
    int chain = 0, failures = 0;
    while (strcmp(traps[chain].name, "chain")) chain++;
    fault = RIGHT;
    for (int n = 1; n < 300; n++) {
        struct seen s = {.worst = EXACT_NONE};
        const struct exact_rule rule = {.precs = BIT(F32), .take = take, .arg = &s};
        last_result = NULL;
        mem_fail_at(n);
        int err = trap_run(dev, &traps[chain], &entry, &rule);
        mem_fail_at(0);
        CHECK(!err || err == ERR_MEMORY, "allocation %d: %s", n, fail_text());
        CHECK(s.worst <= EXACT_RIGHT, "allocation %d: %d: %s", n, s.worst, s.why);
        CHECK(dev->used_bytes == 0, "allocation %d leaves %lld bytes", n,
              (long long)dev->used_bytes);
        failures += err || s.worst == EXACT_SKIPPED;
    }
    CHECK(failures > 3, "%d cases were skipped", failures);
}

// A trap that asks for more memory than there is ends with the reason.
static void test_room(struct device *dev)
{
    struct trap_case c = {.dev = dev};
    CHECK(trap_has_room(&c, 1), "%s", c.why);
    CHECK(!trap_has_room(&c, INT64_MAX) && strstr(c.why, "of cpu"), "%s", c.why);
}

int main(void)
{
    struct device dev;
    if (open_kind(DEVICE_CUDA, &dev)) {
        test_own(&dev);
        device_close(&dev);
    }
    if (!open_kind(DEVICE_CPU, &dev)) return TEST_END();
    test_own(&dev);
    test_room(&dev);
    struct device_ops planted = *dev.ops;
    planted.graph_make = make_graph;
    planted.graph_launch = launch_graph;
    planted.graph_free = free_graph;
    const struct device_ops *own = dev.ops;
    dev.ops = &planted;
    test_faults(&dev);
    test_chain_of_narrow_sums(&dev);
    test_chain_no_memory(&dev);
    dev.ops = own;
    device_close(&dev);
    return TEST_END();
}
