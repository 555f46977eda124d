#include "report/view.h"

#include <math.h>
#include <string.h>

#include "base/words.h"
#include "bench/counters.h"
#include "report/cell.h"
#include "report/details.h"
#include "report/fastest.h"
#include "report/summary_print.h"

int view_make(struct report_view *v, const char *matrices, const struct summary_rule *rule)
{
    summaries_free(&v->s);
    v->sort = rule->sort;
    int err = collect_choose(&v->c);
    if (!err) err = collect_rows(&v->c, matrices, &v->s);
    if (!err && !v->s.count)
        err = matrices ? fail(ERR_USAGE, "-matrix %s: no such matrix in the records", matrices)
                       : fail(ERR_INPUT, "no usable results: %s", v->c.bad_text);
    return err ? err : summary_make(&v->s, rule);
}

void view_free(struct report_view *v)
{
    summaries_free(&v->s);
    collect_free(&v->c);
    *v = (struct report_view){.verbose = false};
}

static const struct collected_case *case_of(const struct summary_table *t, int64_t i, int64_t j)
{
    return t->lines[i].cells[j] ? t->lines[i].cells[j]->x : NULL;
}

// Returns true if the line was unsupported on the last matrix for the same reason. A table shows
// such a line once.
static bool is_known_refusal(const struct summary_table *t, int64_t i, int64_t j)
{
    const struct collected_case *x = case_of(t, i, j), *before = NULL;
    if (x->r.status != STATUS_UNSUPPORTED || !x->r.reason) return false;
    while (j-- > 0 && !before) before = case_of(t, i, j);
    return before && before->r.status == STATUS_UNSUPPORTED && before->r.reason &&
           !strcmp(before->r.reason, x->r.reason);
}

// Rows of a matrix in a section. The tables of a section differ in their inputs alone.
struct section {
    int first, end; // tables of the section: those of [first, end) with same_section()
    const char *size_name;
    struct table_row *rows; // size count
    int64_t count;
    struct column_set set;
};

static bool same_section(const struct summary_table *a, const struct summary_table *b)
{
    return !strcmp(a->row->op, b->row->op) && !strcmp(a->row->device, b->row->device) &&
           !strcmp(a->row->revision, b->row->revision);
}

// Returns the next table of the section of table `first`, from `i` on; table_count: none.
static int next_table(const struct report_view *v, int first, int i)
{
    while (i < v->s.table_count && !same_section(&v->s.tables[first], &v->s.tables[i])) i++;
    return i;
}

static int add_rows(const struct report_view *v, const struct summary_table *t, struct section *x)
{
    int64_t j = summary_find_matrix(t, x->size_name);
    if (j < 0) return OK;
    int64_t *order = mem_alloc(t->line_count, sizeof *order);
    int err = order ? OK : ERR_MEMORY;
    if (!err) summary_order(t, j, v->sort, order);
    for (int64_t n = 0; n < t->line_count && !err; n++) {
        if (!case_of(t, order[n], j) || is_known_refusal(t, order[n], j)) continue;
        err = table_row_make(&x->rows[x->count], &v->c, t, order[n], j);
        x->count += !err;
    }
    mem_free(order);
    return err;
}

static int make_rows(const struct report_view *v, struct section *x)
{
    int64_t room = 0;
    for (int t = x->first; t < x->end; t = next_table(v, x->first, t + 1))
        room += v->s.tables[t].line_count;
    x->rows = mem_alloc(room, sizeof *x->rows);
    int err = x->rows ? OK : ERR_MEMORY;
    for (int t = x->first; t < x->end && !err; t = next_table(v, x->first, t + 1))
        err = add_rows(v, &v->s.tables[t], x);
    return err;
}

static void free_rows(struct section *x)
{
    for (int64_t i = 0; i < x->count; i++) table_row_free(&x->rows[i]);
    mem_free(x->rows);
}

static const struct axis *axis_find(const char *name)
{
    const struct axis *axis;
    for (int a = 0; (axis = axis_all(a)); a++)
        if (!strcmp(axis->name, name)) return axis;
    return NULL;
}

// Returns true if the input has the value that a title leaves out.
static bool is_standard(const char *name, const char *value)
{
    const struct axis *axis = axis_find(name);
    if (!axis) return !strcmp(name, "cache") && !strcmp(value, "warm");
    return axis->quiet && axis->words && !strcmp(axis->words[axis->standard], value);
}

// Returns true if the input has a column only where its value varies. Elsewhere a line above the
// table has the value.
static bool is_quiet(const char *name, const char *value)
{
    const struct axis *axis = axis_find(name);
    return !axis || axis->optional || is_standard(name, value);
}

