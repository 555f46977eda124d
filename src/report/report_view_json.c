// Report as one JSON document with all tables.
#include "report/report_view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/record_parts.h"

static void add_case(struct json *j, cJSON *list, const struct report_view *v,
                     const struct summary_table *t, int64_t i, int64_t m)
{
    const struct collected_case *x = view_case(v, t, i, m);
    const struct record *r = &x->r;
    bool timed = record_is_timed(r);
    const struct rank_case *rank = &summary_cell(v->s, t, i, m)->rank;
    double none = NAN;
    cJSON *o = json_object(j, list, NULL);
    json_text(j, o, "case", r->key);
    json_text(j, o, "matrix", r->matrix);
    json_text(j, o, "alg", r->alg);
    json_text(j, o, "name", t->lines[i].name);
    json_text(j, o, "status", status_name(r->status));
    json_text(j, o, "reason", r->reason);
    json_text(j, o, "check", r->method);
    json_number(j, o, "runs", x->runs);
    json_measure(j, o, "ms", timed ? r->median : none);
    json_measure(j, o, "ms_lo", timed ? r->ci_lo : none);
    json_measure(j, o, "ms_hi", timed ? r->ci_hi : none);
    json_measure(j, o, "gflops", timed ? r->gflops : none);
    json_measure(j, o, "baseline_ms", summary_base_ms(t, m));
    json_measure(j, o, "speedup", summary_speedup(v->s, t, i, m));
    json_measure(j, o, "x_best", rank->over_best);
    json_prep(j, o, timed ? rank->prep_ms : none, rank->pays_after);
    json_text(j, o, "call", rank->call);
}

static void add_line(struct json *j, cJSON *list, const struct summary_table *t, int64_t i)
{
    const struct summary_line *line = &t->lines[i];
    cJSON *o = json_object(j, list, NULL);
    json_text(j, o, "name", line->name);
    json_number(j, o, "matrices", (double)line->timed);
    json_number(j, o, "wins", (double)line->wins);
    json_measure(j, o, "speedup", line->mean);
    json_measure(j, o, "x_best", line->over_best);
    json_prep(j, o, line->prep_ms, line->pays_after);
    json_measure(j, o, "worst", line->worst);
    json_text(j, o, "worst_matrix",
              line->worst_at < 0 ? NULL : t->matrices[line->worst_at]->matrix);
    json_number(j, o, "failed", (double)line->failed);
}

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

static int add_table(struct json *j, cJSON *list, const struct report_view *v,
                     const struct summary_table *t)
{
    char name[VIEW_INPUT_MAX], value[VIEW_INPUT_MAX];
    cJSON *o = json_object(j, list, NULL);
    json_text(j, o, "op", t->row->op);
    json_text(j, o, "device", t->row->device);
    json_text(j, o, "revision", t->row->revision[0] ? t->row->revision : NULL);
    for (const char *p = t->row->inputs; view_input(&p, name, value);)
        add_input(j, o, name[0] ? name : "prec", value);
    json_text(j, o, "baseline", t->base);
    json_number(j, o, "matrices", (double)t->matrix_count);
    json_number(j, o, "shared", (double)t->shared);
    cJSON *lines = json_array(j, o, "summary"), *cases = json_array(j, o, "cases");
    for (int64_t i = 0; i < t->line_count; i++) add_line(j, lines, t, i);
    int64_t *order = mem_alloc(t->line_count, sizeof *order);
    int err = order ? OK : ERR_MEMORY;
    for (int64_t m = 0; m < t->matrix_count && !err; m++) {
        err = summary_order(v->s, t, m, v->sort, order);
        for (int64_t i = 0; i < t->line_count && !err; i++)
            if (view_case(v, t, order[i], m)) add_case(j, cases, v, t, order[i], m);
    }
    mem_free(order);
    return err;
}

int view_json(FILE *out, const struct report_view *v)
{
    struct json j;
    int err = OK;
    json_start(&j);
    json_text(&j, j.root, "schema", "spbench-report/1");
    json_number(&j, j.root, "bad_lines", (double)v->c->bad_lines);
    cJSON *list = json_array(&j, j.root, "tables");
    for (int t = 0; t < v->s->table_count && !err; t++)
        err = add_table(&j, list, v, &v->s->tables[t]);
    if (!err) return json_end(&j, out);
    json_free(&j);
    return err;
}
