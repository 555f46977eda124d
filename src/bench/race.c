#include "bench/race.h"

#include <math.h>
#include <string.h>

struct runner {
    struct result r; // of the last turn
    struct rank_case rank;
    bool held; // false: no turn yet, or the result is emitted
    bool timed;
    int turns;
};

struct field {
    const struct race *race;
    struct runner *runners;  // size race->count
    struct rank_case **list; // runners with a time, size rank.count
    struct rank rank;
};

// Returns the rule of turn 0, 1, ...
static struct timing_rule rule_of(const struct race *race, int turn)
{
    struct timing_rule rule = *race->rule;
    const double share = pow(RACE_GROWTH, turn - (RACE_TURNS - 1));
    if (turn == RACE_TURNS - 1) return rule;
    rule.limit_ms *= share;
    rule.most_ms = rule.limit_ms;
    if (rule.reps > TIMING_INTERVAL_SAMPLES)
        rule.reps = (int)fmax(TIMING_INTERVAL_SAMPLES, rule.reps * share);
    return rule;
}

static bool is_settled(const struct runner *x)
{
    const struct timing *t = &x->r.timing;
    return x->turns == RACE_TURNS || !strcmp(t->stop, "precision") || !strcmp(t->stop, "noise") ||
           t->ci_hi - t->ci_lo <= 2 * RACE_WIDTH * t->median;
}

// Ranks the runners that have a time.
static void rank_field(struct field *f)
{
    int count = 0;
    for (int i = 0; i < f->race->count; i++) {
        struct runner *x = &f->runners[i];
        if (!x->timed) continue;
        x->rank = result_rank(&x->r, TIMING_SEPARATE);
        x->rank.name = x->rank.alg;
        x->rank.device = x->r.c.device;
        f->list[count++] = &x->rank;
    }
    f->rank = rank_make(f->list, count);
}

// Returns true if more samples of x may change the fastest of all or of a vendor, or if x is an
// algorithm that chooses, or its pick.
static bool matters(const struct field *f, const struct runner *x)
{
    const struct rank *r = &f->rank;
    bool found = x->r.c.entry->algo->picks[0] || rank_is_near(r->best, &x->rank, RACE_MARGIN);
    if (x->rank.vendor && !x->rank.dense)
        found |= rank_is_near(r->of_vendor, &x->rank, RACE_MARGIN);
    for (int i = 0; i < r->count && !found; i++) found = rank_picked(r, r->list[i]) == &x->rank;
    return found;
}

static int emit(const struct field *f, struct runner *x)
{
    x->held = x->timed = false;
    int err = f->race->emit(&x->r, f->race->arg);
    result_clear(&x->r);
    return err;
}

// Measures runner i. A bad result is emitted at once: its process may have to end.
static int take_turn(struct field *f, int i)
{
    struct runner *x = &f->runners[i];
    const struct timing_rule rule = rule_of(f->race, x->turns++);
    struct result r;
    int err = f->race->measure(f->race->arg, i, &rule, &r);
    if (err) return err;
    if (x->held) result_clear(&x->r);
    x->r = r;
    x->held = true;
    x->timed = r.status == STATUS_OK && r.timed;
    return status_is_good(r.status) ? OK : emit(f, x);
}

static int run(struct field *f)
{
    const struct race *race = f->race;
    int err = OK;
    for (int turn = 0; turn < RACE_TURNS; turn++) {
        for (int i = 0; i < race->count && !err; i++) {
            const struct runner *x = &f->runners[i];
            if (turn && (!x->timed || is_settled(x) || !matters(f, x))) continue;
            if (!race->end_ms || clock_ms() < race->end_ms) err = take_turn(f, i);
        }
        if (err) return err;
        rank_field(f);
    }
    for (int i = 0; i < race->count && !err; i++) {
        struct runner *x = &f->runners[i];
        if (!x->held) continue;
        x->r.dropped = x->timed && !matters(f, x);
        err = emit(f, x);
    }
    return err;
}

int race_run(const struct race *race)
{
    struct field f = {.race = race};
    f.runners = mem_zero_alloc(race->count, sizeof *f.runners);
    f.list = mem_alloc(race->count, sizeof *f.list);
    int err = f.runners && f.list ? run(&f) : ERR_MEMORY;
    for (int i = 0; i < race->count && f.runners; i++)
        if (f.runners[i].held) result_clear(&f.runners[i].r);
    mem_free(f.runners);
    mem_free(f.list);
    return err;
}
