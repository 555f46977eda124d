#include "report/table_row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "report/cell.h"

// A larger difference of back-to-back runs is a remark.
#define BACK_TO_BACK_PERCENT 10

// Numbers are right-aligned, words left-aligned.
void table_put_axes(FILE *out, const struct table *t, const struct bench_case *c)
{
    char value[32];
    for (int a = 0; t->plan->op->axes[a]; a++) {
        const struct axis *axis = t->plan->op->axes[a];
        const char *text = c ? axis_text(axis, c->axis[a], value) : axis->name;
        if (t->axis_width[a])
            fprintf(out, "  %*s", axis->words ? -t->axis_width[a] : t->axis_width[a], text);
    }
}

void table_put_cell(FILE *out, enum column_id c, const char *text)
{
    fprintf(out, "  %*s", columns[c].width, text);
}

bool table_has_column(const struct table *t, enum column_id c)
{
    switch (c) {
    case COLUMN_DEVICE: return t->devices_vary;
    case COLUMN_PREC: return t->precs_vary;
    case COLUMN_BACK: return t->kind == TIMING_BACK_TO_BACK;
    case COLUMN_BYTES: return t->detail == TABLE_VERBOSE;
    case COLUMN_GATHER: return t->plan->op->gather;
    default: return true;
    }
}

// Prints a cell if the table has the column.
static void put(FILE *out, const struct table *t, enum column_id c, const char *text)
{
    if (table_has_column(t, c)) table_put_cell(out, c, text);
}

static void put_figures(FILE *out, const struct table *t, const struct result *r)
{
    const struct op *op = t->plan->op;
    for (int i = 0; i < op_figure_count(op); i++) {
        if (!op->figures[i].column) continue;
        if (isnan(r->figures[i]))
            fprintf(out, "  %6s", "-");
        else
            fprintf(out, "  %6.2f", r->figures[i]);
    }
}

static void put_remark(FILE *out, enum remark_id i) { fprintf(out, "; %s", remarks[i].text); }

// Prints remarks that put the time in doubt.
static void put_warnings(FILE *out, const struct result *r)
{
    const struct timing *x = &r->timing;
    double faster = 100 * (1 - x->back_to_back / x->median);
    if (r->cache_resident) put_remark(out, REMARK_CACHE);
    if (fabs(faster) > BACK_TO_BACK_PERCENT)
        fprintf(out, "; back to back %.1f %% %s", fabs(faster), faster > 0 ? "faster" : "slower");
    if (!strcmp(x->stop, "time") && x->count < TIMING_MIN_SAMPLES)
        fprintf(out, "; time for %d sample%s", x->count, x->count > 1 ? "s" : "");
    if (x->throttled) put_remark(out, REMARK_THROTTLED);
    if (x->busy) put_remark(out, REMARK_BUSY);
    if (r->in_order == ORDER_BROKEN) put_remark(out, REMARK_ORDER);
}

static void put_check(FILE *out, const struct result *r)
{
    const char *library = case_library(&r->c);
    char text[REMARK_TEXT_MAX];
    if (r->checked && r->c.entry->algo->reference) // the tolerance of a reference is one rounding
        fprintf(out, "  %s reference", r->check.method);
    else if (r->checked)
        fprintf(out, "  %s %.2f", r->check.method, r->check.error_ratio);
    else
        fprintf(out, "  not checked");
    put_warnings(out, r);
    if (r->same_as) fprintf(out, "; same bits and time as %s", r->same_as);
    if (library) fprintf(out, "; %s", library);
    if (r->c.entry->algo->variant)
        fprintf(out, "; %s", r->c.entry->op->variants[r->c.entry->algo->variant]);
    for (int i = 0; i < r->stats.count; i++) {
        const struct figure *f = &r->stats.list[i];
        if (f->text[0]) fprintf(out, "; %s", remark_figure(f->name, f->text, text));
    }
}

static void put_rates(FILE *out, const struct table *t, const struct result *r)
{
    char rate[32], speed[32] = "-", roof[32] = "-", gather[32] = "-";
    if (r->bound_ms > 0) snprintf(roof, sizeof roof, "%.1f", 100 * r->efficiency);
    if (r->compulsory_bytes >= 0)
        cell_number((double)r->compulsory_bytes / r->timing.median / 1e6, speed);
    if (r->gather_ms > 0) snprintf(gather, sizeof gather, "%.1f", 100 * r->gather_efficiency);
    put(out, t, COLUMN_GFLOPS, cell_number(r->gflops, rate));
    put(out, t, COLUMN_BYTES, speed);
    put(out, t, COLUMN_ROOF, roof);
    put(out, t, COLUMN_GATHER, gather);
}

static void put_whole_figures(FILE *out, const struct table *t, const struct result *r)
{
    const struct op *op = t->plan->op;
    bool any = false;
    for (int i = 0; i < op_figure_count(op); i++) {
        if (!op->figures[i].whole || isnan(r->figures[i])) continue;
        fprintf(out, "%s%s %.0f", any ? ", " : "", op->figures[i].name, r->figures[i]);
        any = true;
    }
    for (int i = 0; i < r->phases.count; i++)
        fprintf(out, "%s %s %.3f ms", i ? "," : "; phases:", r->phases.list[i].name,
                r->phases.list[i].ms);
}

