// What becomes of a case that cannot run, or runs badly: how it ends, and that it costs the next
// one nothing.
#include "data/gen.h"
#include "endings.h"
#include "measure/tolerance.h"

static const struct algo_entry elsewhere = {"elsewhere", &own_op,
                                            (enum device_kind)(DEVICE_KINDS - 1), &on_csr};

// A device that is not there changes nothing of what the case is.
static void test_missing_device(void)
{
    const struct given_option setting = {"grain", 7};
    struct plan_parts x = PARTS(&own_op, &elsewhere);
    x.request.opts = &setting;
    x.request.opt_count = 1;
    struct endings o = run(&x);
    CHECK(o.list[0].status == STATUS_UNSUPPORTED, "%s", status_name(o.list[0].status));
    const char *why = algo_missing(&elsewhere);
    CHECK_TEXT(o.list[0].reason, why ? why : "no such device");
    CHECK(o.list[0].opt[0] == 7, "its option is %g", o.list[0].opt[0]);
    CHECK(o.list[0].format_bytes == -1 && !o.list[0].peak_bytes, "it was prepared");
}

// An algorithm of a library that is not on this machine says so, and is not even prepared.
static const char *no_library(void) { return "there is no such library"; }
static void test_missing_library(void)
{
    struct algo missing = on_csr;
    const struct algo_entry entry = {"library's", &own_op, DEVICE_CPU, &missing};
    missing.missing = no_library;
    struct plan_parts x = PARTS(&own_op, &entry, &csr_entry);
    struct endings o = run(&x);
    CHECK(o.list[0].status == STATUS_UNSUPPORTED && o.list[1].status == STATUS_OK, "%s, %s",
          status_name(o.list[0].status), status_name(o.list[1].status));
    CHECK_TEXT(o.list[0].reason, "there is no such library");
    CHECK(o.list[0].format_bytes == -1, "it was prepared");
}

static int flushes;
static int count_flush(struct device *d) { return (void)d, flushes++, OK; }

// A cold case has the cache flushed before each sample; a warm one never.
static void test_cold(void)
{
    struct device_ops counting = *places.cpu.ops;
    const struct device_ops *plain = places.cpu.ops;
    counting.flush_cache = count_flush;
    places.cpu.ops = &counting;
    for (int cold = 0; cold < 2; cold++) {
        struct plan_parts x = PARTS(&own_op, &csr_entry);
        x.request.cold = cold;
        flushes = 0;
        CHECK(run(&x).list[0].status == STATUS_OK && (cold ? flushes >= 1 : !flushes),
              "%d flushes, cold: %d", flushes, cold);
    }
    places.cpu.ops = plain;
}

// The next allocation after the run fails, which is the check's.
static int starving_run(struct task *t)
{
    int err = own_run(t);
    mem_fail_at(1);
    return err;
}
static int wrong_run(struct task *t)
{
    int err = own_run(t);
    type_store(t->prec, t->val, 0, 1e6);
    return err;
}

// The first element is off by so many times its tolerance.
static int run_off(struct task *t, double units)
{
    const struct dense_dev *X = &t->in[0];
    double a = type_round(t->prec, M.A.val[0]), sum = 0;
    struct squares squares = {0};
    int err = own_run(t);
    for (int64_t l = 0; l < X->cols; l++) {
        double product = a * type_load(t->prec, X->val, M.A.idx[0] * X->ld + l);
        sum += product;
        squares_add(&squares, product);
    }
    double tolerance =
        ELEMENT_SIZES * type_list[t->prec].unit * sum_error(X->cols, squares_root(&squares), sum);
    type_store(t->prec, t->val, 0, sum + units * tolerance);
    return err;
}
static int barely_wrong_run(struct task *t) { return run_off(t, 1.2); }
static int barely_right_run(struct task *t) { return run_off(t, 0.8); }

static int broken_run(struct task *t) { return (void)t, fail(ERR_DEVICE, "it broke"); }

static void test_statuses(void)
{
    static const struct {
        const char *name;
        int (*run)(struct task *t);
        enum status status;
        const char *says;
    } table[] = {{"starving", starving_run, STATUS_UNCHECKED, "not checked: out of host memory"},
                 {"wrong", wrong_run, STATUS_WRONG, "C(0, "},
                 {"barely wrong", barely_wrong_run, STATUS_WRONG, "C(0, "},
                 {"barely right", barely_right_run, STATUS_OK, ""},
                 {"broken", broken_run, STATUS_FAILED, "it broke"},
                 {"right", own_run, STATUS_OK, ""}};
    for (int i = 0; i < COUNT(table); i++) {
        struct algo algo = on_csr;
        struct plan_parts x;
        algo.run = table[i].run;
        algo.arith = ARITH_PREC;
        const struct algo_entry entry = {table[i].name, &own_op, DEVICE_CPU, &algo};
        parts_start(&x, &own_op);
        parts_one(&x);
        // So many terms that the tolerance is some units in the last place.
        x.request.axes[OWN_WIDTH].value[0] = 7;
        parts_add(&x, &entry);
        parts_add(&x, &csr_entry); // who comes next does not suffer
        struct endings o = run(&x);
        mem_fail_at(0);
        CHECK(o.list[0].status == table[i].status &&
                  !strncmp(o.list[0].reason, table[i].says, strlen(table[i].says)),
              "%s: %s, %s", table[i].name, status_name(o.list[0].status), o.list[0].reason);
        CHECK(o.list[0].timed == (o.list[0].status == STATUS_OK), "%s has a time", table[i].name);
        CHECK(o.list[1].status == STATUS_OK, "after %s: %s", table[i].name, o.list[1].reason);
    }
}

// Values that f32 holds with a bit or two: the result is what it can be, but nothing to go by.
static void test_blind(void)
{
    struct csr *A = &M.A;
    struct algo algo = on_csr;
    const struct algo_entry entry = {"in f32", &own_op, DEVICE_CPU, &algo};
    algo.arith = ARITH_PREC;
    for (int64_t q = 0; q < A->nnz; q++) A->val[q] = ldexp(A->val[q], -148);
    struct plan_parts x = PARTS(&own_op, &entry);
    struct endings o = run(&x);
    CHECK(o.list[0].status == STATUS_UNCHECKED && !o.list[0].timed, "%s",
          status_name(o.list[0].status));
    CHECK(!strncmp(o.list[0].reason, "not checked: the tolerance is ", 30), "%s", o.list[0].reason);
    for (int64_t q = 0; q < A->nnz; q++) A->val[q] = ldexp(A->val[q], 148);
}

int main(void)
{
    int err = gen_matrix("uniform:80:5", 1, &M.A);
    CHECK(!err, "%s", fail_text());
    if (err || places_open(&places)) return TEST_END();
    RUN_ALL(test_missing_device, test_missing_library, test_statuses, test_cold, test_blind);
    csr_free(&M.A);
    device_close(&places.cpu);
    return TEST_END();
}
