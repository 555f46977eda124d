// Gives each case a verdict.
//   slower, faster  corrected p under 2.5 %, and a change over the threshold
//   same            the interval lies within the threshold
//   unclear         neither, or throttled, or busy and not alternating, or guessed from one process
//                   a side
//   drifted?        slower or faster within drift, but OLD and NEW did not alternate
//
// In a history each file is a separate sitting. The spread of a history therefore includes drift.
//
// Throttled processes do not count. Busy processes do not count if enough calm ones are left:
// CALM_PAIRS pairs of alternating processes, or one process per side. If too few are left, all
// count. A busy pair then counts with the first decile of its samples, because other load only adds
// to a time. Measured on 2 cores with 5 waiting processes and runs of 1.5 ms: the spread of the
// ratio of pairs falls from 0.31 to 0.10, and from 0.23 to 0.09.
#include "compare/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct steadiness {
    double assumed; // spread between processes if each side has one process: the scale of t[2]
    double drift;   // largest change of a time between two sittings of a program
};
// GPU: the largest change of 100 cases on an H200 was 5.9 %, see compare_stats.h. CPU: the largest
// change within 30 s on two shared processors was 17 %.
static const struct steadiness steadiness_gpu = {0.0055, 0.06}, steadiness_cpu = {0.05, 0.2};

static const struct steadiness *steadiness_of(const struct compared *x)
{
    return strcmp(compared_any(x)->device, "cpu") ? &steadiness_gpu : &steadiness_cpu;
}

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICT_COUNT] = {
        [VERDICT_SLOWER] = "slower",     [VERDICT_FAILING] = "newly failing",
        [VERDICT_WRONG] = "newly wrong", [VERDICT_UNCLEAR] = "unclear",
        [VERDICT_MISSING] = "missing",   [VERDICT_FASTER] = "faster",
        [VERDICT_SAME] = "same",         [VERDICT_MENDED] = "mended",
        [VERDICT_ADDED] = "added",       [VERDICT_NO_TIME] = "no time",
        [VERDICT_DRIFTED] = "drifted?",  [VERDICT_UNCHECKED] = "unchecked",
    };
    return names[verdict];
}

static void judge(struct compared *x, enum verdict verdict, const char *format, ...)
    PRINTF_LIKE(3, 4);
static void judge(struct compared *x, enum verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    x->verdict = verdict;
    vsnprintf(x->why, sizeof x->why, format, args);
    va_end(args);
}

// Result of a case in a process, best first.
enum outcome_of { HAS_TIME, NOT_KNOWN, FAILS, IS_WRONG };

static enum outcome_of outcome_of(const struct observation *s)
{
    switch (s->status) {
    case STATUS_OK: return isnan(s->ms) ? NOT_KNOWN : HAS_TIME;
    case STATUS_WRONG: return IS_WRONG;
    case STATUS_SKIPPED:
    case STATUS_UNCHECKED: return NOT_KNOWN;
    default: return FAILS;
    }
}

// Returns the process with the worst result.
static const struct observation *worst_of(const struct compared *x, enum side side)
{
    const struct observation *worst = x->seen[side];
    for (int i = 1; i < x->count[side]; i++)
        if (outcome_of(&x->seen[side][i]) > outcome_of(worst)) worst = &x->seen[side][i];
    return worst;
}

// Writes the status and its reason: "failed: no such device".
static const char *status_text(const struct observation *s, char text[WHY_MAX])
{
    const char *reason = s->reason ? s->reason : s->status == STATUS_OK ? "without a time" : "";
    snprintf(text, WHY_MAX, "%s%s%.180s", status_name(s->status), reason[0] ? ": " : "", reason);
    return text;
}

static bool is_unchecked(const struct observation *s) { return s->status == STATUS_UNCHECKED; }

