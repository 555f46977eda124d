// Results that are timed are looked at: an algorithm that was right when it was checked and has a
// fault in one run after that, for every operation and every planted fault.
#include "data/load.h"
#include "faulty.h"
#include "measure/verify.h"

static struct device dev;

// What a run takes and gives back before it ends, where it makes its result from nothing.
static int64_t scratch_bytes;

static int use_scratch(struct task *t)
{
    void *scratch;
    int err = device_alloc(t->dev, scratch_bytes, 1, &scratch);
    device_free(t->dev, scratch);
    return err;
}

// Like the faulty one, but it is right until somebody plants the fault.
static int late_run(struct task *t)
{
    faulty_runs++;
    if (right.p->op->result == RESULT_SPARSE && scratch_bytes && use_scratch(t)) return ERR_MEMORY;
    if (right.p->op->result == RESULT_SPARSE) return faulty_sparse(t);
    if (fault != NO_OUTPUT) faulty_fill(t);
    return OK;
}
static const struct algo late = {
    .layouts = BOTH_LAYOUTS, .precs = BOTH_PRECS, .A = {&format_csr}, .run = late_run};

struct watched {
    struct task t;
    struct check check;
    struct verify w;
};

static bool watched_make(struct inputs *in, enum check_mode mode, struct watched *x)
{
    static struct algo_entry entry;
    struct setup setup;
    entry = (struct algo_entry){"late", in->p.op, DEVICE_CPU, &late};
    *x = (struct watched){.t = {.entry = &entry, .algo = &late}};
    fault = NONE;
    faulty_shift = 0;
    int err = task_prepare(&x->t, &in->o, &setup);
    if (!err) err = check_task(&x->t, &in->ref, mode, NULL, &x->check);
    CHECK(!err && x->check.ok, "%s: %s%s", in->p.op->name, err ? fail_text() : "", x->check.reason);
    x->w = verify_start(&x->t, &in->ref, mode, &x->check, NULL);
    return !err;
}

static int sample(struct watched *x)
{
    int err = verify_before(&x->w);
    if (!err) err = task_run(&x->t);
    return err ? err : verify_after(&x->w);
}

static const char *what_of(const struct inputs *in, const struct planted *p)
{
    static char text[128];
    snprintf(text, sizeof text, "%s %s, %s", in->p.op->name, prec_name(in->p.prec), p->name);
    return text;
}

// Right samples pass, the one with the fault does not, and says where; what comes after is right.
static void check_fault(struct inputs *in, enum check_mode mode, const struct planted *p)
{
    struct watched x;
    if (!watched_make(in, mode, &x)) return;
    int64_t used = dev.used_bytes, peak = dev.peak_bytes;
    for (int s = 0; s < 3; s++)
        CHECK(!sample(&x), "%s: right, but %s", what_of(in, p), fail_text());
    CHECK(x.w.counts.looked == 3 && !x.w.counts.varied, "%s: %lld, %lld of 3", what_of(in, p),
          (long long)x.w.counts.looked, (long long)x.w.counts.varied);
    // An unwritten element shows only where it was spoilt.
    const int tries = p->fault == ONE_NOT_WRITTEN || p->fault == ROW_LOST ? 100 : 1;
    int err = OK;
    fault = p->fault;
    for (int i = 0; i < tries && !err; i++) err = sample(&x);
    CHECK(err == ERR_WRONG, "%s: is not found, error %d", what_of(in, p), err);
    CHECK(err != ERR_WRONG || tries > 1 || strstr(fail_text(), "sample 4"), "%s: %s",
          what_of(in, p), fail_text());
    fault = NONE;
    CHECK(!sample(&x), "%s: right again, but %s", what_of(in, p), fail_text());
    CHECK(dev.used_bytes == used && !dev.poison, "%s: %lld bytes are left", what_of(in, p),
          (long long)(dev.used_bytes - used));
    if (in->p.op->result != RESULT_SPARSE)
        CHECK(dev.peak_bytes == peak, "%s: looking counts as memory of the run", what_of(in, p));
    task_teardown(&x.t);
}

// The most memory that any run takes at a time stays the peak, whatever is looked at between them
// and however little the last one takes.
static void check_peak(struct inputs *in)
{
    static const int64_t takes[] = {1 << 20, 1 << 22, 1 << 10};
    struct watched x;
    if (in->p.op->result != RESULT_SPARSE || !watched_make(in, CHECK_FULL, &x)) return;
    int64_t used = dev.used_bytes, most = 0;
    device_peak_reset(&dev);
    for (int i = 0; i < COUNT(takes); i++) {
        scratch_bytes = takes[i];
        CHECK(!sample(&x), "%s: %s", in->p.op->name, fail_text());
        most = max64(most, used + takes[i]);
        CHECK(dev.used_bytes == used && dev.peak_bytes == most, "%s: run %d, peak %lld, not %lld",
              in->p.op->name, i, (long long)dev.peak_bytes, (long long)most);
    }
    scratch_bytes = 0;
    task_teardown(&x.t);
}

