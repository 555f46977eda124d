#define _GNU_SOURCE // mkdtemp
#include "program/duel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/utf8.h"
#include "program/first_look.h"
#include "run/interleave.h"
#include "run/record.h"

#define OWN_WORDS 8                     // of a command line beside those that are passed on
#define LIMIT_MS  (7 * 24 * 3600 * 1e3) // a process bounds itself; this only ends what hangs

static const char *const side_names[SIDES] = {"OLD", "NEW"};

static int place_files(struct duel *d)
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
        if (n >= (int)sizeof d->path[side]) return fail(ERR_OUTPUT, "%s: is too long a name", keep);
        // Empty, as all processes append; what is no file of records stays as it is.
        struct record_file empty;
        int err = record_open(&empty, d->path[side], false, 0);
        if (err == ERR_USAGE)
            return fail(err, "-keep %s: %s is there, and no file of records; it is left as it is",
                        keep, d->path[side]);
        if (!err) err = record_close(&empty);
        if (err) return err;
    }
    return OK;
}

void duel_close(struct duel *d)
{
    if (!d->folder[0]) return;
    for (int side = 0; side < SIDES; side++) unlink(d->path[side]);
    rmdir(d->folder);
    d->folder[0] = 0;
}

// What a process says before it ends with `status`, without the name that all begin with.
static const char *last_words(const char *text, char line[FAIL_TEXT_MAX])
{
    const char *from = strstr(text, "spbench: ");
    from = from ? from + strlen("spbench: ") : text;
    char whole[FAIL_TEXT_MAX];
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(from, "\n"), from);
    return utf8_visible(whole, line, FAIL_TEXT_MAX);
}

// Records say what became of the cases, unless the process had no time to write them.
static int note_end(struct duel *d, const struct turn *t, const char *text, int status)
{
    char line[FAIL_TEXT_MAX];
    const char *matrix = d->matrices[t->matrix], *side = side_names[t->side];
    last_words(text, line);
    if (status == 130) return fail(ERR_INTERRUPTED, "interrupted");
    if (status == 2) return fail(ERR_USAGE, "%s, %s: %s", side, d->program[t->side], line);
    if (status == 3 && !t->round && t->side == SIDE_NEW && !d->o->quiet)
        fprintf(stderr, "%s\n", line);
    if (status == 0 || status == 1 || status == 3) return OK;
    fprintf(stderr, "%s broke off on %s: it ended with %d%s%s\n", side, matrix, status,
            line[0] ? ": " : "", line);
    if (t->side == SIDE_NEW)
        snprintf(d->broken, sizeof d->broken, "its process broke off and ended with %d", status);
    return OK;
}

static int run_turn(struct duel *d, const struct turn *t, const char **argv)
{
    const struct options *o = d->o;
    int n = 0, status;
    char *text;
    argv[n++] = d->program[t->side];
    argv[n++] = "run";
    for (int i = 0; i < d->extra_count; i++) argv[n++] = d->extra[i];
    for (int i = 0; i < o->passed_count; i++) argv[n++] = o->passed[i];
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

static void tell_progress(const struct duel *d, const struct interleave *plan, int64_t done,
                          double begin_ms)
{
    int64_t all = interleave_count(plan), in_round = all / plan->rounds;
    double left_s = (clock_ms() - begin_ms) * 1e-3 * (double)(all - done) / (double)done;
    bool terminal = isatty(STDERR_FILENO);
    char name[33];
    if (d->o->quiet || (!terminal && done % in_round)) return;
    struct turn t = interleave_turn(plan, done - 1);
    if (terminal && done < all)
        fprintf(stderr, "\r\033[Kround %d of %d, %s on %s [%.0f%%, %.0f s left]", t.round + 1,
                plan->rounds, side_names[t.side],
                utf8_visible(d->matrices[t.matrix], name, sizeof name),
                100 * (double)done / (double)all, left_s);
    else if (terminal)
        fprintf(stderr, "\r\033[K");
    else
        fprintf(stderr, "round %d of %d done, %.0f s left\n", t.round + 1, plan->rounds, left_s);
}

// Before anything is measured: each process reads them again.
static int check_matrices(const struct duel *d)
{
    for (int i = 0; i < d->matrix_count; i++)
        if (!strcmp(d->matrices[i], "-"))
            return fail(ERR_USAGE, "-: what comes from stdin can be read once, and not by each "
                                   "process: give a file");
    return first_look(d->o, (const char *const *)d->matrices, d->matrix_count);
}

int duel_run(struct duel *d)
{
    struct interleave plan = {d->o->runs, d->matrix_count, SIDES};
    double begin_ms = clock_ms();
    const char **argv =
        mem_alloc(d->o->passed_count + d->extra_count + OWN_WORDS + 1, sizeof *argv);
    int err = argv ? check_matrices(d) : ERR_MEMORY;
    if (!err) err = place_files(d);
    for (int64_t i = 0; i < interleave_count(&plan) && !err; i++) {
        struct turn t = interleave_turn(&plan, i);
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : run_turn(d, &t, argv);
        if (!err) tell_progress(d, &plan, i + 1, begin_ms);
    }
    if (err && !d->o->quiet && isatty(STDERR_FILENO)) fprintf(stderr, "\r\033[K");
    mem_free(argv);
    return err;
}
