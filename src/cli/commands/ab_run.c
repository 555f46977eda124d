#define _GNU_SOURCE // mkdtemp
#include "cli/commands/ab_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/utf8.h"
#include "cli/matrices/matrix_check.h"
#include "base/terminal.h"
#include "data/load.h"
#include "records/record.h"

#define OWN_WORDS  10 // words of a command line besides the passed ones
#define ROUNDS_MIN 2  // a single process a side shows no spread
// Time limit of a case in a process, without -time-limit and -reps. Processes differ more than the
// samples within a process. Many short processes therefore find more. Measured on 2 shared cores
// with a slowdown of 10 %:
//   20 processes of 0.1 s found 7 of 8
//    6 processes of 2 s   found 4 of 10, in twice the time
#define SECONDS   "0.1"
#define BUDGET_MS 300e3                 // without -runs and -budget
#define LIMIT_MS  (7 * 24 * 3600 * 1e3) // backstop for a process that hangs

static bool has_word(const char *list, const char *word)
{
    char item[WORD_MAX];
    bool has = false;
    while (words_next(&list, item) > 0) has |= !strcmp(item, word);
    return has;
}

// Returns true if one of the algorithms has the option, on any device.
static bool have_option(const struct narrowed *n, const char *option)
{
    bool have = false;
    for (int i = 0; i < algo_count; i++)
        if (!strcmp(algos[i].op->name, n->op) && has_word(n->algs, algos[i].name))
            have |= algo_option_find(algos[i].algo, option) >= 0;
    return have;
}

// Adds a word to a list. Returns false if the list is full.
static bool add(char list[512], const char *word)
{
    bool fits = strlen(list) + strlen(word) + 2 <= 512 && strlen(word) < WORD_MAX;
    if (fits) words_add(list, 512, ",", word);
    return fits;
}

bool narrow_cases(struct narrowed *n, const struct options *o, const struct comparison *all,
                  const char *matrix)
{
    bool unclear = false, fits = true;
    *n = (struct narrowed){.op = ""};
    for (int64_t i = 0; i < all->count; i++) {
        const struct observation *s = compared_any(&all->cases[i]);
        if (all->cases[i].verdict != VERDICT_UNCLEAR || strcmp(s->matrix, matrix)) continue;
        unclear = true;
        snprintf(n->op, sizeof n->op, "%.*s", (int)strcspn(s->key, " "), s->key);
        if (!has_word(n->algs, s->alg)) fits &= add(n->algs, s->alg);
    }
    for (int i = 0; i < o->opt_count; i++) {
        char word[WORD_MAX + 32];
        snprintf(word, sizeof word, "%s=%.10g", o->opts[i].name, o->opts[i].value);
        if (have_option(n, o->opts[i].name)) fits &= add(n->opts, word);
    }
    if (!fits) n->algs[0] = 0;
    return unclear;
}

// Returns true if the word is -op, -alg or -opt, with one dash or two, with or without a value.
static bool is_narrowed(const char *word)
{
    size_t length = strcspn(word, "=");
    while (*word == '-') word++, length--;
    return (length == 2 && !strncmp(word, "op", 2)) || (length == 3 && !strncmp(word, "alg", 3)) ||
           (length == 3 && !strncmp(word, "opt", 3));
}

int narrow_words(const struct narrowed *n, const struct options *o, const char **argv)
{
    int count = 0;
    for (int i = 0; i < o->passed_count; i++) {
        const char *word = o->passed[i];
        if (n->algs[0] && word[0] == '-' && is_narrowed(word))
            i += !strchr(word, '='); // the value is the next word
        else
            argv[count++] = word;
    }
    if (!n->algs[0]) return count;
    argv[count++] = "-op", argv[count++] = n->op;
    argv[count++] = "-alg", argv[count++] = n->algs;
    if (n->opts[0]) argv[count++] = "-opt", argv[count++] = n->opts;
    return count;
}

struct ab_step ab_order_step(const struct ab_order *s, int64_t i)
{
    struct ab_step t;
    int64_t in_round = (int64_t)s->matrices * s->sides;
    t.round = (int)(i / in_round);
    t.matrix = (int)((i % in_round / s->sides + t.round) % s->matrices);
    t.side = (int)((i % s->sides + t.matrix + t.round) % s->sides);
    return t;
}

static const char *const side_names[SIDES] = {"OLD", "NEW"};

