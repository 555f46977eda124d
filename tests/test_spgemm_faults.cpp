// SpGEMM on a device that fails: the n-th call of the runtime, the n-th allocation on the host, or
// memory that is too small. An algorithm then ends with an error, or with the right result, and
// leaves nothing behind. For every algorithm of this build, on the CPU and the emulated device.
#include "emu.h"

extern "C" {
#include "measure/check.h"
#include "data/gen.h"
#include "measure/prepare.h"
}
#include "test.h"

// One case from the inputs to the check. `left` is set to the bytes that were not freed.
static int run_case(const struct algo *algo, const struct csr *A, struct device *dev,
                    struct check *check)
{
    struct inputs in = {};
    struct operands o = {};
    struct setup setup;
    int64_t bytes;
    struct task t = {};
    in.A = A, in.prec = F64, in.mul = MUL_AAT;
    t.algo = algo;
    for (int i = 0; algo->options && algo->options[i].name; i++) t.opt[i] = algo->options[i].value;
    int err = ops[OP_SPGEMM].make(&in);
    if (!err) {
        operands_init(&o, dev, &in, LAYOUT_ROW);
        err = task_prepare(&t, &o, &setup, &bytes);
    }
    if (!err) {
        err = check_task(&t, CHECK_FULL, check);
        task_teardown(&t);
    }
    operands_free(&o);
    inputs_free(&in);
    return err;
}

static void expect(const struct algo *algo, struct device *dev, int err, const struct check *check,
                   const char *fault, int64_t n)
{
    bool known = !err || err == ERR_MEMORY || err == ERR_DEVICE;
    CHECK(known, "%s on %s, %s %lld: error %d, %s", algo->name, dev->id, fault, (long long)n, err,
          fail_text());
    CHECK(err || check->ok, "%s on %s, %s %lld: %s", algo->name, dev->id, fault, (long long)n,
          check->reason);
    CHECK(!err || fail_text()[0], "%s on %s, %s %lld: no reason", algo->name, dev->id, fault,
          (long long)n);
    CHECK(!dev->used_bytes, "%s on %s, %s %lld: %lld bytes left", algo->name, dev->id, fault,
          (long long)n, (long long)dev->used_bytes);
}

static void test_algorithm(const struct algo *algo, const struct csr *A, struct device *dev)
{
    struct check check;
    dev->peak_bytes = 0;
    int err = run_case(algo, A, dev, &check);
    CHECK(!err && check.ok, "%s on %s: %s", algo->name, dev->id, err ? fail_text() : check.reason);
    int64_t used = emu_used(), peak = dev->peak_bytes, n = 1;

    for (bool more = true; more && n < 2000; n++) {
        mem_fail_at(n);
        err = run_case(algo, A, dev, &check);
        mem_fail_at(0);
        more = err != OK;
        CHECK(!err || err == ERR_MEMORY, "%s, allocation %lld: error %d", algo->name, (long long)n,
              err);
        expect(algo, dev, err, &check, "allocation", n);
    }
    if (dev->kind == DEVICE_CPU) return;

    bool failed = true;
    for (n = 1; failed && n < 4000; n++) {
        emu_fail_at(n);
        err = run_case(algo, A, dev, &check);
        failed = emu_failed();
        emu_fail_at(0);
        expect(algo, dev, err, &check, "call", n);
    }
    CHECK(!failed, "%s: the failures did not end", algo->name);
    CHECK(n > 10, "%s: only %lld calls", algo->name, (long long)n);

    // From nothing to just too little.
    for (int percent = 0; percent < 100; percent += 7) {
        emu_set_memory(used + peak * percent / 100);
        err = run_case(algo, A, dev, &check);
        emu_set_memory((int64_t)1 << 30);
        CHECK(!err || (err == ERR_MEMORY && strstr(fail_text(), "wanted")),
              "%s, %d %% of its memory: error %d, %s", algo->name, percent, err, fail_text());
        expect(algo, dev, err, &check, "percent of its memory", percent);
    }
    CHECK(emu_used() == used, "%s: %lld bytes of the device left", algo->name,
          (long long)(emu_used() - used));
}

int main(void)
{
    static const char *const specs[] = {"cpu", "cuda"};
    // Short rows and a long one, so that an algorithm has several groups of them.
    struct csr A;
    int err = gen_matrix("skew:110:3:100", 1, &A);
    CHECK(!err, "%s", fail_text());
    for (int kind = DEVICE_CPU; kind <= DEVICE_CUDA && !err; kind++) {
        struct device dev;
        err = device_open(specs[kind], &dev);
        CHECK(!err, "%s: %s", specs[kind], fail_text());
        for (int e = 0; e < algo_count && !err; e++)
            if (algos[e].algo && algos[e].op == OP_SPGEMM && algos[e].device == dev.kind)
                test_algorithm(algos[e].algo, &A, &dev);
        device_close(&dev);
    }
    csr_free(&A);
    return TEST_END();
}
