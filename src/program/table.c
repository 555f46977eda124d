#include "program/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "program/columns.h"

const char *table_number(double x, char text[32])
{
    int decimals = x > 0 && isfinite(x) ? 3 - (int)floor(log10(x)) : 3;
    snprintf(text, 32, "%.*f", decimals < 0 ? 0 : decimals > 7 ? 7 : decimals, x);
    return text;
}

const char *table_interval(double median, double lo, double hi, char text[32])
{
    double percent = 100 * (hi - lo) / 2 / median;
    if (isnan(percent))
        snprintf(text, 32, "-");
    else if (percent < 99.5)
        snprintf(text, 32, percent < 9.95 ? "%.2f" : "%.0f", percent);
    else
        snprintf(text, 32, ">99");
    return text;
}

#define NUMBER_WIDTH 4
// From here on runs back to back are told beside those apart.
#define BACK_TO_BACK_PERCENT 10

// The width of an axis' column: as its name, or its longest value.
static int axis_width(const struct plan *plan, int a)
{
    const struct axis *axis = plan->op->axes[a];
    int64_t width = axis->words ? 0 : NUMBER_WIDTH;
    bool all_standard = true;
    char text[32];
    for (int64_t i = 0; i < plan->count; i++) {
        width = max64(width, (int64_t)strlen(axis_text(axis, plan->cases[i].axis[a], text)));
        all_standard &= plan->cases[i].axis[a] == axis->standard;
    }
    if (axis->quiet && all_standard) return 0;
    return (int)max64(width, (int64_t)strlen(axis->name));
}

int table_start(struct table *t, const struct plan *plan, int matrix_count, bool quiet,
                bool verbose)
{
    *t = (struct table){.plan = plan,
                        .matrix_count = matrix_count,
                        .matrix = -1,
                        .start_ms = clock_ms(),
                        .quiet = quiet,
                        .verbose = verbose,
                        .terminal = !quiet && isatty(STDERR_FILENO)};
    char name[TABLE_NAME_MAX];
    t->alg_width = (int)strlen(columns[COLUMN_ALGORITHM].head);
    for (int64_t i = 0; i < plan->count; i++)
        t->alg_width =
            (int)max64(t->alg_width, (int64_t)strlen(table_name(t, &plan->cases[i], name)));
    for (int a = 0; plan->op->axes[a]; a++) t->axis_width[a] = axis_width(plan, a);
    t->cases = mem_alloc(plan->count, sizeof *t->cases);
    return t->cases ? OK : ERR_MEMORY;
}

void table_free(struct table *t)
{
    mem_free(t->cases);
    t->cases = NULL;
}

void table_clear(const struct table *t)
{
    if (t->terminal) fprintf(stderr, "\r\033[K");
}

void table_progress_text(const struct table *t, const char *text)
{
    if (t->terminal) fprintf(stderr, "\r\033[K%.78s", text);
}

// " f32 k 64": the precision, and the axes that have a column.
static const char *inputs_text(const struct table *t, const struct bench_case *c, char text[128])
{
    char value[32];
    int used = snprintf(text, 128, " %s", prec_name(c->prec));
    for (int a = 0; t->plan->op->axes[a]; a++) {
        const struct axis *axis = t->plan->op->axes[a];
        if (!t->axis_width[a]) continue;
        used += snprintf(text + used, 128 - (size_t)used, " %s%s%s", axis->words ? "" : axis->name,
                         axis->words ? "" : " ", axis_text(axis, c->axis[a], value));
    }
    return text;
}