static int place_files(struct ab_run *run)
{
    static const char *const ends[SIDES] = {"old.jsonl", "new.jsonl"};
    const char *tmp = getenv("TMPDIR"), *keep = run->o->compare.keep;
    if (!keep) {
        snprintf(run->folder, sizeof run->folder, "%s/spbench.XXXXXX", tmp && *tmp ? tmp : "/tmp");
        if (!mkdtemp(run->folder)) {
            int err =
                fail(ERR_OUTPUT, "%s: no folder for records: %s", run->folder, strerror(errno));
            run->folder[0] = 0;
            return err;
        }
    }
    for (int side = 0; side < SIDES; side++) {
        int n = snprintf(run->path[side], sizeof run->path[side], "%s%s%s",
                         keep ? keep : run->folder, keep ? "." : "/", ends[side]);
        if (n >= (int)sizeof run->path[side])
            return fail(ERR_OUTPUT, "%s: the name is too long", keep ? keep : run->folder);
        // Processes append, so the file is emptied first. Only a file of records is replaced.
        struct record_file empty;
        int err = record_open(&empty, run->path[side], false, 0);
        if (err == ERR_USAGE) {
            fail_drop();
            return fail(err, "-keep %s: %s exists and is not a record file; not overwritten", keep,
                        run->path[side]);
        }
        if (!err) err = record_close(&empty);
        if (err) return err;
    }
    return OK;
}

void ab_run_close(struct ab_run *run)
{
    if (!run->folder[0]) return;
    for (int side = 0; side < SIDES; side++) unlink(run->path[side]);
    rmdir(run->folder);
    run->folder[0] = 0;
}

// Returns the first message of a process, without the "spbench: " in front.
static const char *first_message(const char *text, char line[FAIL_TEXT_MAX])
{
    const char *from = strstr(text, "spbench: ");
    from = from ? from + strlen("spbench: ") : text;
    char whole[FAIL_TEXT_MAX];
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(from, "\n"), from);
    return utf8_visible(whole, line, FAIL_TEXT_MAX);
}

// Reports how a process ended. Failures of cases are in its records.
static int handle_exit(struct ab_run *run, const struct ab_step *step, const char *text, int status)
{
    char line[FAIL_TEXT_MAX];
    const char *matrix = run->matrices[step->matrix], *side = side_names[step->side];
    first_message(text, line);
    if (status == 130) return fail(ERR_INTERRUPTED, "interrupted");
    if (status == 2) return fail(ERR_USAGE, "%s, %s: %s", side, run->program[step->side], line);
    if (status == 3 && !step->round && step->side == SIDE_NEW && !run->o->quiet)
        fprintf(stderr, "%s\n", line);
    if (status == 0 || status == 1 || status == 3) return OK;
    fprintf(stderr, "%s failed on %s with exit status %d%s%s\n", side, matrix, status,
            line[0] ? ": " : "", line);
    if (step->side == SIDE_NEW)
        snprintf(run->broken, sizeof run->broken, "its process failed with exit status %d", status);
    return OK;
}

static int run_process(struct ab_run *run, const struct ab_step *step, const struct narrowed *cases,
                       const char **argv)
{
    const struct options *o = run->o;
    int n = 0, status;
    char *text;
    argv[n++] = run->program[step->side];
    argv[n++] = "run";
    n += narrow_words(cases, o, argv + n);
    bool limited = o->rule.reps || o->rule.limit_ms == o->rule.most_ms;
    if (!limited) argv[n++] = "-time-limit", argv[n++] = SECONDS;
    argv[n++] = "-q";
    argv[n++] = "-o";
    argv[n++] = run->path[step->side];
    argv[n++] = "-append";
    argv[n++] = "--";
    argv[n++] = run->matrices[step->matrix];
    argv[n] = NULL;
    int err = child_run((char *const *)argv, LIMIT_MS, &text, &status);
    if (err) return err;
    err = handle_exit(run, step, text, status);
    mem_free(text);
    return err;
}

// State of a measurement.
struct ab_state {
    struct active {
        int matrix; // index into run->matrices
        struct narrowed cases;
    } * active; // matrices that are still measured, size count
    int count;
    double begin_ms, budget_ms;
    bool spent; // the budget is used up
};

static double spent_s(const struct ab_state *state)
{
    return (clock_ms() - state->begin_ms) * 1e-3;
}

static void print_progress(const struct ab_run *run, const struct ab_state *state,
                           const struct ab_order *plan, int64_t done)
{
    int64_t all = ab_order_count(plan), in_round = all / plan->rounds;
    double left_s = spent_s(state) * (double)(all - done) / (double)done;
    bool terminal = terminal_can_erase(), fixed = run->o->runs;
    char name[33], time[64];
    if (run->o->quiet || (!terminal && (done % in_round || !fixed))) return;
    struct ab_step step = ab_order_step(plan, done - 1);
    if (fixed)
        snprintf(time, sizeof time, "%.0f s left", left_s);
    else
        snprintf(time, sizeof time, "%.0f of %.0f s", spent_s(state), state->budget_ms * 1e-3);
    if (terminal && done < all)
        fprintf(stderr, TERMINAL_ERASE "round %d of %d, %s on %s [%s]", step.round + 1,
                plan->rounds, side_names[step.side],
                utf8_visible(run->matrices[state->active[step.matrix].matrix], name, sizeof name),
                time);
    else if (terminal)
        fprintf(stderr, TERMINAL_ERASE);
    else
        fprintf(stderr, "round %d of %d done, %s\n", step.round + 1, plan->rounds, time);
}