// Sets the verdict of a case if a process has no time. Returns false if all have.
static bool judge_outcome(struct compared *x)
{
    const struct observation *before = worst_of(x, SIDE_OLD), *now = worst_of(x, SIDE_NEW);
    enum outcome_of was = outcome_of(before), is = outcome_of(now);
    char text[WHY_MAX];
    if (was == HAS_TIME && is == HAS_TIME) return false;
    if (is == HAS_TIME && is_unchecked(before))
        judge(x, VERDICT_UNCHECKED, "OLD %s", status_text(before, text));
    else if (is == HAS_TIME)
        judge(x, VERDICT_MENDED, "was %s", status_text(before, text));
    else if (is == IS_WRONG && was != IS_WRONG)
        judge(x, VERDICT_WRONG, "%s", status_text(now, text));
    else if (is == FAILS && was < FAILS)
        judge(x, VERDICT_FAILING, "%s", status_text(now, text));
    else if (is_unchecked(now) && !is_unchecked(before))
        judge(x, VERDICT_UNCHECKED, "NEW %s", status_text(now, text));
    else if (is == NOT_KNOWN && was == HAS_TIME)
        judge(x, VERDICT_MISSING, "%s", status_text(now, text));
    else
        judge(x, VERDICT_NO_TIME, "%s", status_text(now, text));
    return true;
}

// Returns true if process i of either side began before process i + 1 of both sides.
static bool processes_alternate(const struct compared *x)
{
    const struct observation *a = x->seen[SIDE_OLD], *b = x->seen[SIDE_NEW];
    int n = x->count[SIDE_OLD];
    if (n != x->count[SIDE_NEW] || n < 2) return false;
    for (int i = 0; i < n; i++) {
        if (!a[i].when || !b[i].when) return false;
        if (i && max64(a[i - 1].when, b[i - 1].when) > min64(a[i].when, b[i].when)) return false;
    }
    return true;
}

#define CALM_PAIRS 8

// Returns true if the process was throttled, or the other process of its pair.
static bool is_throttled(const struct compared *x, enum side side, int i)
{
    return x->seen[side][i].throttled || (x->paired && x->seen[!side][i].throttled);
}

// Returns true if the process was busy, or the other process of its pair.
static bool is_busy(const struct compared *x, enum side side, int i)
{
    return x->seen[side][i].busy || (x->paired && x->seen[!side][i].busy);
}

static int count_calm(const struct compared *x, enum side side)
{
    int calm = 0;
    for (int i = 0; i < x->count[side]; i++)
        calm += !is_busy(x, side, i) && !is_throttled(x, side, i);
    return calm;
}

// Returns true if enough processes are calm to leave out the busy ones.
static bool is_calm(const struct compared *x)
{
    int least = x->paired ? CALM_PAIRS : 1;
    return count_calm(x, SIDE_OLD) >= least && count_calm(x, SIDE_NEW) >= least;
}

// Returns true if the i-th process of a side counts.
static bool counts(const struct compared *x, enum side side, int i, bool calm)
{
    return !is_throttled(x, side, i) && !(calm && is_busy(x, side, i));
}

// Returns true if a busy pair counts.
static bool uses_busy_pairs(const struct compared *x, bool calm)
{
    bool busy = false;
    for (int i = 0; i < x->count[SIDE_OLD] && x->paired; i++)
        busy |= is_busy(x, SIDE_OLD, i) && counts(x, SIDE_OLD, i, calm);
    return busy;
}

static int take_times(struct compared *x, enum side side, bool calm)
{
    double gflops = 0;
    x->y[side] = mem_alloc(x->count[side], sizeof *x->y[side]);
    x->process[side] = mem_alloc(x->count[side], sizeof *x->process[side]);
    double *spare = mem_alloc(x->count[side], sizeof *spare);
    if (!x->y[side] || !x->process[side] || !spare) {
        mem_free(spare);
        return ERR_MEMORY;
    }
    for (int i = 0; i < x->count[side]; i++) {
        const struct observation *s = &x->seen[side][i];
        x->throttled += s->throttled;
        x->busy += s->busy;
        if (!counts(x, side, i, calm)) continue;
        x->doubtful |= s->busy && !x->paired;
        gflops += s->gflops * s->ms;
        x->y[side][x->used[side]] = log(s->ms * (x->low ? s->low : 1));
        spare[x->used[side]] = x->y[side][x->used[side]];
        x->process[side][x->used[side]] = i;
        x->used[side]++;
    }
    if (x->used[side]) {
        double variance, dof;
        int n = x->used[side];
        x->ms[side] = exp(stats_location(spare, n, &variance, &dof));
        x->gflops[side] = gflops / n / x->ms[side]; // all processes of a case do the same work
    }
    mem_free(spare);
    return OK;
}

