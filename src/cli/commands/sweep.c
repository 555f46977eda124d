// spbench sweep and run: finds matrices, devices and cases, and runs the sweep (sweep/sweep.h).
// This process opens no device: workers survey the devices. `run` is a sweep that is not resumed
// and prints the table of each matrix.
#include "cli/commands/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/matrices/matrix_list.h"
#include "cli/commands/progress.h"
#include "report/details.h"
#include "report/summary_print.h"
#include "report/view.h"
#include "base/terminal.h"
#include "sweep/cpu_split.h"
#include "sweep/worker_devices.h"

#define ANY_RUN "0000000000000000" // run id for surveys, which write no records

struct whole {
    const struct options *o;
    struct matrix_list list;
    struct worker_devices devices;
    struct worker_config config;
    bool once; // run: tables are printed, nothing is resumed
    char device[16], settings[WORKER_DEVICES_MAX][WORKER_DEVICES_TEXT],
        names[WORKER_DEVICES_MAX][16];
    char id[16], model[128]; // id and name of the device
    struct slot_config slots[WORKER_DEVICES_MAX];
    struct cpu_split cpus;
    struct sweep_pass pass[1 + LIBRARIES_MAX];
    struct texts libraries; // files of -cusparse
    struct resume resume;
    int lock; // descriptor that holds the lock of the file; -1: none
    struct record_file out;
    struct worker first; // run: the worker that has made the survey
    struct sweep sweep;
    struct progress progress;
    struct report_view view; // run: the records of this process
    bool headed;             // the first lines are printed
    bool *printed;           // by matrix: its table is printed
    int view_err;            // error of a table
};

// Takes the options of the workers from the command line.
static void take_words(struct whole *c, const struct request *q)
{
    struct options *o = (struct options *)q->o;
    c->config.words = (char *const *)o->passed;
    c->config.word_count = o->passed_count;
    c->config.plugins = (struct texts){(const char **)o->plugin_texts, o->plugin_count};
    c->config.command = (struct texts){(const char **)q->argv, q->argc};
    c->config.memory_bytes = o->sweep.memory_bytes;
}

// Counts the devices of a kind by a survey.
static int count_devices(struct whole *c)
{
    struct survey s;
    if (!c->devices.all) return OK;
    int err = survey_make(&c->config, &(struct worker_args){.run = ANY_RUN}, &s);
    if (err) return err;
    c->devices.count = s.count < WORKER_DEVICES_MAX ? s.count : WORKER_DEVICES_MAX;
    for (int i = 0; i < c->devices.count; i++) c->devices.index[i] = i;
    survey_free(&s);
    return OK;
}

static int make_slots(struct whole *c)
{
    c->config.device = worker_devices_option(&c->devices, c->device);
    int err = count_devices(c);
    for (int i = 0; i < c->devices.count && !err; i++)
        c->slots[i] =
            (struct slot_config){.setting = worker_devices_setting(&c->devices, i, c->settings[i]),
                                 .name = worker_devices_name(&c->devices, i, c->names[i])};
    // `run` with a single device: records keep the device's number.
    if (c->once && !c->devices.all && c->devices.count == 1) {
        c->config.device = c->o->device;
        c->slots[0].setting = NULL;
    }
    if (!err && c->devices.count > 1)
        c->config.threads = cpu_split_slots(&c->cpus, c->o->threads, c->devices.count, c->slots);
    return err;
}

// Returns true if the operation makes a sparse result: its runs wait for the host between phases.
static bool is_host_bound(const struct texts *prefixes)
{
    char name[WORD_MAX] = "";
    if (prefixes->count) sscanf(prefixes->list[0], "%63s", name);
    const struct op *op = op_find(name);
    return op && op->result == RESULT_SPARSE;
}

// Surveys the cases of run. The worker of the survey then measures, so that a device is opened only
// once.
static int survey_once(struct whole *c)
{
    struct survey s;
    struct worker_args args = {
        .run = ANY_RUN, .setting = c->slots[0].setting, .cpus = c->slots[0].cpus};
    int err = survey_start(&c->config, &args, &s, &c->first);
    if (err) return err;
    c->pass[0].prefixes = s.prefixes;
    s.prefixes = (struct texts){0};
    survey_free(&s);
    return OK;
}

