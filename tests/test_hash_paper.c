// The ways of `hash` on CUDA that single options do not lead to: tables in global memory, rows that
// overflow the largest table in shared memory and are done again, and waves of a small pool.
#include "check.h"
#include "gen.h"
#include "prepare.h"
#include "test.h"

static const struct run {
    const char *spec;
    struct {
        const char *name;
        double value;
    } set[3];
    bool overflows; // some rows have to
} runs[] = {
    {"skew:900:2:600", {{"bitmap", 0}, {"split", 1}}, false},
    {"skew:900:2:600", {{"bitmap", 0}, {"split", 1}, {"pool", 0}}, false},
    {"skew:900:2:600", {{"bitmap", 0}, {"split", 1}, {"even", 0}}, false},
    {"skew:9000:2:9000", {{"bitmap", 0}, {"shared", 32}}, true},
    {"skew:9000:2:9000", {{"bitmap", 0}, {"shared", 32}, {"even", 0}}, true},
};

static double figure_of(const struct task *t, const char *name)
{
    for (int f = 0; f < t->figure_count; f++)
        if (!strcmp(t->figures[f].name, name)) return t->figures[f].number;
    return -1;
}

static void test_run(const struct run *r, const struct algo *algo, struct device *dev,
                     const struct inputs *in)
{
    struct operands o;
    struct setup setup;
    struct check check = {0};
    struct task t = {.algo = algo};
    int64_t bytes;
    for (int i = 0; algo->options[i].name; i++) {
        t.opt[i] = algo->options[i].value;
        for (int s = 0; s < 3 && r->set[s].name; s++)
            if (!strcmp(algo->options[i].name, r->set[s].name)) t.opt[i] = r->set[s].value;
    }
    operands_init(&o, dev, in, LAYOUT_ROW);
    int err = task_prepare(&t, &o, &setup, &bytes);
    if (!err) {
        err = check_task(&t, CHECK_FULL, &check);
        CHECK(err || (figure_of(&t, "overflowed_rows") > 0) == r->overflows,
              "%s: %g rows overflowed", r->spec, figure_of(&t, "overflowed_rows"));
        task_teardown(&t);
    }
    operands_free(&o);
    CHECK(!err && check.ok, "%s, %s=%g, %s=%g, %s: %s", r->spec, r->set[0].name, r->set[0].value,
          r->set[1].name, r->set[1].value, prec_name(in->prec), err ? fail_text() : check.reason);
    CHECK(!dev->used_bytes, "%s: %lld bytes left", r->spec, (long long)dev->used_bytes);
}

int main(void)
{
    const struct algo *algo = NULL;
    struct device dev;
    for (int e = 0; e < algo_count; e++)
        if (algos[e].op == OP_SPGEMM && algos[e].device == DEVICE_CUDA &&
            !strcmp(algos[e].name, "hash"))
            algo = algos[e].algo;
    if (!algo || device_missing(DEVICE_CUDA)) {
        SKIP("hash on cuda: %s", device_missing(DEVICE_CUDA));
        return TEST_END();
    }
    int err = device_open("cuda", &dev);
    CHECK(!err, "%s", fail_text());
    for (size_t r = 0; r < sizeof runs / sizeof *runs && !err; r++) {
        struct csr A;
        err = gen_matrix(runs[r].spec, 1, &A);
        CHECK(!err, "%s", fail_text());
        for (int prec = F32; prec <= F64 && !err; prec++) {
            struct inputs in = {.A = &A, .prec = (enum prec)prec, .mul = MUL_AA};
            CHECK(!ops[OP_SPGEMM].make(&in), "%s", fail_text());
            test_run(&runs[r], algo, &dev, &in);
            inputs_free(&in);
        }
        if (!err) csr_free(&A);
    }
    if (!err) device_close(&dev);
    return TEST_END();
}
