#include "measure/timing.h"

#include <math.h>
#include <string.h>

#include "base/secret.h"
#include "measure/batch.h"

#define WARMUP_RUNS      3
#define WARMUP_MS        50.0
#define WARMUP_MOST_MS   1000.0 // no run more that would go beyond that,
#define WARMUP_SHARE     0.25   // or beyond this part of the time that there is at most
#define REFRESH_BELOW_MS 50.0   // longer runs find in the cache what they left there themselves
#define BATCH_BELOW_MS   0.2    // shorter runs are timed several at a time,
#define BATCH_TARGET_MS  1.0    // until one sample takes so long that its launch does not matter
#define BATCH_MIN        7
#define BATCH_MAX        997
#define SEPARATOR_TRIES  9
#define TICK_MS          0.0005 // least duration of a sample: resolution of the device's clock
#define WANTED_PRECISION 0.005  // half-width of the confidence interval over the median
#define NOISE_SHRINKS    0.9 // twice the samples shrink the half-width to 0.71 if noise is random
#define SAMPLES_MAX      100000
#define SECRET_ROUNDS    7    // a trial with other inputs is ahead of one of these rounds
#define CHANGE_SHARE     0.05 // most time of changing the inputs, of a round with a verified result
#define FRESH_TRIES      3    // tries, fewer if they take longer than FRESH_MS
#define FRESH_MS         30
#define FRESH_TRIES_MOST 10    // most tries while keeps_result(): noise comes in bursts
#define FRESH_GRAPH      31    // most runs of a try in a graph: capturing a graph takes time
#define FRESH_SHARE      1.0   // part of a run by which a run with other inputs may be slower,
#define FRESH_SLACK_MS   0.002 // plus this: noise of a short run
#define LATE_SHARE       0.2   // part of a batch by which work may end later than the batch,
#define LATE_SLACK_MS    0.05  // plus this: the host waits for the device

void timing_free(struct timing *t)
{
    mem_free(t->samples);
    mem_free(t->back_samples);
    *t = (struct timing){0};
}

// State of a measurement.
struct session {
    struct device *dev;
    const struct timed_work *work;
    const struct timing_rule *rule;
    struct timing *out;
    double start_ms;
    double shortest_ms; // shortest run of the warm-up
    double round_ms;    // duration of the last round with a verified result, hooks included
    bool stale;         // a result was read since the last run
    double last_width;  // width of the confidence interval at the last test
    int room;           // allocated samples
    int fresh_round, anew_round; // secret rounds of the trials; -1: done
    double change_ms;            // duration of the last change of the inputs
    int64_t batches, late;       // timed batches, and those with work that ends too late
    // Runs apart, runs back to back, separators alone; the last two only if apart.separated.
    struct batch apart, back_to_back, separators;
};

static double elapsed(const struct session *s) { return clock_ms() - s->start_ms; }

// Sets *ms to the time between the events before and after the batch. Counts a batch as late if
// work on other streams ends long after the second event.
static int time_batch(struct session *s, const struct batch *c, double *ms)
{
    const bool host = device_is_host(s->dev);
    const double begin = clock_ms(), begin_cpu = host ? clock_process_ms() : 0;
    int err = s->dev->ops->timer_start(s->dev);
    if (!err) err = batch_start(c);
    if (!err) err = s->dev->ops->timer_stop(s->dev, ms);
    if (!err && host) {
        s->out->runs_cpu_ms += clock_process_ms() - begin_cpu;
        s->out->runs_ms += clock_ms() - begin; // OpenMP's threads spin while a clock is read
    }
    if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
    if (err || !s->work->after) return err;
    const double end = clock_ms();
    err = s->dev->ops->sync_all(s->dev);
    const double late_ms = clock_ms() - end;
    s->batches++;
    s->late += late_ms > LATE_SHARE * *ms + LATE_SLACK_MS;
    return err;
}