// Surveys one device after the other. All must be the same model, so that a time does not depend on
// the slot.
static int survey_devices(struct whole *c)
{
    int err = OK;
    for (int i = 0; i < c->devices.count && !err; i++) {
        struct survey s;
        struct worker_args args = {
            .run = ANY_RUN, .setting = c->slots[i].setting, .cpus = c->slots[i].cpus};
        err = survey_make(&c->config, &args, &s);
        if (err && c->devices.count > 1)
            err = fail((enum err)err, "%s: %s", c->slots[i].name, fail_text());
        if (err) return err;
        cpus_parse(s.near, &c->cpus.near[i]);
        if (!i) {
            snprintf(c->config.expected, sizeof c->config.expected, "%s", s.id);
            snprintf(c->model, sizeof c->model, "%s", s.name);
            c->pass[0].prefixes = s.prefixes;
            s.prefixes = (struct texts){0};
        } else if (strcmp(s.name, c->model)) {
            err = fail(ERR_USAGE,
                       "-device %s: %s is a %s, and %s a %s: a time would depend on where it was "
                       "measured; give each model a sweep of its own",
                       c->o->device, c->slots[0].name, c->model, c->slots[i].name, s.name);
        }
        survey_free(&s);
    }
    // The processors next to each device are known now.
    if (!err && c->devices.count > 1)
        cpu_split_slots(&c->cpus, c->o->threads, c->devices.count, c->slots);
    return err;
}

// Adds a pass for another library, with the cases that the library changes.
static int survey_library(struct whole *c, const char *library)
{
    struct sweep_pass *pass = &c->pass[c->sweep.pass_count];
    struct survey s;
    struct worker_args args = {.run = ANY_RUN,
                               .setting = c->slots[0].setting,
                               .cpus = c->slots[0].cpus,
                               .library = library};
    int err = survey_make(&c->config, &args, &s);
    if (err) return err;
    pass->library = library;
    c->sweep.pass_count++;
    for (int64_t i = 0; i < s.prefixes.count && !err; i++) {
        const char *prefix = s.prefixes.list[i];
        bool known = false;
        for (int p = 0; p < c->sweep.pass_count - 1; p++)
            known |= texts_has(&c->pass[p].prefixes, prefix);
        err = texts_add(known ? &pass->without : &pass->prefixes, prefix);
    }
    survey_free(&s);
    if (!err && !pass->prefixes.count)
        err = fail(ERR_USAGE,
                   "-cusparse %s: changes none of the cases: it is of a version that is measured "
                   "already, or no algorithm here uses it",
                   library);
    return err;
}

static int make_passes(struct whole *c)
{
    c->sweep.pass_count = 1;
    bool alone = c->once && c->devices.count == 1;
    int err = alone ? survey_once(c) : survey_devices(c);
    for (int64_t i = 0; i < c->libraries.count && !err; i++)
        err = survey_library(c, c->libraries.list[i]);
    return err;
}

static bool to_file(const struct options *o) { return o->output && strcmp(o->output, "-"); }

static int check_options(const struct options *o)
{
    if (o->sweep.fresh && o->sweep.retry)
        return fail(ERR_USAGE, "-fresh and -retry exclude each other");
    if ((o->sweep.fresh || o->sweep.retry) && !to_file(o))
        return fail(ERR_USAGE, "-%s: needs -o FILE", o->sweep.fresh ? "fresh" : "retry");
    if (o->sweep.timeout_ms && o->rule.limit_ms == o->rule.most_ms &&
        o->rule.limit_ms >= o->sweep.timeout_ms)
        return fail(ERR_USAGE, "-timeout %g: must be longer than -time-limit, %g",
                    o->sweep.timeout_ms * 1e-3, o->rule.limit_ms * 1e-3);
    if (o->run.append && !o->output) return fail(ERR_USAGE, "-append: needs -o FILE");
    if (!o->output && !o->sweep.plan_only && o->command == COMMAND_SWEEP && !cli_stdout_is_apart())
        return fail(ERR_USAGE, "sweep: -o FILE is missing: name a file for the records");
    return OK;
}

