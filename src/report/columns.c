#include "report/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "algos/op.h"

const struct column columns[COLUMN_COUNT] = {
    [COLUMN_ALGORITHM] =
        {
            .head = "algorithm",
            .about = "The name, as in -alg. Options whose values differ between rows follow it.",
        },
    [COLUMN_DEVICE] =
        {
            .head = "device",
            .width = -6,
            .about = "The device that ran the case: cpu, cuda:0. If all rows have one device, the "
                     "first line names it instead.",
        },
    [COLUMN_PREC] =
        {
            .head = "prec",
            .width = -8,
            .about = "The types of the inputs and of the result, as in -prec. If all rows have one "
                     "precision, the first line names it instead.",
        },
    [COLUMN_MS] =
        {
            .head = "ms",
            .width = 9,
            .about = "The median time of one run in milliseconds. Conversion, upload and analysis "
                     "are excluded. Runs do not overlap.",
            .good = "lower.",
        },
    [COLUMN_INTERVAL] =
        {
            .head = "+-%",
            .width = 4,
            .about = "Half the 95 % confidence interval of the median, in percent of ms: the noise "
                     "within one process. Processes may differ by more, see compare.",
            .formula = "100 * (upper end - lower end) / 2 / ms",
            .good = "under 1. A dash: fewer than 6 samples have no interval.",
        },
    [COLUMN_BACK] =
        {
            .head = "back to back",
            .width = 12,
            .about = "Only with -time back-to-back: the median time of one run of a batch whose "
                     "runs may overlap, in milliseconds.",
            .good = "close to ms. A dash: the case has one time, as every case on the CPU.",
        },
    [COLUMN_OVER_BEST] =
        {
            .head = "x best",
            .width = 6,
            .about = "The time over that of the fastest checked result of the same product.",
            .formula = "ms / least ms",
            .good = "1.00: the fastest.",
        },
    [COLUMN_PREP] =
        {
            .head = "prep ms",
            .width = 7,
            .about = "The time to prepare the case once from a matrix in CSR: conversion to other "
                     "formats, analysis, and the choice of auto. The first use of a library is "
                     "included. Upload is excluded.",
            .formula = "conversion + analysis",
            .good = "little against ms times the number of runs.",
        },
    [COLUMN_PAYS] =
        {
            .head = "pays after",
            .width = 10,
            .about = "The number of runs after which preparation pays off. The other algorithm is "
                     "the fastest that needs no preparation. An algorithm needs none if prep ms is "
                     "at most a tenth of ms, or the least of all.",
            .formula = "least n with prep ms + n * ms < that of the other",
            .good = "under the number of your runs. \"never\": the runs are no faster. A dash: "
                    "there is nothing to pay.",
        },
    [COLUMN_GFLOPS] =
        {
            .head = "GFLOPS",
            .width = 7,
            .about = "Floating-point operations per second, in 10^9. Padding does not count.",
            .formula = "FLOPs / ms / 10^6; FLOPs: 2 * nnz * k of spmm and sddmm, 2 * products of "
                       "spgemm",
            .good = "the GFLOPS of the line \"at most\", which sparse kernels rarely reach.",
        },
    [COLUMN_BYTES] =
        {
            .head = "GB/s",
            .width = 8,
            .about = "Only with -v: the compulsory bytes over the time. Each operand is read once, "
                     "the result is written once. %roof is the same in percent.",
            .formula = "compulsory bytes / ms / 10^6",
            .good = "the GB/s from memory of the line \"at most\".",
        },
    [COLUMN_ROOF] =
        {
            .head = "%roof",
            .width = 5,
            .about = "The least time that the device allows, in percent of ms.",
            .formula = "100 * max(compulsory bytes / bandwidth, FLOPs / rate of FLOPs) / ms",
            .good = "near 100. Above 100 operands came from the cache.",
        },
    [COLUMN_GATHER] =
        {
            .head = "%gather",
            .width = 7,
            .about = "Only spmm row-major and sddmm: the time to fetch one row of the dense "
                     "operand per nonzero at the measured rate of random rows, in percent of ms.",
            .formula = "100 * max(nnz * bytes of a row / rate, least time of %roof) / ms",
            .good = "100 and more. Above 100 rows are reused on chip. Under 100 rows are fetched "
                    "more slowly than the device can.",
        },
    [COLUMN_CHECK] =
        {
            .head = "check",
            .about = "The method, full (every element) or sample (1,000 rows and a random "
                     "combination of all), and the error in units of the tolerance.",
            .formula = "error / tolerance, the worst of all elements that were compared",
            .good = "under 0.5. Above 1 the result is wrong and has no time. The reference itself "
                    "has no error.",
        },
};

