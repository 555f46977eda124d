#include "report/report_view.h"

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "report/cell.h"
#include "report/columns.h"
#include "report/summary_print.h"
#include "report/fastest.h"

const struct collected_case *view_case(const struct report_view *v, const struct summary_table *t,
                                       int64_t i, int64_t j)
{
    int64_t place = t->cells[i * t->matrix_count + j];
    return place < 0 ? NULL : &v->c->cases[v->cases[place]];
}

bool view_size(const char *size_name, long long size[3])
{
    return sscanf(size_name, "%lldx%lld:%lld ", &size[0], &size[1], &size[2]) == 3;
}

bool view_input(const char **p, char name[VIEW_INPUT_MAX], char value[VIEW_INPUT_MAX])
{
    size_t length = strcspn(*p, " "), equals = strcspn(*p, "= ");
    if (!length) return false;
    bool named = equals < length;
    snprintf(name, VIEW_INPUT_MAX, "%.*s", named ? (int)equals : 0, *p);
    snprintf(value, VIEW_INPUT_MAX, "%.*s", (int)(named ? length - equals - 1 : length),
             *p + (named ? equals + 1 : 0));
    *p += length;
    *p += **p == ' ';
    return true;
}

static void put_number(struct grid *g, double x, const char *format)
{
    char text[64] = "-";
    if (isfinite(x)) snprintf(text, sizeof text, format, x);
    grid_cell(g, text);
}

static void put_rate(struct grid *g, double x)
{
    char text[32];
    grid_cell(g, isfinite(x) ? cell_number(x, text) : "-");
}

static void add_remark(char text[FAIL_TEXT_MAX], const char *remark)
{
    words_add(text, FAIL_TEXT_MAX, "; ", remark);
}

// `partial`: part that the algorithm omits; NULL: none.
static const char *check_text(const struct record *r, int runs, const char *partial,
                              char text[FAIL_TEXT_MAX])
{
    text[0] = 0;
    if (!record_is_timed(r)) {
        snprintf(text, FAIL_TEXT_MAX, "%s%s%s", status_name(r->status), r->reason ? ": " : "",
                 r->reason ? r->reason : "");
        return text;
    }
    char part[64], choice[REMARK_TEXT_MAX];
    if (!r->method)
        snprintf(part, sizeof part, "not checked");
    else if (isnan(r->error_ratio))
        snprintf(part, sizeof part, "%.32s", r->method);
    else
        snprintf(part, sizeof part, "%.32s %.2f", r->method, r->error_ratio);
    add_remark(text, part);
    snprintf(part, sizeof part, "median of %d runs", runs);
    if (runs > 1) add_remark(text, part);
    if (r->throttled) add_remark(text, remarks[REMARK_THROTTLED].text);
    if (r->busy) add_remark(text, remarks[REMARK_BUSY].text);
    if (r->overtakes) add_remark(text, remarks[REMARK_ORDER].text);
    if (r->library) add_remark(text, r->library);
    if (r->picked) add_remark(text, remark_figure("picked", r->picked, choice));
    if (partial) add_remark(text, partial);
    return text;
}

static bool has_gather(const struct report_view *v, const struct summary_table *t, int64_t j)
{
    for (int64_t i = 0; i < t->line_count; i++) {
        const struct collected_case *x = view_case(v, t, i, j);
        if (x && x->r.gather_efficiency > 0) return true;
    }
    return false;
}

// Returns true if a shown line has a record of the matrix.
static bool has_any(const struct report_view *v, const struct summary_table *t, int64_t j)
{
    for (int64_t i = 0; i < t->line_count; i++)
        if (view_case(v, t, i, j)) return true;
    return false;
}

// Returns the reason if a line is unsupported on all of several matrices for one reason; else NULL.
// Tables of single matrices omit such a line.
static const char *refusal(const struct report_view *v, const struct summary_table *t, int64_t i)
{
    const char *why = NULL;
    for (int64_t j = 0; j < t->matrix_count; j++) {
        const struct collected_case *x = view_case(v, t, i, j);
        if (!x || x->r.status != STATUS_UNSUPPORTED || !x->r.reason) return NULL;
        if (why && strcmp(why, x->r.reason)) return NULL;
        why = x->r.reason;
    }
    return t->matrix_count > 1 ? why : NULL;
}

