#include "select/pick.h"

#include <math.h>
#include <stdio.h>

#include "select/trial.h"

void pick_features(const struct pick_facts *f, double x[PICK_FEATURES])
{
    const double mean = f->rows > 0 ? f->nonzeros / f->rows : 0;
    const double variance = f->rows > 0 ? f->squares / f->rows - mean * mean : 0;
    const double spread = mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
    x[PICK_ONE] = 1;
    x[PICK_WORK] = log1p(f->nonzeros * f->depth * f->width / 1e6);
    x[PICK_WORK_2] = x[PICK_WORK] * x[PICK_WORK];
    x[PICK_ROWS] = log1p(f->rows);
    x[PICK_COLUMNS] = log1p(f->columns);
    x[PICK_DEPTH] = log1p(f->depth);
    x[PICK_MEAN] = log1p(mean);
    x[PICK_LONGEST] = log1p(f->longest);
    x[PICK_UNEVEN] = log1p(f->nonzeros > 0 ? 1000 * f->longest / f->nonzeros : 0);
    x[PICK_SPREAD] = log1p(spread);
    x[PICK_WIDTH] = log(f->width / 4.0);
    x[PICK_TILE] = log1p(f->tile);
}

double pick_us(const struct pick_rule *rule, const double x[PICK_FEATURES])
{
    double sum = 0;
    for (int i = 0; i < PICK_FEATURES; i++) sum += rule->weight[i] * x[i];
    return exp(sum);
}

const char *pick_unlike(const struct pick_rules *rules, const double x[PICK_FEATURES])
{
    for (int i = 0; i < PICK_FEATURES; i++) {
        const struct pick_range *of = &rules->seen[i];
        if (of->name && (x[i] < of->least || x[i] > of->most)) return of->name;
    }
    return NULL;
}

bool pick_too_good(const struct pick_rules *rules, const double *us)
{
    int first = 0;
    double next = INFINITY;
    for (int i = 1; rules->list[0].name && rules->list[i].name; i++) {
        next = fmin(next, fmax(us[i], us[first]));
        if (us[i] < us[first]) first = i;
    }
    const double lead = rules->lead[first];
    return lead > 0 && lead < PICK_FAR && next < INFINITY && next > us[first] * lead;
}

// Returns true if an algorithm is neither a vendor library's nor a variant of the operation.
static bool may_pick(const struct task *t, const char *name)
{
    const struct algo_entry *e = algo_find(t->entry->op, name, t->entry->device);
    return e && e != t->entry &&
           !(e->algo && (e->algo->vendor || e->algo->partial || e->algo->variant));
}

static void tell_of(struct task *t, const char *name, const char *what, double number)
{
    char figure[32];
    snprintf(figure, sizeof figure, "%s_%s", name, what);
    task_number(t, figure, number);
}

static void tell_refusal(struct task *t, const char *name, int err)
{
    char figure[32];
    snprintf(figure, sizeof figure, "%s_refused", name);
    task_text(t, figure, err == ERR_MEMORY ? "no memory" : "unsupported");
}

static bool is_refusal(int err) { return err == ERR_UNSUPPORTED || err == ERR_MEMORY; }

// The candidates of a case.
struct field {
    const char *names[PICKS_MAX];
    int count;
    double us[PICKS_MAX];  // predicted time, or 1 by an order; INFINITY: not a candidate
    double unsure;         // candidates predicted within this factor of the first are timed
    double far;            // unlike case: the second of two is timed if within this factor; 0: not
    int taken;             // the candidate that the task was handed on to last
    double prepared_us;    // time that its preparation took
    struct figures before; // figures before the last delegation
};

// -1: none is left.
static int fastest(const struct field *f)
{
    int best = -1;
    for (int i = 0; i < f->count; i++)
        if (f->us[i] < INFINITY && (best < 0 || f->us[i] < f->us[best])) best = i;
    return best;
}

static void add_candidate(struct field *f, const char *name, double us)
{
    f->names[f->count] = name;
    f->us[f->count++] = us;
}

static void predict(struct task *t, const struct pick_rules *rules, const struct pick_facts *facts,
                    struct field *f)
{
    double x[PICK_FEATURES];
    const struct pick_rule *list = rules->list;
    pick_features(facts, x);
    *f = (struct field){.unsure = rules->unsure};
    for (int i = 0; list[i].name; i++) {
        const double us = may_pick(t, list[i].name) ? pick_us(&list[i], x) : INFINITY;
        add_candidate(f, list[i].name, us);
    }
    const char *unlike = pick_unlike(rules, x);
    const bool too_good = pick_too_good(rules, f->us);
    f->far = too_good ? INFINITY : unlike ? PICK_FAR : 0;
    if (unlike || too_good) task_text(t, "unlike", unlike ? unlike : "lead");
    for (int i = 0; i < f->count && f->count > 1; i++) // nothing is predicted of one alone
        if (f->us[i] < INFINITY) tell_of(t, f->names[i], "us", f->us[i]);
}

