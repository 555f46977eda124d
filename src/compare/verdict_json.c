// The comparison as JSON.
#include "compare/verdict_text.h"

#include <math.h>
#include <string.h>

#include "records/json.h"

static void add_side(struct json *j, cJSON *o, const char *name, const struct compared *x,
                     enum side side)
{
    cJSON *s = json_object(j, o, name);
    json_measure(j, s, "ms", x->timed ? x->ms[side] : NAN);
    json_measure(j, s, "gflops", x->timed ? x->gflops[side] : NAN);
    json_number(j, s, "processes", x->count[side]);
    json_number(j, s, "used", x->used[side]);
}

static void add_case(struct json *j, cJSON *list, const struct compared *x)
{
    const struct observation *s = compared_any(x);
    const struct estimate *e = &x->e;
    double none = NAN;
    cJSON *o = json_object(j, list, NULL);
    json_text(j, o, "case", s->key);
    json_text(j, o, "alg", s->alg);
    json_text(j, o, "matrix", s->matrix);
    json_text(j, o, "verdict", verdict_name(x->verdict));
    json_text(j, o, "why", x->why[0] ? x->why : NULL);
    add_side(j, o, "old", x, SIDE_OLD);
    add_side(j, o, "new", x, SIDE_NEW);
    json_measure(j, o, "ratio", x->timed ? exp(e->shift) : none);
    json_measure(j, o, "ratio_lo", x->timed ? exp(e->lo) : none);
    json_measure(j, o, "ratio_hi", x->timed ? exp(e->hi) : none);
    json_measure(j, o, "p", x->timed ? e->p : none);
    json_measure(j, o, "p_of_all", x->timed ? e->p_of_all : none);
    json_measure(j, o, "spread", x->timed ? sqrt(e->spread) : none);
    json_bool(j, o, "by_turns", x->paired);
    json_bool(j, o, "guessed", x->timed && e->guessed);
    json_number(j, o, "throttled", x->throttled);
    json_number(j, o, "busy", x->busy);
}

static void add_place(struct json *j, cJSON *o, const char *name, const struct comparison *c,
                      int64_t i)
{
    json_text(j, o, name, i < 0 ? NULL : compared_any(&c->cases[i])->key);
}

static void add_summary(struct json *j, const struct comparison *c)
{
    const struct verdict_counts *s = &c->sum;
    cJSON *o = json_object(j, j->root, "summary"), *of = json_object(j, o, "verdicts");
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_number(j, of, verdict_name((enum verdict)v), (double)s->of[v]);
    json_number(j, o, "timed", (double)s->timed);
    json_number(j, o, "guessed", (double)s->guessed);
    json_measure(j, o, "ratio", s->ratio);
    json_measure(j, o, "ratio_lo", s->lo);
    json_measure(j, o, "ratio_hi", s->hi);
    add_place(j, o, "worst", c, s->worst);
    add_place(j, o, "best", c, s->best);
    json_number(j, o, "runs_needed", s->runs_needed ? s->runs_needed : NAN);
    json_number(j, o, "bad_lines",
                (double)(c->read[SIDE_OLD].bad_lines + c->read[SIDE_NEW].bad_lines));
}

// Null if unknown or mixed.
static void add_origin(struct json *j, const char *name, const struct origin *s)
{
    json_text(j, j->root, name, s->text[0] && !s->mixed ? s->text : NULL);
}

int verdict_json(FILE *out, const struct comparison *c)
{
    struct json j;
    json_start(&j);
    json_text(&j, j.root, "schema", "spbench-compare/1");
    json_text(&j, j.root, "old", c->name[SIDE_OLD]);
    json_text(&j, j.root, "new", c->name[SIDE_NEW]);
    add_origin(&j, "old_revision", &c->read[SIDE_OLD].revision);
    add_origin(&j, "new_revision", &c->read[SIDE_NEW].revision);
    add_origin(&j, "old_device", &c->read[SIDE_OLD].device);
    add_origin(&j, "new_device", &c->read[SIDE_NEW].device);
    json_measure(&j, j.root, "threshold_percent", 100 * c->rule.threshold);
    json_text(&j, j.root, "time", timing_kind_words[c->rule.kind]);
    json_text(&j, j.root, "conclusion", conclusion_name(comparison_conclude(c)));
    add_summary(&j, c);
    cJSON *list = json_array(&j, j.root, "cases");
    for (int64_t i = 0; i < c->count; i++) add_case(&j, list, &c->cases[i]);
    return json_end(&j, out);
}
