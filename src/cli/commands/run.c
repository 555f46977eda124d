// spbench run: a sweep that prints tables and is not resumed. Only -profile runs in this process,
// for profilers and debuggers.
#include "cli/commands/request.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/matrices/matrix_check.h"

struct profile {
    bool quiet;
    struct outcome *outcome;
    int64_t cases, unsupported;          // number of cases: all, and unsupported on this device
    char why_unsupported[FAIL_TEXT_MAX]; // reason of the first unsupported case
};

// Prints a case. -q prints failures only.
static int emit(const struct result *r, void *arg)
{
    struct profile *p = arg;
    char text[FAIL_TEXT_MAX];
    p->outcome->bad_result |= !status_is_good(r->status);
    if (r->status == STATUS_UNSUPPORTED && !p->unsupported++)
        snprintf(p->why_unsupported, sizeof p->why_unsupported, "%s", r->reason);
    p->cases++;
    result_text(r, text, sizeof text);
    if (!p->quiet)
        fprintf(stderr, "  %s\n", text);
    else if (r->status != STATUS_OK)
        fprintf(stderr, "spbench: %s: %s\n", status_name(r->status), r->reason);
    return OK;
}

static int profile_matrix(struct profile *p, struct bench_setup *c, const struct options *o,
                          const char *spec)
{
    struct matrix M;
    char name[FAIL_TEXT_MAX];
    int err = matrix_load(spec, o->seed, &M);
    if (err) return cli_load_failed(err, p->outcome);
    if (!p->quiet)
        fprintf(stderr, "%s: %d x %d, %lld nonzeros\n", utf8_visible(M.name, name, sizeof name),
                M.A.m, M.A.n, (long long)M.A.nnz);
    err = bench_matrix(&c->plan, &c->devices, &M, emit, p);
    matrix_free(&M);
    return err;
}

// Runs each case once, between marks for a profiler.
static int profile(const struct request *q)
{
    const struct options *o = q->o;
    struct bench_setup c;
    struct profile p = {.quiet = o->quiet, .outcome = q->outcome};
    if (o->output || o->run.counters)
        return fail(ERR_USAGE, "-profile: excludes -o and -counters, because nothing is measured");
    if (o->plugin_count) return fail(ERR_USAGE, "-profile: excludes -plugin");
    if (o->sweep.memory_bytes || o->sweep.timeout_ms)
        return fail(ERR_USAGE, "-profile: excludes -mem-limit and -timeout, which limit workers");
    int err = bench_setup_make(&c, o);
    if (!err) err = matrix_check_files(o, (const char *const *)o->operands, o->operand_count);
    if (!err) err = bench_setup_open(&c, o);
    if (!err) cli_print_device(&c, o);
    for (int i = 0; i < o->operand_count && !err; i++)
        err = interrupted ? fail(ERR_INTERRUPTED, "interrupted")
                          : profile_matrix(&p, &c, o, o->operands[i]);
    if (!err) err = cli_check_measured(p.cases, p.unsupported, p.why_unsupported);
    bench_setup_free(&c);
    return err;
}

int cli_run(const struct request *q) { return q->o->run.profile ? profile(q) : cli_sweep(q); }