// Hands the task on to the fastest that takes it; all that refuse are then out of the question.
// `err` is what is said where nobody is left.
static int take_fastest(struct task *t, struct field *f, int err)
{
    while ((f->taken = fastest(f)) >= 0) {
        const char *name = f->names[f->taken];
        f->before = t->figures;
        device_peak_reset(t->dev);
        const double start_ms = clock_ms();
        err = delegate_prepare(t, name);
        f->prepared_us = 1e3 * (clock_ms() - start_ms);
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
    double again_us; // time to prepare the first candidate once more
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
    return x->refusal ? OK : err;
}

// Ends the trial of the candidate that the task was handed on to.
static void drop_trial(struct task *t, const struct field *f)
{
    delegate_teardown(t);
    t->figures = f->before;
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

static int count_compared(const struct trials *all)
{
    int count = 0;
    for (int i = 0; i < all->count; i++) count += !all->list[i].refusal;
    return count;
}

// Runs that converting A to a format of its own takes. CPU with 16 cores, ASpT: 5 to 40.
#define CONVERSION_RUNS 20

static bool needs_conversion(const struct task *t, const char *name)
{
    const struct algo *algo = algo_find(t->entry->op, name, t->entry->device)->algo;
    return algo && algo->A[0] != t->A[0]->format;
}

// Returns true if a trial of candidate `next` fits into the time of the option `trials`. The time
// includes the trials so far, and preparing the first candidate once more. Candidate `next` is
// `behind` times as slow as the first, as predicted. Its trial is expected to take `behind` times
// the mean of the trials so far.
static bool is_affordable(const struct task *t, const struct field *f, const struct trials *all,
                          int next, double behind)
{
    const double allowed = task_option(t, "trials"), run_us = least_us(all);
    if (isinf(run_us)) return allowed >= 2 * TRIAL_FEW; // two are compared
    const double spent_us = 1e3 * (clock_ms() - all->start_ms);
    const double converting = needs_conversion(t, f->names[next]) ? CONVERSION_RUNS : 0;
    return spent_us * (1 + behind / all->count) + all->again_us <= (allowed - converting) * run_us;
}

// Returns the next candidate to be timed, of those that are left; -1: none. Refusals do not count
// as compared. `far` is set if the case is unlike all cases that the rules were made from. Then
// two candidates are compared even if the rule is sure.
static int next_to_time(const struct task *t, const struct field *f, double us_of_first,
                        const struct trials *all)
{
    const int next = fastest(f);
    if (next < 0) return -1;
    const double within = count_compared(all) < 2 ? fmax(f->unsure, f->far) : f->unsure;
    const double behind = f->us[next] / us_of_first;
    return behind < within && is_affordable(t, f, all, next, behind) ? next : -1;
}

// The task was handed on to the candidate with the least prediction. Times this and the candidates
// that may be as fast, and hands the task on to the fastest. Each candidate is timed alone, with
// nothing of the others on the device. The fastest is then prepared anew, unless it was timed last.
// Returns a refusal if all refuse.
//   A kernel that stays while another candidate is prepared takes longer from then on. H200, SDDMM
// by strips: 17.1 us instead of 14.6 us, with the same counters, addresses and launches.
static int try_others(struct task *t, struct field *f)
{
    const int first = f->taken;
    const double us = f->us[first];
    struct trials all = {.start_ms = clock_ms(), .again_us = f->prepared_us};
    f->us[first] = INFINITY;
    if (next_to_time(t, f, us, &all) < 0) return OK;
    int64_t peak = t->dev->peak_bytes; // without runs
    int next, err = time_trial(t, first, OK, &all);
    while (!err && (next = next_to_time(t, f, us, &all)) >= 0) {
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
    struct field timed = *f; // these alone, by their times
    for (int i = 0; i < f->count; i++) timed.us[i] = INFINITY;
    for (int i = 0; i < all.count; i++) timed.us[all.list[i].candidate] = all.list[i].us;
    return take_fastest(t, &timed, last->refusal);
}

// Hands the task on to a candidate of the field. `start`: clock_ms() before the choice. The peak
// of the device's memory is the larger of two: the peak so far, and the peak while the taken
// candidate is prepared. Memory of other candidates does not count, because it is free again.
static int pick_among(struct task *t, struct field *f, double start)
{
    const int64_t counted = t->dev->peak_bytes;
    task_number(t, "picked_in_us", 1e3 * (clock_ms() - start));
    int err = fail(ERR_UNSUPPORTED, "%s: there is nothing to pick", t->entry->name);
    do {
        err = take_fastest(t, f, err);
        if (err) break;
        err = try_others(t, f);
    } while (is_refusal(err));
    t->dev->peak_bytes = max64(t->dev->peak_bytes, counted);
    return err;
}

int pick_prepare(struct task *t, const struct pick_rules *rules, const struct pick_facts *facts,
                 double start)
{
    struct field f;
    predict(t, rules, facts, &f);
    return pick_among(t, &f, start);
}

// All times are 1. Equal times keep the order.
int pick_by_order(struct task *t, const struct pick_order *order, double start)
{
    struct field f = {.unsure = order->unsure ? 2 : 1};
    for (int i = 0; i < COUNT(order->names) && order->names[i]; i++)
        add_candidate(&f, order->names[i], may_pick(t, order->names[i]) ? 1 : INFINITY);
    return pick_among(t, &f, start);
}
