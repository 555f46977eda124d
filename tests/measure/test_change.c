// Changes of operands: every algorithm of every device follows them, and a result that was kept is
// wrong.
#include "cases.h"
#include "data/load.h"
#include "measure/check.h"

static struct device dev;
static struct matrix M;

// An algorithm with the operands of one case.
struct subject {
    const struct algo_entry *entry;
    struct inputs in;
    struct task t;
    struct change change;
    struct check check;
};

static bool subject_make(struct subject *s, const struct algo_entry *e, enum prec prec,
                         const int64_t axis[AXES_MAX], int pad)
{
    struct setup setup;
    *s = (struct subject){.entry = e, .t = {.entry = e, .algo = e->algo}};
    int err = inputs_make(&s->in, &dev, e->op, &M.A, prec, axis, false, pad);
    CHECK(!err, "%s: %s", e->name, fail_text());
    if (err) return false;
    algo_defaults(e->algo, s->t.opt);
    err = task_prepare(&s->t, &s->in.o, &setup);
    CHECK(!err || err == ERR_UNSUPPORTED, "%s: %s", e->name, fail_text());
    s->change = change_start(&s->t, &s->in.o);
    return !err;
}

// Runs once on the present operands.
static int run(struct subject *s)
{
    dev.poison = true;
    int err = output_poison(&s->t);
    if (!err) err = task_run(&s->t);
    dev.poison = false;
    if (!err && s->t.algo->finish) err = s->t.algo->finish(&s->t);
    return err;
}

static void check_operands(struct subject *s, const char *what)
{
    char changed[64];
    int err = operands_verify(&s->in.o, changed);
    CHECK(!err && !changed[0], "%s %s, %s: %s is not as it was", s->entry->op->name, s->entry->name,
          what, err ? fail_text() : changed);
}

// Compares the present result with the reference of the present operands.
static int compare(struct subject *s, struct check *out)
{
    const struct problem now = change_problem(&s->change);
    struct reference ref;
    reference_init(&ref, &now);
    int err = check_result(&s->t, &ref, CHECK_FULL, out);
    reference_free(&ref);
    return err;
}

// The result of changed operands is right, as a whole and at the places that are compared in
// samples. The result of the operands before is not.
static void check_changed(struct subject *s)
{
    struct check old = {0}, now = {0}, places = {0};
    struct tally tally = {0};
    int err = run(s);
    if (!err) err = change_all(&s->change);
    if (!err) err = compare(s, &old);
    CHECK(!err && !old.ok, "%s %s: an old result passes: %s", s->entry->op->name, s->entry->name,
          err ? fail_text() : "");
    task_release_result(&s->t);
    if (!err) err = run(s);
    if (!err) err = compare(s, &now);
    CHECK(!err && now.ok, "%s %s: %s", s->entry->op->name, s->entry->name,
          err ? fail_text() : now.reason);
    const struct problem p = change_problem(&s->change);
    if (!err) err = check_places(&s->t, &p, 5, &tally, &places);
    CHECK(!err && (places.ok || places.blind), "%s %s, places: %s", s->entry->op->name,
          s->entry->name, err ? fail_text() : places.reason);
    task_release_result(&s->t);
    // Without dense operands the values of A are all that can change.
    CHECK(s->change.dense_key || s->change.sparse_key, "nothing has changed");
    CHECK(!device_is_host(&dev) || s->entry->algo->keeps_values || s->change.sparse_key,
          "%s %s: A stays", s->entry->op->name, s->entry->name);
}

static void test_algo(const struct algo_entry *e, enum prec prec, const int64_t axis[AXES_MAX])
{
    struct subject s;
    if (subject_make(&s, e, prec, axis, 3)) {
        int64_t used = dev.used_bytes;
        int err = check_task(&s.t, &s.in.ref, CHECK_FULL, &s.change, &s.check);
        CHECK(!err && s.check.ok, "%s %s: %s", e->op->name, e->name,
              err ? fail_text() : s.check.reason);
        check_operands(&s, "checked");
        for (int i = 0; i < 2 && !err; i++) check_changed(&s);
        CHECK(!change_operands(&s.change, true) && !change_end(&s.change), "%s", fail_text());
        check_operands(&s, "changed and changed back");
        CHECK(!change_operands(&s.change, false), "%s", fail_text());
        check_operands(&s, "touched");
        CHECK(dev.used_bytes == used, "%s: %lld bytes", e->name,
              (long long)(dev.used_bytes - used));
        task_teardown(&s.t);
    }
    inputs_free(&s.in);
}

// The entry under test as a cheat: prepare() makes the product, run() copies it.
static const struct algo *base;
static void *kept;

static int cheat_prepare(struct task *t)
{
    int err = base->prepare ? base->prepare(t) : OK;
    if (!err) err = base->run(t);
    const struct device_block b = output_block(t);
    if (!err) err = device_alloc(t->dev, b.bytes, 1, &kept);
    return err ? err : t->dev->ops->copy(t->dev, kept, b.p, b.bytes);
}
static int cheat_run(struct task *t)
{
    const struct device_block b = output_block(t);
    return t->dev->ops->copy(t->dev, b.p, kept, b.bytes);
}
static void cheat_teardown(struct task *t)
{
    device_free(t->dev, kept);
    if (base->teardown) base->teardown(t);
}

static void test_cheat(const struct algo_entry *e, const int64_t axis[AXES_MAX])
{
    struct algo algo = *e->algo;
    struct algo_entry entry = *e;
    struct subject s;
    base = e->algo;
    algo.prepare = cheat_prepare;
    algo.run = cheat_run;
    algo.teardown = cheat_teardown;
    entry.algo = &algo;
    if (subject_make(&s, &entry, F32, axis, 0)) {
        int err = check_task(&s.t, &s.in.ref, CHECK_FULL, &s.change, &s.check);
        CHECK(!err && !s.check.ok && !strstr(s.check.reason, "between"),
              "%s %s: a copied product passes", e->op->name, e->name);
        task_teardown(&s.t);
    }
    inputs_free(&s.in);
}

static void test_entry(const struct algo_entry *e)
{
    if (e->device != dev.kind || algo_missing(e)) return;
    const enum result_kind result = e->op->result;
    for (int layout = LAYOUT_ROW; layout <= LAYOUT_COL; layout++)
        for (int k = 1; k <= 7; k += 6) {
            const int64_t axis[AXES_MAX] = {result == RESULT_SPARSE ? layout : k,
                                            result == RESULT_DENSE ? layout : 0};
            if (result == RESULT_PATTERN && layout) continue;
            if (result == RESULT_SPARSE && k > 1) continue;
            for (int prec = F32; prec <= F64; prec++) test_algo(e, (enum prec)prec, axis);
            if (result != RESULT_SPARSE) test_cheat(e, axis);
        }
}

int main(void)
{
    CHECK(!matrix_load("gen:uniform:300:6", 3, &M), "%s", fail_text());
    for (int q = 0; q < M.A.nnz; q += 7) M.A.val[q] = 0; // zeros have no sign
    for (int kind = 0; kind < DEVICE_KINDS; kind++) {
        if (!open_kind((enum device_kind)kind, &dev)) continue;
        for (int i = 0; i < algo_count; i++) test_entry(&algos[i]);
        CHECK(!dev.used_bytes, "%lld bytes are left", (long long)dev.used_bytes);
        device_close(&dev);
    }
    matrix_free(&M);
    return TEST_END();
}