// Returns true if the tables of the section differ in the input, or always show the input.
static bool shows_input(const struct report_view *v, int first, const char *name)
{
    char value[INPUT_MAX], other[INPUT_MAX];
    const struct summary_table *tables = v->s.tables;
    bool has = input_find(tables[first].row->inputs, name, value);
    if (has && !is_quiet(name, value)) return true;
    for (int t = first; t < v->s.table_count; t = next_table(v, first, t + 1))
        if (input_find(tables[t].row->inputs, name, other) != has || (has && strcmp(value, other)))
            return true;
    return false;
}

static bool any_value(const struct section *x, const struct shown_column *column)
{
    for (int64_t i = 0; i < x->count; i++)
        if (isfinite(column_value(column, &x->rows[i]))) return true;
    return false;
}

static bool any_compared(const struct section *x)
{
    for (int64_t i = 0; i < x->count; i++)
        if (x->rows[i].table->compared) return true;
    return false;
}

static bool is_shown(const struct report_view *v, const struct section *x,
                     const struct shown_column *column)
{
    if (!column->head) return false;
    switch (column->c->when) {
    case WHEN_ALWAYS: return true;
    case WHEN_VARIES: return shows_input(v, x->first, column->name);
    case WHEN_KNOWN: return any_value(x, column);
    case WHEN_COMPARED: return any_compared(x);
    case WHEN_VERBOSE: return v->verbose;
    case WHEN_BACK: return v->back;
    }
    return false;
}

// Writes ", f32 k 64": the precision, and the inputs that are shown.
static const char *inputs_text(const struct report_view *v, const struct summary_table *t,
                               int first, char text[256])
{
    char name[INPUT_MAX], value[INPUT_MAX];
    snprintf(text, 256, ",");
    for (const char *p = t->row->inputs; input_next(&p, name, value);) {
        const struct axis *axis = axis_find(name);
        bool number = axis && !axis->words;
        if (strcmp(name, "prec") && !shows_input(v, first, name)) continue;
        words_print(text, 256, " %s%s%s", number ? name : "", number ? " " : "", value);
    }
    return text;
}

// Replaces the time of the case by its back-to-back time. Back-to-back times count only if runs
// wait for the work ahead. Returns true if the times differ.
static bool use_back_to_back(const struct record *r, struct rank_case *x)
{
    if (isnan(x->ms) || isnan(r->back_to_back) || r->overtakes) return false;
    bool differs = x->ms != r->back_to_back;
    x->ms = r->back_to_back;
    x->ci_lo = r->back_ci_lo;
    x->ci_hi = r->back_ci_hi;
    x->min_ms = NAN;
    return differs;
}

// Prints the fastest on matrix j. `back`: by back-to-back times, if a case has two different times.
static int print_fastest_on(FILE *out, const struct summary_table *t, int64_t j, bool back,
                            const char *inputs, enum grid_style style)
{
    struct rank_case *cases = mem_alloc(t->line_count, sizeof *cases),
                     **list = mem_alloc(t->line_count, sizeof *list);
    unsigned *doubts = mem_alloc(t->line_count, sizeof *doubts);
    int count = 0, err = cases && list && doubts ? OK : ERR_MEMORY;
    bool any = !back;
    char what[320];
    for (int64_t i = 0; i < t->line_count && !err; i++) {
        const struct summary_row *cell = t->lines[i].cells[j];
        if (!cell) continue;
        cases[count] = cell->rank;
        if (back) any |= use_back_to_back(&cell->x->r, &cases[count]);
        list[count] = &cases[count];
        doubts[count++] = cell->doubt;
    }
    if (any && !err) {
        struct rank rank = rank_make(list, count);
        snprintf(what, sizeof what, "%s%s", back ? " back to back" : "", inputs);
        fastest_print(out, what, &rank, doubts, style);
    }
    mem_free(cases);
    mem_free(list);
    mem_free(doubts);
    return err;
}

// Prints the fastest of each table of the section, if there is something to compare.
static int print_fastest(FILE *out, const struct report_view *v, const struct section *x,
                         enum grid_style style)
{
    bool any = false, several = false;
    int err = OK;
    for (int64_t i = 1; i < x->count; i++) several |= x->rows[i].table == x->rows[i - 1].table;
    for (int64_t i = 0; i < x->count; i++) any |= !isnan(x->rows[i].cell->rank.ms);
    if (several && !any)
        fprintf(out, "%sfastest: none, no checked result\n", style == GRID_TEXT ? "  " : "\n");
    for (int i = x->first; several && any && i < x->end && !err;
         i = next_table(v, x->first, i + 1)) {
        const struct summary_table *t = &v->s.tables[i];
        int64_t j = summary_find_matrix(t, x->size_name);
        char inputs[256];
        if (j < 0) continue;
        inputs_text(v, t, x->first, inputs);
        err = print_fastest_on(out, t, j, false, inputs, style);
        if (!err && v->back) err = print_fastest_on(out, t, j, true, inputs, style);
    }
    return err;
}

