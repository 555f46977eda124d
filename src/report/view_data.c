// Reports as CSV and as one JSON document.
#include "report/view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/cell.h"

// Calls take() with the row of each case of a table, in the order of the matrices.
static int each_case(const struct report_view *v, const struct summary_table *t,
                     void (*take)(void *arg, struct table_row *row), void *arg)
{
    int64_t *order = mem_alloc(t->line_count, sizeof *order);
    int err = order ? OK : ERR_MEMORY;
    for (int64_t j = 0; j < t->matrix_count && !err; j++) {
        summary_order(t, j, v->sort, order);
        for (int64_t i = 0; i < t->line_count && !err; i++) {
            struct table_row row;
            err = table_row_make(&row, &v->c, t, order[i], j);
            if (!err && row.x) take(arg, &row);
            table_row_free(&row);
        }
    }
    mem_free(order);
    return err;
}

// Returns true if `x` is a whole number that a double can count.
static bool is_whole(double x) { return x == floor(x) && fabs(x) < 1e15; }

struct csv {
    struct grid grid;
    struct column_set set;
};

// Writes all digits; nothing for NAN.
static void put_csv_row(void *arg, struct table_row *row)
{
    struct csv *csv = arg;
    for (int c = 0; c < csv->set.count; c++) {
        const struct shown_column *x = &csv->set.list[c];
        const char *words = x->c->text ? column_text(x, row) : NULL;
        double value = x->c->text ? NAN : column_value(x, row);
        char text[32] = "";
        if (isinf(value))
            strcpy(text, "never");
        else if (!isnan(value))
            snprintf(text, sizeof text, is_whole(value) ? "%.0f" : "%.7g", value);
        grid_cell(&csv->grid, words ? words : text);
    }
}

int view_csv(FILE *out, const struct report_view *v)
{
    struct csv csv = {.grid = {.columns = 0}};
    int err = OK;
    column_set_make(&csv.set, &v->s, 0, v->s.table_count);
    for (int c = 0; c < csv.set.count; c++)
        grid_column(&csv.grid, csv.set.list[c].name, csv.set.list[c].words);
    for (int t = 0; t < v->s.table_count && !err; t++)
        err = each_case(v, &v->s.tables[t], put_csv_row, &csv);
    int print_err = grid_print(&csv.grid, out, GRID_CSV);
    return err ? err : print_err;
}

struct json_list {
    struct json *j;
    cJSON *list;
    const struct column_set *set;
};

// Adds a number if the value is numeric, as in records.
static void add_input(struct json *j, cJSON *o, const char *name, const char *value)
{
    char *end;
    double x = strtod(value, &end);
    if (isdigit((unsigned char)*value) && !*end)
        json_number(j, o, name, x);
    else
        json_text(j, o, name, value);
}

// Adds a value. With a number of runs also adds if the number is finite: JSON has no infinity.
static void add_value(struct json *j, cJSON *o, const struct shown_column *x, double value)
{
    if (is_whole(value))
        json_number(j, o, x->name, value);
    else
        json_measure(j, o, x->name, value);
    if (x->c->format != cell_runs) return;
    if (isnan(value))
        json_null(j, o, "pays");
    else
        json_bool(j, o, "pays", !isinf(value));
}

static void add_row(struct json *j, cJSON *list, const struct column_set *set,
                    struct table_row *row)
{
    cJSON *o = json_object(j, list, NULL);
    for (int c = 0; c < set->count; c++) {
        const struct shown_column *x = &set->list[c];
        const char *text = x->c->text ? column_text(x, row) : NULL;
        if (!x->c->text)
            add_value(j, o, x, column_value(x, row));
        else if (x->c->each == EACH_INPUT && text)
            add_input(j, o, x->name, text);
        else
            json_text(j, o, x->name, text);
    }
}

static void add_case(void *arg, struct table_row *row)
{
    const struct json_list *list = arg;
    add_row(list->j, list->list, list->set, row);
}

static int add_table(struct json *j, cJSON *list, const struct report_view *v, int at)
{
    const struct summary_table *t = &v->s.tables[at];
    struct column_set lines, cases;
    char name[INPUT_MAX], value[INPUT_MAX];
    cJSON *o = json_object(j, list, NULL);
    json_text(j, o, "op", t->row->op);
    json_text(j, o, "device", t->row->device);
    json_text(j, o, "revision", t->row->revision[0] ? t->row->revision : NULL);
    for (const char *p = t->row->inputs; input_next(&p, name, value);) add_input(j, o, name, value);
    json_text(j, o, "baseline", t->base);
    json_number(j, o, "matrices", (double)t->matrix_count);
    json_number(j, o, "shared", (double)t->shared);
    json_number(j, o, "without_baseline", (double)t->unopposed);
    cJSON *marks = json_object(j, o, "baseline_doubts");
    for (int k = 0; k < DOUBT_KINDS; k++)
        json_number(j, marks, doubt_names[k], (double)t->base_times.of[k]);
    cJSON *summary = json_array(j, o, "summary");
    column_set_summary(&lines);
    for (int64_t i = 0; i < t->line_count; i++)
        add_row(j, summary, &lines, &(struct table_row){.table = t, .line = i});
    column_set_make(&cases, &v->s, at, at + 1);
    return each_case(v, t, add_case, &(struct json_list){j, json_array(j, o, "cases"), &cases});
}

int view_json(FILE *out, const struct report_view *v)
{
    struct json j;
    int err = OK;
    json_start(&j);
    json_text(&j, j.root, "schema", "spbench-report/1");
    json_number(&j, j.root, "bad_lines", (double)v->c.bad_lines);
    cJSON *list = json_array(&j, j.root, "tables");
    for (int t = 0; t < v->s.table_count && !err; t++) err = add_table(&j, list, v, t);
    if (!err) return json_end(&j, out);
    json_free(&j);
    return err;
}
