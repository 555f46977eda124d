#include "cli/commands/conform_rows.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "worker/worker_conform.h"

#define LOOK_MS     100 // longest time until Ctrl-C is seen
#define CRASHES_MAX 3   // exact cases that may end the process; the others are then left out

// A row whose workers run.
struct follow {
    struct conform_row *row;
    int part;       // part of the last case; -1: none
    int crashes;    // exact cases that have ended a process
    int64_t exact;  // exact cases that have ended
    bool runs_case; // between the lines testing and tested
    long long size; // of the input of that case
    char input[FAIL_TEXT_MAX];
    double begin_ms; // of the case, or of the worker
    enum { WORKER_CONFORMS, NEEDS_WORKER, ROW_DONE } state;
};

const char *conform_part_name(int i) { return i ? traps[i - 1].name : CONFORM_EXACT; }

const char *conform_word(const struct conform_row *row, int i)
{
    static const char *const words[EXACT_RESULTS] = {
        [EXACT_NONE] = "-",    [EXACT_UNSUPPORTED] = "unsup.", [EXACT_SKIPPED] = "skipped",
        [EXACT_RIGHT] = "ok",  [EXACT_FAILED] = "failed",      [EXACT_WRONG] = "WRONG",
        [EXACT_HUNG] = "hang", [EXACT_CRASHED] = "crash",
    };
    const enum exact_result result = row->parts[i].result;
    return result == EXACT_LACKING ? traps[i - 1].lacking : words[result];
}

bool conform_is_bad(const struct conform_row *row)
{
    for (int i = 0; i <= trap_count; i++) {
        const enum exact_result result = row->parts[i].result;
        if (result >= EXACT_FAILED || (result == EXACT_LACKING && traps[i - 1].promised))
            return true;
    }
    return false;
}

static int part_find(const char *name)
{
    int i = 0;
    while (i <= trap_count && strcmp(conform_part_name(i), name)) i++;
    return i <= trap_count ? i : -1;
}

// Records the result of the current case. Among equal results the smallest input is kept.
static void end_case(struct follow *f, enum exact_result result, const char *why)
{
    struct conform_part *p = &f->row->parts[f->part];
    if (!f->part) f->row->count[result]++, f->exact++;
    f->runs_case = false;
    if (result < p->result || (result == p->result && f->size >= p->size)) return;
    p->result = result;
    p->size = f->size;
    snprintf(p->input, sizeof p->input, "%s", f->input);
    snprintf(p->why, sizeof p->why, "%s", why);
}

// Takes an end of the process, or of its device, that is no fault of the parent.
static void end_worker(struct follow *f, enum exact_result result, const char *why)
{
    if (f->runs_case) {
        end_case(f, result, why);
        f->state = NEEDS_WORKER;
    } else {
        f->part = 0;
        f->size = 0;
        snprintf(f->input, sizeof f->input, "no case was running");
        end_case(f, result, why);
        f->state = ROW_DONE;
    }
}

static int take_testing(struct follow *f, const char *rest)
{
    char name[32];
    int used = 0;
    if (sscanf(rest, "%31s %lld %n", name, &f->size, &used) != 2 || part_find(name) < 0)
        return fail(ERR_DEVICE, "a worker sent a bad line: testing %s", rest);
    f->part = part_find(name);
    snprintf(f->input, sizeof f->input, "%s", rest + used);
    f->runs_case = true;
    f->begin_ms = clock_ms();
    return OK;
}

static int take_tested(struct follow *f, const char *rest)
{
    int result, used = 0;
    if (!f->runs_case || sscanf(rest, "%d %n", &result, &used) != 1 || result < 0 ||
        result >= EXACT_RESULTS)
        return fail(ERR_DEVICE, "a worker says: tested %s", rest);
    end_case(f, (enum exact_result)result, rest + used);
    f->begin_ms = clock_ms();
    return OK;
}