static void print_refusals(FILE *out, const struct report_view *v, const struct summary_table *t,
                           enum grid_style style)
{
    for (int64_t i = 0; i < t->line_count; i++) {
        const char *why = refusal(v, t, i);
        if (!why) continue;
        if (style == GRID_MARKDOWN) fputc('\n', out);
        grid_text(out, t->lines[i].name, style);
        fprintf(out, " %s: ", status_name(STATUS_UNSUPPORTED));
        grid_text(out, why, style);
        fputc('\n', out);
    }
}

static void put_case(struct grid *g, const struct report_view *v, const struct summary_table *t,
                     int64_t i, int64_t j, bool gather)
{
    const struct collected_case *x = view_case(v, t, i, j);
    const struct record *r = &x->r;
    bool timed = record_is_timed(r);
    const struct rank_case *rank = &summary_cell(v->s, t, i, j)->rank;
    char text[FAIL_TEXT_MAX];
    grid_cell(g, t->lines[i].name);
    put_rate(g, timed ? r->median : NAN);
    grid_cell(g, cell_interval(r->median, r->ci_lo, r->ci_hi, text));
    grid_cell(g, cell_ratio(rank->over_best, text));
    grid_cell(g, cell_prep(timed ? rank->prep_ms : NAN, text));
    grid_cell(g, cell_runs(rank->pays_after, text));
    put_rate(g, timed ? r->gflops : NAN);
    put_number(g, timed ? 100 * r->efficiency : NAN, "%.1f");
    if (gather) put_number(g, timed ? 100 * r->gather_efficiency : NAN, "%.1f");
    grid_cell(g, cell_ratio(summary_speedup(v->s, t, i, j), text));
    grid_cell(g, check_text(r, x->runs, t->lines[i].row->partial, text));
}

static int print_matrix(FILE *out, const struct report_view *v, const struct summary_table *t,
                        int64_t j, enum grid_style style)
{
    static const enum column_id ids[] = {COLUMN_MS,   COLUMN_INTERVAL, COLUMN_OVER_BEST,
                                         COLUMN_PREP, COLUMN_PAYS,     COLUMN_GFLOPS,
                                         COLUMN_ROOF};
    bool gather = has_gather(v, t, j);
    int64_t *order = mem_alloc(t->line_count, sizeof *order);
    struct rank_case **list = mem_alloc(t->line_count, sizeof *list);
    struct grid g = {0};
    grid_column(&g, columns[COLUMN_ALGORITHM].head, true);
    for (int c = 0; c < COUNT(ids); c++) grid_column(&g, columns[ids[c]].head, false);
    if (gather) grid_column(&g, columns[COLUMN_GATHER].head, false);
    grid_column(&g, summary_columns[SUMMARY_SPEEDUPS].head, false);
    grid_column(&g, columns[COLUMN_CHECK].head, true);
    int err = order && list ? summary_order(v->s, t, j, v->sort, order) : ERR_MEMORY;
    for (int64_t i = 0; i < t->line_count && !err; i++)
        if (view_case(v, t, order[i], j) && !refusal(v, t, order[i]))
            put_case(&g, v, t, order[i], j, gather);
    int print_err = grid_print(&g, out, style);
    if (!err) err = print_err;
    struct rank rank = err ? (struct rank){0} : summary_rank(v->s, t, j, list);
    if (rank.next) fastest_print(out, "", &rank, style);
    mem_free(order);
    mem_free(list);
    return err;
}

static void print_name(FILE *out, const struct summary_row *matrix, enum grid_style style)
{
    long long size[3];
    grid_text(out, matrix->matrix, style);
    if (view_size(matrix->size_name, size))
        fprintf(out, ": %lld x %lld, %lld nonzeros\n", size[0], size[1], size[2]);
    else
        fprintf(out, ": could not be read\n");
}

// Counts the different texts in the shown tables.
static int count_texts(const struct summaries *s,
                       const char *(*text)(const struct summary_row *row))
{
    int count = 0;
    for (int i = 0; i < s->table_count; i++) {
        bool known = !s->tables[i].line_count;
        for (int k = 0; k < i && !known; k++)
            known =
                s->tables[k].line_count && !strcmp(text(s->tables[k].row), text(s->tables[i].row));
        count += !known;
    }
    return count;
}