const struct column summary_columns[SUMMARY_COLUMNS] = {
    [SUMMARY_MATRICES] = {.head = "matrices", .about = "Matrices with a time of a checked result."},
    [SUMMARY_WINS] = {.head = "wins",
                      .about = "Matrices on which the algorithm is the fastest, the baseline "
                               "included. Matrices where the baseline has no time do not count."},
    [SUMMARY_SPEEDUPS] =
        {
            .head = "speedup",
            .about = "The time of the baseline over the time of the algorithm. Several matrices: "
                     "the geometric mean over the matrices where all have a time. The baseline is "
                     "a vendor's best algorithm on each matrix, else the fastest algorithm, never "
                     "a reference.",
            .formula = "ms of the baseline / ms",
            .good = "over 1: the algorithm is faster.",
        },
    [SUMMARY_OVER_BEST] = {.head = "x best",
                           .about =
                               "The geometric mean of x best, on the matrices of the mean speedup.",
                           .good = "1.00: the fastest on each."},
    [SUMMARY_PREP] = {.head = "prep ms", .about = "The median of prep ms over the matrices."},
    [SUMMARY_PAYS] = {.head = "pays after",
                      .about = "The median of pays after over the matrices. \"never\" counts as "
                               "more than any number, a dash as 0."},
    [SUMMARY_WORST] = {.head = "worst", .about = "The least speedup of all matrices."},
    [SUMMARY_WORST_OF] = {.head = "of", .width = -2, .about = "The matrix of the worst speedup."},
    [SUMMARY_FAILED] = {.head = "failed",
                        .about = "Matrices with a failure: neither ok nor unsupported."},
};

const struct remark remarks[REMARK_COUNT] = {
    [REMARK_CACHE] = {"faster than memory: from the cache",
                      "The operands stay in the cache between runs. -cache cold flushes it."},
    [REMARK_BACK] = {"back to back N % faster",
                     "Times of runs that may overlap differ by more than 10 %."},
    [REMARK_SAMPLES] = {"time for N samples",
                        "The time limit allowed fewer than 10 samples. See -time-limit."},
    [REMARK_THROTTLED] = {"throttled", "The device reduced its clocks. See doctor."},
    [REMARK_BUSY] = {"busy", "Other work delayed the run. The time may be too long."},
    [REMARK_ORDER] = {"not in order", "A run starts before the work ahead has ended. Its result is "
                                      "wrong if that work makes an input."},
    [REMARK_LIBRARY] = {"NAME VERSION",
                        "The library of a vendor that ran, or version and hash of a plug-in."},
    [REMARK_CHOICE] = {"picked NAME", "auto chose this algorithm."},
    [REMARK_REFUSED] =
        {"NAME refused: REASON",
         "auto preferred this algorithm, which lacks memory or does not support the case."},
};

const char *remark_figure(const char *name, const char *value, char text[REMARK_TEXT_MAX])
{
    static const char refused[] = "_refused";
    if (ends_with(name, refused)) {
        snprintf(text, REMARK_TEXT_MAX, "%.*s refused: %s", (int)(strlen(name) - strlen(refused)),
                 name, value);
    } else {
        snprintf(text, REMARK_TEXT_MAX, "%s %s", name, value);
    }
    return text;
}