// Runs once, outside the samples.
static int run_once(struct session *s, double *ms)
{
    const struct timed_work *w = s->work;
    const struct batch one = {.dev = s->dev, .work = w, .count = 1};
    int err = time_batch(s, &one, ms);
    return err || !w->release ? err : w->release(w->arg);
}

// Returns true if the warm-up is over.
static bool is_warm(const struct session *s)
{
    const struct timing_rule *rule = s->rule;
    double now = elapsed(s), most = WARMUP_MOST_MS;
    int runs = s->out->warmup;
    if (!runs) return false; // the time of a run must be known
    if (rule->warmup && rule->most_ms > 0 && now + s->shortest_ms > rule->most_ms) return true;
    if (rule->warmup) return runs >= rule->warmup;
    if (rule->most_ms > 0) most = fmin(most, WARMUP_SHARE * rule->most_ms);
    return (runs >= WARMUP_RUNS && now >= WARMUP_MS) || now + s->shortest_ms > most;
}

static int warm_up(struct session *s)
{
    s->shortest_ms = INFINITY;
    while (!is_warm(s)) {
        double ms;
        int err = run_once(s, &ms);
        if (err) return err;
        s->shortest_ms = fmin(s->shortest_ms, ms);
        s->out->warmup++;
    }
    return OK;
}

// Returns a prime number of runs: a fault in every n-th run then meets the end of some batch, where
// the result is verified.
static int batch_size(double run_ms)
{
    int size = (int)fmin(ceil(BATCH_TARGET_MS / fmax(run_ms, 1e-6)), BATCH_MAX);
    for (size = size < BATCH_MIN ? BATCH_MIN : size;; size++) {
        int divisor = 2;
        while (divisor * divisor <= size && size % divisor) divisor++;
        if (divisor * divisor > size) return size;
    }
}

static void free_graphs(struct session *s)
{
    batch_free_graph(&s->apart);
    batch_free_graph(&s->back_to_back);
    batch_free_graph(&s->separators);
}

// Makes a graph of each batch, or of none: times of a graph and of a stream do not compare.
static bool make_graphs(struct session *s)
{
    int err = batch_make_graph(&s->apart);
    if (!err && s->apart.separated) err = batch_make_graph(&s->back_to_back);
    if (!err && s->apart.separated) err = batch_make_graph(&s->separators);
    if (!err) return true;
    fail_drop();
    free_graphs(s);
    return false;
}

// Sets separator_ms, the time of a separator. Runs each batch once before its first sample.
static int measure_separator(struct session *s)
{
    double ms[SEPARATOR_TRIES], unused;
    int err = time_batch(s, &s->apart, &unused);
    if (!err) err = time_batch(s, &s->back_to_back, &unused);
    if (!err) err = time_batch(s, &s->separators, &unused);
    for (int i = 0; i < SEPARATOR_TRIES && !err; i++) err = time_batch(s, &s->separators, &ms[i]);
    if (!err) s->out->separator_ms = timing_median(ms, SEPARATOR_TRIES) / s->out->batch;
    return err;
}

static int make_batches(struct session *s)
{
    const struct device_ops *ops = s->dev->ops;
    struct timing *out = s->out;
    // Hooks between runs exclude batches. H200: a launch takes the host 3 us, in a graph 1 us.
    bool batched = s->shortest_ms < BATCH_BELOW_MS && !s->rule->cold && !s->work->release;
    out->batch = batched ? batch_size(s->shortest_ms) : 1;
    s->apart = (struct batch){.dev = s->dev, .work = s->work, .count = out->batch};
    s->back_to_back = s->apart;
    s->apart.separated = batched && ops->separate;
    s->separators = (struct batch){.dev = s->dev, .count = out->batch};
    out->launch = device_is_host(s->dev) ? "call" : "stream";
    if (batched && ops->graph_make && !s->rule->stream && make_graphs(s))
        out->launch = "graph";
    else // a separator's launch (H200: 4.1 us) would be taken off, not its run (0.5 us)
        s->apart.separated = false;
    return s->apart.separated ? measure_separator(s) : OK;
}

