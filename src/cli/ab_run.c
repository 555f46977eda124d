#define _GNU_SOURCE // mkdtemp
#include "cli/ab_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/utf8.h"
#include "cli/ab_narrow.h"
#include "cli/first_look.h"
#include "compare/ab_order.h"
#include "data/load.h"
#include "records/record.h"

#define OWN_WORDS  10 // words of a command line besides the passed ones
#define ROUNDS_MIN 2  // a single process a side shows no spread
// Time limit of a case in a process, if no option ends its timing. Processes differ more than the
// samples within them, so many short processes find more. 2 shared cores, a slowdown of 10 %:
//   20 processes of 0.1 s found 7 of 8
//    6 processes of 2 s   found 4 of 10, in twice the time
#define SECONDS   "0.1"
#define BUDGET_MS 300e3                 // without -runs and -budget
#define LIMIT_MS  (7 * 24 * 3600 * 1e3) // backstop for a process that hangs

static const char *const side_names[SIDES] = {"OLD", "NEW"};

static int place_files(struct ab_run *d)
{
    static const char *const ends[SIDES] = {"old.jsonl", "new.jsonl"};
    const char *tmp = getenv("TMPDIR"), *keep = d->o->keep;
    if (!keep) {
        snprintf(d->folder, sizeof d->folder, "%s/spbench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(d->folder)) {
            int err = fail(ERR_OUTPUT, "%s: no folder for records: %s", d->folder, strerror(errno));
            d->folder[0] = 0;
            return err;
        }
    }
    for (int side = 0; side < SIDES; side++) {
        int n = snprintf(d->path[side], sizeof d->path[side], "%s%s%s", keep ? keep : d->folder,
                         keep ? "." : "/", ends[side]);
        if (n >= (int)sizeof d->path[side])
            return fail(ERR_OUTPUT, "%s: the name is too long", keep ? keep : d->folder);
        // The file begins empty, as all processes append. A file of anything else is left as it is.
        struct record_file empty;
        int err = record_open(&empty, d->path[side], false, 0);
        if (err == ERR_USAGE)
            return fail(err, "-keep %s: %s exists and is no file of records", keep, d->path[side]);
        if (!err) err = record_close(&empty);
        if (err) return err;
    }
    return OK;
}

void ab_run_close(struct ab_run *d)
{
    if (!d->folder[0]) return;
    for (int side = 0; side < SIDES; side++) unlink(d->path[side]);
    rmdir(d->folder);
    d->folder[0] = 0;
}

// Returns the first message of a process, without the "spbench: " in front.
static const char *last_words(const char *text, char line[FAIL_TEXT_MAX])
{
    const char *from = strstr(text, "spbench: ");
    from = from ? from + strlen("spbench: ") : text;
    char whole[FAIL_TEXT_MAX];
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(from, "\n"), from);
    return utf8_visible(whole, line, FAIL_TEXT_MAX);
}

// Reports how a process ended. Failures of cases are in its records.
static int note_end(struct ab_run *d, const struct turn *t, const char *text, int status)
{
    char line[FAIL_TEXT_MAX];
    const char *matrix = d->matrices[t->matrix], *side = side_names[t->side];
    last_words(text, line);
    if (status == 130) return fail(ERR_INTERRUPTED, "interrupted");
    if (status == 2) return fail(ERR_USAGE, "%s, %s: %s", side, d->program[t->side], line);
    if (status == 3 && !t->round && t->side == SIDE_NEW && !d->o->quiet)
        fprintf(stderr, "%s\n", line);
    if (status == 0 || status == 1 || status == 3) return OK;
    fprintf(stderr, "%s failed on %s with exit status %d%s%s\n", side, matrix, status,
            line[0] ? ": " : "", line);
    if (t->side == SIDE_NEW)
        snprintf(d->broken, sizeof d->broken, "its process failed with exit status %d", status);
    return OK;
}

static int run_turn(struct ab_run *d, const struct turn *t, const struct narrowed *cases,
                    const char **argv)
{
    const struct options *o = d->o;
    int n = 0, status;
    char *text;
    argv[n++] = d->program[t->side];
    argv[n++] = "run";
    n += narrow_words(cases, o, argv + n);
    bool limited = o->rule.reps || o->rule.limit_ms == o->rule.most_ms;
    if (!limited) argv[n++] = "-time-limit", argv[n++] = SECONDS;
    argv[n++] = "-q";
    argv[n++] = "-o";
    argv[n++] = d->path[t->side];
    argv[n++] = "-append";
    argv[n++] = "--";
    argv[n++] = d->matrices[t->matrix];
    argv[n] = NULL;
    int err = child_run((char *const *)argv, LIMIT_MS, &text, &status);
    if (err) return err;
    err = note_end(d, t, text, status);
    mem_free(text);
    return err;
}

// State of a measurement.
struct course {
    struct active {
        int matrix; // index into duel.matrices
        struct narrowed cases;
    } * active; // matrices that are still measured, size count
    int count;
    double begin_ms, budget_ms;
    bool spent; // the budget is used up
};

static double spent_s(const struct course *c) { return (clock_ms() - c->begin_ms) * 1e-3; }

