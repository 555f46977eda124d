// Whether a run waits for the work ahead of it. The CPU stands for a device on which it may not: a
// late inversion is then put off until somebody waits, as if the run had overtaken it. And every
// algorithm on a CUDA device or the emulated one: all of ours wait.
#include "cases.h"
#include "data/load.h"
#include "measure/in_order.h"

static struct device dev;
static struct device_ops fake;
static const struct device_ops *real; // of the CPU

// What is overtaken.
static enum { NOTHING, READS, WRITES, BOTH, IN_GRAPHS } overtaken;
static bool in_graph, no_graphs, no_late;
static const void *result; // of the task under test
static struct device_block pending[DEVICE_FLIPS_MAX];
static int pending_count, flips, graphs;
static int fail_at, fail_with; // the call of a device's function that fails; 0: none

static int called(void) { return fail_at && !--fail_at ? fail(fail_with, "planted") : OK; }

static void invert(const struct device_block *b)
{
    unsigned char *p = b->p;
    for (int64_t i = 0; i < b->bytes; i++) p[i] = (unsigned char)~p[i];
}

// What was put off is done.
static void settle(void)
{
    for (int i = 0; i < pending_count; i++) invert(&pending[i]);
    pending_count = 0;
}

static bool is_overtaken(const struct device_block *b)
{
    switch (overtaken) {
    case READS: return b->p != result;
    case WRITES: return b->p == result;
    case BOTH: return true;
    case IN_GRAPHS: return in_graph;
    default: return false;
    }
}

static int fake_flip(struct device *d, const struct device_block *blocks, int count, bool late)
{
    (void)d;
    int err = called();
    settle();
    if (err) return err;
    if (late && no_late) return fail(ERR_UNSUPPORTED, "nothing is late here");
    flips++;
    for (int i = 0; i < count; i++)
        if (late && is_overtaken(&blocks[i]))
            pending[pending_count++] = blocks[i];
        else
            invert(&blocks[i]);
    return OK;
}

static int fake_digest(struct device *d, const struct device_view *v, uint64_t *bits)
{
    settle();
    int err = called();
    return err ? err : real->digest(d, v, bits);
}

static int fake_fetch(struct device *d, const struct device_view *v, uint64_t seed, void *to)
{
    settle();
    int err = called();
    return err ? err : real->fetch(d, v, seed, to);
}

static int fake_download(struct device *d, void *to, const void *from, int64_t bytes)
{
    settle();
    int err = called();
    return err ? err : real->download(d, to, from, bytes);
}

static int fake_sync(struct device *d)
{
    settle();
    int err = called();
    return err ? err : real->sync(d);
}

static int fake_fill(struct device *d, void *p, int byte, int64_t bytes)
{
    int err = called();
    settle();
    return err ? err : real->fill(d, p, byte, bytes);
}

struct fake_graph {
    int (*launch)(void *arg);
    void *arg;
};

static int fake_make(struct device *d, int (*launch)(void *arg), void *arg, void **graph)
{
    (void)d;
    int err = called();
    if (!err && no_graphs) err = fail(ERR_UNSUPPORTED, "no graphs here");
    struct fake_graph *g = err ? NULL : mem_alloc(1, sizeof *g);
    if (!g) return err ? err : ERR_MEMORY;
    *g = (struct fake_graph){launch, arg};
    *graph = g;
    graphs++;
    return OK;
}

static int fake_launch(struct device *d, void *graph)
{
    const struct fake_graph *g = graph;
    (void)d;
    int err = called();
    if (err) return err;
    in_graph = true;
    err = g->launch(g->arg);
    in_graph = false;
    return err;
}

static void fake_free(struct device *d, void *graph)
{
    (void)d;
    settle();
    mem_free(graph);
    graphs--;
}

static void fake_start(void)
{
    real = dev.ops;
    fake = *real;
    fake.flip = fake_flip;
    fake.digest = fake_digest;
    fake.fetch = fake_fetch;
    fake.download = fake_download;
    fake.sync = fake_sync;
    fake.fill = fake_fill;
    fake.graph_make = fake_make;
    fake.graph_launch = fake_launch;
    fake.graph_free = fake_free;
    dev.ops = &fake;
}

// A task that is right, and what its inputs are.
struct ready {
    struct inputs *in;
    struct task t;
    struct check check;
    uint64_t bits[DENSE_MAX];
};

static void read_inputs(const struct ready *x, uint64_t bits[DENSE_MAX])
{
    for (int i = 0; i < DENSE_MAX; i++) {
        const struct dense_dev *D = &x->t.in[i];
        const int64_t bytes = D->val ? dense_block(D, x->t.prec).bytes : 0;
        struct device_view all = {D->val, 1, bytes, bytes, 1, ONLY_BITS};
        CHECK(!device_digest(x->t.dev, &all, &bits[i]), "%s", fail_text());
    }
}