// Opens all matrices before the first measurement. Each process reads its matrix again.
static int check_matrices(const struct ab_run *run)
{
    for (int i = 0; i < run->matrix_count; i++)
        if (!strcmp(run->matrices[i], "-"))
            return fail(ERR_USAGE, "-: stdin can be read only once: give a file");
    return matrix_check_files(run->o, (const char *const *)run->matrices, run->matrix_count);
}

// Measures rounds `from` to `to` - 1. Each matrix has at least ROUNDS_MIN rounds, whatever the
// budget.
static int measure(struct ab_run *run, struct ab_state *state, int from, int to, const char **argv)
{
    struct ab_order plan = {to, state->count, SIDES};
    int64_t in_round = (int64_t)state->count * SIDES;
    int err = OK;
    for (int64_t i = from * in_round; i < ab_order_count(&plan) && !err; i++) {
        struct ab_step step = ab_order_step(&plan, i);
        bool pair_begins = i % SIDES == 0;
        state->spent = state->budget_ms > 0 && spent_s(state) * 1e3 >= state->budget_ms;
        if (state->spent && pair_begins && step.round >= ROUNDS_MIN) break;
        const struct active *a = &state->active[step.matrix];
        step.matrix = a->matrix;
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted")
                          : run_process(run, &step, &a->cases, argv);
        if (!err) print_progress(run, state, &plan, i + 1);
    }
    if (!run->o->quiet && terminal_can_erase()) fprintf(stderr, TERMINAL_ERASE);
    return err;
}

// Judges all cases. Leaves in state->active the algorithms with an unclear case, matrix by matrix.
static int judge_cases(struct ab_run *run, struct ab_state *state, const struct compare_rule *rule,
                       int rounds)
{
    struct comparison all;
    int active = 0, err = comparison_files(&all, run->path[SIDE_OLD], run->path[SIDE_NEW], rule);
    for (int i = 0; i < state->count && !err; i++) {
        struct matrix M;
        char name[CASE_KEY_MAX];
        err = matrix_name(run->matrices[state->active[i].matrix], &M);
        if (err) break;
        snprintf(name, sizeof name, "%s", M.name);
        matrix_free(&M);
        state->active[active].matrix = state->active[i].matrix;
        active += narrow_cases(&state->active[active].cases, run->o, &all, name);
    }
    if (!err) {
        state->count = active;
        char when[32] = "budget spent";
        if (!state->spent) snprintf(when, sizeof when, "%d rounds", rounds);
        if (!run->o->quiet)
            fprintf(stderr, "%s: %lld of %lld cases unclear, %.0f of %.0f s\n", when,
                    (long long)all.sum.of[VERDICT_UNCLEAR], (long long)all.count, spent_s(state),
                    state->budget_ms * 1e-3);
    }
    comparison_free(&all);
    return err;
}

static int run_looks(struct ab_run *run, struct ab_state *state, const struct compare_rule *rule,
                     const char **argv)
{
    int runs = run->o->runs, from = 0, err = OK;
    for (int i = 0; i < run->matrix_count; i++)
        state->active[state->count++] = (struct active){.matrix = i};
    if (runs) return measure(run, state, 0, runs, argv);
    for (int l = 0; l < STATS_LOOKS && state->count && !state->spent && !err; l++) {
        int to = stats_look_pairs(l);
        err = measure(run, state, from, to, argv);
        if (!err) err = judge_cases(run, state, rule, to);
        from = to;
    }
    return err;
}

int ab_run_measure(struct ab_run *run, const struct compare_rule *rule)
{
    struct ab_state state = {.begin_ms = clock_ms(), .budget_ms = run->o->budget_ms};
    if (!run->o->runs && state.budget_ms <= 0) state.budget_ms = BUDGET_MS;
    const char **argv =
        mem_alloc(run->o->passed_count + NARROW_WORDS + OWN_WORDS + 1, sizeof *argv);
    state.active = mem_alloc(run->matrix_count, sizeof *state.active);
    int err = argv && state.active ? check_matrices(run) : ERR_MEMORY;
    if (!err) err = place_files(run);
    if (!err) err = run_looks(run, &state, rule, argv);
    mem_free(argv);
    mem_free(state.active);
    return err;
}