static void tell_progress(const struct ab_run *d, const struct course *c,
                          const struct ab_order *plan, int64_t done)
{
    int64_t all = ab_order_count(plan), in_round = all / plan->rounds;
    double left_s = spent_s(c) * (double)(all - done) / (double)done;
    bool terminal = isatty(STDERR_FILENO), fixed = d->o->runs;
    char name[33], time[64];
    if (d->o->quiet || (!terminal && (done % in_round || !fixed))) return;
    struct turn t = ab_order_turn(plan, done - 1);
    if (fixed)
        snprintf(time, sizeof time, "%.0f s left", left_s);
    else
        snprintf(time, sizeof time, "%.0f of %.0f s", spent_s(c), c->budget_ms * 1e-3);
    if (terminal && done < all)
        fprintf(stderr, "\r\033[Kround %d of %d, %s on %s [%s]", t.round + 1, plan->rounds,
                side_names[t.side],
                utf8_visible(d->matrices[c->active[t.matrix].matrix], name, sizeof name), time);
    else if (terminal)
        fprintf(stderr, "\r\033[K");
    else
        fprintf(stderr, "round %d of %d done, %s\n", t.round + 1, plan->rounds, time);
}

// Opens all matrices before the first measurement. Each process reads its matrix again.
static int check_matrices(const struct ab_run *d)
{
    for (int i = 0; i < d->matrix_count; i++)
        if (!strcmp(d->matrices[i], "-"))
            return fail(ERR_USAGE, "-: stdin can be read only once: give a file");
    return first_look(d->o, (const char *const *)d->matrices, d->matrix_count);
}

// Measures rounds `from` to `to` - 1. Each matrix has at least ROUNDS_MIN rounds, whatever the
// budget.
static int measure(struct ab_run *d, struct course *c, int from, int to, const char **argv)
{
    struct ab_order plan = {to, c->count, SIDES};
    int64_t in_round = (int64_t)c->count * SIDES;
    int err = OK;
    for (int64_t i = from * in_round; i < ab_order_count(&plan) && !err; i++) {
        struct turn t = ab_order_turn(&plan, i);
        bool pair_begins = i % SIDES == 0;
        c->spent = c->budget_ms > 0 && spent_s(c) * 1e3 >= c->budget_ms;
        if (c->spent && pair_begins && t.round >= ROUNDS_MIN) break;
        const struct active *a = &c->active[t.matrix];
        t.matrix = a->matrix;
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : run_turn(d, &t, &a->cases, argv);
        if (!err) tell_progress(d, c, &plan, i + 1);
    }
    if (!d->o->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
    return err;
}

// Judges all cases. Leaves in c->active the algorithms with an unclear case, matrix by matrix.
static int look(struct ab_run *d, struct course *c, const struct compare_rule *rule, int rounds)
{
    struct comparison all;
    int active = 0, err = comparison_files(&all, d->path[SIDE_OLD], d->path[SIDE_NEW], rule);
    for (int i = 0; i < c->count && !err; i++) {
        struct matrix M;
        char name[CASE_KEY_MAX];
        err = matrix_name(d->matrices[c->active[i].matrix], &M);
        if (err) break;
        snprintf(name, sizeof name, "%s", M.name);
        utf8_clean(name); // as records have it
        matrix_free(&M);
        c->active[active].matrix = c->active[i].matrix;
        active += narrow_cases(&c->active[active].cases, d->o, &all, name);
    }
    if (!err) {
        c->count = active;
        char when[32] = "budget spent";
        if (!c->spent) snprintf(when, sizeof when, "%d rounds", rounds);
        if (!d->o->quiet)
            fprintf(stderr, "%s: %lld of %lld cases unclear, %.0f of %.0f s\n", when,
                    (long long)all.sum.of[VERDICT_UNCLEAR], (long long)all.count, spent_s(c),
                    c->budget_ms * 1e-3);
    }
    comparison_free(&all);
    return err;
}

static int run_course(struct ab_run *d, struct course *c, const struct compare_rule *rule,
                      const char **argv)
{
    int runs = d->o->runs, from = 0, err = OK;
    for (int i = 0; i < d->matrix_count; i++) c->active[c->count++] = (struct active){.matrix = i};
    if (runs) return measure(d, c, 0, runs, argv);
    for (int l = 0; l < STATS_LOOKS && c->count && !c->spent && !err; l++) {
        int to = stats_look_pairs(l);
        err = measure(d, c, from, to, argv);
        if (!err) err = look(d, c, rule, to);
        from = to;
    }
    return err;
}

int ab_run_measure(struct ab_run *d, const struct compare_rule *rule)
{
    struct course c = {.begin_ms = clock_ms(), .budget_ms = d->o->budget_ms};
    if (!d->o->runs && c.budget_ms <= 0) c.budget_ms = BUDGET_MS;
    const char **argv = mem_alloc(d->o->passed_count + NARROW_WORDS + OWN_WORDS + 1, sizeof *argv);
    c.active = mem_alloc(d->matrix_count, sizeof *c.active);
    int err = argv && c.active ? check_matrices(d) : ERR_MEMORY;
    if (!err) err = place_files(d);
    if (!err) err = run_course(d, &c, rule, argv);
    mem_free(argv);
    mem_free(c.active);
    return err;
}