static const char *revision_of(const struct summary_row *row) { return row->revision; }
static const char *device_of(const struct summary_row *row) { return row->device; }

// Prints lines about all tables. Returns true if any was printed.
static bool print_facts(FILE *out, const struct report_view *v, enum grid_style style)
{
    int revisions = count_texts(v->s, revision_of), devices = count_texts(v->s, device_of);
    const char *end = style == GRID_MARKDOWN ? "\n\n" : "\n";
    if (revisions > 1) fprintf(out, "revisions: %d; each has its own table%s", revisions, end);
    if (devices > 1) fprintf(out, "devices: %d; each has its own table%s", devices, end);
    if (v->c->replaced)
        fprintf(out, "measured more than once: %lld case%s; the last record counts%s",
                (long long)v->c->replaced, v->c->replaced == 1 ? "" : "s", end);
    if (v->c->medians)
        fprintf(out, "measured in several runs: %lld case%s; the median counts%s",
                (long long)v->c->medians, v->c->medians == 1 ? "" : "s", end);
    bool any = revisions > 1 || devices > 1 || v->c->replaced || v->c->medians;
    if (!v->c->bad_lines) return any;
    fprintf(out, "left out: %lld line%s, the first ", (long long)v->c->bad_lines,
            v->c->bad_lines == 1 ? "" : "s");
    grid_text(out, v->c->bad_text, style);
    fputs(end, out);
    return true;
}

static int print_tables(FILE *out, const struct report_view *v, enum grid_style style)
{
    char title[SUMMARY_TITLE_MAX];
    bool markdown = style == GRID_MARKDOWN;
    int err = OK;
    bool any = print_facts(out, v, style);
    for (int i = 0; i < v->s->table_count && !err; i++) {
        const struct summary_table *t = &v->s->tables[i];
        if (!t->line_count) continue;
        fprintf(out, "%s%s", any && !(markdown && !i) ? "\n" : "", markdown ? "## " : "");
        any = true;
        grid_text(out, summary_title(t, title), style);
        fprintf(out, "; speedup over ");
        grid_text(out, t->base, style);
        fputc('\n', out);
        print_refusals(out, v, t, style);
        for (int64_t j = 0; j < t->matrix_count && !err; j++) {
            if (!has_any(v, t, j)) continue;
            fprintf(out, "\n%s", markdown ? "### " : "");
            print_name(out, t->matrices[j], style);
            if (markdown) fputc('\n', out);
            err = print_matrix(out, v, t, j, style);
        }
        if (err || t->matrix_count < 2) continue;
        fprintf(out, markdown ? "\n### Summary\n\n" : "\nsummary\n");
        err = summary_print(out, t, style);
    }
    return err;
}

int view_table(FILE *out, const struct report_view *v) { return print_tables(out, v, GRID_TEXT); }

int view_markdown(FILE *out, const struct report_view *v)
{
    return print_tables(out, v, GRID_MARKDOWN);
}

// Names of the inputs of all tables, such as k and layout, each once.
struct inputs {
    char name[16][VIEW_INPUT_MAX];
    int count;
};

static void find_inputs(const struct summaries *s, struct inputs *all)
{
    char name[VIEW_INPUT_MAX], value[VIEW_INPUT_MAX];
    for (int i = 0; i < s->table_count; i++)
        for (const char *p = s->tables[i].row->inputs; view_input(&p, name, value);) {
            bool known = !name[0] || all->count == COUNT(all->name);
            for (int k = 0; k < all->count && !known; k++) known = !strcmp(all->name[k], name);
            if (!known) strcpy(all->name[all->count++], name);
        }
}

static void put_inputs(struct grid *g, const char *inputs, const struct inputs *all)
{
    char name[VIEW_INPUT_MAX], value[VIEW_INPUT_MAX];
    for (int k = -1; k < all->count; k++) { // the precision, without a name, comes first
        const char *p = inputs, *want = k < 0 ? "" : all->name[k];
        bool found = false;
        while (!found && view_input(&p, name, value)) found = !strcmp(name, want);
        grid_cell(g, found ? value : "");
    }
}

