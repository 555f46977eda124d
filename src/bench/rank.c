#include "bench/rank.h"

#include <math.h>
#include <string.h>

// Returns the fastest case; NULL: there is none.
static const struct rank_case *fastest(const struct rank *r)
{
    const struct rank_case *best = NULL;
    for (int i = 0; i < r->count; i++) {
        const struct rank_case *x = r->list[i];
        if (!isnan(x->ms) && (!best || x->ms < best->ms)) best = x;
    }
    return best;
}

const struct rank_case *rank_fastest_of(const struct rank *r, const char *vendor)
{
    const struct rank_case *best = NULL;
    for (int i = 0; i < r->count; i++) {
        const struct rank_case *x = r->list[i];
        const bool fits = x->vendor && !x->dense && (!vendor || !strcmp(x->vendor, vendor));
        if (fits && !isnan(x->ms) && (!best || x->ms < best->ms)) best = x;
    }
    return best;
}

static bool same_device(const struct rank_case *x, const struct rank_case *y)
{
    return !x->device || !y->device || !strcmp(x->device, y->device);
}

const struct rank_case *rank_picked(const struct rank *r, const struct rank_case *x)
{
    const struct rank_case *found = NULL;
    if (!x->picked) return NULL;
    for (int i = 0; i < r->count; i++) {
        const struct rank_case *y = r->list[i];
        if (y == x || y->own_values || isnan(y->ms) || strcmp(y->alg, x->picked) ||
            !same_device(x, y))
            continue;
        if (found) return NULL; // two cases fit: versions of a library, or unknown options
        found = y;
    }
    return found;
}

// Returns the same case for all cases that ran the same kernel.
static const struct rank_case *kernel_of(const struct rank *r, const struct rank_case *x)
{
    const struct rank_case *picked = rank_picked(r, x);
    return picked ? picked : x;
}

double rank_difference(const struct rank_case *x, const struct rank_case *y)
{
    return fmax(x->ms, y->ms) / fmin(x->ms, y->ms) - 1;
}

static void find_others(struct rank *r)
{
    for (int i = 0; i < r->count; i++) {
        const struct rank_case *x = r->list[i];
        if (isnan(x->ms) || kernel_of(r, x) == kernel_of(r, r->best)) continue;
        if (!r->next || x->ms < r->next->ms) r->next = x;
        if (rank_may_be_best(r, x) && (!r->near || x->ms < r->near->ms)) r->near = x;
    }
}

static double find_noise(const struct rank *r)
{
    double noise = 0;
    for (int i = 0; i < r->count; i++) {
        const struct rank_case *x = r->list[i], *y = rank_picked(r, x);
        if (y && !isnan(x->ms)) noise = fmax(noise, rank_difference(x, y));
    }
    return noise;
}

static bool is_prepared(const struct rank_case *x)
{
    return !isnan(x->ms) && !isnan(x->prep_ms) && !x->reference;
}

// Returns true if the case needs no preparation. `least`: the least prep_ms of all cases.
static bool is_ready(const struct rank_case *x, double least)
{
    return is_prepared(x) && x->prep_ms <= fmax(least, RANK_READY_SHARE * x->ms);
}

// Returns the least n with prep_ms + n * ms under that of `ready`; INFINITY: there is none.
static double runs_to_pay(const struct rank_case *x, const struct rank_case *ready)
{
    if (x->ms >= ready->ms) return INFINITY;
    return fmax(1, floor((x->prep_ms - ready->prep_ms) / (ready->ms - x->ms)) + 1);
}

static void find_pays(struct rank *r)
{
    double least = INFINITY;
    for (int i = 0; i < r->count; i++)
        if (is_prepared(r->list[i])) least = fmin(least, r->list[i]->prep_ms);
    for (int i = 0; i < r->count; i++) {
        const struct rank_case *x = r->list[i];
        if (is_ready(x, least) && (!r->ready || x->ms < r->ready->ms)) r->ready = x;
    }
    for (int i = 0; i < r->count; i++) {
        struct rank_case *x = r->list[i];
        bool pays = is_prepared(x) && !is_ready(x, least);
        x->pays_after = pays ? runs_to_pay(x, r->ready) : NAN;
    }
}

struct rank rank_make(struct rank_case *const *list, int count)
{
    struct rank r = {.list = list, .count = count};
    r.best = fastest(&r);
    r.of_vendor = rank_fastest_of(&r, NULL);
    r.noise = find_noise(&r);
    if (r.best) find_others(&r);
    for (int i = 0; i < count; i++) list[i]->over_best = r.best ? list[i]->ms / r.best->ms : NAN;
    find_pays(&r);
    return r;
}

bool rank_is_near(const struct rank_case *best, const struct rank_case *x, double margin)
{
    const double least = !isnan(x->ci_lo) ? x->ci_lo : !isnan(x->min_ms) ? x->min_ms : x->ms;
    const double most = isnan(best->ci_hi) ? best->ms : best->ci_hi;
    return least <= most * (1 + margin);
}

bool rank_may_be_best(const struct rank *r, const struct rank_case *x)
{
    return rank_is_near(r->best, x, 0) || x->ms <= r->best->ms * (1 + r->noise);
}