static bool has_hooks(const struct session *s) { return s->work->before || s->work->after; }

static bool is_due(const struct session *s)
{
    const struct timed_work *w = s->work;
    return !w->is_due || w->is_due(w->arg, s->out->count);
}

// Changes the inputs, or writes the same values.
static int change(struct session *s, bool really)
{
    const double start = clock_ms();
    int err = s->work->change ? s->work->change(s->work->arg, really) : OK;
    s->change_ms = clock_ms() - start;
    return err;
}

// Returns true if the caches have to be brought into the state that runs leave.
static bool leaves_traces(const struct session *s)
{
    return !s->rule->cold && s->shortest_ms < REFRESH_BELOW_MS;
}

// Changes the inputs after a result was read, and runs once, untimed: the cache is then as runs
// leave it.
static int refresh(struct session *s)
{
    double unused;
    if (!s->stale) return OK;
    s->stale = false;
    int err = s->change_ms <= CHANGE_SHARE * s->round_ms ? change(s, true) : OK;
    return err || !leaves_traces(s) ? err : run_once(s, &unused);
}

static int look(struct session *s, bool anew)
{
    const struct timed_work *w = s->work;
    if (!w->after) return w->release ? w->release(w->arg) : OK;
    s->stale = true;
    return w->after(w->arg, anew);
}

// Verifies the result of a single run. A batch shows only its last result, behind which runs that
// do nothing could hide.
static int look_at_one(struct session *s)
{
    const struct timed_work *w = s->work;
    double unused;
    int err = refresh(s);
    if (!err && w->before) err = w->before(w->arg, false);
    if (!err) err = run_once(s, &unused);
    return err ? err : look(s, false);
}

// Takes a sample and sets *ms to the time of a run. The old result is changed first in each sample,
// so that a run cannot tell whether its result will be verified.
static int take_sample(struct session *s, const struct batch *c, bool due, bool anew, double *ms)
{
    const struct timed_work *w = s->work;
    int err = due && c->count > 1 && has_hooks(s) ? look_at_one(s) : OK;
    if (!err) err = refresh(s);
    if (!err && w->before) err = w->before(w->arg, anew);
    if (!err && s->rule->cold) err = s->dev->ops->flush_cache(s->dev);
    if (!err) err = time_batch(s, c, ms);
    if (!err && due) err = look(s, anew);
    if (!err && !due && w->release) err = w->release(w->arg);
    if (err) return err;
    if (c->separated) *ms = fmax(*ms - c->count * s->out->separator_ms, TICK_MS);
    *ms /= c->count;
    return OK;
}

static int grow_one(double **samples, int room, int more)
{
    double *p = mem_resize(*samples, room, more, sizeof *p);
    if (!p) return ERR_MEMORY;
    *samples = p;
    return OK;
}

static int grow(struct session *s)
{
    int more = s->room ? 2 * s->room : 64;
    int err = grow_one(&s->out->samples, s->room, more);
    if (!err && s->apart.separated) err = grow_one(&s->out->back_samples, s->room, more);
    if (!err) s->room = more;
    return err;
}

// Times a batch whose inputs are changed, or touched, ahead of each run, and verifies the last
// result. Sets *run_ms to the time of a run. In a batch this time includes the change.
static int time_change(struct session *s, enum batch_inputs inputs, double *run_ms)
{
    const struct timed_work *w = s->work;
    struct batch b = {.dev = s->dev, .work = w, .count = s->out->batch};
    double ms;
    if (s->apart.graph && b.count > FRESH_GRAPH) b.count = FRESH_GRAPH;
    int err = refresh(s);
    if (!err && w->before) err = w->before(w->arg, false);
    if (b.count > 1)
        b.inputs = inputs;
    else if (!err)
        err = change(s, inputs == INPUTS_CHANGE);
    if (!err && s->rule->cold) err = s->dev->ops->flush_cache(s->dev);
    if (!err && s->apart.graph) {
        err = batch_make_graph(&b);
        if (err && b.inputs == INPUTS_CHANGE && w->lose) w->lose(w->arg);
        // The graphs of other batches are possible: the algorithm supports the case.
        if (err == ERR_UNSUPPORTED) err = ERR_DEVICE;
    }
    if (!err) err = time_batch(s, &b, &ms);
    batch_free_graph(&b);
    if (!err) err = look(s, false);
    if (!err) *run_ms = ms / b.count;
    return err;
}

