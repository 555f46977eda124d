#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cpus.h"
#include "bench/isolation.h"

static const char *const status_names[STATUS_COUNT] = {
    "ok", "wrong", "unsupported", "oom", "timeout", "crashed", "failed", "skipped", "unchecked"};

const char *status_name(enum status status) { return status_names[status]; }

bool status_is_good(enum status status)
{
    return status == STATUS_OK || status == STATUS_UNSUPPORTED || status == STATUS_SKIPPED;
}

int status_find(const char *name)
{
    for (int i = 0; i < STATUS_COUNT; i++)
        if (!strcmp(status_names[i], name)) return i;
    return -1;
}

struct bench_device *bench_device_find(const struct bench_devices *devices, const char *id)
{
    for (int i = 0; i < devices->count; i++)
        if (!strcmp(devices->list[i].id, id)) return &devices->list[i];
    return NULL;
}

enum status status_of(int err)
{
    switch (err) {
    case ERR_UNSUPPORTED: return STATUS_UNSUPPORTED;
    case ERR_UNCHECKED: return STATUS_UNCHECKED;
    case ERR_MEMORY: return STATUS_OOM;
    case ERR_WRONG: return STATUS_WRONG;
    default: return STATUS_FAILED;
    }
}

void result_fail(struct result *r, enum status status, const char *reason)
{
    r->status = status;
    snprintf(r->reason, sizeof r->reason, "%s", reason);
}

void result_text(const struct result *r, char *text, size_t size)
{
    const struct bench_case *c = &r->c;
    const struct op *op = c->entry->op;
    char value[32];
    int used = snprintf(text, size, "%s %s", c->entry->name, prec_name(c->prec));
    for (int a = 0; op->axes[a] && used < (int)size; a++)
        used += snprintf(text + used, size - (size_t)used, " %s=%s", op->axes[a]->name,
                         axis_text(op->axes[a], c->axis[a], value));
    if (used >= (int)size) return;
    if (r->status == STATUS_OK && r->timed)
        snprintf(text + used, size - (size_t)used, ": %.4g ms", r->timing.median);
    else
        snprintf(text + used, size - (size_t)used, ": %s%s%s", status_name(r->status),
                 r->reason[0] ? ": " : "", r->reason);
}

struct timed_median result_time(const struct result *r, enum timing_kind kind)
{
    return timing_of_kind(&r->timing, r->in_order == ORDER_BROKEN ? TIMING_SEPARATE : kind);
}

// Returns the picked algorithm, a text of the descriptor. NULL: none.
static const char *picked_by(const struct result *r)
{
    const struct algo *algo = r->c.entry->algo;
    const struct algo_stat *f = algo_stats_find(&r->stats, "picked");
    for (int i = 0; f && i < COUNT(algo->picks) && algo->picks[i]; i++)
        if (!strcmp(algo->picks[i], f->text)) return algo->picks[i];
    return NULL;
}

struct rank_case result_rank(const struct result *r, enum timing_kind kind)
{
    const struct algo *algo = r->c.entry->algo;
    struct rank_case x = {.alg = r->c.entry->name,
                          .picked = picked_by(r),
                          .vendor = algo->vendor,
                          .call = algo->call,
                          .reference = algo->reference,
                          .dense = algo->dense,
                          .own_values = case_has_own_values(&r->c),
                          .ms = NAN,
                          .ci_lo = NAN,
                          .ci_hi = NAN,
                          .min_ms = NAN,
                          .prep_ms = r->prepared ? setup_prep_ms(&r->setup) : NAN};
    if (r->status != STATUS_OK || !r->timed || !r->checked || algo->partial) return x;
    struct timed_median time = result_time(r, kind);
    x.samples = r->timing.count;
    x.ms = time.ms;
    x.ci_lo = time.ci_lo;
    x.ci_hi = time.ci_hi;
    if (kind == TIMING_SEPARATE) x.min_ms = r->timing.min;
    return x;
}

// `arg` is a struct verify, also if results are not verified.
static int release_result(void *arg)
{
    task_release_result(((struct verify *)arg)->task);
    return OK;
}

static int timed_run(void *arg)
{
    struct task *t = ((struct verify *)arg)->task;
    t->dev->running = true; // blocks of a timed run have no guards
    int err = t->algo->run(t);
    t->dev->running = false;
    return err;
}

// Looks at the process before the result: a handler of signals may make the result when the result
// is read.
static int verify_isolated(void *arg)
{
    int err = isolation_look(((struct verify *)arg)->task);
    return err ? err : verify_after(arg);
}