static int take_error(struct follow *f, const char *rest)
{
    const char *text;
    enum err code = protocol_error(rest, &text);
    if (code == ERR_USAGE || code == ERR_INTERRUPTED) return fail(code, "%s", text);
    if (f->part >= 0)
        return end_worker(f, code == ERR_MEMORY ? EXACT_SKIPPED : EXACT_CRASHED, text), OK;
    snprintf(f->row->skipped, sizeof f->row->skipped, "%s", text);
    f->state = ROW_DONE;
    return OK;
}

static int take_line(struct follow *f, const char *line)
{
    const char *rest;
    switch (protocol_parse(line, &rest)) {
    case LINE_SKIPPED: return snprintf(f->row->skipped, sizeof f->row->skipped, "%s", rest), OK;
    case LINE_LIBRARY: return snprintf(f->row->library, sizeof f->row->library, "%s", rest), OK;
    case LINE_TESTING: return take_testing(f, rest);
    case LINE_TESTED: return take_tested(f, rest);
    case LINE_AGAIN: return f->state = NEEDS_WORKER, OK;
    case LINE_DONE: return f->state = ROW_DONE, OK;
    case LINE_ERROR: return take_error(f, rest);
    default: return OK;
    }
}

static int take_lines(struct follow *f, struct worker *w)
{
    int err = worker_read(w);
    for (char *line; !err && f->state == WORKER_CONFORMS && (line = worker_line(w));)
        err = take_line(f, line);
    return err;
}

// Follows a worker to its end, or until another worker is needed.
static int follow_worker(struct follow *f, struct worker *w, double timeout_ms)
{
    int err = OK, state;
    char why[FAIL_TEXT_MAX];
    f->begin_ms = clock_ms();
    f->state = WORKER_CONFORMS;
    while (!err && f->state == WORKER_CONFORMS) {
        struct pollfd look[2] = {{w->channel, POLLIN, 0}, {w->talk, POLLIN, 0}};
        poll(look, 2, w->channel < 0 ? 10 : LOOK_MS);
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted") : take_lines(f, w);
        if (err || f->state != WORKER_CONFORMS) break;
        if (clock_ms() - f->begin_ms > timeout_ms) {
            snprintf(why, sizeof why, "took over %g s (-timeout)", timeout_ms * 1e-3);
            end_worker(f, EXACT_HUNG, why);
        } else if (w->channel < 0 && worker_over(w, &state)) {
            end_worker(f, EXACT_CRASHED, worker_end_text(w, state, why));
        }
    }
    return err;
}

// Lists the parts that the next worker leaves out: those before the last case, and its own, unless
// further exact cases may run.
static int list_finished(struct follow *f, struct texts *without)
{
    int err = OK;
    texts_free(without);
    if (f->part < 0) return OK;
    const bool goes_on = !f->part && ++f->crashes < CRASHES_MAX;
    for (int i = 0; i < f->part + !goes_on && !err; i++)
        err = texts_add(without, conform_part_name(i));
    return err;
}

int conform_run(const struct worker_config *config, double timeout_ms, struct conform_row *row)
{
    char name[CONFORM_NAME_MAX];
    struct texts without = {0};
    struct follow f = {.row = row, .part = -1, .state = NEEDS_WORKER};
    worker_conform_name(row->entry, name);
    int err = OK;
    while (!err && f.state == NEEDS_WORKER) {
        const struct worker_args args = {.conform = name,
                                         .skip = f.exact,
                                         .library = row->preload ? row->file : NULL,
                                         .setting = row->setting,
                                         .run = "",
                                         .without = without};
        struct worker w;
        err = worker_config_start(config, &args, &w);
        if (!err) err = follow_worker(&f, &w, timeout_ms);
        worker_free(&w);
        if (!err && f.state == NEEDS_WORKER) err = list_finished(&f, &without);
    }
    texts_free(&without);
    return err;
}
