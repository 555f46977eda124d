#include "report/columns.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "report/cell.h"
#include "report/remarks.h"

static double if_timed(const struct table_row *x, double value)
{
    return table_row_is_timed(x) ? value : NAN;
}

static const char *device(struct table_row *x) { return x->cell->own_device; }

static const char *revision(struct table_row *x)
{
    return x->cell->revision[0] ? x->cell->revision : NULL;
}

static const char *op(struct table_row *x) { return x->cell->op; }

static const char *matrix(struct table_row *x) { return x->cell->matrix; }

// Returns number `i` of the size in the key: rows, columns, nonzeros.
static double size_of(const struct table_row *x, int i)
{
    double size[3];
    const char *text = x->cell->size_name;
    return sscanf(text, "%lfx%lf:%lf ", &size[0], &size[1], &size[2]) == 3 ? size[i] : NAN;
}

static double rows(struct table_row *x) { return size_of(x, 0); }
static double cols(struct table_row *x) { return size_of(x, 1); }
static double nnz(struct table_row *x) { return size_of(x, 2); }

static const char *alg(struct table_row *x) { return x->cell->rank.alg; }

static const char *name(struct table_row *x) { return x->table->lines[x->line].name; }

static const char *input(struct table_row *x)
{
    return input_find(x->cell->inputs, x->key, x->room) ? x->room : NULL;
}

static const char *status(struct table_row *x) { return status_name(x->x->r.status); }

static double ms(struct table_row *x) { return if_timed(x, x->x->r.median); }
static double ms_lo(struct table_row *x) { return if_timed(x, x->x->r.ci_lo); }
static double ms_hi(struct table_row *x) { return if_timed(x, x->x->r.ci_hi); }

static double interval(struct table_row *x)
{
    const struct record *r = &x->x->r;
    return if_timed(x, 100 * (r->ci_hi - r->ci_lo) / 2 / r->median);
}

static double runs(struct table_row *x) { return x->x->runs; }
static double back(struct table_row *x) { return if_timed(x, x->x->r.back_to_back); }
static double over_best(struct table_row *x) { return x->cell->rank.over_best; }
static double prep(struct table_row *x) { return if_timed(x, x->cell->rank.prep_ms); }
static double pays(struct table_row *x) { return x->cell->rank.pays_after; }
static double gflops(struct table_row *x) { return if_timed(x, x->x->r.gflops); }
static double gb_s(struct table_row *x)
{
    return if_timed(x, x->x->r.bytes / x->x->r.median / 1e6);
}
static double roof(struct table_row *x) { return if_timed(x, 100 * x->x->r.efficiency); }
static double gather(struct table_row *x) { return if_timed(x, 100 * x->x->r.gather_efficiency); }
static double stat(struct table_row *x) { return if_timed(x, table_row_number(x, NULL, x->key)); }

static bool is_doubtful(unsigned doubt) { return doubt & DOUBT_TIME; }

static bool ms_doubt(struct table_row *x) { return is_doubtful(x->cell->doubt); }

static bool over_best_doubt(struct table_row *x)
{
    return is_doubtful(x->cell->doubt | summary_fastest(x->table, x->matrix)->doubt);
}

static bool speedup_doubt(struct table_row *x)
{
    return is_doubtful(x->cell->doubt | x->table->base_rows[x->matrix]->doubt);
}

static double speedup(struct table_row *x) { return summary_speedup(x->table, x->line, x->matrix); }

static const char *baseline(struct table_row *x) { return x->table->base; }

static double baseline_ms(struct table_row *x) { return summary_base_ms(x->table, x->matrix); }

static const char *method(struct table_row *x) { return x->x->r.method; }

static double error(struct table_row *x) { return x->x->r.error_ratio; }

static const char *library(struct table_row *x) { return x->x->r.library; }

static const char *call(struct table_row *x) { return x->cell->rank.call; }

static const char *reason(struct table_row *x) { return x->x->r.reason; }

static const char *key(struct table_row *x) { return x->x->r.key; }

static double samples(struct table_row *x) { return if_timed(x, x->x->samples); }