static bool ready_make(struct inputs *in, const struct algo_entry *e, struct ready *x)
{
    struct setup setup;
    *x = (struct ready){.in = in, .t = {.entry = e, .algo = e->algo}};
    algo_defaults(e->algo, x->t.opt);
    int err = task_prepare(&x->t, &in->o, &setup);
    if (err == ERR_UNSUPPORTED) {
        SKIP("%s of %s: %s", e->name, in->p.op->name, fail_text());
        return false;
    }
    CHECK(!err, "%s: %s", e->name, fail_text());
    if (err) return false;
    err = check_task(&x->t, &in->ref, CHECK_FULL, NULL, &x->check);
    CHECK(!err && x->check.ok, "%s: %s", e->name, err ? fail_text() : x->check.reason);
    read_inputs(x, x->bits);
    result = x->t.C.val ? x->t.C.val : x->t.val;
    if (err || !x->check.ok) task_teardown(&x->t);
    return !err && x->check.ok;
}

// Looks, and sees to it that nothing but the result is changed by that.
static int look(struct ready *x, bool with_graphs, enum in_order *out)
{
    struct device *d = x->t.dev;
    const int64_t used = d->used_bytes, peak = d->peak_bytes;
    uint64_t now[DENSE_MAX];
    const struct verify verify = verify_start(&x->t, &x->in->ref, CHECK_FULL, &x->check, NULL);
    int err = in_order_look(&verify, with_graphs, out);
    fail_at = 0;
    mem_fail_at(0);
    read_inputs(x, now);
    CHECK(!memcmp(now, x->bits, sizeof now), "%s: its inputs are others", x->t.entry->name);
    CHECK(d->used_bytes == used && d->peak_bytes == peak && !d->poison && !graphs,
          "%s: %lld bytes, peak %lld, %d graphs", x->t.entry->name, (long long)d->used_bytes,
          (long long)d->peak_bytes, graphs);
    return err;
}

static void expect(struct ready *x, bool with_graphs, enum in_order want, const char *what)
{
    enum in_order got;
    int err = look(x, with_graphs, &got);
    CHECK(!err && got == want, "%s of %s, %s: %d, not %d, %s", x->t.entry->name, x->in->p.op->name,
          what, (int)got, (int)want, err ? fail_text() : "");
}

static void test_habits(struct ready *x)
{
    flips = 0;
    expect(x, true, ORDER_KEPT, "waits");
    CHECK(flips == 4, "%d inversions in the stream and in a graph", flips);
    flips = 0;
    expect(x, false, ORDER_KEPT, "waits, no graphs are wanted");
    CHECK(flips == 2, "%d inversions in the stream", flips);
    no_graphs = true;
    expect(x, true, ORDER_KEPT, "waits, and cannot be captured");
    no_graphs = false;
    no_late = true;
    expect(x, true, ORDER_NOT_LOOKED, "there is no late inversion");
    no_late = false;
    overtaken = READS;
    expect(x, false, ORDER_BROKEN, "reads too early");
    overtaken = WRITES;
    expect(x, false, ORDER_BROKEN, "writes too early");
    overtaken = BOTH;
    expect(x, true, ORDER_BROKEN, "waits for nothing");
    overtaken = IN_GRAPHS;
    expect(x, false, ORDER_KEPT, "overtakes in a graph alone, which is not looked at");
    expect(x, true, ORDER_BROKEN, "overtakes in a graph alone");
    overtaken = NOTHING;
}

// Whatever call of the device fails, and whatever allocation of the host's.
static void test_failures(struct ready *x)
{
    static const int errors[] = {ERR_DEVICE, ERR_MEMORY};
    for (int kind = 0; kind < COUNT(errors) + 1; kind++)
        for (int broken = 0; broken < 2; broken++) {
            bool done = false;
            overtaken = broken ? IN_GRAPHS : NOTHING;
            for (int n = 1; n < 300 && !done; n++) {
                enum in_order got;
                fail_at = kind < COUNT(errors) ? n : 0;
                fail_with = kind < COUNT(errors) ? errors[kind] : OK;
                mem_fail_at(kind < COUNT(errors) ? 0 : n);
                int err = look(x, true, &got);
                bool told = err == fail_with || err == ERR_UNCHECKED || err == ERR_MEMORY;
                CHECK(!err || told, "call %d: error %d, %s", n, err, fail_text());
                done = !err;
                CHECK(err || got == (broken ? ORDER_BROKEN : ORDER_KEPT), "call %d: %d", n,
                      (int)got);
            }
            CHECK(done, "it never came to an end");
        }
    overtaken = NOTHING;
}

static bool idle;
static const struct algo *idle_of;
static int idle_run(struct task *t) { return idle ? OK : idle_of->run(t); }

// A run that writes nothing is not taken for one that waits.
static void test_idle(struct inputs *in, const struct algo_entry *e)
{
    struct algo algo = *e->algo;
    const struct algo_entry entry = {"idle", e->op, e->device, &algo};
    struct ready x;
    algo.run = idle_run;
    idle_of = e->algo;
    if (!ready_make(in, &entry, &x)) return;
    idle = true;
    expect(&x, true, ORDER_BROKEN, "writes nothing");
    idle = false;
    task_teardown(&x.t);
}

