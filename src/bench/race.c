#include "bench/race.h"

#include <math.h>
#include <string.h>

struct runner {
    struct result r; // of the last turn
    struct rank_case rank;
    bool held;   // false: no turn yet, or the result is emitted
    bool ranked; // has a time that can be compared
    bool full;   // the last turn had the rule of the plan
};

struct field {
    const struct race *race;
    struct runner *runners;  // size race->count
    struct rank_case **list; // runners with a rank, size rank.count
    struct rank rank;
};

// Returns the rule of turn 0, 1, ... and sets *full if that is the rule of the race. With a number
// of samples there are two turns.
static struct timing_rule rule_of(const struct race *race, int turn, bool *full)
{
    struct timing_rule rule = *race->rule;
    const int last = rule.reps ? 1 : RACE_TURNS - 1;
    *full = turn >= last || (rule.reps && rule.reps <= TIMING_INTERVAL_SAMPLES);
    if (*full) return rule;
    if (rule.reps) rule.reps = TIMING_INTERVAL_SAMPLES;
    rule.limit_ms *= pow(RACE_GROWTH, turn - last);
    rule.most_ms = rule.limit_ms;
    return rule;
}

static bool is_settled(const struct runner *x)
{
    const struct timing *t = &x->r.timing;
    return x->full || !strcmp(t->stop, "precision") || !strcmp(t->stop, "noise") ||
           t->ci_hi - t->ci_lo <= 2 * RACE_WIDTH * t->median;
}

// Ranks the runners that have a time.
static void rank_field(struct field *f)
{
    int count = 0;
    for (int i = 0; i < f->race->count; i++)
        if (f->runners[i].ranked) f->list[count++] = &f->runners[i].rank;
    f->rank = rank_make(f->list, count);
}

// Returns true if more samples of x may change the fastest of all or of a vendor, or if x is an
// algorithm that chooses, or its pick.
static bool matters(const struct field *f, const struct runner *x)
{
    const struct rank *r = &f->rank;
    if (!x->ranked) return false;
    bool found = x->r.c.entry->algo->picks[0] || rank_is_near(r->best, &x->rank, RACE_MARGIN);
    if (x->rank.vendor && !x->rank.dense)
        found |= rank_is_near(rank_fastest_of(r, x->rank.vendor), &x->rank, RACE_MARGIN);
    for (int i = 0; i < r->count && !found; i++) found = rank_picked(r, r->list[i]) == &x->rank;
    return found;
}

static int emit(const struct field *f, struct runner *x)
{
    x->held = x->ranked = false;
    int err = f->race->emit(&x->r, f->race->arg);
    result_clear(&x->r);
    return err;
}

// Measures runner i. A bad result is emitted at once: its process may have to end.
static int take_turn(struct field *f, int i, int turn)
{
    struct runner *x = &f->runners[i];
    const struct timing_rule rule = rule_of(f->race, turn, &x->full);
    struct result r;
    int err = f->race->measure(f->race->arg, i, &rule, &r);
    if (err) return err;
    if (x->held) result_clear(&x->r);
    x->r = r;
    x->held = true;
    x->rank = result_rank(&r, TIMING_SEPARATE);
    x->rank.name = x->rank.alg;
    x->rank.device = x->r.c.device;
    x->ranked = !isnan(x->rank.ms);
    return status_is_good(r.status) ? OK : emit(f, x);
}

// Takes the turns of a round. Sets *any if there are some.
static int take_round(struct field *f, int turn, bool *any)
{
    const struct race *race = f->race;
    int err = OK;
    *any = false;
    for (int i = 0; i < race->count && !err; i++) {
        const struct runner *x = &f->runners[i];
        if (turn && (!matters(f, x) || is_settled(x))) continue;
        if (race->end_ms && clock_ms() >= race->end_ms) break;
        *any = true;
        err = take_turn(f, i, turn);
    }
    if (!err) rank_field(f);
    return err;
}

static int run(struct field *f)
{
    bool any = true;
    int err = OK;
    // A case that begins to matter late gets the rule of the plan at once.
    for (int turn = 0; any && !err; turn++) err = take_round(f, turn, &any);
    for (int i = 0; i < f->race->count && !err; i++) {
        struct runner *x = &f->runners[i];
        if (!x->held) continue;
        x->r.dropped = x->r.timed && !matters(f, x);
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