// Sums that vary from run to run, within the tolerance, are right. A result with fewer bits is
// wrong, also behind many that varied.
static void check_varying(struct inputs *in, enum check_mode mode)
{
    struct watched x;
    if (!watched_make(in, mode, &x)) return;
    for (int i = 0; i < 2 * VERIFY_WHOLE; i++) {
        fault = i % 2 ? NONE : SMALL;
        CHECK(!sample(&x), "%s: %s", in->p.op->name, fail_text());
    }
    // Results are compared with the last one that was compared as a whole.
    CHECK(x.w.counts.varied == VERIFY_WHOLE + 1, "%s: %lld varied", in->p.op->name,
          (long long)x.w.counts.varied);
    fault = WRONG_SIGN;
    fault_place = 1;
    x.w.tally = (struct tally){0};
    int err = OK;
    for (int i = 0; i < 1000 && !err; i++) err = sample(&x);
    CHECK(err == ERR_WRONG, "%s: a wrong element is not found", in->p.op->name);
    task_teardown(&x.t);
}

// Samples 1, 2, 4, 8, ... and a random quarter of the others are looked at; of late ones, the
// quarter. Each case has another quarter.
static void test_due(void)
{
    struct verify w = {.samples = 0}, x = w;
    int due = 0, unlike = 0, late_due = 0;
    for (int64_t s = 0; s < 1024; s++) {
        bool now = verify_is_due(&w, s, false);
        CHECK(now || (s & (s + 1)), "sample %lld is not looked at", (long long)s + 1);
        late_due += verify_is_due(&w, 1, true);
        due += now, unlike += now != verify_is_due(&x, s, false);
    }
    CHECK(due > 200 && due < 320 && unlike > 200, "%d of 1024, %d not in another case", due,
          unlike);
    CHECK(late_due > 200 && late_due < 320, "%d of 1024 late ones", late_due);
}

// Whatever allocation fails while a result is looked at, it is told as such, and nothing is left.
static void check_starved(struct inputs *in)
{
    struct watched x;
    if (!watched_make(in, CHECK_FULL, &x)) return;
    int64_t used = dev.used_bytes;
    fault = SMALL;
    bool done = false;
    for (int n = 1; n < 200 && !done; n++) {
        CHECK(!verify_before(&x.w) && !task_run(&x.t), "%s", fail_text());
        x.w.counts.varied = 0;
        mem_fail_at(n);
        int err = verify_after(&x.w);
        mem_fail_at(0);
        CHECK(!err || err == ERR_UNCHECKED || err == ERR_MEMORY, "allocation %d: %d, %s", n, err,
              fail_text());
        CHECK(dev.used_bytes == used, "allocation %d: %lld bytes are left", n,
              (long long)(dev.used_bytes - used));
        done = !err;
    }
    CHECK(done, "it never came to an end");
    task_teardown(&x.t);
}

static void test_op(const struct op *op, const struct csr *A, enum prec prec)
{
    struct inputs in;
    int64_t axis[AXES_MAX] = {0};
    for (int a = 0; op->axes[a]; a++) axis[a] = op->axes[a]->standard;
    if (op->axes[0] && op->axes[0]->min == 1) axis[0] = 7;
    int err = inputs_make(&in, &dev, op, A, prec, axis, false, 0);
    CHECK(!err, "%s: %s", op->name, fail_text());
    if (err) return;
    if (!right_make(&in.p, 0)) {
        fault_row = A->m / 2;
        while (right.ptr[fault_row + 1] - right.ptr[fault_row] < 4) fault_row++;
        fault_place = 1;
        for (int i = 0; i < COUNT(planted); i++) {
            unsigned wanted = BIT(op->result), apart = planted[i].marks & APART;
            bool first = planted[i].fault == NO_OUTPUT_LATER || planted[i].fault == ADDS_UP ||
                         planted[i].fault == ONE_TOO_MANY;
            if (!(planted[i].kinds & wanted) || apart || first) continue;
            check_fault(&in, CHECK_FULL, &planted[i]);
        }
        check_varying(&in, CHECK_FULL);
        check_starved(&in);
        check_peak(&in);
    }
    right_free();
    inputs_free(&in);
}

int main(void)
{
    struct csr A;
    CHECK(!device_open("cpu", &dev), "%s", fail_text());
    test_due();
    struct matrix M;
    CHECK(!matrix_load("gen:uniform:400:6", 3, &M), "%s", fail_text());
    A = M.A;
    for (int i = 0; i < op_count; i++)
        for (int prec = F32; prec <= F64; prec++) test_op(ops[i], &A, (enum prec)prec);
    matrix_free(&M);
    device_close(&dev);
    return TEST_END();
}