// Every algorithm of the operation; on the CPU one of them in all ways.
static void test_algorithms(struct inputs *in, const char *matrix)
{
    const struct device *d = in->o.dev;
    bool first = device_is_host(d);
    for (const struct algo_entry *e = algos; e < algos + algo_count; e++) {
        struct ready x;
        enum in_order got;
        const struct op *op = in->p.op;
        if (algo_missing(e) || e->op != op || e->device != d->kind ||
            !(e->algo->precs & BIT(in->p.prec)) || (op->refuse && op->refuse(&in->p, e->algo)) ||
            !ready_make(in, e, &x))
            continue;
        if (op->result == RESULT_SPARSE) {
            expect(&x, true, ORDER_NOT_LOOKED, matrix);
        } else if (e->algo->vendor || e->algo->picks[0]) { // what it is, others have made so
            CHECK(!look(&x, true, &got), "%s", fail_text());
            if (got == ORDER_BROKEN)
                printf("%s of %s, %s: not in order\n", e->name, op->name, matrix);
        } else {
            expect(&x, true, ORDER_KEPT, matrix);
        }
        if (first && op->result != RESULT_SPARSE) {
            test_habits(&x);
            test_failures(&x);
            test_idle(in, e);
        }
        first = false;
        task_teardown(&x.t);
    }
}

static void test_matrix(struct device *d, const char *spec)
{
    struct matrix M;
    int err = matrix_load(spec, 3, &M);
    CHECK(!err, "%s: %s", spec, fail_text());
    for (int place = 0; place < 2 * op_count && !err; place++) {
        const struct op *op = ops[place / 2];
        const enum prec prec = place % 2 ? F64 : F32;
        int64_t axis[AXES_MAX] = {0};
        struct inputs in;
        for (int a = 0; op->axes[a]; a++) axis[a] = op->axes[a]->standard;
        if (op->axes[0] && op->axes[0]->min == 1) axis[0] = 7; // an odd number of bytes in f32
        err = inputs_make(&in, d, op, &M.A, prec, axis, false, 0);
        CHECK(!err, "%s: %s", spec, fail_text());
        if (err) break;
        test_algorithms(&in, spec);
        inputs_free(&in);
    }
    matrix_free(&M);
}

// Bytes of some blocks are inverted, those beside them not; twice leaves them as they were.
static void test_flip(struct device *d, int64_t bytes, bool late)
{
    const int64_t room = bytes + 64;
    unsigned char *was = mem_alloc(room, 1), *now = mem_alloc(room, 1);
    void *p[2];
    CHECK(was && now && !device_alloc(d, room, 1, &p[0]) && !device_alloc(d, room, 1, &p[1]), "%s",
          fail_text());
    const struct device_block blocks[] = {{p[0], bytes, 0}, {p[1], 5, 0}};
    for (int64_t i = 0; i < room; i++) was[i] = (unsigned char)random_at(1, (uint64_t)i);
    for (int b = 0; b < 2; b++) CHECK(!device_upload(d, p[b], was, room), "%s", fail_text());
    for (int turn = 0; turn < 2; turn++) {
        int64_t wrong = 0;
        CHECK(!d->ops->flip(d, blocks, 2, late), "%s", fail_text());
        for (int b = 0; b < 2; b++) {
            CHECK(!device_download(d, now, p[b], room), "%s", fail_text());
            for (int64_t i = 0; i < room; i++)
                wrong +=
                    now[i] != (unsigned char)(was[i] ^ (turn || i >= blocks[b].bytes ? 0 : 255));
        }
        CHECK(!wrong, "%lld of %lld bytes are wrong, inverted %d times", (long long)wrong,
              (long long)bytes, turn + 1);
    }
    device_free(d, p[0]);
    device_free(d, p[1]);
    mem_free(was);
    mem_free(now);
}

static void test_device(enum device_kind kind)
{
    static const int64_t sizes[] = {0, 1, 7, 8, 9, 63, 64, 2047, 65536, 300001};
    struct device other;
    if (!open_kind(kind, &other)) return;
    if (other.ops->flip) {
        for (int i = 0; i < COUNT(sizes); i++)
            for (int late = 0; late < 2; late++) test_flip(&other, sizes[i], late);
        test_matrix(&other, "gen:uniform:300:5");
        test_matrix(&other, "gen:skew:300:4:250");
    } else {
        SKIP("%s: nothing overlaps there", other.id);
    }
    CHECK(other.used_bytes == 0, "%lld bytes left", (long long)other.used_bytes);
    device_close(&other);
}

int main(void)
{
    CHECK(!device_open("cpu", &dev), "%s", fail_text());
    fake_start();
    test_matrix(&dev, "gen:uniform:300:5");
    dev.ops = real;
    device_close(&dev);
    for (int kind = 0; kind < DEVICE_KINDS; kind++) test_device((enum device_kind)kind);
    return TEST_END();
}