// Refuses an output file that is a matrix of the sweep, by any name.
static int check_output(const struct whole *c)
{
    struct stat out, in;
    bool named = to_file(c->o);
    if (named ? stat(c->o->output, &out) : fstat(STDOUT_FILENO, &out)) return OK;
    if (!S_ISREG(out.st_mode)) return OK;
    for (int64_t i = 0; i < c->list.count; i++) {
        const char *path = c->list.all[i].path;
        if (strcmp(path, "-") ? stat(path, &in) : fstat(STDIN_FILENO, &in)) continue;
        if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return fail(ERR_USAGE, "%s%s: is one of the matrices, and would be overwritten",
                        named ? "-o " : "", named ? c->o->output : "stdout");
    }
    return OK;
}

// Locks and reads the file of -o before anything begins. A file without records is left alone.
static int add_finished(struct whole *c)
{
    if (!to_file(c->o)) return OK;
    int err = c->o->sweep.plan_only ? OK : resume_lock(c->o->output, &c->lock);
    if (!err) err = resume_read(&c->resume, c->o->output);
    if (err || !c->o->sweep.fresh) return err;
    if (c->resume.lines && !c->o->quiet)
        fprintf(stderr, "replacing %s: %lld records\n", c->o->output, (long long)c->resume.lines);
    resume_free(&c->resume);
    return OK;
}

// Opens the output of run. Records and tables do not share a terminal. -q prints no table.
static int open_once(struct whole *c)
{
    const struct options *o = c->o;
    c->sweep.out = NULL;
    if (!o->output && !o->quiet && !cli_stdout_is_apart()) return OK;
    c->sweep.out = &c->out;
    int err = record_open(&c->out, o->output, o->run.append, o->seed);
    if (!err) cli_print_replaced(&c->out, o);
    return err;
}

static int open_output(struct whole *c)
{
    if (c->once) return open_once(c);
    int err = record_open(&c->out, c->o->output, true, c->o->seed);
    if (!err && !c->o->sweep.fresh) cli_print_replaced(&c->out, c->o);
    // A missing file could not be locked: another sweep may have made the file meanwhile.
    if (!err && c->lock < 0) err = add_finished(c);
    if (!err && c->o->sweep.fresh) err = record_empty(&c->out);
    return err;
}

static void make_sweep(struct whole *c)
{
    struct sweep *s = &c->sweep;
    s->config = &c->config;
    s->matrices = c->list.all;
    s->matrix_count = c->list.count;
    s->passes = c->pass;
    s->slot_configs = c->slots;
    s->slot_count = c->devices.count;
    s->rounds = c->once ? 1 : c->o->runs;
    s->timeout_ms = c->o->sweep.timeout_ms ? c->o->sweep.timeout_ms : INFINITY;
    s->first = &c->first;
    s->resume = &c->resume;
    s->retry = c->o->sweep.retry;
    s->race = c->o->race;
    s->host_bound = is_host_bound(&c->pass[0].prefixes);
    s->out = &c->out;
}