// Remarks in place of numbers, and lines below the table.
static const struct remark instead[] = {
    {"unsupported", "The algorithm does not support the case, or cannot run here."},
    {"wrong", "The result differs from the reference by more than the tolerance."},
    {"unchecked", "Memory is too small for the check, or the tolerance is too large."},
    {"oom", "The case does not fit in memory."},
    {"failed", "The device or the library reported an error."},
};
static const struct remark below[] = {
    {"rows: cv", "In the line of a matrix: the standard deviation of the row lengths over their "
                 "mean."},
    {"fastest", "The fastest checked result with the same inputs, and the next kernel. The "
                "speed-up over the best of a vendor follows, with the library call. \"within the "
                "noise\": two intervals overlap, or the difference is at most that of the line "
                "\"noise\". With fewer than 6 samples the fastest sample counts."},
    {"noise",
     "Two rows that ran the same kernel, such as auto and the algorithm that it picked. Their "
     "times differ only by noise."},
    {"samples", "-v: the number of samples, the runs of each and of the warm-up, and the rule that "
                "ended the timing: precision, noise, time, reps."},
    {"convert", "-v: the time to make the format from CSR; in brackets the second time."},
    {"upload", "-v: the time to copy the operands to the device."},
    {"analyse", "-v: the time of the algorithm's own preparation."},
    {"peak", "-v: the peak device memory of the case."},
    {"products, nnz_c, phases",
     "-v, spgemm: counts, and the parts of a run, measured in another run."},
    {"predicted GFLOPS", "-v, naive and tiled: the prediction of the paper's model."},
    {"moved by a run", "-counters and -v: the bytes from memory, L2 and L1, counted by ncu."},
};

static void each_axes(void (*show)(const struct column_shown *s))
{
    const struct axis *axis;
    char about[256], names[64];
    for (int a = 0; (axis = axis_all(a)); a++) {
        snprintf(about, sizeof about, "Only %s: %s.", axis_ops(axis, names), axis->about);
        show(&(struct column_shown){.head = axis->name, .about = about});
    }
}

static void each_figures(void (*show)(const struct column_shown *s))
{
    char about[256];
    for (int x = 0; x < op_count; x++)
        for (int f = 0; f < op_figure_count(ops[x]); f++) {
            const struct op_figure *figure = &ops[x]->figures[f];
            if (!figure->column) continue;
            snprintf(about, sizeof about, "Only %s: the %s.", ops[x]->name, figure->name);
            show(&(struct column_shown){figure->column, about, figure->about, NULL});
        }
}

static void each_remarks(const struct remark *list, int count,
                         void (*show)(const struct column_shown *s))
{
    for (int i = 0; i < count; i++)
        show(&(struct column_shown){.head = list[i].text, .about = list[i].about});
}

void columns_each(void (*group)(const char *title), void (*show)(const struct column_shown *s))
{
    group("Columns of the table that run prints");
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const struct column *c = &columns[i];
        if (c->head) show(&(struct column_shown){c->head, c->about, c->formula, c->good});
        if (i == COLUMN_AXES) each_axes(show);
        if (i == COLUMN_FIGURES) each_figures(show);
    }
    group("Columns of a summary of several matrices, and of report");
    for (int i = 0; i < SUMMARY_COLUMNS; i++) {
        const struct column *c = &summary_columns[i];
        show(&(struct column_shown){c->head, c->about, c->formula, c->good});
    }
    group("Remarks after the check");
    each_remarks(remarks, COUNT(remarks), show);
    group("Words in place of the numbers, with the reason");
    each_remarks(instead, COUNT(instead), show);
    group("Lines below a row, and below the table");
    each_remarks(below, COUNT(below), show);
}
