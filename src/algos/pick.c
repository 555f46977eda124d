#include "algos/pick.h"

#include <math.h>
#include <stdio.h>

#include "algos/trial.h"

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

// Another library's, or one that computes something else, is nobody's choice.
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
    const struct pick_rule *list;
    int count;
    double us[PICKS_MAX]; // INFINITY: out of the question
};

// -1: none is left.
static int fastest(const struct field *f)
{
    int best = -1;
    for (int i = 0; i < f->count; i++)
        if (f->us[i] < INFINITY && (best < 0 || f->us[i] < f->us[best])) best = i;
    return best;
}

static void predict(struct task *t, const struct pick_rule *list, const struct pick_facts *facts,
                    struct field *f)
{
    double x[PICK_FEATURES];
    *f = (struct field){.list = list};
    pick_features(facts, x);
    for (int i = 0; list[i].name; i++, f->count++)
        f->us[i] = may_pick(t, list[i].name) ? pick_us(&list[i], x) : INFINITY;
    for (int i = 0; i < f->count && f->count > 1; i++) // nothing is predicted of one alone
        if (f->us[i] < INFINITY) tell_of(t, list[i].name, "us", f->us[i]);
}

// Hands the task on to the fastest that takes it; all that refuse are then out of the question.
// `before` are the figures that were told before it. `err` is what is said where nobody is left.
static int take_fastest(struct task *t, struct field *f, int *taken, struct figures *before,
                        int err)
{
    while ((*taken = fastest(f)) >= 0) {
        const char *name = f->list[*taken].name;
        *before = t->figures;
        device_peak_reset(t->dev);
        err = delegate_prepare(t, name);
        if (!err) task_text(t, "picked", name);
        if (!is_refusal(err)) return err;
        tell_refusal(t, name, err);
        f->us[*taken] = INFINITY;
    }
    return err;
}

// What the task is where it was handed on to one of two.
struct trial {
    struct delegate *delegate;
    struct figures figures;
    double us;          // INFINITY: it refused
    int refusal;        // what it said then
    int64_t peak_bytes; // as it was prepared, with nothing of the other one
};

static void enter(struct task *t, const struct trial *x)
{
    t->state = x->delegate;
    t->figures = x->figures;
    t->order = x->delegate ? x->delegate->inner.order : NULL;
}

// Times the runs of the one that the task was handed on to, unless preparing it failed with `err`.
static int time_trial(struct task *t, struct trial *x, int err)
{
    x->delegate = t->state;
    x->figures = t->figures;
    if (!err) err = device_sync(t->dev); // what preparing has yet to write is there before a run
    if (!err) err = trial_time(&x->delegate->inner, &x->us);
    if (err) x->us = INFINITY;
    x->refusal = is_refusal(err) ? err : OK;
    return x->refusal ? OK : err;
}

static void tell_trial(struct task *t, const char *name, const struct trial *x)
{
    if (x->refusal)
        tell_refusal(t, name, x->refusal);
    else
        tell_of(t, name, "timed_us", x->us);
}

// The task was handed on to candidate `first`: stays there, or moves to `second` if that is faster;
// the other one is torn down. A refusal: of both. Before that these figures were told, and so many
// bytes were used.
static int try_both(struct task *t, const char *first, const char *second,
                    const struct figures *before, int64_t used_before)
{
    const double start = clock_ms();
    struct trial a = {.peak_bytes = t->dev->peak_bytes}, b = {.figures = *before};
    int err = time_trial(t, &a, OK);
    if (err) return err;
    enter(t, &b);
    const int64_t of_first = t->dev->used_bytes - used_before;
    device_peak_reset(t->dev);
    err = delegate_prepare(t, second);
    b.peak_bytes = t->dev->peak_bytes - of_first;
    err = time_trial(t, &b, err);
    const struct trial *winner = !err && b.us < a.us ? &b : &a, *loser = winner == &a ? &b : &a;
    enter(t, loser);
    delegate_teardown(t);
    enter(t, winner);
    if (err) return err;
    t->dev->peak_bytes = winner->peak_bytes;
    const bool none = a.refusal && b.refusal;
    if (none) {
        delegate_teardown(t);
        t->order = NULL;
        t->figures = *before;
    }
    tell_trial(t, first, &a);
    tell_trial(t, second, &b);
    task_number(t, "tried_in_us", 1e3 * (clock_ms() - start));
    if (!none) task_text(t, "picked", winner == &a ? first : second);
    return none ? b.refusal : OK;
}

// The peak of the device's memory is that of `auto` where it goes the straight way: the greatest
// while it counts, and while who stays is prepared. What others took does not count, be it that
// they refused or that they were timed: it is given back, and where there is no room for it `auto`
// does without.
int pick_prepare(struct task *t, const struct pick_rules *rules, const struct pick_facts *facts,
                 double start)
{
    const int64_t counted = t->dev->peak_bytes, used = t->dev->used_bytes;
    struct field f;
    struct figures before;
    int first, second;
    predict(t, rules->list, facts, &f);
    task_number(t, "picked_in_us", 1e3 * (clock_ms() - start));
    int err = fail(ERR_UNSUPPORTED, "%s: there is nothing to pick", t->entry->name);
    do {
        err = take_fastest(t, &f, &first, &before, err);
        if (err || task_option(t, "try") == 0) break;
        const double us = f.us[first];
        f.us[first] = INFINITY;
        second = fastest(&f);
        if (second < 0 || f.us[second] >= us * rules->unsure) break;
        f.us[second] = INFINITY;
        err = try_both(t, f.list[first].name, f.list[second].name, &before, used);
    } while (is_refusal(err));
    t->dev->peak_bytes = max64(t->dev->peak_bytes, counted);
    return err;
}