static const char *doubt(struct table_row *x)
{
    return x->cell->doubt ? doubt_text(x->cell->doubt, x->x->samples, x->room) : NULL;
}

const struct column columns[] = {
    {.name = "device", .text = device, .about = "The name of the device that ran the case."},
    {.name = "revision", .text = revision, .about = "The revision of the program."},
    {.name = "op", .text = op, .about = "The operation."},
    {.name = "matrix", .text = matrix, .about = "The name of the matrix."},
    {.name = "rows", .value = rows, .about = "Rows of the matrix."},
    {.name = "cols", .value = cols, .about = "Columns of the matrix."},
    {.name = "nnz", .value = nnz, .about = "Nonzeros of the matrix."},
    {.name = "alg", .text = alg, .about = "The name of the algorithm alone."},
    {.name = "name",
     .head = "algorithm",
     .text = name,
     .about = "The name, as in -alg. Options whose values differ between rows follow it, and the "
              "device if it is not the table's: mkl on cpu."},
    {.each = EACH_INPUT, .when = WHEN_VARIES, .text = input},
    {.name = "ms",
     .head = "ms",
     .value = ms,
     .format = cell_number,
     .doubt = ms_doubt,
     .about = "The median time of one run in milliseconds. Conversion, upload and analysis "
              "are excluded. Runs do not overlap.",
     .good = "lower."},
    {.name = "ms_lo",
     .value = ms_lo,
     .about = "The lower end of the 95 % confidence interval of ms."},
    {.name = "ms_hi",
     .value = ms_hi,
     .about = "The upper end of the 95 % confidence interval of ms."},
    {.name = "interval_percent",
     .head = "+-%",
     .value = interval,
     .format = cell_interval,
     .about = "Half the 95 % confidence interval of the median, in percent of ms: the noise "
              "within one process. Processes may differ by more, see compare.",
     .formula = "100 * (upper end - lower end) / 2 / ms",
     .good = "under 1. A dash: fewer than 6 samples have no interval."},
    {.name = "runs",
     .value = runs,
     .about = "The number of runs of the program whose median is ms."},
    {.name = "back_to_back_ms",
     .head = "back to back",
     .when = WHEN_BACK,
     .value = back,
     .format = cell_number,
     .doubt = ms_doubt,
     .about = "Only with -time back-to-back: the median time of one run of a batch whose "
              "runs may overlap, in milliseconds.",
     .good = "close to ms. A dash: the case has one time, as every case on the CPU."},
    {.name = "x_best",
     .head = "x best",
     .value = over_best,
     .format = cell_ratio,
     .doubt = over_best_doubt,
     .about = "The time over that of the fastest checked result of the same product.",
     .formula = "ms / least ms",
     .good = "1.00: the fastest."},
    {.name = "prep_ms",
     .head = "prep ms",
     .value = prep,
     .format = cell_prep,
     .about =
         "The time to prepare the case once from a matrix in CSR: conversion to other "
         "formats, analysis, and the choice of auto. The first use of a library is "
         "included, and extra time of the first run over 20 ms plus 3 runs. Upload is excluded.",
     .formula = "conversion + analysis",
     .good = "small compared with ms times the number of runs."},
    {.name = "pays_after",
     .head = "pays after",
     .value = pays,
     .format = cell_runs,
     .about = "The number of runs after which preparation pays off, compared with the fastest "
              "algorithm that needs no preparation. An algorithm needs none if its prep ms is "
              "at most a tenth of its ms, or the least of all.",
     .formula = "least n with prep ms + n * ms < the same sum of that algorithm",
     .good = "under the number of your runs. \"never\": the runs are no faster. A dash: "
             "the algorithm needs no preparation, or is a reference."},
    {.name = "gflops",
     .head = "GFLOPS",
     .value = gflops,
     .format = cell_number,
     .about = "Floating-point operations per second, in 10^9. Padding does not count.",
     .formula = "FLOPs / ms / 10^6; FLOPs: 2 * nnz * k of spmm and sddmm, 2 * products of "
                "spgemm",
     .good = "the GFLOPS of the line \"at most\", which sparse kernels rarely reach."},
    {.name = "gb_s",
     .head = "GB/s",
     .when = WHEN_VERBOSE,
     .value = gb_s,
     .format = cell_number,
     .about = "Only with -v: the compulsory bytes over the time. Each operand is read once, "
              "the result is written once. %roof is the same in percent.",
     .formula = "compulsory bytes / ms / 10^6",
     .good = "the GB/s from memory of the line \"at most\"."},
    {.name = "roof_percent",
     .head = "%roof",
     .value = roof,
     .format = cell_percent,
     .about = "The least time that the device allows, in percent of ms.",
     .formula = "100 * max(compulsory bytes / bandwidth, FLOPs / rate of FLOPs) / ms",
     .good = "near 100. A value above 100: operands came from the cache."},
    {.name = "gather_percent",
     .head = "%gather",
     .when = WHEN_KNOWN,
     .value = gather,
     .format = cell_percent,
     .about = "Not for spmm column-major: the time to fetch one row of the second operand per "
              "nonzero of A at the measured rate of random rows, in percent of ms. spgemm: "
              "a row has the mean length of all fetched rows.",
     .formula = "100 * max(nnz * bytes of a row / rate, least time of %roof) / ms",
     .good = "100 or more. A value above 100: rows are reused on chip. A value under 100: "
             "the device could fetch the rows faster."},
    {.each = EACH_NUMBER, .when = WHEN_KNOWN, .value = stat, .format = cell_ratio},
    {.name = "speedup",
     .head = "speedup",
     .when = WHEN_COMPARED,
     .value = speedup,
     .format = cell_ratio,
     .doubt = speedup_doubt,
     .about = "The time of the baseline over the time of the algorithm. The baseline is a vendor's "
              "best algorithm on each matrix, else the fastest algorithm, never a reference. In "
              "tables only if the baseline is a vendor's, or is that of -baseline.",
     .formula = "ms of the baseline / ms",
     .good = "over 1: the algorithm is faster."},
    {.name = "baseline", .text = baseline, .about = "The baseline of speedup."},
    {.name = "baseline_ms", .value = baseline_ms, .about = "The time of the baseline."},
    {.name = "remarks",
     .head = "check",
     .text = remarks_text,
     .about = "The method, full (every element) or sample (1,000 rows and a random "
              "combination of all), and the error in units of the tolerance.",
     .formula = "error / tolerance, the worst of all elements that were compared",
     .good = "under 0.5. Above 1 the result is wrong and has no time. The reference itself "
             "has no error."},
    {.name = "status",
     .text = status,
     .about = "ok, wrong, unsupported, oom, timeout, crashed, failed, skipped or unchecked."},
    {.name = "check", .text = method, .about = "The method of the check."},
    {.name = "error", .value = error, .about = "The error in units of the tolerance."},
    {.name = "library", .text = library, .about = "Name and version of the library that ran."},
    {.name = "call", .text = call, .about = "The library call of a vendor's algorithm."},
    {.name = "reason", .text = reason, .about = "The reason of a status that is not ok."},
    {.name = "case", .text = key, .about = "The key of the case."},
    {.name = "samples", .value = samples, .about = "The number of samples of ms, over all runs."},
    {.name = "doubt",
     .text = doubt,
     .about = "Marks of the time: the number of samples if under 6; busy; throttled; not in order. "
              "Empty: none."},
};
const int column_count = COUNT(columns);

