#include "report/remarks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"

// A larger difference of back-to-back runs gets a remark.
#define BACK_TO_BACK_PERCENT 10

struct remark {
    const char *text, *about;
};
// Remarks that are whole texts.
static const char from_cache[] = "faster than memory: from the cache", throttled[] = "throttled",
                  busy[] = "busy", dropped[] = "dropped", not_in_order[] = "not in order";

// Remarks follow the check, each after a semicolon.
static const struct remark remarks[] = {
    {"median of N runs", "Several runs of the program measured the case."},
    {from_cache, "The operands stay in the cache between runs. -cache cold flushes it."},
    {"back to back N % faster", "Times of runs that may overlap differ by more than 10 %."},
    {"time for N samples", "The time limit allowed fewer than 10 samples. See -time-limit."},
    {throttled, "The device reduced its clocks. See doctor."},
    {dropped, "-race ended the case early: its time is not near the fastest."},
    {busy, "Other work delayed the run. The time may be too long."},
    {not_in_order, "A run starts before the work ahead has ended. Its result is wrong if that work "
                   "makes an input."},
    {"same bits and time as NAME", "Two algorithms of one library ran the same kernel."},
    {"NAME VERSION", "The library of a vendor that ran, or version and hash of a plug-in."},
    {"picked NAME", "auto chose this algorithm."},
    {"NAME refused: REASON",
     "auto preferred this algorithm, which lacks memory or does not support the case."},
};

const char *remark_stat(const char *name, const char *value, char text[REMARK_TEXT_MAX])
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

static void add(char text[FAIL_TEXT_MAX], const char *remark)
{
    words_add(text, FAIL_TEXT_MAX, "; ", remark);
}

static void add_check(const struct table_row *x, char text[FAIL_TEXT_MAX])
{
    const struct record *r = &x->x->r;
    if (!r->method)
        add(text, "not checked");
    else if (x->facts && x->facts->reference) // the tolerance of a reference is one rounding
        words_print(text, FAIL_TEXT_MAX, "%.32s reference", r->method);
    else if (isnan(r->error_ratio))
        words_print(text, FAIL_TEXT_MAX, "%.32s", r->method);
    else
        words_print(text, FAIL_TEXT_MAX, "%.32s %.2f", r->method, r->error_ratio);
}

// Adds remarks that put the time in doubt.
static void add_warnings(const struct table_row *x, char text[FAIL_TEXT_MAX])
{
    const struct record *r = &x->x->r;
    const char *stop = table_row_text(x, "time_ms", "stop");
    double faster = 100 * (1 - r->back_to_back / r->median);
    if (x->x->runs > 1) words_print(text, FAIL_TEXT_MAX, "; median of %d runs", x->x->runs);
    if (cJSON_IsTrue(table_row_field(x, "cache_resident"))) add(text, from_cache);
    if (fabs(faster) > BACK_TO_BACK_PERCENT)
        words_print(text, FAIL_TEXT_MAX, "; back to back %.1f %% %s", fabs(faster),
                    faster > 0 ? "faster" : "slower");
    if (stop && !strcmp(stop, "time") && r->sample_count < TIMING_MIN_SAMPLES)
        words_print(text, FAIL_TEXT_MAX, "; time for %d sample%s", r->sample_count,
                    r->sample_count > 1 ? "s" : "");
    if (r->throttled) add(text, throttled);
    if (r->dropped) add(text, dropped);
    if (r->busy) add(text, busy);
    if (r->overtakes) add(text, not_in_order);
}

const char *remarks_text(struct table_row *x)
{
    char *text = x->room;
    const struct record *r = &x->x->r;
    const struct algo_entry *e = r->entry;
    char choice[REMARK_TEXT_MAX];
    const cJSON *f;
    text[0] = 0;
    if (!record_is_timed(r)) {
        snprintf(text, FAIL_TEXT_MAX, "%s%s%s", status_name(r->status), r->reason ? ": " : "",
                 r->reason ? r->reason : "");
        return text;
    }
    add_check(x, text);
    add_warnings(x, text);
    const char *same = table_row_text(x, "check", "same_as");
    if (same) words_print(text, FAIL_TEXT_MAX, "; same bits and time as %s", same);
    if (r->library) add(text, r->library);
    if (e && e->algo->variant) add(text, e->op->variants[e->algo->variant]);
    cJSON_ArrayForEach(f, table_row_field(x, "stats"))
    {
        if (cJSON_IsString(f)) add(text, remark_stat(f->string, f->valuestring, choice));
    }
    if (x->cell->partial) add(text, x->cell->partial);
    return text;
}

// Words in place of numbers: each status but ok.
static const struct remark instead[] = {
    {"unsupported", "The algorithm does not support the case, or cannot run here."},
    {"wrong", "The result differs from the reference by more than the tolerance."},
    {"unchecked", "Memory is too small for the check, or the tolerance is too large."},
    {"oom", "The case does not fit in memory."},
    {"timeout", "The case took longer than -timeout."},
    {"crashed", "The worker process died."},
    {"failed", "The device or the library reported an error."},
};
// Lines below the table, and signs.
static const struct remark below[] = {
    {"~ before a number", "The number comes from a time with fewer than 6 samples, or from a time "
                          "with the remark throttled or busy."},
    {"rows: cv", "In the line of a matrix: the standard deviation of the row lengths over their "
                 "mean."},
    {"fastest", "The fastest checked result with the same inputs, and the next kernel. The "
                "speed-up over the best of a vendor follows, with the library call. \"intervals "
                "overlap\": also if the difference is at most that of the line \"noise\". With "
                "fewer than 6 samples the fastest sample counts. Parentheses show marks of a "
                "time: fewer than 6 samples, busy, throttled."},
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

static void each(const struct remark *list, int count, void (*show)(const struct column_help *s))
{
    for (int i = 0; i < count; i++)
        show(&(struct column_help){.head = list[i].text, .about = list[i].about});
}

void remarks_each(void (*group)(const char *title), void (*show)(const struct column_help *s))
{
    group("Remarks after the check");
    each(remarks, COUNT(remarks), show);
    group("Words in place of the numbers, with the reason");
    each(instead, COUNT(instead), show);
    group("Lines below the table");
    each(below, COUNT(below), show);
}
