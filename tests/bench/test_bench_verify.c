// Algorithms that are right when they are checked, and something else once they are timed: each is
// told, and who comes next has right inputs and a time.
#include "data/gen.h"
#include "endings.h"

#include <time.h>

static int runs;  // of the algorithm under test
#define CHECKED 2 // runs of the check
#define REPS    400

static int idle_run(struct task *t) { return ++runs <= CHECKED ? own_run(t) : OK; }

// So short that its runs are timed in batches, of which the last one mostly works.
static int lazy_run(struct task *t) { return ++runs > CHECKED && runs % 5 ? OK : own_run(t); }

// One run in twenty is wrong.
static int seldom_run(struct task *t)
{
    int err = own_run(t);
    if (++runs > CHECKED && runs % 20 == 0) type_store(t->prec, t->val, 5, 1e6);
    return err;
}

static int spoiling_run(struct task *t)
{
    int err = own_run(t);
    if (++runs == CHECKED + 3) type_store(t->prec, t->in[0].val, 0, 0.25);
    return err;
}

static int spoiling_A_run(struct task *t)
{
    int err = own_run(t);
    const struct csr_dev *A = csr_of(t->A[0]);
    if (++runs == CHECKED + 3) type_store(t->prec, A->val, A->nnz - 1, 3);
    return err;
}

// It spoils what it reads when it is checked, so that its own result is wrong, too.
static int spoiling_first_run(struct task *t)
{
    type_store(t->prec, t->in[0].val, 0, 0.25);
    return own_run(t);
}

static int64_t looked; // at results of the algorithm that ran last
static int keep_looks(const struct result *r, void *arg)
{
    looked = r->verified.looked;
    return keep_result(r, arg);
}

// The algorithm, and after it a right one.
static struct endings outcome(int (*run_it)(struct task *t), enum check_mode mode)
{
    struct algo algo = on_csr;
    algo.run = run_it;
    const struct algo_entry entry = {"tested", &own_op, DEVICE_CPU, &algo};
    struct plan_parts x = PARTS(&own_op, &entry);
    if (mode != CHECK_OFF) parts_add(&x, &csr_entry);
    struct plan plan = parts_plan(&x);
    plan.check = mode;
    plan.rule = (struct timing_rule){.reps = REPS, .warmup = 1};
    runs = got.count = 0;
    CHECK(!bench_matrix(&plan, &places.all, &M, keep_looks, NULL), "%s", fail_text());
    CHECK(!places.cpu.used_bytes, "%lld bytes left", (long long)places.cpu.used_bytes);
    plan_free(&plan);
    return got;
}

static const struct {
    const char *name;
    int (*run)(struct task *t);
    enum status status;
    const char *says;
} table[] = {{"idle", idle_run, STATUS_WRONG, "the result of sample 1, after the check: C("},
             {"works every 5th time", lazy_run, STATUS_WRONG, "the result of sample "},
             {"wrong every 20th time", seldom_run, STATUS_WRONG, "the result of sample "},
             {"spoils its dense input", spoiling_run, STATUS_WRONG, "it changed its inputs: dense"},
             {"spoils A", spoiling_A_run, STATUS_WRONG, "it changed its inputs: A as csr"},
             {"spoils at once", spoiling_first_run, STATUS_WRONG, "it changed its inputs: dense"},
             {"right", own_run, STATUS_OK, ""}};

static void test_faults(void)
{
    for (int i = 0; i < COUNT(table); i++) {
        struct endings o = outcome(table[i].run, CHECK_FULL);
        CHECK(o.list[0].status == table[i].status &&
                  !strncmp(o.list[0].reason, table[i].says, strlen(table[i].says)),
              "%s: %s, %s", table[i].name, status_name(o.list[0].status), o.list[0].reason);
        CHECK(o.list[0].timed == (o.list[0].status == STATUS_OK), "%s has a time", table[i].name);
        CHECK(o.list[1].status == STATUS_OK, "after %s: %s", table[i].name, o.list[1].reason);
        CHECK(looked > REPS / 8 && looked < REPS, "%lld looks at %d samples", (long long)looked,
              REPS);
    }
}

// Who wants no check gets no looks; inputs are compared even so.
static void test_unchecked(void)
{
    for (int i = 0; i < COUNT(table); i++) {
        struct endings o = outcome(table[i].run, CHECK_OFF);
        bool spoils = strstr(table[i].says, "inputs") != NULL;
        CHECK(o.list[0].status == (spoils ? STATUS_WRONG : STATUS_OK), "%s: %s", table[i].name,
              o.list[0].reason);
        CHECK(!looked, "%s: %lld looks", table[i].name, (long long)looked);
    }
}