// Returns the variance of the shift due to errors within processes. First deciles have no known
// error: the intervals of processes are those of medians.
static double within_of(const struct compared *x, bool calm)
{
    double sum = 0;
    if (x->low) return 0;
    for (int side = 0; side < SIDES; side++) {
        double squares = 0;
        for (int i = 0; i < x->count[side]; i++) {
            const struct observation *s = &x->seen[side][i];
            if (counts(x, (enum side)side, i, calm)) squares += s->error * s->error;
        }
        sum += squares / x->used[side] / x->used[side];
    }
    return sum;
}

// Fills in the times of a case that both sides have. Sets the verdict if nothing can be estimated.
static int time_case(struct compared *x)
{
    x->paired = processes_alternate(x);
    bool calm = is_calm(x);
    int err = OK;
    x->low = uses_busy_pairs(x, calm);
    for (int side = 0; side < SIDES && !err; side++) err = take_times(x, (enum side)side, calm);
    if (err) return err;
    int n_old = x->used[SIDE_OLD], n_new = x->used[SIDE_NEW];
    x->e.within = n_old && n_new ? within_of(x, calm) : 0;
    if (!n_old || !n_new)
        judge(x, VERDICT_UNCLEAR, "throttled");
    else if (isnan(x->e.within) && (n_old == 1 || n_new == 1))
        judge(x, VERDICT_UNCLEAR, "too few samples for an interval");
    else
        x->timed = true;
    if (isnan(x->e.within)) x->e.within = 0;
    x->e.size_class = x->timed ? stats_class(x->ms[SIDE_OLD]) : 0;
    x->e.assumed = steadiness_of(x)->assumed;
    x->e.looks = x->paired ? stats_look_factor(x->count[SIDE_OLD]) : 1;
    return OK;
}

// Compares the processes of two cases in lexical order.
static int compare_processes(const struct compared *a, const struct compared *b)
{
    for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < a->count[side] && i < b->count[side]; i++) {
            int order = strcmp(a->seen[side][i].run, b->seen[side][i].run);
            if (order) return order;
        }
        if (a->count[side] != b->count[side]) return a->count[side] - b->count[side];
    }
    return 0;
}

// Returns true if the processes of a are the first ones of b. An alternating measurement continues
// with the unclear cases only.
static bool has_processes(const struct compared *b, const struct compared *a)
{
    for (int side = 0; side < SIDES; side++) {
        if (a->count[side] > b->count[side]) return false;
        for (int i = 0; i < a->count[side]; i++)
            if (strcmp(a->seen[side][i].run, b->seen[side][i].run)) return false;
    }
    return a->paired == b->paired;
}

static int by_processes(const void *x, const void *y)
{
    const struct compared *a = *(struct compared *const *)x, *b = *(struct compared *const *)y;
    int order = a->paired - b->paired;
    if (!order) order = compare_processes(a, b);
    return order ? order : (a > b) - (a < b);
}

// Collects the timed cases; cases with the same processes are neighbours. Returns their number.
static int64_t collect_timed(struct comparison *c, struct compared **sorted)
{
    int64_t n = 0;
    for (int64_t i = 0; i < c->count; i++)
        if (c->cases[i].timed) sorted[n++] = &c->cases[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_processes);
    return n;
}

static void set_times(struct times *t, const struct compared *x)
{
    *t = (struct times){.paired = x->paired};
    for (int side = 0; side < SIDES; side++) {
        t->y[side] = x->y[side];
        t->process[side] = x->process[side];
        t->n[side] = x->used[side];
    }
}

static int estimate(struct comparison *c)
{
    struct compared **sorted = mem_alloc(c->count, sizeof *sorted);
    struct estimate *list = mem_alloc(c->count, sizeof *list);
    struct times *times = mem_alloc(c->count, sizeof *times);
    int err = sorted && list && times ? OK : ERR_MEMORY, groups = 0;
    int64_t n = err ? 0 : collect_timed(c, sorted);
    for (int64_t i = 0; i < n; i++) list[i] = sorted[i]->e, set_times(&times[i], sorted[i]);
    for (int64_t i = 0, end; i < n && !err; i = end) {
        for (end = i + 1; end < n && has_processes(sorted[end], sorted[end - 1]);) end++;
        err = estimate_group(&list[i], &times[i], end - i, sorted[end - 1]->count, groups++);
    }
    if (!err && n) err = estimate_all(list, n);
    for (int64_t i = 0, end; i < n && !err; i = end) {
        for (end = i + 1; end < n && list[end].group == list[i].group;) end++;
        err = estimate_changed(&list[i], &times[i], end - i, sorted[end - 1]->count);
    }
    for (int64_t i = 0; i < n && !err; i++) sorted[i]->e = list[i];
    mem_free(times);
    mem_free(list);
    mem_free(sorted);
    return err;
}

