// spbench run: measures every case of the plan on every matrix.
#include "cli/commands/request.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/matrices/matrix_check.h"
#include "report/summary_print.h"
#include "report/table.h"
#include "records/record.h"

struct run {
    struct record_file out;
    bool records; // records have a destination
    struct table table;
    struct outcome *outcome;
    int64_t cases, unsupported;          // number of cases: all, and unsupported on this device
    char why_unsupported[FAIL_TEXT_MAX]; // reason of the first unsupported case
    int64_t timed, busy;                 // number of cases: with a time, and on a busy machine
    int64_t overtaking; // number of cases whose runs do not wait for the work ahead
    bool count;         // -counters is given
    struct counter_tool tool;
    bool sum_up; // a summary follows: several matrices, and the table is shown
    struct summaries sum;
};

// Reads the hardware counters of a case with a time. A reason common to all cases is printed once.
static int count_bytes(struct run *run, struct result *r)
{
    bool reported = run->tool.missing[0] || !counters_possible(r->c.entry->device);
    int err = counters_measure(&run->tool, &r->c, r->matrix->path, &r->counters);
    if (!err && !r->counters.known && !reported && run->table.detail != TABLE_OFF) {
        table_clear(&run->table);
        fprintf(stderr, "no counters: %s\n", r->counters.reason);
    }
    return err;
}

// Prints failed cases under a profiler, which has no records and perhaps no table.
static void print_failure(const struct run *run, const struct result *r)
{
    if (r->status != STATUS_OK && run->table.detail == TABLE_OFF)
        fprintf(stderr, "spbench: %s: %s\n", status_name(r->status), r->reason);
}

// Adds the case to the summary at the end.
static int sum_up(struct run *run, const struct result *r)
{
    const struct algo *algo = r->c.entry->algo;
    char key[CASE_KEY_MAX];
    struct summary_row row = {.op = r->c.entry->op->name,
                              .revision = "",
                              .partial = algo ? algo->partial : NULL,
                              .status = r->status,
                              .rank = result_rank(r, TIMING_SEPARATE)};
    if (!run->sum_up) return OK;
    int err = summary_add(&run->sum, &row, case_key(&r->c, r->matrix, key), r->matrix->name);
    return err == ERR_INPUT ? OK : err; // the name is too long for a key
}

static int emit(const struct result *r, void *arg)
{
    struct run *run = arg;
    struct result counted = *r; // the caller keeps what the result owns
    switch (r->status) {
    case STATUS_OK:
    case STATUS_UNSUPPORTED:
    case STATUS_SKIPPED: break;
    default: run->outcome->bad_result = true;
    }
    if (r->status == STATUS_UNSUPPORTED && !run->unsupported++)
        snprintf(run->why_unsupported, sizeof run->why_unsupported, "%s", r->reason);
    run->cases++;
    run->timed += r->timed;
    run->busy += r->timed && r->timing.busy;
    run->overtaking += r->timed && r->in_order == ORDER_BROKEN;
    int err = run->count && r->timed ? count_bytes(run, &counted) : OK;
    if (!err && run->records) err = record_result(&run->out, &counted);
    if (!err) err = sum_up(run, r);
    if (run->table.plan->profile) print_failure(run, r);
    if (!err) err = table_result(&run->table, &counted);
    return err;
}

// Writes a case of an unreadable matrix. The matrix counts as bad once.
static int emit_unread(const struct result *r, void *arg)
{
    struct run *run = arg;
    int err = run->records ? record_result(&run->out, r) : OK;
    return err ? err : sum_up(run, r);
}

// Writes the cases of a matrix that cannot be loaded. The command goes on.
static int record_unread(struct run *run, struct bench_setup *c, const char *spec, int load_err)
{
    struct matrix M;
    int err = cli_load_failed(load_err, run->outcome);
    if (err) return err;
    char why[FAIL_TEXT_MAX];
    snprintf(why, sizeof why, "%s", fail_text());
    err = matrix_name(spec, &M);
    if (!err) err = bench_unread(&c->plan, &c->devices, &M, load_err, why, emit_unread, run);
    matrix_free(&M);
    return err;
}

static int run_matrix(struct run *run, struct bench_setup *c, const struct options *o,
                      const char *spec)
{
    struct matrix M;
    table_loading(&run->table, spec);
    int err = matrix_load(spec, o->seed, &M);
    table_clear(&run->table);
    if (err) return record_unread(run, c, spec, err);
    table_matrix(&run->table, &M);
    err = bench_matrix(&c->plan, &c->devices, &M, emit, run);
    table_matrix_end(&run->table, !err);
    matrix_free(&M);
    return err;
}

static struct run *ended_by_exit; // the run under way, which exit() would end; NULL: none
static pid_t own_process;

// exit() calls this function. An algorithm that calls exit() ends the run before the other cases.
static void report_exit(void)
{
    const struct result *at = bench_under_way();
    struct run *run = ended_by_exit;
    char key[CASE_KEY_MAX];
    if (!run || !at || getpid() != own_process) return;
    ended_by_exit = NULL;
    struct result r = result_start(&at->c, at->matrix);
    result_fail(&r, STATUS_CRASHED, "it called exit()");
    if (run->records) record_result(&run->out, &r);
    fflush(stdout);
    table_matrix_end(&run->table, false);
    fprintf(stderr, "spbench: '%s' called exit(); the run ends here\n",
            case_key(&r.c, r.matrix, key));
    _exit(1);
}