// A rate that the device does not have is told, of the arithmetic and of the bytes.
static void test_impossible(void)
{
    struct roof *roof = &places.list[DEVICE_CPU].roof;
    const struct roof kept = *roof;
    roof->measured = (int64_t)time(NULL); // just now: it is not measured again
    roof->fma_measured[F32] = roof->fma_gflops[F32] = 1e-6;
    struct endings o = outcome(own_run, CHECK_FULL);
    CHECK(o.list[0].status == STATUS_WRONG && strstr(o.list[0].reason, "GFLOPS exceed the peak of cpu"),
          "%s: %s", status_name(o.list[0].status), o.list[0].reason);
    CHECK(!o.list[0].timed, "it has a time");
    *roof = kept;
    roof->measured = (int64_t)time(NULL);
    roof->near_gb_s = 1e-6;
    o = outcome(own_run, CHECK_FULL);
    CHECK(o.list[0].status == STATUS_WRONG && strstr(o.list[0].reason, "GB/s of operands exceed"),
          "%s: %s", status_name(o.list[0].status), o.list[0].reason);
    *roof = kept;
}

#define HIDDEN_MS 60
// Prepares in its first run.
static int late_prepare_run(struct task *t)
{
    const struct timespec pause = {0, HIDDEN_MS * 1000000};
    if (!runs++) nanosleep(&pause, NULL);
    return own_run(t);
}

// A preparation that is hidden in the first run is one.
static void test_first_run(void)
{
    struct endings o = outcome(late_prepare_run, CHECK_FULL);
    CHECK(o.list[0].status == STATUS_OK && o.list[0].setup.analyse_ms > HIDDEN_MS / 2, "%g ms",
          o.list[0].setup.analyse_ms);
    CHECK(o.list[1].setup.analyse_ms < HIDDEN_MS / 2, "%g ms", o.list[1].setup.analyse_ms);
}

static bool quiet;
static int told, refuse_at;
static int keep_quiet(void *arg, bool on)
{
    CHECK(arg == &quiet, "another argument");
    quiet = on;
    return ++told == refuse_at ? fail(ERR_INTERRUPTED, "enough") : OK;
}

static int loud_prepares, loud_runs, quiet_runs;
static int noting_prepare(struct task *t)
{
    (void)t;
    loud_prepares += !quiet;
    return OK;
}

static int noting_run(struct task *t)
{
    loud_runs += !quiet;
    quiet_runs += quiet;
    return own_run(t);
}

// Quiet is asked for ahead of all that is timed, and not for the check; a refusal ends it all.
static void test_quiet(void)
{
    struct algo algo = on_csr;
    algo.run = noting_run;
    algo.prepare = noting_prepare;
    const struct algo_entry entry = {"tested", &own_op, DEVICE_CPU, &algo};
    struct plan_parts x = PARTS(&own_op, &entry);
    struct plan plan = parts_plan(&x);
    plan.check = CHECK_FULL;
    plan.rule = (struct timing_rule){.reps = 10, .warmup = 1};
    plan.quiet = keep_quiet;
    plan.hook_arg = &quiet;
    for (refuse_at = 0; refuse_at <= 4; refuse_at++) {
        got.count = told = loud_prepares = loud_runs = quiet_runs = quiet = 0;
        int err = bench_matrix(&plan, &places.all, &M, keep_result, NULL);
        if (refuse_at) {
            CHECK(err == ERR_INTERRUPTED && told == refuse_at && !got.count,
                  "refused at %d: error %d, told %d times", refuse_at, err, told);
            continue;
        }
        CHECK(!err && got.list[0].status == STATUS_OK && !quiet && told == 4, "told %d times",
              told);
        CHECK(!loud_prepares && loud_runs == CHECKED && quiet_runs > 10, "%d, %d, %d",
              loud_prepares, loud_runs, quiet_runs);
    }
    CHECK(!places.cpu.used_bytes, "%lld bytes left", (long long)places.cpu.used_bytes);
    plan_free(&plan);
}

static int changes, change_that_fails;
static int failing_sign(struct device *d, const struct device_signs_dense *x)
{
    if (++changes == change_that_fails) return fail(ERR_DEVICE, "no change");
    return device_list[DEVICE_CPU].ops->sign_dense(d, x);
}

// A change of the inputs fails midway, on a device that works. The next case has right inputs.
static void test_failed_change(void)
{
    const struct op *spmm = op_find("spmm");
    const struct device_ops *real = places.cpu.ops;
    struct device_ops failing = *real;
    failing.sign_dense = failing_sign;
    places.cpu.ops = &failing;
    struct plan_parts x = PARTS(spmm, algo_find(spmm, "reference", DEVICE_CPU),
                                algo_find(spmm, "rowsplit", DEVICE_CPU));
    for (change_that_fails = 1; change_that_fails <= 8; change_that_fails++) {
        changes = 0;
        run(&x);
        CHECK(got.list[0].status == STATUS_FAILED && strstr(got.list[0].reason, "no change"),
              "change %d: %s", change_that_fails, got.list[0].reason);
        CHECK(got.list[1].status == STATUS_OK, "behind change %d: %s, %s", change_that_fails,
              status_name(got.list[1].status), got.list[1].reason);
    }
    places.cpu.ops = real;
}

int main(void)
{
    int err = gen_matrix("uniform:80:5", 1, &M.A);
    CHECK(!err, "%s", fail_text());
    if (err || places_open(&places)) return TEST_END();
    RUN_ALL(test_faults, test_unchecked, test_first_run, test_quiet, test_impossible,
            test_failed_change);
    csr_free(&M.A);
    device_close(&places.cpu);
    return TEST_END();
}