// Returns true if the spread of a case does not include the drift of the machine.
static bool lacks_drift(const struct comparison *c, const struct compared *x)
{
    return !x->paired && !(c->rule.sittings && x->used[SIDE_OLD] > 1);
}

// Judges a case that changed by more than the threshold and chance.
static void judge_change(const struct comparison *c, struct compared *x)
{
    bool slower = x->e.shift > 0;
    double drift = steadiness_of(x)->drift;
    if (x->doubtful)
        judge(x, VERDICT_UNCLEAR, "busy");
    else if (x->e.guessed)
        judge(x, VERDICT_UNCLEAR, "perhaps %s", slower ? "slower" : "faster");
    else if (lacks_drift(c, x) && fabs(x->e.shift) <= log1p(drift))
        judge(x, VERDICT_DRIFTED, "not alternating, and machines drift by up to %.0f %%",
              100 * drift);
    else
        judge(x, slower ? VERDICT_SLOWER : VERDICT_FASTER, "%s",
              lacks_drift(c, x) ? "not alternating" : "");
}

static void judge_time(const struct comparison *c, struct compared *x, int64_t timed)
{
    const struct estimate *e = &x->e;
    double most = log1p(c->rule.threshold);
    bool over = fabs(e->shift) > most;
    if (over && e->p_of_all < STATS_LEVEL)
        judge_change(c, x);
    else if (e->lo > -most && e->hi < most)
        judge(x, VERDICT_SAME, "%s", "");
    else if (over && (e->lo > 0 || e->hi < 0))
        judge(x, VERDICT_UNCLEAR, "p = %.2g of %lld case%s", e->p_of_all, (long long)timed,
              timed == 1 ? "" : "s");
    else
        judge(x, VERDICT_UNCLEAR, "the interval is too wide");
}

static void judge_alone(struct comparison *c, struct compared *x)
{
    enum side has = x->count[SIDE_OLD] ? SIDE_OLD : SIDE_NEW, lacks = !has;
    enum verdict verdict = has == SIDE_OLD ? VERDICT_MISSING : VERDICT_ADDED;
    if (verdict == VERDICT_MISSING && outcome_of(worst_of(x, SIDE_OLD)) != HAS_TIME) {
        judge(x, VERDICT_NO_TIME, "NEW lacks the case, too");
        return;
    }
    for (int64_t i = 0; i < c->count; i++) {
        const struct compared *y = &c->cases[i];
        char text[WHY_MAX];
        if (y->count[has] || !compared_differ(x->seen[has], y->seen[lacks], text)) continue;
        judge(x, verdict, "%s has the case %s", lacks == SIDE_OLD ? "OLD" : "NEW", text);
        return;
    }
    if (verdict == VERDICT_MISSING && c->rule.broken)
        judge(x, VERDICT_FAILING, "%s", c->rule.broken);
    else
        judge(x, verdict, "%s", "");
}

int comparison_judge(struct comparison *c, const struct compare_rule *rule)
{
    int err = OK;
    int64_t timed = 0;
    c->rule = *rule;
    for (int64_t i = 0; i < c->count && !err; i++) {
        struct compared *x = &c->cases[i];
        if (!x->count[SIDE_OLD] || !x->count[SIDE_NEW])
            judge_alone(c, x);
        else if (!judge_outcome(x))
            err = time_case(x);
    }
    for (int64_t i = 0; i < c->count; i++) timed += c->cases[i].timed;
    if (!err) err = estimate(c);
    for (int64_t i = 0; i < c->count && !err; i++)
        if (c->cases[i].timed) judge_time(c, &c->cases[i], timed);
    return err ? err : comparison_sum(c);
}