// -n: prints the cases that are left, matrix by matrix.
static int tell_plan(struct whole *c)
{
    struct sweep *s = &c->sweep;
    int64_t all = 0, bytes = 0;
    // Seconds of a case, estimated from the options. A race takes a quarter to a third of the time.
    const double least = 0.1, limit_s = c->o->rule.limit_ms * 1e-3;
    const double most = limit_s <= 0 ? 1 : c->o->race ? limit_s / 4 + 0.1 : limit_s + 0.5;
    int err = OK;
    for (int64_t i = 0; i < s->matrix_count && !err; i++) {
        const struct sweep_matrix *m = &s->matrices[i];
        int64_t cases = 0, there = 0, unsure = 0;
        char name[FAIL_TEXT_MAX];
        for (int v = 0; v < s->pass_count * s->rounds && !err; v++) {
            int p = v % s->pass_count;
            struct resume_ask ask = sweep_ask(s, m, v / s->pass_count);
            struct resume_list found;
            err = resume_done(s->resume, &ask, &s->passes[p].prefixes, &found);
            cases += s->passes[p].prefixes.count;
            there += min64(found.count, s->passes[p].prefixes.count);
            for (int64_t f = 0; f < found.count && !err; f++) unsure += !!found.list[f].content;
            mem_free(found.list);
        }
        printf("%s: %lld case%s", utf8_visible(m->path, name, sizeof name),
               (long long)(cases - there), cases - there == 1 ? "" : "s");
        if (there) printf(", %lld more are there", (long long)there);
        printf(unsure ? ", if it is the same matrix\n" : "\n");
        all += cases - there;
        if (cases > there) bytes += m->bytes;
    }
    char from[32], to[32];
    double read_s = (double)bytes / 200e6, slots = s->slot_count;
    printf(
        "%lld matri%s, %lld case%s on %d device%s (%s): about %s to %s, at %.1f to %.1f s a case\n",
        (long long)s->matrix_count, s->matrix_count == 1 ? "x" : "ces", (long long)all,
        all == 1 ? "" : "s", s->slot_count, s->slot_count == 1 ? "" : "s", c->model,
        duration_text(((double)all * least + read_s) / slots, from),
        duration_text(((double)all * most + read_s) / slots, to), least, most);
    return err;
}

// Prints the summary of all cases of the file, with those of earlier sweeps.
static int sum_up(struct whole *c)
{
    struct stat facts;
    if (c->o->quiet || !to_file(c->o) || c->list.count < 2) return OK;
    if (stat(c->o->output, &facts) || !S_ISREG(facts.st_mode))
        return OK; // a pipe cannot be read back
    int err = collect_file(&c->view.c, c->o->output);
    if (!err) err = view_make(&c->view, NULL, &(struct summary_rule){0});
    return err ? err : summary_print_all(stderr, &c->view.s);
}

// Prints the first lines of run, with the devices and their ceilings.
static int print_head(struct whole *c, const char *environment)
{
    const struct texts *prefixes = &c->pass[0].prefixes;
    if (c->headed || c->o->quiet) return OK;
    c->headed = true;
    return details_head(stderr, environment, prefixes->list, prefixes->count);
}

// Prints the table of a matrix of run.
static int print_matrix(struct whole *c, const struct sweep_matrix *m)
{
    bool *printed = &c->printed[m - c->list.all];
    if (c->o->quiet || *printed || !c->view.c.count) return OK;
    bool later = false;
    for (int64_t i = 0; i < c->list.count; i++) later |= c->printed[i];
    int err = view_make(&c->view, NULL, &(struct summary_rule){0});
    if (!err && later) fputc('\n', stderr);
    *printed = true;
    return err ? err : view_matrix(stderr, &c->view, m->name);
}

// Takes an event of run: keeps records, prints the first lines and tables.
static int tell_once(struct whole *c, const struct sweep_news *n)
{
    int err = n->record ? collect_line(&c->view.c, "record", n->record, 1) : OK;
    if (err || (n->kind != NEWS_ENVIRONMENT && n->kind != NEWS_MATRIX)) return err;
    progress_clear(&c->progress);
    if (n->kind == NEWS_ENVIRONMENT) return print_head(c, n->record);
    if (n->text) return OK; // the matrix could not be read
    return print_matrix(c, n->matrix);
}

static void tell(const struct sweep_news *n, void *arg)
{
    struct whole *c = arg;
    if (c->once && !c->view_err) c->view_err = tell_once(c, n);
    progress_tell(&c->progress, n);
}

// Prints the end of the output of run: the table of an interrupted matrix, the summary, warnings.
static int end_tables(struct whole *c, bool complete)
{
    int err = c->view_err;
    if (c->o->quiet || !c->view.c.count) return err;
    for (int64_t i = 0; i < c->list.count && !complete && !err; i++)
        err = print_matrix(c, &c->list.all[i]);
    if (!err && complete && c->list.count > 1) {
        err = view_make(&c->view, NULL, &(struct summary_rule){0});
        if (!err) err = summary_print_all(stderr, &c->view.s);
    }
    if (!err) view_warnings(stderr, &c->view);
    return err;
}