static void put_samples(FILE *out, const struct table *t, const struct timing *x)
{
    fprintf(out, "  %-*s  %d sample%s of %d run%s after %d, stopped by %s; ", t->alg_width, "",
            x->count, x->count > 1 ? "s" : "", x->batch, x->batch > 1 ? "s" : "", x->warmup,
            x->stop);
    if (!isnan(x->back_to_back))
        fprintf(out, "launched as a %s, separator %.3g ms, subtracted; back to back %.6g ms",
                x->launch, x->separator_ms, x->back_to_back);
    if (!isnan(x->back_ci_lo))
        fprintf(out, " +-%.2f %%", 100 * (x->back_ci_hi - x->back_ci_lo) / 2 / x->back_to_back);
    if (!isnan(x->back_to_back)) fprintf(out, "; ");
    fprintf(out, "fastest %.6g ms\n", x->min);
}

static void put_counters(FILE *out, const struct table *t, const struct counters *c)
{
    char memory[32], l2[32], l1[32];
    fprintf(out, "  %-*s  moved by a run: memory %s, L2 %s, L1 %s, %lld kernel%s (%s)\n",
            t->alg_width, "", size_text((int64_t)c->memory_bytes, memory),
            size_text((int64_t)c->l2_bytes, l2), size_text((int64_t)c->l1_bytes, l1),
            (long long)c->kernels, c->kernels == 1 ? "" : "s", c->tool);
}

// Prints the GFLOPS that the algorithm's model predicts.
static void put_model(FILE *out, const struct table *t, const struct tiled_prediction *x)
{
    if (!x->equation || isnan(x->gflops[PREDICTION_ALL_MISS])) return;
    fprintf(out, "  %-*s  predicted GFLOPS: %.4g, all miss %.4g, cold miss %.4g\n", t->alg_width,
            "", x->gflops[PREDICTION_ALGORITHMIC], x->gflops[PREDICTION_ALL_MISS],
            x->gflops[PREDICTION_COLD_MISS]);
}

static void put_details(FILE *out, const struct table *t, const struct result *r)
{
    char peak[32], form[32];
    const struct setup *s = &r->setup;
    if (r->timed) put_samples(out, t, &r->timing);
    put_model(out, t, &r->model);
    fprintf(out, "  %-*s  convert %.3f ms (again %.3f), upload %.3f ms, analyse %.3f ms; peak %s, ",
            t->alg_width, "", setup_convert_ms(s), setup_warm_ms(s), setup_upload_ms(s),
            s->analyse_ms, size_text(r->peak_bytes, peak));
    for (int i = 0; i < s->count; i++)
        fprintf(out, "%s%s as %s %s", i ? ", " : "", s->formats[i].of, s->formats[i].format->name,
                size_text(s->formats[i].bytes, form));
    fprintf(out, "\n");
    if (r->counters.known) put_counters(out, t, &r->counters);
    if (!r->timed || !r->phases.count) return;
    fprintf(out, "  %-*s  ", t->alg_width, "");
    put_whole_figures(out, t, r);
    fprintf(out, "\n");
}

void table_row_head(FILE *out, const struct table *t, const struct result *r)
{
    const struct timing *x = &r->timing;
    char ms[32], noise[32],
        back[32] = "-"; // no second time: runs cannot overlap, or were not separated
    put(out, t, COLUMN_DEVICE, r->c.device);
    put(out, t, COLUMN_PREC, prec_name(r->c.prec));
    table_put_axes(out, t, &r->c);
    if (!table_row_is_timed(r)) return;
    if (!isnan(x->back_to_back)) cell_number(x->back_to_back, back);
    put(out, t, COLUMN_MS, cell_number(x->median, ms));
    put(out, t, COLUMN_INTERVAL, cell_interval(x->median, x->ci_lo, x->ci_hi, noise));
    put(out, t, COLUMN_BACK, back);
}

void table_row_compared(FILE *out, const struct table *t, const struct rank_case *x)
{
    char over[32], prep[32], runs[32];
    put(out, t, COLUMN_OVER_BEST, cell_ratio(x->over_best, over));
    put(out, t, COLUMN_PREP, cell_prep(x->prep_ms, prep));
    put(out, t, COLUMN_PAYS, cell_runs(x->pays_after, runs));
}

void table_row_tail(FILE *out, const struct table *t, const struct result *r)
{
    if (table_row_is_timed(r)) {
        put_rates(out, t, r);
        put_figures(out, t, r);
        put_check(out, r);
    } else {
        fprintf(out, "  %s%s%s", status_name(r->status), r->reason[0] ? ": " : "", r->reason);
    }
    fprintf(out, "\n");
    if (t->detail == TABLE_VERBOSE && r->prepared) put_details(out, t, r);
}

// Returns true if cases with the inputs and the algorithm of `c` differ in option a. Such cases are
// neighbours in the plan.
static bool varies(const struct plan *plan, const struct bench_case *c, int a)
{
    const struct bench_case *first = c, *end = plan->cases + plan->count;
    while (first > plan->cases && first[-1].entry == c->entry && case_same_inputs(first - 1, c))
        first--;
    for (; first < end && first->entry == c->entry && case_same_inputs(first, c); first++)
        if (first->opt[a] != c->opt[a]) return true;
    return false;
}

const char *table_name(const struct table *t, const struct bench_case *c, char text[TABLE_NAME_MAX])
{
    const struct algo *algo = c->entry->algo;
    char option[TABLE_NAME_MAX];
    snprintf(text, TABLE_NAME_MAX, "%s", c->entry->name);
    for (int a = 0; algo_param(algo, a); a++) {
        if (!varies(t->plan, c, a)) continue;
        snprintf(option, sizeof option, "%s=%.10g", algo_param(algo, a)->name, c->opt[a]);
        words_add(text, TABLE_NAME_MAX, " ", option);
    }
    return text;
}