static void print_name(FILE *out, const struct section *x, const struct summary_row *matrix,
                       enum grid_style style)
{
    long long m, n, nnz;
    char mean[32];
    grid_text(out, matrix->matrix, style);
    if (sscanf(x->size_name, "%lldx%lld:%lld ", &m, &n, &nnz) != 3) {
        fprintf(out, ": could not be read\n");
        return;
    }
    fprintf(out, ": %lld x %lld, %lld nonzeros", m, n, nnz);
    const struct table_row *row = x->rows;
    if (x->count && !isnan(table_row_number(row, "matrix", "row_mean")))
        fprintf(out, "; rows: mean %s, longest %.0f, cv %.2f",
                cell_number(table_row_number(row, "matrix", "row_mean"), mean),
                table_row_number(row, "matrix", "row_max"),
                table_row_number(row, "matrix", "row_cv"));
    fputc('\n', out);
}

static int print_grid(FILE *out, const struct report_view *v, struct section *x,
                      enum grid_style style)
{
    struct grid g = {0};
    struct shown_column *list = x->set.list;
    int count = 0;
    column_set_make(&x->set, &v->s, x->first, x->end);
    for (int c = 0; c < x->set.count; c++)
        if (is_shown(v, x, &list[c])) list[count++] = list[c];
    for (int c = 0; c < count; c++) grid_column(&g, list[c].head, list[c].words);
    for (int64_t i = 0; i < x->count; i++)
        for (int c = 0; c < count; c++) grid_cell(&g, column_cell(&list[c], &x->rows[i]));
    return grid_print(&g, out, style);
}

// Prints the table of a matrix for the section that begins at table `first`.
static int print_matrix(FILE *out, const struct report_view *v, int first,
                        const struct summary_row *matrix, enum grid_style style)
{
    struct section x = {.first = first, .end = v->s.table_count, .size_name = matrix->size_name};
    int err = make_rows(v, &x);
    if (!err) {
        print_name(out, &x, matrix, style);
        if (style == GRID_MARKDOWN) fputc('\n', out);
        if (v->verbose && x.count) details_matrix(out, x.rows);
        err = print_grid(out, v, &x, style);
    }
    if (!err) err = print_fastest(out, v, &x, style);
    for (int64_t i = 0; i < x.count && v->verbose && !err; i++) details_row(out, &x.rows[i]);
    free_rows(&x);
    return err;
}

// Returns true if a shown line has a record of the matrix.
static bool has_any(const struct summary_table *t, int64_t j)
{
    for (int64_t i = 0; i < t->line_count; i++)
        if (case_of(t, i, j)) return true;
    return false;
}

// Returns true if no earlier table of the section has the matrix.
static bool is_first(const struct report_view *v, int first, int t, int64_t j)
{
    const struct summary_table *tables = v->s.tables;
    for (int i = first; i < t; i = next_table(v, first, i + 1)) {
        int64_t at = summary_find_matrix(&tables[i], tables[t].matrices[j]->size_name);
        if (at >= 0 && has_any(&tables[i], at)) return false;
    }
    return has_any(&tables[t], j);
}

// Returns true if no earlier table is of the section of table t.
static bool begins_section(const struct report_view *v, int t) { return next_table(v, t, 0) == t; }

int view_matrix(FILE *out, const struct report_view *v, const char *matrix)
{
    int err = OK;
    for (int first = 0; first < v->s.table_count; first++)
        for (int t = first; begins_section(v, first) && t < v->s.table_count;
             t = next_table(v, first, t + 1))
            for (int64_t j = 0; j < v->s.tables[t].matrix_count && !err; j++)
                if (!strcmp(v->s.tables[t].matrices[j]->matrix, matrix) && is_first(v, first, t, j))
                    err = print_matrix(out, v, first, v->s.tables[t].matrices[j], GRID_TEXT);
    return err;
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
    int revisions = count_texts(&v->s, revision_of), devices = count_texts(&v->s, device_of);
    const char *end = style == GRID_MARKDOWN ? "\n\n" : "\n";
    if (revisions > 1) fprintf(out, "revisions: %d; each has its own table%s", revisions, end);
    if (devices > 1) fprintf(out, "devices: %d; each has its own table%s", devices, end);
    if (v->c.replaced)
        fprintf(out, "measured more than once: %lld case%s; the last record counts%s",
                (long long)v->c.replaced, v->c.replaced == 1 ? "" : "s", end);
    if (v->c.medians)
        fprintf(out, "measured in several runs: %lld case%s; the median counts%s",
                (long long)v->c.medians, v->c.medians == 1 ? "" : "s", end);
    bool any = revisions > 1 || devices > 1 || v->c.replaced || v->c.medians;
    if (!v->c.bad_lines) return any;
    fprintf(out, "left out: %lld line%s, the first ", (long long)v->c.bad_lines,
            v->c.bad_lines == 1 ? "" : "s");
    grid_text(out, v->c.bad_text, style);
    fputs(end, out);
    return true;
}