// Returns true if no measured ceiling bounds the rate of the arithmetic. Sparse tiles leave most of
// the f64 rate of tensor cores unused, so the measured rate bounds f32 and f64.
static bool is_unbounded(const struct bench_case *c)
{
    const struct algo *a = c->entry->algo;
    return a->tensor && (a->dense || prec_in(c->prec) != prec_sum(c->prec));
}

// Raises the roof to a rate that is a little above. Returns ERR_WRONG for a rate that no device
// reaches.
static int learn_roof(struct device *d, struct roof *roof, const struct result *r)
{
    double ms = fmin(r->timing.median, result_time(r, TIMING_BACK_TO_BACK).ms);
    double gflops = (double)r->flops / ms * 1e-6;
    if (!is_unbounded(&r->c) && !bound_learn(d, roof, r->c.prec, gflops))
        return fail(ERR_WRONG,
                    "%.4g GFLOPS exceed the peak of %s (%.4g): the timer did not measure the "
                    "product",
                    gflops, d->id, roof->fma_gflops[prec_sum(r->c.prec)]);
    if (!bound_learn_bytes(d, roof, r->compulsory_bytes, ms))
        return fail(ERR_WRONG,
                    "%.4g GB/s of operands exceed the fastest cache of %s (%.4g): the timer did "
                    "not measure the product",
                    (double)r->compulsory_bytes / ms * 1e-6, d->id, roof->near_gb_s);
    return OK;
}

// Sets rates, bounds and efficiencies from the time.
static void derive_rates(struct result *r, const struct problem *p, const struct roof *roof)
{
    struct op_gather gather;
    double ms = r->timing.median;
    double gb_s = (double)r->compulsory_bytes / ms * 1e-6;
    r->gflops = (double)r->flops / ms * 1e-6;
    // Without a ceiling of arithmetic only the bytes give a bound.
    const int64_t flops = is_unbounded(&r->c) ? 0 : r->flops;
    r->bound_ms = bound_roofline_ms(roof, r->c.prec, flops, r->compulsory_bytes);
    r->efficiency = r->bound_ms / ms;
    r->cache_resident = roof->memory_gb_s > 0 && gb_s > roof->memory_gb_s;
    if (r->gather_bytes < 0 || !p->op->gather(p, &gather)) return;
    r->gather_ms = bound_gather_ms(roof, &gather, r->bound_ms);
    r->gather_efficiency = r->gather_ms / ms;
}

// Runs once and waits between the phases.
static int run_phases(struct task *t, struct phases *phases, struct device_trace *trace)
{
    *phases = (struct phases){.current = -1};
    *trace = (struct device_trace){.start = clock_ms()};
    t->phases = phases;
    t->dev->trace = trace;
    int err = task_run(t);
    if (!err) err = task_phase(t, NULL);
    t->phases = NULL;
    t->dev->trace = NULL;
    task_release_result(t);
    if (!err && trace->lost) err = fail(ERR_UNCHECKED, "out of host memory for the timeline");
    return err;
}

// Sets phases and memory from the fastest of PHASE_RUNS such runs, or of one that is long.
#define PHASE_RUNS    3
#define PHASE_MOST_MS 3000.0
static int measure_phases(struct task *t, double limit_ms, struct result *r)
{
    double best = INFINITY;
    double most_ms = limit_ms > 0 ? fmin(limit_ms, PHASE_MOST_MS) : PHASE_MOST_MS;
    bool is_long = PHASE_RUNS * r->timing.median > most_ms;
    int err = OK, runs = is_long ? 1 : PHASE_RUNS;
    for (int i = 0; i < runs && !err; i++) {
        struct phases phases;
        struct device_trace trace;
        err = run_phases(t, &phases, &trace);
        double total = 0;
        for (int p = 0; p < phases.count; p++) total += phases.list[p].ms;
        if (!err && total < best) {
            best = total;
            r->phases = phases;
            device_trace_free(&r->trace);
            r->trace = trace;
        } else {
            device_trace_free(&trace);
        }
    }
    return err;
}