// Returns the reason of the first unsupported case of run; NULL: none.
static const char *first_reason(const struct whole *c)
{
    for (int64_t i = 0; i < c->view.c.count; i++)
        if (c->view.c.cases[i].r.status == STATUS_UNSUPPORTED) return c->view.c.cases[i].r.reason;
    return NULL;
}

static int measure(struct whole *c, struct outcome *outcome)
{
    struct sweep *s = &c->sweep;
    int err = open_output(c);
    if (err) return err;
    progress_start(&c->progress, s, c->o->quiet, c->o->verbose);
    c->progress.tables = c->once;
    s->tell = tell;
    s->arg = c;
    err = sweep_run(s);
    progress_end(&c->progress);
    int64_t bad = -s->endings.unread, cases = 0;
    for (int i = 0; i < STATUS_COUNT; i++) {
        cases += s->endings.by_status[i];
        if (!status_is_good((enum status)i)) bad += s->endings.by_status[i];
    }
    outcome->bad_result = bad > 0;
    outcome->bad_matrix = s->endings.unread > 0;
    int close_err = record_close(&c->out);
    if (c->once && (!err || err == ERR_INTERRUPTED)) {
        int view_err = end_tables(c, !err);
        if (!close_err) close_err = view_err;
    }
    if (err == ERR_INTERRUPTED && to_file(c->o) && !c->once)
        return fail(err, "%s; %sthe same command goes on", fail_text(),
                    c->o->sweep.fresh ? "without -fresh " : "");
    if (err) return err;
    if (!close_err && !c->once) close_err = sum_up(c);
    if (close_err) return close_err;
    return cli_check_measured(cases, s->endings.by_status[STATUS_UNSUPPORTED],
                              c->once ? first_reason(c) : NULL);
}

static int prepare(struct whole *c, const struct request *q)
{
    const struct options *o = c->o;
    int err = check_options(o);
    if (!err) err = matrix_list_make(&c->list, o);
    if (!err && o->sweep.shards) err = matrix_list_shard(&c->list, o->sweep.shard, o->sweep.shards);
    if (!err) err = check_output(c);
    if (!err) err = worker_devices_parse(o->device, &c->devices);
    if (!err) take_words(c, q);
    c->printed = mem_zero_alloc(c->list.count, sizeof *c->printed);
    if (!err && !c->printed) err = ERR_MEMORY;
    c->view.verbose = o->verbose;
    c->view.back = o->kind == TIMING_BACK_TO_BACK;
    for (int64_t i = 0; i < c->list.count; i++)
        c->config.input |= !strcmp(c->list.all[i].path, "-");
    if (!err) err = cli_add_libraries("cusparse", o->sweep.libraries, true, &c->libraries);
    if (!err && !c->once) err = add_finished(c);
    if (err) return err;
    if (c->list.left_out && !o->quiet)
        fprintf(stderr, "left out, %lld not there: %s\n", (long long)c->list.left_out,
                c->list.left_out_text);
    bool progress = !o->quiet && terminal_can_erase();
    if (progress) fprintf(stderr, TERMINAL_ERASE "looking at the devices");
    err = make_slots(c);
    if (!err) err = make_passes(c);
    if (progress) fprintf(stderr, TERMINAL_ERASE);
    make_sweep(c);
    return err;
}

int cli_sweep(const struct request *q)
{
    struct whole *c = mem_zero_alloc(1, sizeof *c);
    if (!c) return ERR_MEMORY;
    c->o = q->o;
    c->out.fd = c->lock = -1;
    c->once = q->o->command == COMMAND_RUN;
    worker_none(&c->first);
    int err = prepare(c, q);
    if (!err) err = q->o->sweep.plan_only ? tell_plan(c) : measure(c, q->outcome);
    for (int i = 0; i < COUNT(c->pass); i++) {
        texts_free(&c->pass[i].prefixes);
        texts_free(&c->pass[i].without);
    }
    texts_free(&c->libraries);
    if (c->lock >= 0) close(c->lock);
    if (c->first.pid) worker_free(&c->first);
    view_free(&c->view);
    mem_free(c->printed);
    resume_free(&c->resume);
    matrix_list_free(&c->list);
    mem_free(c);
    return err;
}
