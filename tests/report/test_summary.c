// Summaries of cases made up by hand: means over the matrices that all share, wins, the worst case,
// failures, baselines and the order of lines.
#include "report/summary.h"
#include "report/remarks.h"

#include <math.h>

#include "test.h"

static const struct summary_row usual = {
    .op = "spmm", .device = "GPU", .revision = "a", .status = STATUS_OK};

// A case of the algorithm on the matrix; without a time it has the status.
static void add_row(struct summaries *s, struct summary_row row, const char *inputs,
                    const char *variant, const char *matrix)
{
    char key[256];
    if (row.status != STATUS_OK) row.rank.ms = NAN;
    snprintf(key, sizeof key, "%s %s cuda:0 %s cache=warm%s%s 5x5:9 %s", row.op, row.rank.alg,
             inputs, *variant ? " " : "", variant, matrix);
    CHECK(!summary_add(s, &row, key, matrix), "%s: %s", key, fail_text());
}

static void add(struct summaries *s, const char *alg, const char *matrix, double ms)
{
    struct summary_row row = usual;
    row.rank.alg = alg;
    row.rank.ms = ms;
    if (!strncmp(alg, "lib", 3)) row.rank.vendor = "Lib";
    row.rank.reference = !strcmp(alg, "plain");
    if (!strcmp(alg, "half")) row.partial = "leaves out a half";
    if (isnan(ms)) row.status = STATUS_OOM;
    add_row(s, row, "f32 k=64 layout=row", "", matrix);
}

static const struct summary_line *line_of(const struct summary_table *t, const char *name)
{
    static const struct summary_line none;
    for (int64_t i = 0; i < t->line_count; i++)
        if (!strcmp(t->lines[i].name, name)) return &t->lines[i];
    CHECK(false, "there is no line %s", name);
    return &none;
}

#define CHECK_NEAR(got, want) CHECK(fabs((got) - (want)) < 1e-12, "%.15g, want %.15g", got, want)

// Three matrices; on one of them `fast` does not fit. Means are over the other two.
static void fill(struct summaries *s)
{
    add(s, "lib1", "p", 2), add(s, "lib2", "p", 4), add(s, "fast", "p", 1), add(s, "plain", "p", 9);
    add(s, "lib1", "q", 8), add(s, "lib2", "q", 4), add(s, "fast", "q", 8), add(s, "plain", "q", 1);
    add(s, "lib1", "r", 3), add(s, "lib2", "r", 6), add(s, "fast", "r", NAN),
        add(s, "plain", "r", 30);
}

// Two ways to one product are lines of one table. The product without the transpose has another.
static void test_ways(void)
{
    static const char *const ways[] = {"", "trans=flag", "trans=copy"};
    struct summaries s = {0};
    for (int i = 0; i < COUNT(ways); i++) {
        struct summary_row row = usual;
        row.rank = (struct rank_case){
            .alg = "lib", .vendor = "Lib", .ms = 4 - i, .ci_lo = NAN, .prep_ms = i, .min_ms = NAN};
        add_row(&s, row, "f32 k=64 layout=row", ways[i], "p");
    }
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK(s.table_count == 2, "%d tables", s.table_count);
    if (s.table_count == 2) {
        const struct summary_table *plain = &s.tables[0], *t = &s.tables[1];
        CHECK_TEXT(plain->row->inputs, "f32 k=64 layout=row cache=warm");
        CHECK_TEXT(t->row->inputs, "f32 k=64 layout=row cache=warm trans=flag,copy");
        CHECK(plain->line_count == 1 && t->line_count == 2, "lines");
        CHECK(line_of(plain, "lib")->timed == 1, "a line without a way");
        CHECK_NEAR(line_of(t, "lib trans=flag")->over_best, 1.5);
        CHECK_NEAR(line_of(t, "lib trans=copy")->over_best, 1.0);
        CHECK(line_of(t, "lib trans=copy")->pays_after == 2, "pays after %g",
              line_of(t, "lib trans=copy")->pays_after); // 2 + 2 * 2 < 1 + 2 * 3
    }
    summaries_free(&s);
}

