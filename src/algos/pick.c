#include "algos/pick.h"

#include <math.h>
#include <stdio.h>

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

static void tell_us(struct task *t, const char *name, double us)
{
    char figure[32];
    snprintf(figure, sizeof figure, "%s_us", name);
    task_number(t, figure, us);
}

// The candidate with the least time of those that were not tried; -1: none is left.
static int fastest(const double us[PICKS_MAX], int count)
{
    int best = -1;
    for (int i = 0; i < count; i++)
        if (us[i] < INFINITY && (best < 0 || us[i] < us[best])) best = i;
    return best;
}

static void tell_refusal(struct task *t, const char *name, int err)
{
    char figure[32];
    snprintf(figure, sizeof figure, "%s_refused", name);
    task_text(t, figure, err == ERR_MEMORY ? "no memory" : "unsupported");
}

int pick_prepare(struct task *t, const struct pick_rule *rules, const struct pick_facts *facts,
                 double start)
{
    double x[PICK_FEATURES], us[PICKS_MAX];
    int count = 0, best, err;
    pick_features(facts, x);
    for (; rules[count].name; count++) {
        if (count == PICKS_MAX) bug("%s: over %d candidates", t->entry->name, count);
        us[count] = pick_us(&rules[count], x);
        if (!may_pick(t, rules[count].name)) us[count] = INFINITY;
    }
    for (int i = 0; i < count && count > 1; i++) // nothing is predicted of one alone
        if (us[i] < INFINITY) tell_us(t, rules[i].name, us[i]);
    task_number(t, "picked_in_us", 1e3 * (clock_ms() - start));
    err = fail(ERR_UNSUPPORTED, "%s: there is nothing to pick", t->entry->name);
    while ((best = fastest(us, count)) >= 0) {
        const char *name = rules[best].name;
        err = delegate_prepare(t, name);
        if (!err) task_text(t, "picked", name);
        if (err != ERR_UNSUPPORTED && err != ERR_MEMORY) return err;
        tell_refusal(t, name, err);
        us[best] = INFINITY;
    }
    return err;
}
