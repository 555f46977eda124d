#include "select/pick.h"

#include <math.h>
#include <stdio.h>

#include "select/trial.h"

// Returns true if an algorithm is neither a vendor library's nor a variant of the operation.
static bool may_pick(const struct task *t, const char *name)
{
    const struct algo_entry *e = algo_find(t->entry->op, name, t->entry->device);
    return e && e != t->entry && !e->algo->vendor && !e->algo->partial && !e->algo->variant;
}

static void tell_of(struct task *t, const char *name, const char *what, double number)
{
    char stat[32];
    snprintf(stat, sizeof stat, "%s_%s", name, what);
    task_number(t, stat, number);
}

static void tell_refusal(struct task *t, const char *name, int err)
{
    char stat[32];
    snprintf(stat, sizeof stat, "%s_refused", name);
    task_text(t, stat, err == ERR_MEMORY ? "no memory" : "unsupported");
}

static bool is_refusal(int err) { return err == ERR_UNSUPPORTED || err == ERR_MEMORY; }

// The candidates of a case.
struct field {
    const char *names[PICKS_MAX];
    int count;
    double us[PICKS_MAX];  // time of the trial, 0: not timed; INFINITY: not a candidate
    bool unsure;           // see struct pick_order
    int taken;             // the candidate that the task was handed on to last
    struct algo_stats before; // stats before the last delegation
};

// Returns the first of the candidates with the least time; -1: none is left.
static int fastest(const struct field *f)
{
    int best = -1;
    for (int i = 0; i < f->count; i++)
        if (f->us[i] < INFINITY && (best < 0 || f->us[i] < f->us[best])) best = i;
    return best;
}

// Passes the task to the fastest candidate that accepts it. Candidates that refuse are excluded.
// Returns `err` if no candidate is left.
static int take_fastest(struct task *t, struct field *f, int err)
{
    while ((f->taken = fastest(f)) >= 0) {
        const char *name = f->names[f->taken];
        fail_drop(); // the error of the previous candidate
        f->before = t->stats;
        device_peak_reset(t->dev);
        err = delegate_prepare(t, name);
        if (!err) task_text(t, "picked", name);
        if (!is_refusal(err)) return err;
        tell_refusal(t, name, err);
        f->us[f->taken] = INFINITY;
    }
    return err;
}

// The candidates that were timed, in turn.
struct trials {
    double start_ms; // clock_ms() before the first trial
    int count;
    struct trial {
        int candidate;
        double us;   // INFINITY: it refused
        int refusal; // the error of the refusal
    } list[PICKS_MAX];
};

static double least_us(const struct trials *all)
{
    double us = INFINITY;
    for (int i = 0; i < all->count; i++) us = fmin(us, all->list[i].us);
    return us;
}

// Times the runs of the candidate that the task was handed on to, unless preparing it failed with
// `err`. A candidate that takes well over the least time so far in a single run is not run again.
static int time_trial(struct task *t, int candidate, int err, struct trials *all)
{
    const double alone_us = 100; // extra time of a run that is launched alone
    struct trial *x = &all->list[all->count];
    double us = INFINITY;
    if (!err) err = device_sync(t->dev); // preparation has ended before a run
    if (!err) err = trial_time(t->state, 3 * least_us(all) + alone_us, &us);
    *x = (struct trial){candidate, err ? INFINITY : us, is_refusal(err) ? err : OK};
    all->count++;
    return x->refusal ? fail_drop() : err;
}

// Ends the trial of the candidate that the task was handed on to.
static void drop_trial(struct task *t, const struct field *f)
{
    delegate_teardown(t);
    t->stats = f->before;
    t->order = NULL;
}

static void tell_trials(struct task *t, const struct field *f, const struct trials *all)
{
    for (int i = 0; i < all->count; i++) {
        const struct trial *x = &all->list[i];
        const char *name = f->names[x->candidate];
        if (x->refusal)
            tell_refusal(t, name, x->refusal);
        else
            tell_of(t, name, "timed_us", x->us);
    }
}

// The task was handed on to the first candidate. If the rule is unsure, times all candidates and
// hands the task on to the fastest. Each candidate is timed alone, with nothing of the others on
// the device. The fastest is then prepared anew, unless it was timed last. Returns a refusal if all
// refuse.
//   A kernel that stays while another candidate is prepared takes longer from then on. H200, SDDMM
// by strips: 17.1 us instead of 14.6 us, with the same counters, addresses and launches.
static int try_others(struct task *t, struct field *f)
{
    const int first = f->taken;
    struct trials all = {.start_ms = clock_ms()};
    f->us[first] = INFINITY;
    if (!f->unsure || fastest(f) < 0) return OK;
    int64_t peak = t->dev->peak_bytes; // without runs
    int next, err = time_trial(t, first, OK, &all);
    while (!err && (next = fastest(f)) >= 0) {
        drop_trial(t, f);
        f->us[next] = INFINITY;
        device_peak_reset(t->dev);
        err = delegate_prepare(t, f->names[next]);
        peak = t->dev->peak_bytes;
        err = time_trial(t, next, err, &all);
    }
    const struct trial *last = &all.list[all.count - 1];
    const bool stays = !err && !last->refusal && last->us <= least_us(&all);
    if (!stays) drop_trial(t, f);
    if (err) return err;
    tell_trials(t, f, &all);
    task_number(t, "tried_in_us", 1e3 * (clock_ms() - all.start_ms));
    if (stays) {
        if (last->candidate != first) task_text(t, "picked", f->names[last->candidate]);
        t->dev->peak_bytes = peak;
        return OK;
    }
    for (int i = 0; i < all.count; i++) f->us[all.list[i].candidate] = all.list[i].us;
    return take_fastest(t, f, last->refusal);
}

// The peak of the device's memory is the larger of two: the peak so far, and the peak while the
// taken candidate is prepared. Memory of other candidates does not count, because it is free again.
int pick_by_order(struct task *t, const struct pick_order *order, double start)
{
    const int64_t counted = t->dev->peak_bytes;
    struct field f = {.unsure = order->unsure && task_option(t, "trials")};
    for (; f.count < PICKS_MAX && order->names[f.count]; f.count++) {
        f.names[f.count] = order->names[f.count];
        f.us[f.count] = may_pick(t, f.names[f.count]) ? 0 : INFINITY;
    }
    task_number(t, "picked_in_us", 1e3 * (clock_ms() - start));
    int err = fail(ERR_UNSUPPORTED, "%s: there is nothing to pick", t->entry->name);
    err = take_fastest(t, &f, err);
    if (!err) err = try_others(t, &f);
    t->dev->peak_bytes = max64(t->dev->peak_bytes, counted);
    return err;
}