// Reports a call of exit() during `run`. NULL: reports none.
static void watch_exit(struct run *run)
{
    static bool registered;
    if (!registered) atexit(report_exit);
    registered = true;
    own_process = getpid();
    ended_by_exit = run;
}

static void print_busy(const struct run *run)
{
    if (run->busy && run->table.detail != TABLE_OFF)
        fprintf(stderr,
                "busy: other programs used the processors during %lld of %lld cases; times may be "
                "too long\n",
                (long long)run->busy, (long long)run->timed);
}

static void print_order(const struct run *run)
{
    if (run->overtaking && run->table.detail != TABLE_OFF)
        fprintf(stderr,
                "not in order: %lld of %lld cases start before the work ahead has ended; a result "
                "is wrong if that work makes an input\n",
                (long long)run->overtaking, (long long)run->timed);
}

// Refuses an output file that is one of the matrices.
static int check_output(const struct options *o)
{
    struct stat out, in;
    bool named = o->output && strcmp(o->output, "-");
    if (named ? stat(o->output, &out) : fstat(STDOUT_FILENO, &out)) return OK;
    if (!S_ISREG(out.st_mode)) return OK;
    for (int i = 0; i < o->operand_count; i++) {
        const char *name = o->operands[i];
        if (strcmp(name, "-") ? stat(name, &in) : fstat(STDIN_FILENO, &in)) continue;
        if (in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return fail(ERR_USAGE, "%s%s: is one of the matrices, and would be overwritten",
                        named ? "-o " : "", named ? o->output : "stdout");
    }
    return OK;
}

// Starts the hardware counters. Prints a reason why there can be none before any measurement.
static void start_counters(struct run *run, const struct bench_setup *c, const struct options *o)
{
    run->count = o->run.counters;
    if (!run->count) return;
    counters_open(&run->tool, c->primary, o->seed, omp_get_max_threads());
    run->tool.no_cache = o->run.no_cache;
    if (run->tool.missing[0] && !o->quiet) fprintf(stderr, "no counters: %s\n", run->tool.missing);
}

// Refuses options that need worker processes if there is no plug-in, and options that exclude
// worker processes if there is a plug-in.
static int check_workers(const struct options *o)
{
    bool apart = o->plugin_count;
    if (apart && o->run.profile) return fail(ERR_USAGE, "-profile: excludes -plugin");
    if (apart && o->kind != TIMING_SEPARATE)
        return fail(ERR_USAGE, "-time: excludes -plugin; the records have both times");
    if (!apart && o->sweep.memory_bytes)
        return fail(ERR_USAGE,
                    "-mem-limit: limits a worker, and run has workers with -plugin only");
    if (!apart && o->sweep.timeout_ms)
        return fail(ERR_USAGE, "-timeout: ends a worker, and run has workers with -plugin only");
    return OK;
}

int cli_run(const struct request *q)
{
    const struct options *o = q->o;
    struct bench_setup c;
    struct run run = {.out.fd = -1, .outcome = q->outcome};
    if (o->run.append && !o->output) return fail(ERR_USAGE, "-append: needs -o FILE");
    if (o->run.profile && (o->output || o->run.counters))
        return fail(ERR_USAGE, "-profile: excludes -o and -counters, because nothing is measured");
    int err = check_workers(o);
    if (!err) err = check_output(o);
    if (err || o->plugin_count) return err ? err : cli_sweep(q);
    err = bench_setup_make(&c, o);
    if (!err) err = matrix_check_files(o, (const char *const *)o->operands, o->operand_count);
    if (!err) err = bench_setup_open(&c, o);
    if (err) goto done;

    cli_print_device(&c, o);
    // Records and table do not share a terminal. -q prints no table.
    run.records = !o->run.profile && (o->output || o->quiet || cli_stdout_is_apart());
    if (run.records)
        err = matrix_check_names((const char *const *)o->operands, o->operand_count, "run");
    if (!err) err = table_start(&run.table, &c.plan, o->operand_count, o->quiet, o->verbose);
    run.table.kind = o->kind;
    run.sum_up = o->operand_count > 1 && !o->quiet && !o->run.profile;
    if (!err && run.records) err = record_open(&run.out, o->output, o->run.append, o->seed);
    if (err) goto done;
    cli_print_replaced(&run.out, o);

    start_counters(&run, &c, o);
    table_progress_text(&run.table, "measuring the device's ceilings");
    err = o->run.profile ? OK : bench_setup_measure_roofs(&c, false);
    table_clear(&run.table);
    if (err && err != ERR_INTERRUPTED) { // times and checks need no roof
        if (!o->quiet) fprintf(stderr, "no roof: %s\n", fail_text());
        err = OK;
    }
    if (!err) table_head(&run.table, &c.devices);
    if (!err && run.records)
        err = record_environment(&run.out, &c.devices, c.device, c.plan.op, q->argc, q->argv);
    watch_exit(&run);
    for (int i = 0; i < o->operand_count && !err; i++)
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted")
                          : run_matrix(&run, &c, o, o->operands[i]);
    watch_exit(NULL);
    if (!err) err = summary_make(&run.sum, &(struct summary_rule){0});
    if (!err) err = summary_print_all(stderr, &run.sum);
    print_busy(&run);
    print_order(&run);
    int close_err = record_close(&run.out);
    if (!err) err = close_err;
    if (!err) err = cli_check_measured(run.cases, run.unsupported, run.why_unsupported);
done:
    table_free(&run.table);
    summaries_free(&run.sum);
    bench_setup_free(&c);
    return err;
}