static const struct summary_line *line_of(struct table_row *x) { return &x->table->lines[x->line]; }

static double line_matrices(struct table_row *x) { return (double)line_of(x)->timed; }
static double line_wins(struct table_row *x) { return (double)line_of(x)->wins; }
static double line_speedup(struct table_row *x) { return line_of(x)->mean; }
static double line_over_best(struct table_row *x) { return line_of(x)->over_best; }
static double line_prep(struct table_row *x) { return line_of(x)->prep_ms; }
static double line_pays(struct table_row *x) { return line_of(x)->pays_after; }
static double line_worst(struct table_row *x) { return line_of(x)->worst; }

static const char *line_worst_matrix(struct table_row *x)
{
    const int64_t at = line_of(x)->worst_at;
    return at < 0 ? NULL : x->table->matrices[at]->matrix;
}

static double line_failed(struct table_row *x) { return (double)line_of(x)->failed; }
static double line_few(struct table_row *x) { return (double)line_of(x)->few; }
static double line_busy(struct table_row *x) { return (double)line_of(x)->busy; }

static bool line_wins_doubt(struct table_row *x) { return is_doubtful(line_of(x)->wins_doubt); }
static bool line_speedup_doubt(struct table_row *x) { return is_doubtful(line_of(x)->mean_doubt); }
static bool line_worst_doubt(struct table_row *x) { return is_doubtful(line_of(x)->worst_doubt); }