static void test_means(void)
{
    struct summaries s = {0};
    fill(&s);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK(s.table_count == 1, "%d tables", s.table_count);
    const struct summary_table *t = s.tables;
    CHECK(t->matrix_count == 3 && t->line_count == 4 && t->shared == 2, "%lld shared",
          (long long)t->shared);
    CHECK_TEXT(t->base, "best of Lib"); // 2, 4 and 3 ms
    const struct summary_line *fast = line_of(t, "fast"), *lib1 = line_of(t, "lib1");
    const struct summary_line *plain = line_of(t, "plain");
    CHECK_NEAR(fast->mean, sqrt(2.0 * 0.5));
    CHECK_NEAR(fast->mean_ms, sqrt(8));
    CHECK_NEAR(lib1->mean, sqrt(1.0 * 0.5));
    CHECK_NEAR(plain->mean, sqrt(2.0 / 9 * 4));
    CHECK(fast->timed == 2 && fast->wins == 1 && fast->failed == 1, "fast");
    CHECK(lib1->timed == 3 && lib1->wins == 1 && lib1->failed == 0, "lib1");
    CHECK(plain->wins == 1 && line_of(t, "lib2")->wins == 0, "wins");
    CHECK_NEAR(fast->worst, 0.5);
    CHECK_TEXT(t->matrices[fast->worst_at]->matrix, "q");
    CHECK_NEAR(plain->worst, 0.1); // also where not all have a time
    CHECK_TEXT(t->matrices[plain->worst_at]->matrix, "r");
    CHECK(isnan(summary_speedup(t, 2, 2)), "a time that is none");
    summaries_free(&s);
}

// A number has the marks of the times that it is made of, of the baseline too, if the baseline is
// hidden.
static void test_doubts(void)
{
    struct summaries s = {0};
    char text[DOUBT_TEXT_MAX];
    fill(&s);
    add(&s, "lib1", "z", NAN), add(&s, "fast", "z", 1), add(&s, "plain", "z", 9);
    s.rows[0].doubt = DOUBT_ORDER; // lib1 on p, the baseline
    s.rows[2].doubt = DOUBT_FEW;   // fast on p: the win
    s.rows[5].doubt = DOUBT_BUSY;  // lib2 on q, the baseline
    CHECK(!summary_make(&s, &(struct summary_rule){.algs = "fast,plain"}), "%s", fail_text());
    const struct summary_table *t = s.tables;
    const struct summary_line *fast = line_of(t, "fast"), *plain = line_of(t, "plain");
    CHECK(fast->wins_doubt == (DOUBT_FEW | DOUBT_ORDER), "wins %x", fast->wins_doubt);
    CHECK(fast->mean_doubt == (DOUBT_FEW | DOUBT_BUSY | DOUBT_ORDER), "mean %x", fast->mean_doubt);
    CHECK(plain->worst_doubt == 0 && fast->worst_doubt == DOUBT_BUSY, "worst");
    CHECK(plain->wins_doubt == DOUBT_BUSY && plain->over_best_doubt == DOUBT_FEW, "of plain");
    CHECK(fast->few == 1 && fast->busy == 0, "times of fast");
    CHECK_TEXT(doubt_counts_text(&t->times, text),
               "1 of 6 times with fewer than 6 samples, 1 busy");
    CHECK_TEXT(doubt_counts_text(&t->base_times, text), "1 of 3 times busy, 1 not in order");
    CHECK(t->unopposed == 1 && t->base_fewer == 0, "%lld unopposed", (long long)t->unopposed);
    summaries_free(&s);
}