// Times a case with a right result, and verifies results of timed runs.
static int time_task(const struct plan *plan, struct verify *verify, struct result *r)
{
    struct task *t = verify->task;
    struct timing_rule rule = plan->rule;
    struct cpus mine;
    struct timed_work work = {.run = timed_run, .arg = verify};
    rule.cold = r->c.cold;
    rule.stream = r->c.stream;
    if (r->checked)
        work.before = verify_before, work.after = verify_isolated, work.is_due = verify_is_due,
        work.touch = verify_touch;
    if (r->checked && verify->ref->p->op->keyed)
        work.change = verify_change, work.lose = verify_lose;
    if (verify->ref->p->op->result == RESULT_SPARSE)
        work.release = r->checked ? verify_release : release_result;
    int err = timing_measure(t->dev, &work, &rule, &r->timing);
    cpus_mine(&mine);
    if (!err) err = isolation_processors(t->dev, &r->timing, mine.count);
    r->verified = verify->counts;
    return err;
}

int bench_keep_quiet(const struct plan *plan, bool on)
{
    return plan->quiet ? plan->quiet(plan->hook_arg, on) : OK;
}

// Checks the result, and tests whether a run waits for the work before it.
static int check_ready(struct verify *v, struct result *r)
{
    double begin_ms = clock_ms();
    int err = check_task(v->task, v->ref, v->mode, v->change, &r->check);
    if (!err) err = isolation_look(v->task);
    r->checked = !err && v->mode != CHECK_OFF;
    *v = verify_start(v->task, v->ref, v->mode, &r->check, v->change);
    if (r->checked && r->check.ok) err = in_order_look(v, !r->c.stream, &r->in_order);
    r->check_ms = clock_ms() - begin_ms;
    return err;
}

// Adds the first run's extra time to the analysis: an algorithm may prepare there. Loading kernels
// takes less.
#define FIRST_TIMES    3
#define FIRST_SLACK_MS 20
static void count_first_run(struct result *r)
{
    const double more = r->check.first_more_ms;
    if (more > FIRST_TIMES * r->timing.median + FIRST_SLACK_MS) r->setup.analyse_ms += more;
}

// Checks, then times a case that is ready. A wrong result is not timed.
static int measure_ready(const struct plan *plan, struct verify *verify, struct result *r)
{
    struct task *t = verify->task;
    const struct problem *p = verify->ref->p;
    bool sparse = p->op->result == RESULT_SPARSE;
    int64_t prepare_peak = t->dev->peak_bytes;
    int err = bench_keep_quiet(plan, false);
    if (!err) err = check_ready(verify, r);
    if (err) return err;
    if (!r->check.ok) {
        result_fail(r, r->check.blind ? STATUS_UNCHECKED : STATUS_WRONG, r->check.reason);
        return OK;
    }
    if (sparse) // else it is known
        r->compulsory_bytes = p->op->compulsory_bytes(p, t->algo->variant, r->check.result_nnz);
    // The check may have needed more memory than the product.
    device_peak_reset(t->dev);
    err = bench_keep_quiet(plan, true);
    double begin_ms = clock_ms();
    if (!err) err = time_task(plan, verify, r);
    if (!err && sparse) err = measure_phases(t, plan->rule.limit_ms, r);
    r->timing_ms = clock_ms() - begin_ms;
    r->peak_bytes = max64(prepare_peak, t->dev->peak_bytes);
    r->timed = !err;
    if (r->timed) count_first_run(r);
    return err;
}

// Runs once between a profiler's marks, after a run that brings the caches into their usual state.
static int profile_task(struct task *t, bool cold)
{
    struct device *d = t->dev;
    if (!d->ops->profile) return fail(ERR_UNSUPPORTED, "-profile: not supported on %s", d->id);
    int err = task_run(t);
    task_release_result(t);
    if (!err && cold) err = d->ops->flush_cache(d);
    if (!err) err = d->ops->profile(d, true);
    if (err) return err;
    err = task_run(t);
    int own = d->ops->profile(d, false);
    task_release_result(t);
    return err ? err : own;
}

// Subtracts bytes of other cases on the device from the memory of this case.
static void leave_out(struct result *r, int64_t bytes)
{
    r->peak_bytes -= bytes;
    for (int64_t i = 0; i < r->trace.count; i++) r->trace.moments[i].bytes -= bytes;
}

// Checks the inputs. A case that changed its inputs is wrong; they are made again for the next
// case.
static int verify_inputs(struct operands *o, int err, struct result *r)
{
    char what[64];
    if (err == ERR_DEVICE || err == ERR_INTERRUPTED) // inputs cannot be read
        return operands_free_lost(o), err;
    int own = operands_verify(o, what);
    if (!own && what[0]) {
        fail_drop(); // changed inputs explain an earlier error
        err = fail(ERR_WRONG, "it changed its inputs: %s", what);
    }
    if (!err) err = own;
    if (err) r->timed = false;
    return err;
}