static bool line_over_best_doubt(struct table_row *x)
{
    return is_doubtful(line_of(x)->over_best_doubt);
}

const struct column summary_columns[] = {
    {.name = "name", .head = "algorithm", .text = name}, // described in columns[]
    {.name = "matrices",
     .head = "matrices",
     .value = line_matrices,
     .format = cell_count,
     .about = "Matrices with a time of a checked result."},
    {.name = "wins",
     .head = "wins",
     .value = line_wins,
     .doubt = line_wins_doubt,
     .format = cell_count,
     .about = "Matrices on which the algorithm is the fastest, the baseline "
              "included. Matrices where the baseline has no time do not count."},
    {.name = "speedup",
     .head = "speedup",
     .value = line_speedup,
     .doubt = line_speedup_doubt,
     .format = cell_ratio,
     .about = "The geometric mean of speedup, on the matrices where all have a time."},
    {.name = "x_best",
     .head = "x best",
     .value = line_over_best,
     .doubt = line_over_best_doubt,
     .format = cell_ratio,
     .about = "The geometric mean of x best, on the matrices of the mean speedup.",
     .good = "1.00: the fastest on each."},
    {.name = "prep_ms",
     .head = "prep ms",
     .value = line_prep,
     .format = cell_prep,
     .about = "The median of prep ms over the matrices."},
    {.name = "pays_after",
     .head = "pays after",
     .value = line_pays,
     .format = cell_runs,
     .about = "The median of pays after over the matrices. \"never\" counts as "
              "more than any number, a dash as 0."},
    {.name = "worst",
     .head = "worst",
     .value = line_worst,
     .doubt = line_worst_doubt,
     .format = cell_ratio,
     .about = "The least speedup of all matrices."},
    {.name = "worst_matrix",
     .head = "of",
     .text = line_worst_matrix,
     .about = "The matrix of the worst speedup."},
    {.name = "failed",
     .head = "failed",
     .value = line_failed,
     .format = cell_count,
     .about = "Matrices with a failure: neither ok nor unsupported."},
    {.name = "few_samples",
     .value = line_few,
     .about = "Matrices whose time has fewer than 6 samples."},
    {.name = "busy", .value = line_busy, .about = "Matrices whose time has the remark busy."},
};
const int summary_column_count = COUNT(summary_columns);

static void add(struct column_set *set, const struct column *c, const char *named, const char *head,
                bool words)
{
    if (set->count == SHOWN_COLUMNS) bug("%s: a column too many", named);
    set->list[set->count++] = (struct shown_column){c, named, head, words};
}

static void add_inputs(struct column_set *set, const struct column *c, const struct summaries *s,
                       int first, int end)
{
    char found[INPUT_MAX], value[INPUT_MAX];
    for (int i = first; i < end; i++)
        for (const char *p = s->tables[i].row->inputs; input_next(&p, found, value);) {
            bool known = set->input_count == INPUTS_MAX;
            for (int k = 0; k < set->input_count && !known; k++)
                known = !strcmp(set->inputs[k], found);
            if (known) continue;
            char *kept = strcpy(set->inputs[set->input_count++], found);
            add(set, c, kept, kept, !isdigit((unsigned char)value[0]));
        }
}

