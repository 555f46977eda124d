// spbench list NAME: describes algorithms, a format, or all algorithms of an operation.
#include "cli/cli_list.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/words.h"

static void tell(const char *what, const char *text)
{
    if (text && *text) printf("  %-12s  %s\n", what, text);
}

// Writes the formats that an algorithm takes a matrix in: "csr", "csr and coo".
static const char *formats_text(const struct format *const list[FORMATS_MAX], char text[128])
{
    text[0] = 0;
    for (int f = 0; f < FORMATS_MAX && list[f]; f++) words_and(text, 128, list[f]->name);
    return text;
}

static void tell_limits(const struct algo *a)
{
    char word[32], text[64] = "";
    for (int p = F32; p <= F64; p++)
        if (a->precs & BIT(p)) words_and(text, sizeof text, prec_name((enum prec)p));
    tell("precision", text);
    text[0] = 0;
    for (int l = LAYOUT_ROW; l <= LAYOUT_COL; l++)
        if (a->layouts & BIT(l)) words_and(text, sizeof text, axis_text(&axis_layout, l, word));
    tell("layout", text);
    tell("arithmetic", a->arith == ARITH_DOUBLE
                           ? "products and sums in f64, rounded once at the end"
                           : "products and sums in the precision of the case");
}

static void tell_relations(const struct algo *a)
{
    char text[256] = "";
    for (int i = 0; i < COUNT(a->picks) && a->picks[i]; i++)
        words_or(text, sizeof text, a->picks[i]);
    tell("picks", text);
    tell("tuned form", a->tuned_of);
    tell("leaves out", a->partial);
    if (a->reference) tell("reference", "the plain one: what others are compared with");
    tell("vendor", a->vendor);
    tell("call", a->call);
    if (a->model)
        tell("model", a->model == MODEL_TILED ? "tiled; spbench info -model predicts it"
                                              : "naive; spbench info -model predicts it");
}

static void tell_options(const struct algo *a)
{
    const struct param *p;
    char text[512];
    for (int i = 0; (p = algo_param(a, i)); i++) {
        snprintf(text, sizeof text, "%s=%.10g  from %.10g to %.10g%s: %s", p->name, p->value,
                 p->min, p->max, p->whole ? ", whole" : "", p->about);
        tell("-opt", text);
    }
}

static void tell_algorithm(const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    const char *missing = algo_missing(e);
    char text[256];
    if (!missing) missing = device_missing(e->device);
    printf("%s: -op %s -alg %s on %s\n", e->name, e->op->name, e->name,
           device_list[e->device].name);
    tell("idea", algo_idea(e));
    tell("unavailable", missing);
    if (!a) return;
    snprintf(text, sizeof text, "%s", e->op->variants[a->variant]);
    tell("computes", a->variant ? text : e->op->formula);
    tell("from", a->cite);
    tell("deviations", a->differs);
    tell("library", a->library && !missing ? a->library() : NULL);
    tell_limits(a);
    tell("A as", formats_text(a->A, text));
    tell("factor as", formats_text(a->S, text));
    tell_relations(a);
    tell_options(a);
}

static void tell_format(const struct format *f)
{
    char text[256] = "";
    printf("%s: a format of the sparse matrix\n", f->name);
    tell("layout", f->about);
    if (f->from) tell("made from", f->from->name);
    for (int k = 0; f->from && k < DEVICE_KINDS; k++)
        if (format_maker_of(f, (enum device_kind)k))
            words_and(text, sizeof text, device_list[k].name);
    tell("made on", text);
    text[0] = 0;
    for (int i = 0; i < algo_count; i++) {
        const struct algo *a = algos[i].algo;
        bool takes = false;
        for (int s = 0; a && s < FORMATS_MAX; s++) takes |= a->A[s] == f || a->S[s] == f;
        char name[64];
        snprintf(name, sizeof name, "%s (%s, %s)", algos[i].name, algos[i].op->name,
                 device_list[algos[i].device].name);
        if (takes) words_add(text, sizeof text, ", ", name);
    }
    tell("used by", text);
}

// Returns true if a name or pattern matches the algorithm or its operation.
static bool means(const char *wanted, const struct algo_entry *e)
{
    return !fnmatch(wanted, e->name, 0) || !strcmp(wanted, e->op->name);
}

bool list_one(const char *wanted)
{
    int count = 0;
    for (int i = 0; i < algo_count; i++)
        if (means(wanted, &algos[i])) {
            if (count++) printf("\n");
            tell_algorithm(&algos[i]);
        }
    for (int i = 0; i < format_count; i++)
        if (!strcmp(wanted, formats[i]->name)) {
            if (count++) printf("\n");
            tell_format(formats[i]);
        }
    return count;
}

void list_offer(struct suggestion *s)
{
    for (int i = 0; i < algo_count; i++) suggest_offer(s, algos[i].name);
    for (int i = 0; i < format_count; i++) suggest_offer(s, formats[i]->name);
    for (int i = 0; i < op_count; i++) suggest_offer(s, ops[i]->name);
}
