#include "measure/timing.h"

#include <math.h>
#include <time.h>

#include "base/process_tree.h"
#include "base/secret.h"
#include "base/stamp.h"
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
#define PASS_MS          1000.0 // time of the runs of TIMING_INTERVAL_SAMPLES after the limit
#define AGREE            1.25   // largest median of fewer samples, over the shortest run
#define WANTED_PRECISION 0.005  // half-width of the confidence interval over the median
#define NOISE_SHRINKS    0.9 // twice the samples shrink the half-width to 0.71 if noise is random
#define SAMPLES_MAX      100000
#define TRIAL_ROUNDS     8     // rounds with at most one trial of each kind
#define TRIAL_SHARE      0.25  // part of the time that further trials may take
#define TRIALS_LEAST     3     // trials of each kind, if time is left
#define TRIAL_GRAPH      31    // most runs of a trial in a graph: capturing a graph takes time
#define TRIALS_MORE      20    // further trials while keeps_result(): noise comes in bursts
#define TRIALS_MOST      40    // the same unless is_certain()
#define TRIALS_MORE_MS   1000.0 // time of further trials after the limit
#define TRIAL_PAUSE_MS   0.5    // pause ahead of the first further trial
#define TRIAL_PAUSE_GROW 1.4    // factor of the next pause
#define TRIAL_PAUSE_MOST 100.0  // longest pause: 3 s in all
#define KEEPS_SHARE      0.5   // part of a run by which a run with other inputs may be slower,
#define KEEPS_ALONE      1.0   // the same without trials that write the same values,
#define KEEPS_SLACK_MS   0.002 // plus this: noise of a short run,
#define QUIET_NOISE      0.1   // plus the noise of samples, at most this part unless busy
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
    bool unseen;        // the result of the last run is there, not looked at
    bool announces;     // the next batch is announced to the parent, which has a clock of its own
    double last_width;  // width of the confidence interval at the last test
    int room;           // allocated samples
    int64_t batches, late; // timed batches, and those with work that ends too late
    int trial_round[2];    // of TRIAL_ROUNDS, secret: of trials without and with other inputs
    int trials[2];         // taken
    double trials_ms;      // duration of all trials
    double later[TRIALS_MOST]; // times of further trials with the same inputs, size later_count
    int later_count;
    // Runs apart, runs back to back, separators alone; the last two only if apart.separated.
    struct batch apart, back_to_back, separators;
};

static double elapsed(const struct session *s) { return clock_ms() - s->start_ms; }

// Sends the time of a batch, or -1 ahead of the batch.
static int announce(const struct session *s, double ms)
{
    return s->announces ? stamp_send(ms) : OK;
}

// Sets *ms to the time between the events before and after the batch. Counts a batch as late if
// work on other streams ends long after the second event.
static int time_batch(struct session *s, const struct batch *c, double *ms)
{
    const bool host = device_is_host(s->dev);
    const double begin = clock_ms(), begin_cpu = host ? clock_process_ms() : 0;
    // A system call above lets waiting processes run before the announcement.
    int err = announce(s, -1);
    s->unseen = true;
    if (!err) err = s->dev->ops->timer_start(s->dev);
    if (!err) err = batch_start(c);
    if (!err) err = s->dev->ops->timer_stop(s->dev, ms);
    if (!err) err = announce(s, *ms);
    if (!err && host) {
        s->out->runs_cpu_ms += clock_process_ms() - begin_cpu;
        s->out->runs_ms += clock_ms() - begin; // OpenMP's threads spin while a clock is read
    }
    if (!err && interrupted) err = fail(ERR_INTERRUPTED, "interrupted");
    if (err || !s->work->after) return err;
    const double end = clock_ms();
    err = s->dev->ops->sync_all(s->dev);
    if (s->work->touch) s->work->touch(s->work->arg);
    const double late_ms = clock_ms() - end;
    s->batches++;
    s->late += late_ms > LATE_SHARE * *ms + LATE_SLACK_MS;
    return err;
}

// Releases the result of the last run, unless it was looked at.
static int release(struct session *s)
{
    const struct timed_work *w = s->work;
    const bool there = s->unseen;
    s->unseen = false;
    return there && w->release ? w->release(w->arg) : OK;
}