// Few samples are fewer than 6, or those of a record without an interval; a record without a time
// has no mark.
static void test_marks(void)
{
    struct record r = {.status = STATUS_OK, .median = 1, .ci_lo = 1, .gflops = 1, .method = "full"};
    char text[DOUBT_TEXT_MAX];
    CHECK(doubt_of(&r, 6) == 0 && doubt_of(&r, 5) == DOUBT_FEW, "samples");
    r.ci_lo = NAN;
    r.busy = r.overtakes = true;
    CHECK(doubt_of(&r, 6) == (DOUBT_FEW | DOUBT_BUSY | DOUBT_ORDER), "%x", doubt_of(&r, 6));
    CHECK_TEXT(doubt_text(doubt_of(&r, 1), 1, text), "1 sample; busy; not in order");
    r.status = STATUS_FAILED;
    CHECK(doubt_of(&r, 1) == 0, "no time");
}

// x best is a mean over the shared matrices; prep ms and pays after are medians over all.
static void test_preparation(void)
{
    static const struct {
        const char *matrix;
        double ms, prep; // of `made`; `plain_kernel` takes 2 ms without preparation
    } rows[] = {{"p", 1, 3}, {"q", 4, 5}, {"r", 1.5, 20}};
    struct summaries s = {0};
    for (int i = 0; i < COUNT(rows); i++) {
        struct summary_row row = usual;
        row.rank = (struct rank_case){.alg = "plain_kernel", .ms = 2};
        add_row(&s, row, "f32 k=64", "", rows[i].matrix);
        row.rank = (struct rank_case){.alg = "made", .ms = rows[i].ms, .prep_ms = rows[i].prep};
        add_row(&s, row, "f32 k=64", "", rows[i].matrix);
    }
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    const struct summary_table *t = s.tables;
    const struct summary_line *made = line_of(t, "made"), *plain = line_of(t, "plain_kernel");
    CHECK_NEAR(made->over_best, cbrt(2));
    CHECK_NEAR(plain->over_best, cbrt(2 * 1 * (2 / 1.5)));
    CHECK(made->prep_ms == 5 && plain->prep_ms == 0, "%g ms", made->prep_ms);
    CHECK(made->pays_after == 41, "%g runs", made->pays_after); // 4, never, 41
    CHECK(isnan(plain->pays_after), "there is nothing to pay");
    CHECK(isinf(made->cells[1]->rank.pays_after), "it never pays on q");
    summaries_free(&s);
}

// No vendor: the fastest of all but the reference, though the reference is faster on q.
static void test_reference(void)
{
    struct summaries s = {0};
    add(&s, "plain", "p", 4), add(&s, "x", "p", 2), add(&s, "y", "p", 3);
    add(&s, "plain", "q", 1), add(&s, "x", "q", 6), add(&s, "y", "q", 5);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK_TEXT(s.tables[0].base, "fastest of all");
    CHECK(summary_base_ms(s.tables, 0) == 2 && summary_base_ms(s.tables, 1) == 5,
          "of the reference");
    summaries_free(&s);
    add(&s, "plain", "p", 4);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK_TEXT(s.tables[0].base, "nothing");
    CHECK(isnan(line_of(s.tables, "plain")->mean), "a mean over nothing");
    summaries_free(&s);
}

static void test_named(void)
{
    static const struct {
        const char *name, *base;
        double ms; // on p
    } rows[] = {{"fast", "fast", 1}, {"Lib", "Lib", 2}, {"lib2", "lib2", 4}};
    struct summaries s = {0};
    for (int i = 0; i < COUNT(rows); i++) {
        fill(&s);
        CHECK(!summary_make(&s, &(struct summary_rule){.baseline = rows[i].name}), "%s",
              fail_text());
        CHECK_TEXT(s.tables[0].base, rows[i].base);
        CHECK(summary_base_ms(s.tables, 0) == rows[i].ms, "row %d", i);
        summaries_free(&s);
    }
    fill(&s);
    CHECK(summary_make(&s, &(struct summary_rule){.baseline = "nobody"}) == ERR_USAGE &&
              strstr(fail_text(), "there are lib1, lib2, fast, plain"),
          "%s", fail_text());
    CHECK(summary_make(&s, &(struct summary_rule){.algs = "fast,slow"}) == ERR_USAGE &&
              strstr(fail_text(), "-alg slow"),
          "%s", fail_text());
    summaries_free(&s);
}

