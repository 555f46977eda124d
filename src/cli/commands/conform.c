// spbench conform: runs the exact cases and the traps of vendors' algorithms, of plug-ins, or of
// any algorithms, in worker processes, with one or more versions of a vendor's library.
#include "cli/commands/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/conform_rows.h"
#include "cli/options/option_values.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "records/json.h"
#include "report/cell.h"
#include "report/grid.h"

static void add_cells(struct grid *g, const struct conform_row *x)
{
    const double counts[] = {(double)x->count[EXACT_RIGHT],
                             (double)(x->count[EXACT_WRONG] + x->count[EXACT_FAILED]),
                             (double)x->count[EXACT_UNSUPPORTED],
                             (double)(x->count[EXACT_CRASHED] + x->count[EXACT_HUNG])};
    char text[32];
    grid_cell(g, x->entry->op->name);
    grid_cell(g, x->entry->name);
    grid_cell(g, device_list[x->entry->device].name);
    grid_cell(g, x->library[0] ? x->library : "-");
    for (int c = 0; c < COUNT(counts); c++)
        grid_cell(g, !x->skipped[0] ? cell_count(counts[c], text) : c ? "-" : "not run");
    for (int t = 0; t < trap_count; t++) grid_cell(g, x->skipped[0] ? "-" : conform_word(x, 1 + t));
}

// Returns true if an earlier row tells the same reason of the same part; part -1: nothing was run.
static bool is_told(const struct conform_row *rows, int row, int part)
{
    const struct conform_row *x = &rows[row];
    for (int r = 0; r < row; r++)
        if (part < 0 ? !strcmp(rows[r].skipped, x->skipped)
                     : rows[r].parts[part].result == EXACT_SKIPPED &&
                           x->parts[part].result == EXACT_SKIPPED &&
                           !strcmp(rows[r].parts[part].why, x->parts[part].why))
            return true;
    return false;
}

static void print_heading(FILE *out, const struct conform_row *x, bool *told)
{
    if (*told) return;
    fprintf(out, "%s %s %s%s%s\n", x->entry->op->name, x->entry->name,
            device_list[x->entry->device].name, x->library[0] ? ", " : "", x->library);
    *told = true;
}

// Prints the reasons of a row. A reason that many rows share, such as a lack of memory, is printed
// once.
static void print_reasons(FILE *out, const struct conform_row *rows, int row)
{
    const struct conform_row *x = &rows[row];
    char text[FAIL_TEXT_MAX];
    bool told = false;
    if (x->skipped[0] && !is_told(rows, row, -1)) {
        print_heading(out, x, &told);
        fprintf(out, "  not run: %s\n", utf8_visible(x->skipped, text, sizeof text));
    }
    for (int i = 0; i <= trap_count; i++) {
        const struct conform_part *p = &x->parts[i];
        if (p->result != EXACT_SKIPPED && p->result < EXACT_LACKING) continue;
        if (is_told(rows, row, i)) continue;
        print_heading(out, x, &told);
        fprintf(out, "  %s, %s: %s\n", conform_part_name(i), conform_word(x, i),
                utf8_visible(p->input, text, sizeof text));
        fprintf(out, "    %s\n", utf8_visible(p->why, text, sizeof text));
    }
}

// Prints the table, with the reasons below.
static int print_rows(FILE *out, const struct conform_row *rows, int count)
{
    static const char *const words[] = {"op", "algorithm", "on", "library"};
    static const char *const counts[] = {"right", "wrong", "unsup.", "crash"};
    struct grid g = {0};
    for (int c = 0; c < COUNT(words); c++) grid_column(&g, words[c], true);
    for (int c = 0; c < COUNT(counts); c++) grid_column(&g, counts[c], false);
    for (int t = 0; t < trap_count; t++) grid_column(&g, traps[t].name, true);
    for (int r = 0; r < count; r++) add_cells(&g, &rows[r]);
    int err = grid_print(&g, out, GRID_TEXT);
    for (int r = 0; r < count; r++) print_reasons(out, rows, r);
    return err;
}

static void json_part(struct json *j, cJSON *list, const struct conform_row *x, int i)
{
    const struct conform_part *p = &x->parts[i];
    const bool told = p->result == EXACT_SKIPPED || p->result >= EXACT_LACKING;
    cJSON *part = json_object(j, list, NULL);
    json_text(j, part, "name", conform_part_name(i));
    json_text(j, part, "result", p->result == EXACT_NONE ? NULL : conform_word(x, i));
    json_text(j, part, "input", told ? p->input : NULL);
    json_text(j, part, "reason", told ? p->why : NULL);
}

static int write_json(FILE *out, const struct conform_row *rows, int count)
{
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", "spbench-conform/1");
    cJSON *list = json_array(&j, j.root, "algorithms");
    for (int r = 0; r < count; r++) {
        const struct conform_row *x = &rows[r];
        cJSON *row = json_object(&j, list, NULL);
        json_text(&j, row, "op", x->entry->op->name);
        json_text(&j, row, "alg", x->entry->name);
        json_text(&j, row, "device", device_list[x->entry->device].name);
        json_text(&j, row, "library", x->library[0] ? x->library : NULL);
        json_text(&j, row, "file", x->file);
        json_text(&j, row, "not_run", x->skipped[0] ? x->skipped : NULL);
        json_bool(&j, row, "bad", conform_is_bad(x));
        cJSON *cases = json_object(&j, row, "cases");
        json_whole(&j, cases, "right", (uint64_t)x->count[EXACT_RIGHT]);
        json_whole(&j, cases, "wrong", (uint64_t)x->count[EXACT_WRONG]);
        json_whole(&j, cases, "failed", (uint64_t)x->count[EXACT_FAILED]);
        json_whole(&j, cases, "unsupported", (uint64_t)x->count[EXACT_UNSUPPORTED]);
        json_whole(&j, cases, "crashed", (uint64_t)x->count[EXACT_CRASHED]);
        json_whole(&j, cases, "hung", (uint64_t)x->count[EXACT_HUNG]);
        cJSON *parts = json_array(&j, row, "traps");
        for (int i = 0; i <= trap_count; i++) json_part(&j, parts, x, i);
    }
    return json_end(&j, out);
}

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
            .plugins = {(const char **)o->plugin_texts, o->plugin_count}};
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
        err = write_json(stdout, c->rows, c->done);
    else
        err = print_rows(stdout, c->rows, c->done);
    return err || any ? err : fail(ERR_UNSUPPORTED, "nothing was run");
}

int cli_conform(const struct request *q)
{
    struct conform_command c = {.o = q->o,
                                .replacements = {{.vendor = "cuSPARSE", .preload = true},
                                                 {.vendor = "MKL", .variable = "MKL_RT"}}};
    int err = cli_add_libraries("cusparse", q->o->sweep.libraries, true, &c.replacements[0].files);
    if (!err) err = cli_add_libraries("mkl", q->o->conform.mkl, false, &c.replacements[1].files);
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