// Writes all digits; nothing for NAN.
static void put_exact(struct grid *g, double x)
{
    char text[32] = "";
    if (isfinite(x)) snprintf(text, sizeof text, "%.7g", x);
    grid_cell(g, text);
}

static void put_csv_case(struct grid *g, const struct report_view *v, const struct summary_table *t,
                         const struct inputs *inputs, int64_t i, int64_t j)
{
    const struct collected_case *x = view_case(v, t, i, j);
    const struct record *r = &x->r;
    const struct summary_row *row = summary_cell(v->s, t, i, j);
    long long size[3];
    bool sized = view_size(row->size_name, size), timed = record_is_timed(r);
    grid_cell(g, row->device);
    grid_cell(g, row->revision);
    grid_cell(g, row->op);
    put_inputs(g, row->inputs, inputs);
    grid_cell(g, row->matrix);
    char text[32] = "";
    for (int k = 0; k < 3; k++) {
        if (sized) snprintf(text, sizeof text, "%lld", size[k]);
        grid_cell(g, text);
    }
    grid_cell(g, t->lines[i].name);
    grid_cell(g, r->library ? r->library : "");
    grid_cell(g, status_name(r->status));
    grid_cell(g, r->method ? r->method : "");
    put_exact(g, timed ? r->median : NAN);
    put_exact(g, timed ? r->ci_lo : NAN);
    put_exact(g, timed ? r->ci_hi : NAN);
    snprintf(text, sizeof text, "%d", x->runs);
    grid_cell(g, text);
    put_exact(g, timed ? r->gflops : NAN);
    put_exact(g, timed ? r->bytes / r->median / 1e6 : NAN);
    put_exact(g, timed ? 100 * r->efficiency : NAN);
    put_exact(g, timed ? 100 * r->gather_efficiency : NAN);
    grid_cell(g, t->base);
    put_exact(g, summary_base_ms(t, j));
    put_exact(g, summary_speedup(v->s, t, i, j));
    put_exact(g, row->rank.over_best);
    put_exact(g, timed ? row->rank.prep_ms : NAN);
    if (isinf(row->rank.pays_after))
        grid_cell(g, "never");
    else
        put_exact(g, row->rank.pays_after);
    grid_cell(g, row->rank.call ? row->rank.call : "");
    grid_cell(g, r->reason ? r->reason : "");
}

// Prints one table of all cases, in the order of the tables and matrices.
int view_csv(FILE *out, const struct report_view *v)
{
    static const char *const before[] = {"device", "revision", "op", "prec"};
    static const struct {
        const char *head;
        bool words;
    } behind[] = {{"matrix", true},        {"rows", false},
                  {"cols", false},         {"nnz", false},
                  {"alg", true},           {"library", true},
                  {"status", true},        {"check", true},
                  {"ms", false},           {"ms_lo", false},
                  {"ms_hi", false},        {"runs", false},
                  {"gflops", false},       {"gb_s", false},
                  {"roof_percent", false}, {"gather_percent", false},
                  {"baseline", true},      {"baseline_ms", false},
                  {"speedup", false},      {"x_best", false},
                  {"prep_ms", false},      {"pays_after", false},
                  {"call", true},          {"reason", true}};
    struct grid g = {0};
    struct inputs inputs = {.count = 0};
    int err = OK;
    find_inputs(v->s, &inputs);
    for (int c = 0; c < COUNT(before); c++) grid_column(&g, before[c], true);
    for (int c = 0; c < inputs.count; c++) grid_column(&g, inputs.name[c], true);
    for (int c = 0; c < COUNT(behind); c++) grid_column(&g, behind[c].head, behind[c].words);
    for (int k = 0; k < v->s->table_count; k++) {
        const struct summary_table *t = &v->s->tables[k];
        int64_t *order = mem_alloc(t->line_count, sizeof *order);
        if (!order) err = ERR_MEMORY;
        for (int64_t j = 0; j < t->matrix_count && !err; j++) {
            err = summary_order(v->s, t, j, v->sort, order);
            for (int64_t i = 0; i < t->line_count && !err; i++)
                if (view_case(v, t, order[i], j)) put_csv_case(&g, v, t, &inputs, order[i], j);
        }
        mem_free(order);
    }
    int print_err = grid_print(&g, out, GRID_CSV);
    return err ? err : print_err;
}