static void check_order(const struct summary_rule *rule, const char *want)
{
    struct summaries s = {0};
    char names[128] = "";
    fill(&s);
    CHECK(!summary_make(&s, rule), "%s", fail_text());
    for (int64_t i = 0; i < s.tables[0].line_count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ",
                 s.tables[0].lines[i].name);
    CHECK_TEXT(names, want);
    summaries_free(&s);
}

// Lines that are shown, and their order; the baseline stays, and the matrices that are shared are
// those of what is shown.
static void test_order(void)
{
    check_order(&(struct summary_rule){0}, "lib1 lib2 fast plain ");
    check_order(&(struct summary_rule){.algs = "plain,lib*"}, "plain lib1 lib2 ");
    check_order(&(struct summary_rule){.sort = SUMMARY_NAME}, "fast lib1 lib2 plain ");
    check_order(&(struct summary_rule){.sort = SUMMARY_TIME}, "fast plain lib1 lib2 ");
    check_order(&(struct summary_rule){.sort = SUMMARY_SPEEDUP}, "fast plain lib1 lib2 ");
    struct summaries s = {0};
    int64_t order[4];
    fill(&s);
    CHECK(!summary_make(&s, &(struct summary_rule){.algs = "plain"}), "%s", fail_text());
    CHECK(s.tables[0].shared == 3, "%lld shared", (long long)s.tables[0].shared);
    CHECK(s.tables[0].lines[0].wins == 1, "wins over a baseline that is not shown");
    CHECK_TEXT(s.tables[0].base, "best of Lib");
    summaries_free(&s);
    fill(&s);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    summary_order(s.tables, 2, SUMMARY_TIME, order);
    CHECK(order[0] == 0 && order[1] == 1 && order[2] == 3 && order[3] == 2, "by time");
    summary_order(s.tables, 1, SUMMARY_SPEEDUP, order);
    CHECK(order[0] == 3 && order[1] == 1 && order[2] == 0 && order[3] == 2, "by speed-up");
    summaries_free(&s);
}

// Nobody wins where the baseline has no time.
static void test_baseline_without_time(void)
{
    struct summaries s = {0};
    add(&s, "lib1", "p", 2), add(&s, "fast", "p", 1);
    add(&s, "lib1", "q", NAN), add(&s, "fast", "q", 1);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK(line_of(s.tables, "fast")->timed == 2 && line_of(s.tables, "fast")->wins == 1, "wins");
    summaries_free(&s);
}

// An algorithm that does a part of the work is in no race.
static void test_partial(void)
{
    struct summaries s = {0};
    add(&s, "x", "p", 2), add(&s, "half", "p", 1);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK(summary_base_ms(s.tables, 0) == 2 && s.tables[0].shared == 1, "%g ms",
          summary_base_ms(s.tables, 0));
    CHECK(line_of(s.tables, "half")->wins == 0 && line_of(s.tables, "x")->wins == 1, "wins");
    summaries_free(&s);
}