// Returns true if a run with kept inputs takes less time than a run with other inputs, by more than
// FRESH_SHARE and noise explain. `ms`: time of a run as measured.
static bool keeps_result(const struct timing *t, double ms)
{
    const double kept = isnan(t->kept_ms) ? ms : t->kept_ms;
    if (isnan(t->fresh_ms)) return false;
    return t->fresh_ms - kept > FRESH_SHARE * ms + FRESH_SLACK_MS;
}

// Measures fresh_ms and kept_ms: runs after a change of the inputs, and after writes to the same
// memory, which have the same effect on caches. `ms`: time of a run as measured so far.
static int try_fresh(struct session *s, double ms)
{
    struct timing *t = s->out;
    const double start = clock_ms();
    double fresh = INFINITY, changed = NAN, kept[FRESH_TRIES_MOST], sorted[FRESH_TRIES_MOST];
    int err = OK;
    s->fresh_round = -1;
    for (int i = 0; i < FRESH_TRIES_MOST && !err; i++) {
        kept[i] = NAN;
        if (leaves_traces(s)) err = time_change(s, INPUTS_TOUCHED, &kept[i]);
        if (!err) err = time_change(s, INPUTS_CHANGE, &changed);
        if (err) break;
        fresh = fmin(fresh, changed);
        memcpy(sorted, kept, sizeof sorted); // timing_median() sorts
        t->fresh_ms = fresh;
        t->kept_ms = timing_median(sorted, i + 1);
        const bool enough = i + 1 >= FRESH_TRIES || clock_ms() - start > FRESH_MS;
        if (enough && !keeps_result(t, ms)) break;
    }
    return err;
}

// Takes one more sample, which is not counted, with inputs that are drawn anew.
static int try_anew(struct session *s)
{
    bool back = s->apart.separated && secret_one_in(2);
    double unused;
    s->anew_round = -1;
    return take_sample(s, back ? &s->back_to_back : &s->apart, true, true, &unused);
}

// Takes a sample of separate runs and, if runs can overlap, one of runs back to back, under the
// same conditions.
static int take_round(struct session *s)
{
    int i = s->out->count;
    int err = i == s->room ? grow(s) : OK;
    if (!err && i == s->fresh_round) err = try_fresh(s, s->out->samples[i - 1]);
    if (!err && i == s->anew_round) err = try_anew(s);
    double start = clock_ms();
    bool due = is_due(s);
    if (!err) err = take_sample(s, &s->apart, due, false, &s->out->samples[i]);
    if (!err && s->apart.separated)
        err = take_sample(s, &s->back_to_back, due, false, &s->out->back_samples[i]);
    if (due) s->round_ms = clock_ms() - start;
    if (!err) s->out->count++;
    return err;
}

static double half_width(const struct timing *t) { return (t->ci_hi - t->ci_lo) / 2 / t->median; }

// Returns true if no time is left for another round and for the sample that is drawn anew.
static bool is_time_up(const struct session *s)
{
    const struct timing_rule *rule = s->rule;
    double now = elapsed(s), next = now + s->round_ms * (has_hooks(s) ? 2 : 1);
    if (rule->most_ms > 0 && next > rule->most_ms) return true;
    if (rule->reps) return false;
    return s->out->count >= SAMPLES_MAX ||
           (s->out->count >= TIMING_MIN_SAMPLES && now >= rule->limit_ms);
}