static void add_stats(struct column_set *set, const struct column *c, const struct summaries *s,
                      int first, int end)
{
    for (int x = 0; x < op_count; x++) {
        bool used = false;
        for (int i = first; i < end; i++) used |= !strcmp(s->tables[i].row->op, ops[x]->name);
        for (int f = 0; used && f < op_number_count(ops[x]); f++)
            add(set, c, ops[x]->numbers[f].name, ops[x]->numbers[f].column, false);
    }
}

void column_set_make(struct column_set *set, const struct summaries *s, int first, int end)
{
    *set = (struct column_set){.count = 0};
    for (int i = 0; i < column_count; i++) {
        const struct column *c = &columns[i];
        switch (c->each) {
        case EACH_ONE: add(set, c, c->name, c->head, c->text != NULL); break;
        case EACH_INPUT: add_inputs(set, c, s, first, end); break;
        case EACH_NUMBER: add_stats(set, c, s, first, end); break;
        }
    }
}

void column_set_summary(struct column_set *set)
{
    *set = (struct column_set){.count = 0};
    for (int i = 0; i < summary_column_count; i++)
        add(set, &summary_columns[i], summary_columns[i].name, summary_columns[i].head,
            summary_columns[i].text != NULL);
}

double column_value(const struct shown_column *x, struct table_row *row)
{
    row->key = x->name;
    return x->c->value(row);
}

const char *column_text(const struct shown_column *x, struct table_row *row)
{
    row->key = x->name;
    return x->c->text(row);
}

const char *column_cell(const struct shown_column *x, struct table_row *row)
{
    if (!x->c->text) {
        const double value = column_value(x, row);
        const bool marked = x->c->doubt && isfinite(value) && x->c->doubt(row);
        row->room[0] = DOUBT_SIGN;
        x->c->format(value, row->room + marked);
        return row->room;
    }
    const char *text = column_text(x, row);
    return text ? text : "-";
}

static void each_inputs(void (*show)(const struct column_help *s))
{
    const struct axis *axis;
    char about[256], names[64];
    show(&(struct column_help){
        "prec",
        "The types of the inputs and of the result, as in -prec. If all rows have one precision, a "
        "line above names the precision instead. Likewise for cache and launch.",
        NULL, NULL, NULL});
    for (int a = 0; (axis = axis_all(a)); a++) {
        snprintf(about, sizeof about, "Only %s: %s.", axis_ops(axis, names), axis->about);
        show(&(struct column_help){.head = axis->name, .about = about});
    }
}

static void each_stats(void (*show)(const struct column_help *s))
{
    char about[256];
    for (int x = 0; x < op_count; x++)
        for (int f = 0; f < op_number_count(ops[x]); f++) {
            const struct op_number *of = &ops[x]->numbers[f];
            if (!of->column) continue;
            snprintf(about, sizeof about, "Only %s: the %s.", ops[x]->name, of->name);
            show(&(struct column_help){of->column, about, of->about, NULL, of->name});
        }
}

// Shows the columns of a list that are in tables, or the others.
static void each_column(const struct column *list, int count, bool in_tables,
                        void (*show)(const struct column_help *s))
{
    for (int i = 0; i < count; i++) {
        const struct column *c = &list[i];
        if (in_tables && c->each == EACH_INPUT) each_inputs(show);
        if (in_tables && c->each == EACH_NUMBER) each_stats(show);
        if (c->each != EACH_ONE || !c->head == in_tables) continue;
        bool same = !c->head || !strcmp(c->head, c->name);
        show(&(struct column_help){c->head ? c->head : c->name, c->about, c->formula, c->good,
                                   same ? NULL : c->name});
    }
}

void columns_each(void (*group)(const char *title), void (*show)(const struct column_help *s))
{
    group("Columns of the tables of run, sweep and report");
    each_column(columns, column_count, true, show);
    group("Further fields of CSV and JSON");
    each_column(columns, column_count, false, show);
    group("Columns of a summary of several matrices");
    each_column(summary_columns + 1, summary_column_count - 1, true, show);
    group("Further fields of a summary in JSON");
    each_column(summary_columns, summary_column_count, false, show);
    remarks_each(group, show);
}