// Runs once, outside the samples.
static int run_once(struct session *s, double *ms)
{
    const struct batch one = {.dev = s->dev, .work = s->work, .count = 1};
    int err = time_batch(s, &one, ms);
    return err ? err : release(s);
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
// the result is verified. A short limit is shared by the samples that an interval needs.
static int batch_size(double run_ms, double most_ms)
{
    const double share = most_ms > 0 ? most_ms / TIMING_INTERVAL_SAMPLES : INFINITY;
    const double target = fmin(BATCH_TARGET_MS, share);
    int size = (int)fmin(ceil(target / fmax(run_ms, 1e-6)), BATCH_MAX);
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
    out->batch = batched ? batch_size(s->shortest_ms, s->rule->most_ms) : 1;
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
    const bool late = s->rule->most_ms > 0 && elapsed(s) > s->rule->most_ms;
    return !w->is_due || w->is_due(w->arg, s->out->count, late);
}

// Returns true if the caches have to be brought into the state that runs leave.
static bool leaves_traces(const struct session *s)
{
    return !s->rule->cold && s->shortest_ms < REFRESH_BELOW_MS;
}

// Releases the last result. Runs once, untimed, after a result was read: the cache is then as runs
// leave it.
static int refresh(struct session *s)
{
    double unused;
    int err = release(s);
    if (err || !s->stale) return err;
    s->stale = false;
    return leaves_traces(s) ? run_once(s, &unused) : OK;
}

static int look(struct session *s)
{
    const struct timed_work *w = s->work;
    if (!w->after) return release(s);
    s->unseen = false;
    s->stale = true;
    return w->after(w->arg);
}

// Verifies the result of a single run. A batch shows only its last result, behind which runs that
// do nothing could hide.
static int look_at_one(struct session *s)
{
    const struct timed_work *w = s->work;
    double unused;
    int err = refresh(s);
    if (!err && w->before) err = w->before(w->arg);
    if (!err) err = run_once(s, &unused);
    return err ? err : look(s);
}

// Takes a sample and sets *ms to the time of a run. The old result is changed first in each sample,
// so that a run cannot tell whether its result will be verified.
static int take_sample(struct session *s, const struct batch *c, bool due, double *ms)
{
    const struct timed_work *w = s->work;
    int err = due && c->count > 1 && has_hooks(s) ? look_at_one(s) : OK;
    if (!err) err = refresh(s);
    if (!err && w->before) err = w->before(w->arg);
    if (!err && s->rule->cold) err = s->dev->ops->flush_cache(s->dev);
    s->announces = device_is_host(s->dev);
    if (!err) err = time_batch(s, c, ms);
    s->announces = false;
    if (!err && due) err = look(s);
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

// Times the runs of a trial, whose inputs are written ahead of each run.
static int time_trial(struct session *s, struct batch *b, double *ms)
{
    const struct timed_work *w = s->work;
    int err = OK;
    if (b->count == 1) {
        err = w->change(w->arg, b->inputs == INPUTS_CHANGE);
        b->inputs = INPUTS_STAY;
        if (!err) err = device_sync(s->dev); // the change ends before the timing starts
        if (!err && s->rule->cold) err = s->dev->ops->flush_cache(s->dev);
    } else if (s->apart.graph) {
        err = batch_make_graph(b);
        // The graphs of other batches are possible: the algorithm supports the case.
        if (err == ERR_UNSUPPORTED) err = ERR_DEVICE;
    }
    if (!err) err = time_batch(s, b, ms);
    if (err && s->apart.graph && w->lose) w->lose(w->arg); // its changes may not have been made
    batch_free_graph(b);
    return err;
}

// Takes a trial, and verifies its last result. Lowers *least to the time of a run.
static int take_trial(struct session *s, bool really, double *least)
{
    struct timing *t = s->out;
    const double start = clock_ms();
    struct batch b = {.dev = s->dev,
                      .work = s->work,
                      .count = s->apart.graph ? (int)min64(t->batch, TRIAL_GRAPH) : t->batch,
                      .inputs = really ? INPUTS_CHANGE : INPUTS_TOUCHED};
    double ms;
    int err = refresh(s);
    if (!err && s->work->before) err = s->work->before(s->work->arg);
    if (!err) err = time_trial(s, &b, &ms);
    if (!err) err = look(s);
    s->trials[really]++;
    s->trials_ms += clock_ms() - start;
    if (!err) *least = fmin(*least, ms / b.count);
    return err;
}

// Takes a trial of one kind, whose time counts for the verdict.
static int take_trial_of(struct session *s, bool really)
{
    return take_trial(s, really, really ? &s->out->changed_ms : &s->out->same_ms);
}

// Takes the trials ahead of round i, at places that the work cannot foresee.
static int take_trials(struct session *s, int i)
{
    int err = OK;
    if (!s->work->change) return OK;
    if (i % TRIAL_ROUNDS == 0) {
        // Same inputs come first: no change has yet told the work to compute.
        const int a = (int)(secret() % TRIAL_ROUNDS), b = (int)(secret() % TRIAL_ROUNDS);
        s->trial_round[false] = i + (a < b ? a : b);
        s->trial_round[true] = i + (a < b ? b : a);
    }
    for (int k = 0; k < 2 && !err; k++)
        if (i == s->trial_round[k] && (!s->trials[k] || s->trials_ms <= TRIAL_SHARE * elapsed(s)))
            err = take_trial_of(s, k);
    return err;
}

// Takes a sample of separate runs and, if runs can overlap, one of runs back to back, under the
// same conditions.
static int take_round(struct session *s)
{
    int i = s->out->count;
    int err = i == s->room ? grow(s) : OK;
    if (!err) err = take_trials(s, i);
    double start = clock_ms();
    bool due = is_due(s);
    if (!err) err = take_sample(s, &s->apart, due, &s->out->samples[i]);
    if (!err && s->apart.separated)
        err = take_sample(s, &s->back_to_back, due, &s->out->back_samples[i]);
    if (due) s->round_ms = clock_ms() - start;
    if (!err) s->out->count++;
    return err;
}

static double half_width(const struct timing *t) { return (t->ci_hi - t->ci_lo) / 2 / t->median; }

// Returns true if no time is left for another round and for a trial.
static bool is_time_up(const struct session *s)
{
    const struct timing_rule *rule = s->rule;
    double now = elapsed(s), next = now + s->round_ms * (has_hooks(s) ? 2 : 1);
    if (rule->most_ms > 0 && next > rule->most_ms) return true;
    if (rule->reps) return false;
    return s->out->count >= SAMPLES_MAX ||
           (s->out->count >= TIMING_MIN_SAMPLES && now >= rule->limit_ms);
}

// Returns true if another sample is needed after the limit. First reason: there are too few for an
// interval, and the runs of enough fit in PASS_MS. Second: the median is over AGREE shortest runs.
static bool needs_sample(const struct session *s)
{
    const struct timing *t = s->out;
    const double runs = t->batch * (s->apart.separated ? 2 : 1);
    if (t->count >= TIMING_INTERVAL_SAMPLES) return false;
    if (runs * (t->mean * t->count + t->min) <= PASS_MS) return true;
    const double shortest = t->batch == 1 && !s->rule->cold ? fmin(t->min, s->shortest_ms) : t->min;
    return t->median > AGREE * shortest &&
           elapsed(s) + s->round_ms <= 2 * s->rule->most_ms + PASS_MS;
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
    if (*stop || !is_time_up(s)) return OK;
    int err = timing_summarise(t);
    if (!err && !needs_sample(s)) *stop = "time";
    return err;
}

// Returns true if changed_ms exceeds same_ms by more than noise. INFINITY: there is no trial with
// the same inputs.
static bool is_slower(const struct timing *t, double same_ms)
{
    const bool alone = isinf(same_ms);
    const double same = alone ? t->median : same_ms;
    const double share = alone || t->busy ? KEEPS_ALONE : KEEPS_SHARE;
    // A trial with the same inputs may be as far below the median as a sample. On an idle machine
    // only the work itself varies more.
    const double noise = fmin(t->median - t->min, t->busy ? t->median : QUIET_NOISE * t->median);
    return isfinite(t->changed_ms) &&
           t->changed_ms - same > share * t->median + noise + KEEPS_SLACK_MS;
}

// The least times count: one fast trial with the same inputs is enough for suspicion, and no later
// trial hides it.
static bool keeps_result(const struct timing *t) { return is_slower(t, t->same_ms); }

// Returns true if the median of the later trials with the same inputs is faster, too. A few
// undisturbed trials can have the same inputs by chance. Sorts s->later.
static bool is_certain(struct session *s)
{
    const int n = s->later_count;
    return n && is_slower(s->out, timing_median(s->later, n));
}

// Takes missing trials, and further ones while keeps_result().
static int end_trials(struct session *s)
{
    double pause_ms = TRIAL_PAUSE_MS;
    int err = OK;
    if (!s->work->change) return OK;
    for (int x = 0; x < 2 * TRIALS_LEAST && !is_time_up(s) && !err; x++)
        if (s->trials[x % 2] < TRIALS_LEAST) err = take_trial_of(s, x % 2);
    // A batch is timed with its changes: compare with equal writes.
    if (!err && !s->trials[false] && s->out->batch > 1) err = take_trial_of(s, false);
    if (!err && !s->trials[true]) err = take_trial_of(s, true);
    for (int x = 0; x < TRIALS_MOST && !err && keeps_result(s->out); x++) {
        if (x >= TRIALS_LEAST && s->trials_ms > TRIALS_MORE_MS && is_time_up(s)) break;
        if (x >= TRIALS_MORE && is_certain(s)) break;
        const struct timespec pause = {0, (long)(pause_ms * 1e6)};
        nanosleep(&pause, NULL);
        pause_ms = fmin(pause_ms * TRIAL_PAUSE_GROW, TRIAL_PAUSE_MOST);
        s->later[s->later_count] = INFINITY;
        err = take_trial(s, false, &s->later[s->later_count++]);
        if (!err) err = take_trial(s, true, &s->out->changed_ms);
    }
    return err;
}

static int take_samples(struct session *s)
{
    struct timing *out = s->out;
    int err = OK;
    while (!out->stop && !err) {
        err = take_round(s);
        if (!err) err = stop_rule(s, &out->stop);
    }
    if (!err && s->unseen) err = look(s); // a run can foresee that its sample is the last
    return err ? err : timing_summarise(out);
}

// Returns ERR_WRONG if the times cannot be those of the work.
static int judge(struct session *s)
{
    const struct timing *t = s->out;
    if (2 * s->late > s->batches)
        return fail(ERR_WRONG, "its work goes on after the run, outside the stream of the run");
    if (keeps_result(t) && !is_certain(s))
        return fail(ERR_UNCHECKED, "not checked: other work disturbs the runs too much to see "
                                   "whether results are kept");
    if (keeps_result(t))
        return fail(ERR_WRONG,
                    "it keeps results: with other inputs a run takes %.3g ms more than the %.3g ms "
                    "with the same inputs",
                    t->changed_ms - (isinf(t->same_ms) ? t->median : t->same_ms), t->median);
    return OK;
}

static int measure(struct session *s)
{
    struct timing *out = s->out;
    struct device *dev = s->dev;
    const bool host = device_is_host(dev);
    const double children_ms = host ? process_children_ms() : 0; // reads all of /proc
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
    if (host) out->children_cpu_ms = process_children_ms() - children_ms;
    dev->ops->clock_mhz(dev, &out->clock_mhz[1], &max_mhz);
    out->throttled |= dev->ops->throttled(dev);
    out->machine = machine_between(&from, &to);
    out->busy = machine_busy(&from, &to, dev, s->apart.graph);
    err = end_trials(s);
    return err ? err : judge(s);
}

int timing_measure(struct device *dev, const struct timed_work *work,
                   const struct timing_rule *rule, struct timing *out)
{
    struct session s = {.dev = dev,
                        .work = work,
                        .rule = rule,
                        .out = out,
                        .start_ms = clock_ms(),
                        .last_width = INFINITY};
    *out = (struct timing){.batch = 1,
                           .separator_ms = NAN,
                           .back_to_back = NAN,
                           .back_ci_lo = NAN,
                           .back_ci_hi = NAN,
                           .changed_ms = INFINITY,
                           .same_ms = INFINITY};
    int err = measure(&s);
    free_graphs(&s);
    if (err) timing_free(out);
    return err;
}