// Gives the operands their own values for the next case, also after a failed run. A dead device
// keeps its operands: its process ends. Returns `err`, or the own error.
static int restore_operands(struct change *change, int err)
{
    int own = err == ERR_DEVICE ? device_sync(change->t->dev) : OK;
    if (!own) own = change_end(change);
    return err ? err : own;
}

// Prepares, checks and times a case, and frees all but the operands.
static int measure_task(const struct plan *plan, struct reference *ref, struct bench_device *bd,
                        struct operands *o, struct result *r)
{
    struct task t = {.entry = r->c.entry, .algo = r->c.entry->algo};
    memcpy(t.opt, r->c.opt, sizeof t.opt);
    int err = bench_keep_quiet(plan, true);
    if (!err) err = task_prepare(&t, o, &r->setup);
    if (err) return err;
    r->prepared = true;
    r->peak_bytes = bd->dev->peak_bytes;
    struct change change = change_start(&t, o);
    struct verify verify = {.task = &t, .ref = ref, .mode = plan->check, .change = &change};
    err = plan->profile ? profile_task(&t, r->c.cold) : measure_ready(plan, &verify, r);
    if (!err && !plan->profile) err = isolation_look(&t);
    err = restore_operands(&change, err);
    leave_out(r, operands_other_bytes(o));
    r->stats = t.stats;
    task_release_result(&t);
    task_teardown(&t);
    return verify_inputs(o, err, r);
}

static int measure(const struct plan *plan, struct reference *ref, struct bench_device *bd,
                   struct operands *o, struct result *r)
{
    isolation_begin();
    int err = measure_task(plan, ref, bd, o, r);
    // A changed state explains a wrong result, but not the error of a device. A profiler has
    // handlers and threads of its own.
    bool explains =
        !plan->profile && err != ERR_DEVICE && err != ERR_INTERRUPTED && err != ERR_STATE;
    if (explains) fail_drop(); // the text stays unless isolation_end() has another one
    int left = isolation_end(bd->dev, r->c.entry);
    if (left && explains)
        err = left;
    else if (left && !err)
        fail_drop();
    if (err) r->timed = false;
    if (err || !r->timed) return err;
    // Only a case with unchanged inputs can raise the roof.
    err = learn_roof(bd->dev, &bd->roof, r);
    if (err)
        r->timed = false;
    else
        derive_rates(r, o->p, &bd->roof);
    return err;
}

void result_clear(struct result *r)
{
    timing_free(&r->timing);
    device_trace_free(&r->trace);
}

struct result result_start(const struct bench_case *c, const struct matrix *matrix)
{
    struct result r = {
        .c = *c, .matrix = matrix, .flops = -1, .compulsory_bytes = -1, .gather_bytes = -1};
    r.input_error = NAN;
    for (int i = 0; i < OP_NUMBERS_MAX; i++) r.numbers[i] = NAN;
    return r;
}

static int attempt(const struct plan *plan, struct reference *ref, struct bench_device *bd,
                   struct operands *o, struct result *r)
{
    const struct problem *p = o->p;
    struct op_gather gather;
    r->flops = problem_flops(p);
    r->input_error = source_rounding(p->source, prec_in(p->prec));
    if (p->op->gather && p->op->gather(p, &gather))
        r->gather_bytes = gather.rows * gather.row_bytes;
    if (p->op->result != RESULT_SPARSE)
        r->compulsory_bytes = p->op->compulsory_bytes(p, r->c.entry->algo->variant, 0);
    return measure(plan, ref, bd, o, r);
}

int bench_run_case(const struct plan *plan, struct reference *ref, struct bench_device *bd,
                   struct operands *o, struct result *r)
{
    const struct problem *p = o->p;
    const int64_t held = bd->dev->used_bytes;
    int err = attempt(plan, ref, bd, o, r);
    // A failed change of the operands has freed those of other cases.
    if ((err == ERR_MEMORY || err == ERR_UNCHECKED) &&
        (operands_drop_others(o) || bd->dev->used_bytes < held)) {
        fail_drop();
        result_clear(r);
        *r = result_start(&r->c, r->matrix);
        err = attempt(plan, ref, bd, o, r);
    }
    if (err == ERR_INTERRUPTED) return err;
    if (err) result_fail(r, status_of(err), fail_text());
    bool right = r->status == STATUS_OK; // the size of a wrong result means nothing
    if (p->op->tell) p->op->tell(p, right ? r->check.result_nnz : -1, r->numbers);
    return OK;
}
