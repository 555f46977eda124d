// spbench conform: runs the exact cases and the traps of vendors' algorithms, of plug-ins, or of
// any algorithms, in worker processes, with one or more versions of a vendor's library.
#include "cli/commands/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/conform_rows.h"
#include "cli/commands/library_files.h"
#include "cli/options/option_values.h"
#include "base/terminal.h"

// Libraries that replace that of a vendor.
struct replacement {
    const char *vendor;
    bool preload;         // by LD_PRELOAD
    const char *variable; // that names the file, unless `preload`
    struct texts files;
};

struct conform_command {
    const struct options *o;
    struct replacement replacements[2];
    struct conform_row *rows; // size count
    int count;
    int done;            // rows that have run
    const char *missing; // reason why the last wanted algorithm is not in this build; NULL: none
};

static int add_row(struct conform_command *c, const struct algo_entry *e,
                   const struct replacement *r, const char *file)
{
    struct conform_row *rows = c->rows ? mem_resize(c->rows, c->count, c->count + 1, sizeof *rows)
                                       : mem_alloc(1, sizeof *rows);
    if (!rows) return ERR_MEMORY;
    c->rows = rows;
    struct conform_row *x = &rows[c->count];
    memset(x, 0, sizeof *x);
    x->entry = e;
    x->file = file;
    x->preload = file && r->preload;
    if (file && !r->preload) {
        const size_t size = strlen(r->variable) + strlen(file) + 2;
        x->setting = mem_alloc((int64_t)size, 1);
        if (!x->setting) return ERR_MEMORY;
        snprintf(x->setting, size, "%s=%s", r->variable, file);
    }
    c->count++;
    return OK;
}

// Adds an algorithm: with its own library, and with each that replaces it.
static int add_algorithm(struct conform_command *c, const struct algo_entry *e)
{
    int err = add_row(c, e, NULL, NULL);
    for (int i = 0; i < COUNT(c->replacements); i++) {
        const struct replacement *r = &c->replacements[i];
        if (!e->algo->vendor || strcmp(e->algo->vendor, r->vendor)) continue;
        for (int64_t f = 0; f < r->files.count && !err; f++)
            err = add_row(c, e, r, r->files.list[f]);
    }
    return err;
}

static bool is_wanted(const struct options *o, const struct algo_entry *e)
{
    if (o->op && strcmp(o->op, e->op->name)) return false;
    if (o->alg) return summary_fits(o->alg, e->name);
    return o->plugin_count ? e->algo->plugin != NULL : e->algo->vendor != NULL;
}

static int choose_rows(struct conform_command *c)
{
    enum device_kind kind = DEVICE_KINDS; // all
    int index, err = OK;
    if (strcmp(c->o->device, "auto")) err = device_parse(c->o->device, &kind, &index);
    for (int i = 0; i < algo_count && !err; i++) {
        const struct algo_entry *e = &algos[i];
        if ((kind != DEVICE_KINDS && e->device != kind) || !is_wanted(c->o, e)) continue;
        const char *missing = algo_not_built(e);
        if (missing)
            c->missing = missing;
        else
            err = add_algorithm(c, e);
    }
    if (err || c->count) return err;
    if (c->missing) return fail(ERR_UNSUPPORTED, "nothing to run: %s", c->missing);
    return fail(ERR_USAGE, "conform: no algorithm matches; 'spbench list' shows all");
}

// Returns ERR_USAGE if the files of an option replace the library of no chosen algorithm.
static int check_replacements(const struct conform_command *c)
{
    for (int i = 0; i < COUNT(c->replacements); i++) {
        const struct replacement *r = &c->replacements[i];
        bool any = !r->files.count;
        for (int x = 0; x < c->count; x++)
            any |= c->rows[x].file && !strcmp(c->rows[x].entry->algo->vendor, r->vendor);
        if (!any)
            return fail(ERR_USAGE,
                        "conform: files of %s are given, but no chosen algorithm uses it",
                        r->vendor);
    }
    return OK;
}

static int run_rows(struct conform_command *c)
{
    const struct options *o = c->o;
    const bool progress = !o->quiet && terminal_can_erase();
    int err = OK;
    for (int r = 0; r < c->count && !err; r++) {
        struct conform_row *x = &c->rows[r];
        const bool any = !strcmp(o->device, "auto");
        const struct worker_config config = {
            .words = (char *const *)o->passed,
            .word_count = o->passed_count,
            .device = any ? device_list[x->entry->device].name : o->device,
            .threads = o->threads,
            .passive = true,
            .plugins = {(const char **)o->plugin_sha256, o->plugin_count}};
        if (progress)
            fprintf(stderr, TERMINAL_ERASE "%d of %d: %s %s", r + 1, c->count, x->entry->op->name,
                    x->entry->name);
        err = conform_run(&config, o->sweep.timeout_ms, x);
        if (!err) c->done = r + 1;
    }
    if (progress) fprintf(stderr, TERMINAL_ERASE);
    return err;
}

// Prints the rows that have run, and notes what is bad. ERR_UNSUPPORTED: no case was run, or all
// are unsupported.
static int tell_rows(const struct conform_command *c, struct outcome *outcome)
{
    bool any = false;
    for (int r = 0; r < c->done; r++) {
        const struct conform_row *x = &c->rows[r];
        outcome->bad_result |= conform_is_bad(x) || (x->file && x->skipped[0]);
        for (int i = 0; i <= trap_count; i++) any |= c->rows[r].parts[i].result >= EXACT_RIGHT;
    }
    int err = OK;
    if (c->o->format && strcmp(c->o->format, text_formats[0]))
        err = conform_json(stdout, c->rows, c->done);
    else
        conform_print(stdout, c->rows, c->done);
    return err || any ? err : fail(ERR_UNSUPPORTED, "nothing was run");
}

int cli_conform(const struct request *q)
{
    struct conform_command c = {.o = q->o,
                                .replacements = {{.vendor = "cuSPARSE", .preload = true},
                                                 {.vendor = "MKL", .variable = "MKL_RT"}}};
    int err = library_files_add("cusparse", q->o->sweep.libraries, true, &c.replacements[0].files);
    if (!err) err = library_files_add("mkl", q->o->conform.mkl, false, &c.replacements[1].files);
    if (!err) err = choose_rows(&c);
    if (!err) err = check_replacements(&c);
    if (!err) {
        err = run_rows(&c);
        int tell_err = err && !c.done ? OK : tell_rows(&c, q->outcome);
        if (!err) err = tell_err;
    }
    for (int r = 0; r < c.count; r++) mem_free(c.rows[r].setting);
    mem_free(c.rows);
    for (int i = 0; i < COUNT(c.replacements); i++) texts_free(&c.replacements[i].files);
    return err;
}