// Nothing is mixed: other inputs, device or revision make another table. Options that differ
// between lines of an algorithm tell them apart, also those of one matrix alone.
static void test_tables(void)
{
    struct summaries s = {0};
    struct summary_row row = usual;
    row.rank.alg = "x";
    row.rank.ms = 1;
    add_row(&s, row, "f32 k=64", "rows=32 stage=4", "p");
    add_row(&s, row, "f32 k=64", "rows=64 stage=4", "p");
    add_row(&s, row, "f32 k=64", "rows=64 stage=4 Lib-1.2", "p of two words");
    add_row(&s, row, "f32 k=32", "rows=64 stage=4", "p");
    row.device = "CPU";
    add_row(&s, row, "f32 k=64", "rows=64 stage=4", "p");
    row.revision = "b";
    add_row(&s, row, "f32 k=64", "rows=64 stage=4", "p");
    row.op = "sddmm";
    add_row(&s, row, "f32 k=64", "rows=64 stage=4", "p");
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK(s.table_count == 5, "%d tables", s.table_count);
    const struct summary_table *t = s.tables;
    CHECK(t->line_count == 3 && t->matrix_count == 2, "%lld lines", (long long)t->line_count);
    CHECK_TEXT(t->row->inputs, "f32 k=64 cache=warm");
    CHECK_TEXT(t->lines[0].name, "x rows=32");
    CHECK_TEXT(t->lines[1].name, "x rows=64");
    CHECK_TEXT(t->lines[2].name, "x rows=64 Lib-1.2");
    CHECK_TEXT(t->matrices[1]->matrix, "p of two words");
    CHECK_TEXT(s.tables[1].lines[0].name, "x");
    summaries_free(&s);
}

// Without a name of the device its id counts.
static void test_device(void)
{
    struct summaries s = {0};
    struct summary_row row = usual;
    row.rank.alg = "x";
    row.rank.ms = 1;
    row.device = NULL;
    add_row(&s, row, "f32 k=64", "", "p");
    CHECK_TEXT(s.rows[0].device, "cuda:0");
    CHECK_TEXT(s.rows[0].inputs, "f32 k=64 cache=warm");
    summaries_free(&s);
}

// Keys that are none of the record's, and a case that comes twice: the last counts.
static void test_keys(void)
{
    static const char *const bad[] = {"",
                                      "spmm",
                                      "spmm x",
                                      "spmm x cuda:0",
                                      "spmm y cuda:0 f32 5x5:9 p",
                                      "spmm x cuda:0 f32 5x5:9 q",
                                      "p",
                                      " 5x5:9 p"};
    struct summaries s = {0};
    struct summary_row row = usual;
    row.rank.alg = "x";
    for (int i = 0; i < COUNT(bad); i++)
        CHECK(summary_add(&s, &row, bad[i], "p") == ERR_INPUT, "%s", bad[i]);
    CHECK(s.count == 0, "%lld rows", (long long)s.count);
    add(&s, "x", "p", 3), add(&s, "x", "p", 2);
    CHECK(!summary_make(&s, &(struct summary_rule){0}), "%s", fail_text());
    CHECK(summary_base_ms(s.tables, 0) == 2, "%g ms", summary_base_ms(s.tables, 0));
    summaries_free(&s);
}

// Statistics of an algorithm as the table says them.
static void test_remarks(void)
{
    char text[REMARK_TEXT_MAX];
    CHECK_TEXT(remark_stat("picked", "graded", text), "picked graded");
    CHECK_TEXT(remark_stat("merge_refused", "no memory", text), "merge refused: no memory");
}

// A lack of memory is an error, and nothing leaks.
static void test_memory(void)
{
    const struct summary_rule rule = {.algs = "fast,lib*", .sort = SUMMARY_TIME};
    for (int64_t n = 1;; n++) {
        struct summaries s = {0};
        fill(&s);
        mem_fail_at(n);
        int err = summary_make(&s, &rule);
        mem_fail_at(0);
        summaries_free(&s);
        if (!err) break;
        CHECK(err == ERR_MEMORY && n < 100, "allocation %lld: %d", (long long)n, err);
    }
}

TESTS(test_ways, test_means, test_doubts, test_marks, test_preparation, test_reference, test_named,
      test_order, test_partial, test_baseline_without_time, test_tables, test_device, test_keys,
      test_remarks, test_memory)