static void show_progress(const struct table *t)
{
    const struct plan *plan = t->plan;
    if (!t->terminal || t->done >= plan->count) return;
    const struct bench_case *c = &plan->cases[t->done];
    double all = (double)plan->count * t->matrix_count;
    double done = (double)plan->count * t->matrix + (double)t->done;
    double spent_s = (clock_ms() - t->start_ms) * 1e-3;
    char left[48] = "", line[512], inputs[128], name[25], row[TABLE_NAME_MAX];
    if (t->done) {
        long long s = (long long)(spent_s / done * (all - done));
        snprintf(left, sizeof left, ", %lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
    }
    snprintf(line, sizeof line, "matrix %d/%d %s: %s%s [%.0f%%%s]", t->matrix + 1, t->matrix_count,
             utf8_visible(t->matrix_name, name, sizeof name), table_name(t, c, row),
             inputs_text(t, c, inputs), 100 * done / all, left);
    table_progress_text(t, line);
}

void table_loading(struct table *t, const char *name)
{
    t->matrix++;
    t->done = t->kept = 0;
    t->matrix_name = name;
    char line[256], shown[41];
    snprintf(line, sizeof line, "matrix %d/%d %s: reading", t->matrix + 1, t->matrix_count,
             utf8_visible(name, shown, sizeof shown));
    table_progress_text(t, line);
}

// One cell for each axis that has a column: numbers to the right, words to the left.
static void print_axes(const struct table *t, const struct bench_case *c)
{
    char value[32];
    for (int a = 0; t->plan->op->axes[a]; a++) {
        const struct axis *axis = t->plan->op->axes[a];
        const char *text = c ? axis_text(axis, c->axis[a], value) : axis->name;
        if (t->axis_width[a])
            fprintf(stderr, "  %*s", axis->words ? -t->axis_width[a] : t->axis_width[a], text);
    }
}

// Prints a cell of a column, behind two spaces.
static void print_cell(enum column_id c, const char *text)
{
    fprintf(stderr, "  %*s", columns[c].width, text);
}

static bool has_column(const struct table *t, enum column_id c)
{
    if (c == COLUMN_BACK) return t->kind == TIMING_BACK_TO_BACK;
    return c != COLUMN_GATHER || t->plan->op->gather;
}

static void print_head(const struct table *t, enum column_id c)
{
    const struct op *op = t->plan->op;
    if (c == COLUMN_AXES) print_axes(t, NULL);
    for (int i = 0; c == COLUMN_FIGURES && i < op_figure_count(op); i++)
        if (op->figures[i].column) fprintf(stderr, "  %6s", op->figures[i].column);
    if (columns[c].head && has_column(t, c)) print_cell(c, columns[c].head);
}

void table_matrix(struct table *t, const struct matrix *M)
{
    t->matrix_name = M->name;
    if (t->quiet) return;
    table_clear(t);
    char mean[32], read[64], name[FAIL_TEXT_MAX];
    fprintf(stderr,
            "%s%s: %d x %d, %lld nonzeros; rows: mean %s, longest %lld, cv %.2f, %lld empty\n",
            t->any ? "\n" : "", utf8_visible(M->name, name, sizeof name), M->A.m, M->A.n,
            (long long)M->A.nnz, table_number(M->stats.row_mean, mean), (long long)M->stats.row_max,
            M->stats.row_cv, (long long)M->stats.empty_rows);
    t->any = true;
    if (t->verbose && M->load_ms > 0)
        fprintf(stderr, "  read in %s; %s, %s%s%s\n", matrix_load_text(M, read), M->field,
                M->symmetry, M->values_drawn ? ", values drawn from the seed" : "",
                M->real_part ? ", real parts" : "");
    fprintf(stderr, "  %-*s", t->alg_width, columns[COLUMN_ALGORITHM].head);
    for (int c = COLUMN_DEVICE; c < COLUMN_COUNT; c++) print_head(t, (enum column_id)c);
    fprintf(stderr, "\n");
    show_progress(t);
}

static void print_figures(const struct table *t, const struct result *r)
{
    const struct op *op = t->plan->op;
    for (int i = 0; i < op_figure_count(op); i++) {
        if (!op->figures[i].column) continue;
        if (isnan(r->figures[i]))
            fprintf(stderr, "  %6s", "-");
        else
            fprintf(stderr, "  %6.2f", r->figures[i]);
    }
}

static void print_remark(enum remark_id i) { fprintf(stderr, "; %s", remarks[i].text); }

// What to know before the time is believed.
static void print_warnings(const struct result *r)
{
    const struct timing *x = &r->timing;
    double faster = 100 * (1 - x->back_to_back / x->median);
    if (r->cache_resident) print_remark(REMARK_CACHE);
    if (fabs(faster) > BACK_TO_BACK_PERCENT)
        fprintf(stderr, "; back to back %.1f %% %s", fabs(faster),
                faster > 0 ? "faster" : "slower");
    if (!strcmp(x->stop, "time") && x->count < TIMING_MIN_SAMPLES)
        fprintf(stderr, "; time for %d sample%s", x->count, x->count > 1 ? "s" : "");
    if (x->throttled) print_remark(REMARK_THROTTLED);
    if (x->busy) print_remark(REMARK_BUSY);
    if (r->in_order == ORDER_BROKEN) print_remark(REMARK_ORDER);
}

static void print_times(const struct table *t, const struct result *r)
{
    char ms[32], rate[32], speed[32] = "-", roof[32] = "-", gather[32] = "-", noise[32];
    char back[32] = "-"; // runs cannot overlap, or were not kept apart either
    const struct timing *x = &r->timing;
    const char *library = case_library(&r->c);
    if (r->bound_ms > 0) snprintf(roof, sizeof roof, "%.1f", 100 * r->efficiency);
    if (r->compulsory_bytes >= 0)
        table_number((double)r->compulsory_bytes / x->median / 1e6, speed);
    if (r->gather_ms > 0) snprintf(gather, sizeof gather, "%.1f", 100 * r->gather_efficiency);
    if (!isnan(x->back_to_back)) table_number(x->back_to_back, back);
    print_cell(COLUMN_MS, table_number(x->median, ms));
    print_cell(COLUMN_INTERVAL, table_interval(x->median, x->ci_lo, x->ci_hi, noise));
    if (has_column(t, COLUMN_BACK)) print_cell(COLUMN_BACK, back);
    print_cell(COLUMN_GFLOPS, table_number(r->gflops, rate));
    print_cell(COLUMN_BYTES, speed);
    print_cell(COLUMN_ROOF, roof);
    if (has_column(t, COLUMN_GATHER)) print_cell(COLUMN_GATHER, gather);
    print_figures(t, r);
    if (r->checked && r->c.entry->algo->reference) // a rounding is its whole tolerance
        fprintf(stderr, "  %s reference", r->check.method);
    else if (r->checked)
        fprintf(stderr, "  %s %.2f", r->check.method, r->check.error_ratio);
    else
        fprintf(stderr, "  not checked");
    print_warnings(r);
    if (library) fprintf(stderr, "; %s", library);
    if (r->c.entry->algo->variant)
        fprintf(stderr, "; %s", r->c.entry->op->variants[r->c.entry->algo->variant]);
    for (int i = 0; i < r->stats.count; i++)
        if (r->stats.list[i].text[0])
            fprintf(stderr, "; %s %s", r->stats.list[i].name, r->stats.list[i].text);
}

static void print_whole_figures(const struct table *t, const struct result *r)
{
    const struct op *op = t->plan->op;
    bool any = false;
    for (int i = 0; i < op_figure_count(op); i++) {
        if (!op->figures[i].whole || isnan(r->figures[i])) continue;
        fprintf(stderr, "%s%s %.0f", any ? ", " : "", op->figures[i].name, r->figures[i]);
        any = true;
    }
    for (int i = 0; i < r->phases.count; i++)
        fprintf(stderr, "%s %s %.3f ms", i ? "," : "; phases:", r->phases.list[i].name,
                r->phases.list[i].ms);
}

static void print_samples(const struct table *t, const struct timing *x)
{
    fprintf(stderr, "  %-*s  %d sample%s of %d run%s after %d, stopped by %s; ", t->alg_width, "",
            x->count, x->count > 1 ? "s" : "", x->batch, x->batch > 1 ? "s" : "", x->warmup,
            x->stop);
    if (!isnan(x->back_to_back))
        fprintf(stderr, "launched as a %s, apart by %.3g ms, taken off; back to back %.6g ms",
                x->launch, x->separator_ms, x->back_to_back);
    if (!isnan(x->back_ci_lo))
        fprintf(stderr, " +-%.2f %%", 100 * (x->back_ci_hi - x->back_ci_lo) / 2 / x->back_to_back);
    if (!isnan(x->back_to_back)) fprintf(stderr, "; ");
    fprintf(stderr, "fastest %.6g ms\n", x->min);
}

static void print_counters(const struct table *t, const struct counters *c)
{
    char memory[32], l2[32], l1[32];
    fprintf(stderr, "  %-*s  moved by a run: memory %s, L2 %s, L1 %s, %lld kernel%s (%s)\n",
            t->alg_width, "", size_text((int64_t)c->memory_bytes, memory),
            size_text((int64_t)c->l2_bytes, l2), size_text((int64_t)c->l1_bytes, l1),
            (long long)c->kernels, c->kernels == 1 ? "" : "s", c->tool);
}

// The GFLOPS that the algorithm's model predicts.
static void print_model(const struct table *t, const struct prediction *x)
{
    if (!x->equation || isnan(x->gflops[PREDICT_ALL_MISS])) return;
    fprintf(stderr, "  %-*s  predicted GFLOPS: %.4g, all miss %.4g, cold miss %.4g\n", t->alg_width,
            "", x->gflops[PREDICT_ALGORITHMIC], x->gflops[PREDICT_ALL_MISS],
            x->gflops[PREDICT_COLD_MISS]);
}

static void print_details(const struct table *t, const struct result *r)
{
    char peak[32], form[32];
    const struct setup *s = &r->setup;
    if (r->timed) print_samples(t, &r->timing);
    print_model(t, &r->model);
    fprintf(stderr,
            "  %-*s  convert %.3f ms (again %.3f), upload %.3f ms, analyse %.3f ms; peak %s, ",
            t->alg_width, "", setup_convert_ms(s), setup_warm_ms(s), setup_upload_ms(s),
            s->analyse_ms, size_text(r->peak_bytes, peak));
    for (int i = 0; i < s->count; i++)
        fprintf(stderr, "%s%s as %s %s", i ? ", " : "", s->formats[i].of,
                s->formats[i].format->name, size_text(s->formats[i].bytes, form));
    fprintf(stderr, "\n");
    if (r->counters.known) print_counters(t, &r->counters);
    if (!r->timed || !r->phases.count) return;
    fprintf(stderr, "  %-*s  ", t->alg_width, "");
    print_whole_figures(t, r);
    fprintf(stderr, "\n");
}

void table_result(struct table *t, const struct result *r)
{
    const struct algo *algo = r->c.entry->algo;
    const struct bench_case *planned = &t->plan->cases[t->done];
    char name[TABLE_NAME_MAX];
    // One that does a part of the work is in no race.
    if (r->status == STATUS_OK && r->timed && r->checked && !algo->partial) {
        struct table_case *kept = &t->cases[t->kept++];
        kept->c = planned;
        for (int i = 0; i < TIMING_KINDS; i++) kept->time[i] = result_time(r, (enum timing_kind)i);
    }
    t->done++;
    if (t->quiet) return;
    table_clear(t);
    fprintf(stderr, "  %-*s", t->alg_width, table_name(t, planned, name));
    print_cell(COLUMN_DEVICE, r->c.device);
    print_cell(COLUMN_PREC, prec_name(r->c.prec));
    print_axes(t, &r->c);
    if (r->status == STATUS_OK && r->timed)
        print_times(t, r);
    else
        fprintf(stderr, "  %s%s%s", status_name(r->status), r->reason[0] ? ": " : "", r->reason);
    fprintf(stderr, "\n");
    if (t->verbose && r->prepared) print_details(t, r);
    show_progress(t);
}

static bool any_algo(const struct algo *a) { return a != NULL; }
static bool of_vendor(const struct algo *a) { return a->vendor != NULL; }
static bool is_reference(const struct algo *a) { return a->reference; }

// The fastest case with the same inputs among the algorithms that fit.
static const struct table_case *fastest(const struct table *t, const struct table_case *group,
                                        enum timing_kind kind, bool (*fits)(const struct algo *a))
{
    const struct table_case *best = NULL;
    for (int64_t i = 0; i < t->kept; i++) {
        const struct table_case *c = &t->cases[i];
        if (!case_same_inputs(c->c, group->c) || !fits(c->c->entry->algo)) continue;
        if (!best || c->time[kind].ms < best->time[kind].ms) best = c;
    }
    return best;
}

// Whether it is known of all cases with the same inputs how far off their times may be.
static bool all_bounded(const struct table *t, const struct table_case *group,
                        enum timing_kind kind)
{
    for (int64_t i = 0; i < t->kept; i++)
        if (case_same_inputs(t->cases[i].c, group->c) && isnan(t->cases[i].time[kind].ci_lo))
            return false;
    return true;
}

static void print_winner(const struct table *t, const struct table_case *group,
                         enum timing_kind kind)
{
    char ms[32], inputs[128], name[TABLE_NAME_MAX];
    const struct table_case *best = fastest(t, group, kind, any_algo);
    const struct timed_median *time = &best->time[kind];
    fprintf(stderr, "  fastest%s,%s: ", kind == TIMING_BACK_TO_BACK ? " back to back" : "",
            inputs_text(t, group->c, inputs));
    if (!all_bounded(t, group, kind)) {
        fprintf(stderr, "too few samples to name one\n");
        return;
    }
    fprintf(stderr, "%s, %s ms", table_name(t, best->c, name), table_number(time->ms, ms));
    for (int64_t i = 0; i < t->kept; i++) {
        const struct table_case *c = &t->cases[i];
        if (c != best && case_same_inputs(c->c, best->c) && c->time[kind].ci_lo <= time->ci_hi) {
            fprintf(stderr, " (%s is within the noise)", table_name(t, c->c, name));
            break;
        }
    }
    // The vendor's best is the fair baseline; where there is none, the plain reference.
    const struct table_case *base = fastest(t, group, kind, of_vendor);
    if (!base) base = fastest(t, group, kind, is_reference);
    if (base && base != best)
        fprintf(stderr, "; %.2f x as fast as %s", base->time[kind].ms / time->ms,
                table_name(t, base->c, name));
    fprintf(stderr, "\n");
}

// Whether any case with the same inputs has a time back to back beside the other.
static bool any_back(const struct table *t, const struct table_case *group)
{
    for (int64_t i = 0; i < t->kept; i++) {
        const struct timed_median *time = t->cases[i].time;
        if (case_same_inputs(t->cases[i].c, group->c) &&
            time[TIMING_BACK_TO_BACK].ms != time[TIMING_SEPARATE].ms)
            return true;
    }
    return false;
}

static void print_winners(const struct table *t, const struct table_case *group)
{
    print_winner(t, group, TIMING_SEPARATE);
    if (t->kind == TIMING_BACK_TO_BACK && any_back(t, group))
        print_winner(t, group, TIMING_BACK_TO_BACK);
}

void table_summary(struct table *t)
{
    const struct plan *plan = t->plan;
    bool alone = true; // one alone is no race
    for (int64_t i = 1; i < plan->count; i++)
        alone &= !case_same_inputs(&plan->cases[i], &plan->cases[i - 1]);
    if (t->quiet || alone) return;
    table_clear(t);
    if (!t->kept) {
        fprintf(stderr, "  fastest: none, there is no checked result\n");
        return;
    }
    for (int64_t i = 0; i < t->kept; i++)
        if (!i || !case_same_inputs(t->cases[i - 1].c, t->cases[i].c))
            print_winners(t, &t->cases[i]);
}