// Sets *stop to the rule that ends the samples; NULL: none does. The confidence interval is tested
// each time the count has doubled: 10, 20, 40, ...
static int stop_rule(struct session *s, const char **stop)
{
    struct timing *t = s->out;
    int rounds = t->count / TIMING_MIN_SAMPLES;
    *stop = NULL;
    if (s->rule->reps) {
        if (t->count >= s->rule->reps) *stop = "reps";
    } else if (t->count % TIMING_MIN_SAMPLES == 0 && (rounds & (rounds - 1)) == 0) {
        int err = timing_summarise(t);
        if (err) return err;
        double width = half_width(t);
        if (width <= WANTED_PRECISION)
            *stop = "precision";
        else if (width > NOISE_SHRINKS * s->last_width)
            *stop = "noise";
        s->last_width = width;
    }
    if (!*stop && is_time_up(s)) *stop = "time";
    return OK;
}

static int take_samples(struct session *s)
{
    struct timing *out = s->out;
    int err = OK;
    while (!out->stop && !err) {
        err = take_round(s);
        if (!err) err = stop_rule(s, &out->stop);
    }
    if (!err && s->anew_round >= 0) err = try_anew(s);
    if (!err) err = timing_summarise(out);
    // Tries if no try took place, and again if the median of all samples tells of a kept result.
    bool pending = s->fresh_round >= 0 && !is_time_up(s);
    if (!err && (pending || keeps_result(out, out->median))) err = try_fresh(s, out->median);
    return err;
}

// Returns ERR_WRONG if the times cannot be those of the work.
static int judge(const struct session *s)
{
    const struct timing *t = s->out;
    if (2 * s->late > s->batches)
        return fail(ERR_WRONG, "its work goes on after the run, outside the stream of the run");
    if (keeps_result(t, t->median))
        return fail(ERR_WRONG,
                    "it keeps results: with other inputs a run takes %.3g ms more than the %.3g ms "
                    "with the same inputs",
                    t->fresh_ms - (isnan(t->kept_ms) ? t->median : t->kept_ms), t->median);
    return OK;
}

static int measure(struct session *s)
{
    struct timing *out = s->out;
    struct device *dev = s->dev;
    struct machine_clock from = machine_now(), to;
    int max_mhz;
    int err = warm_up(s);
    if (!err) err = make_batches(s);
    if (err) return err;
    out->throttled = dev->ops->throttled(dev);
    dev->ops->clock_mhz(dev, &out->clock_mhz[0], &max_mhz);
    err = take_samples(s);
    if (err) return err;
    to = machine_now();
    dev->ops->clock_mhz(dev, &out->clock_mhz[1], &max_mhz);
    out->throttled |= dev->ops->throttled(dev);
    out->machine = machine_between(&from, &to);
    out->busy = machine_busy(&from, &to, dev, s->apart.graph);
    return judge(s);
}

int timing_measure(struct device *dev, const struct timed_work *work,
                   const struct timing_rule *rule, struct timing *out)
{
    struct session s = {.dev = dev,
                        .work = work,
                        .rule = rule,
                        .out = out,
                        .start_ms = clock_ms(),
                        .last_width = INFINITY,
                        .fresh_round = -1,
                        .anew_round = -1};
    *out = (struct timing){
        .batch = 1, .separator_ms = NAN, .back_to_back = NAN, .back_ci_lo = NAN, .back_ci_hi = NAN};
    out->fresh_ms = out->kept_ms = NAN;
    if (work->change) s.fresh_round = 1 + (int)(secret() % SECRET_ROUNDS);
    if (has_hooks(&s)) s.anew_round = (int)(secret() % SECRET_ROUNDS);
    int err = measure(&s);
    free_graphs(&s);
    if (err) timing_free(out);
    return err;
}
