// The look whether a run waits for what is ahead of it, on the emulated device, where the n-th call
// of the runtime fails: inputs and memory are as before, and the next look says what it did.
#include "emu.h"

extern "C" {
#include "cases.h"
#include "data/gen.h"
#include "measure/in_order.h"
}

static struct device dev;

// What the dense inputs hold.
static uint64_t read_inputs(struct inputs *in)
{
    uint64_t bits = 0;
    for (int i = 0; i < DENSE_MAX && in->o.in[i].val; i++) {
        struct device_view v = dense_view(&in->o.in[i], prec_in(in->p.prec));
        uint64_t x;
        CHECK(!device_digest(&dev, &v, &x), "%s", fail_text());
        bits = bits * 31 + x;
    }
    return bits;
}

static void fail_calls(struct inputs *in, struct task *t, const struct check *first)
{
    const uint64_t bits = read_inputs(in);
    const int64_t used = dev.used_bytes, peak = dev.peak_bytes, held = emu_used();
    bool failed = true;
    int64_t n;
    for (n = 1; failed && n < 1000; n++) {
        enum in_order got;
        emu_fail_at(n);
        struct verify verify = verify_start(t, &in->ref, CHECK_FULL, first, NULL);
        int err = in_order_look(&verify, true, &got);
        failed = emu_failed();
        emu_fail_at(0);
        CHECK(!err || err == ERR_DEVICE || err == ERR_MEMORY || err == ERR_UNCHECKED,
              "%s, call %lld: error %d, %s", t->entry->name, (long long)n, err, fail_text());
        CHECK(err || got == ORDER_KEPT, "%s, call %lld: %d", t->entry->name, (long long)n,
              (int)got);
        CHECK(read_inputs(in) == bits, "%s, call %lld: its inputs are others", t->entry->name,
              (long long)n);
        CHECK(dev.used_bytes == used && dev.peak_bytes == peak && emu_used() == held &&
                  !dev.closed && !dev.poison,
              "%s, call %lld: %lld bytes, peak %lld", t->entry->name, (long long)n,
              (long long)dev.used_bytes, (long long)dev.peak_bytes);
    }
    CHECK(!failed && n > 10, "%s: %lld calls", t->entry->name, (long long)n);
}

static void test_algo(const char *op, const char *name, const struct csr *A)
{
    const struct algo_entry *e = algo_find(op_find(op), name, DEVICE_CUDA);
    const int64_t axis[AXES_MAX] = {8, LAYOUT_ROW};
    struct inputs in;
    struct setup setup;
    struct check check = {};
    CHECK(e, "there is no %s", name);
    int err = e ? inputs_make(&in, &dev, e->op, A, F64, axis, false, 0) : ERR_USAGE;
    CHECK(!err, "%s: %s", name, fail_text());
    if (err) return;
    struct task t = {};
    t.entry = e, t.algo = e->algo;
    algo_defaults(e->algo, t.opt);
    err = task_prepare(&t, &in.o, &setup);
    CHECK(!err, "%s: %s", name, fail_text());
    if (!err) {
        err = check_task(&t, &in.ref, CHECK_FULL, NULL, &check);
        CHECK(!err && check.ok, "%s: %s", name, err ? fail_text() : check.reason);
        if (!err) fail_calls(&in, &t, &check);
        task_teardown(&t);
    }
    inputs_free(&in);
}

int main(void)
{
    struct csr A;
    int err = gen_matrix("uniform:60:4", 1, &A);
    if (!err) err = device_open("cuda", &dev);
    CHECK(!err, "%s", fail_text());
    if (err) return TEST_END();
    test_algo("spmm", "rowsplit", &A);
    test_algo("spmm", "graded", &A); // starts early
    test_algo("sddmm", "balanced", &A);
    CHECK(!dev.used_bytes, "%lld bytes left", (long long)dev.used_bytes);
    device_close(&dev);
    csr_free(&A);
    return TEST_END();
}