// Prints "spmm f32, NVIDIA H200, revision 542d49d; speedup over best of cuSPARSE", with the inputs
// that the tables of the section do not show.
static void print_title(FILE *out, const struct report_view *v, int first, enum grid_style style)
{
    const struct summary_table *t = &v->s.tables[first];
    char text[SUMMARY_TITLE_MAX], name[INPUT_MAX], value[INPUT_MAX];
    snprintf(text, sizeof text, "%s", t->row->op);
    for (const char *p = t->row->inputs; input_next(&p, name, value);)
        if (!shows_input(v, first, name) && !is_standard(name, value))
            words_print(text, sizeof text, " %s%s%s", strcmp(name, "prec") ? name : "",
                        strcmp(name, "prec") ? "=" : "", value);
    words_print(text, sizeof text, ", %s%s%s", t->row->device,
                t->row->revision[0] ? ", revision " : "", t->row->revision);
    if (t->compared) words_print(text, sizeof text, "; speedup over %s", t->base);
    grid_text(out, text, style);
    fputc('\n', out);
}

static int print_section(FILE *out, const struct report_view *v, int first, enum grid_style style)
{
    bool markdown = style == GRID_MARKDOWN;
    int err = OK;
    print_title(out, v, first, style);
    for (int i = first; i < v->s.table_count; i = next_table(v, first, i + 1)) {
        const struct summary_table *t = &v->s.tables[i];
        for (int64_t j = 0; j < t->matrix_count && !err; j++) {
            if (!is_first(v, first, i, j)) continue;
            fprintf(out, "\n%s", markdown ? "### " : "");
            err = print_matrix(out, v, first, t->matrices[j], style);
        }
    }
    for (int i = first; i < v->s.table_count && !err; i = next_table(v, first, i + 1)) {
        const struct summary_table *t = &v->s.tables[i];
        if (t->line_count && t->matrix_count > 1) err = summary_print(out, t, style);
    }
    return err;
}

static int print_tables(FILE *out, const struct report_view *v, enum grid_style style)
{
    int err = OK;
    bool any = print_facts(out, v, style), markdown = style == GRID_MARKDOWN;
    for (int i = 0; i < v->s.table_count && !err; i++) {
        if (!begins_section(v, i) || !v->s.tables[i].line_count) continue;
        fprintf(out, "%s%s", any && !(markdown && !i) ? "\n" : "", markdown ? "## " : "");
        any = true;
        err = print_section(out, v, i, style);
    }
    return err;
}

int view_table(FILE *out, const struct report_view *v) { return print_tables(out, v, GRID_TEXT); }

int view_markdown(FILE *out, const struct report_view *v)
{
    return print_tables(out, v, GRID_MARKDOWN);
}

static bool has_counters(const struct collected_case *x)
{
    const struct algo_entry *e = x->r.entry;
    return e && counters_possible(e->device);
}

// Prints the first reason why a case has no counters. If any device has counters, the CPU's lack of
// counters is no reason.
static void print_counters(FILE *out, const struct report_view *v)
{
    bool told = false, possible = false;
    for (int64_t i = 0; i < v->c.count; i++) possible |= has_counters(&v->c.cases[i]);
    for (int64_t i = 0; i < v->c.count && !told; i++) {
        struct table_row row = {.x = NULL};
        if (possible && !has_counters(&v->c.cases[i])) continue;
        if (!strstr(v->c.cases[i].text, "\"counters\":{")) continue;
        if (json_parse(v->c.cases[i].text, &row.json)) {
            fail_drop(); // out of memory: the line is left out
            continue;
        }
        const char *reason = table_row_text(&row, "counters", "reason");
        if (reason) fprintf(out, "no counters: %s\n", reason);
        told = reason != NULL;
        table_row_free(&row);
    }
}

void view_warnings(FILE *out, const struct report_view *v)
{
    long long timed = 0, busy = 0, overtaking = 0;
    for (int64_t i = 0; i < v->c.count; i++) {
        const struct record *r = &v->c.cases[i].r;
        bool has_time = r->median > 0;
        timed += has_time;
        busy += has_time && r->busy;
        overtaking += has_time && r->overtakes;
    }
    print_counters(out, v);
    if (busy)
        fprintf(out,
                "busy: other programs used the processors during %lld of %lld cases; times may be "
                "too long: measure on an idle machine, or with -threads 1\n",
                busy, timed);
    if (overtaking)
        fprintf(out,
                "not in order: %lld of %lld cases start before the work ahead has ended; a result "
                "is wrong if that work makes an input\n",
                overtaking, timed);
}
