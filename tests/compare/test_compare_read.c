// Files of records read to be compared: which lines count, what is refused, and memory that is
// lacking.
#include "compared.h"
#include "compare/verdict_text.h"

// The last record of a case and a process counts; a line that is none is left out and told.
static void test_reading(void)
{
    struct comparison c;
    FILE *f = file_open(files[0], "w");
    put_environment(f, "r", 1);
    PUT(.name = "a", .ms = 7, .half = 0.001);
    fprintf(f, "{\"schema\":\"spbench/1\",\"kind\":\"res\n");
    PUT(.name = "a", .ms = 2, .half = 0.001);
    fprintf(f, "\n{\"half\":");
    fclose(f);
    f = file_open(files[1], "w");
    PUT(.run = "q", .name = "a", .ms = 2, .half = 0.001);
    fclose(f);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    const struct compared *a = case_of(&c, "a");
    CHECK(c.count == 1 && a->count[0] == 1 && fabs(a->ms[0] - 2) < 1e-9, "%g ms", a->ms[0]);
    CHECK(c.read[0].bad_lines == 2 && strstr(c.read[0].bad_text, ":3: no record"), "%lld: %s",
          (long long)c.read[0].bad_lines, c.read[0].bad_text);
    comparison_free(&c);
    // What is no file of records.
    static const char *const bad[][2] = {{"", "has no results"},
                                         {"%%MatrixMarket matrix\n", "is not a record file"},
                                         {"{}\n{}\n", "has no results; "}};
    for (int i = 0; i < COUNT(bad); i++) {
        f = file_open(files[1], "w");
        fputs(bad[i][0], f);
        fclose(f);
        CHECK(comparison_files(&c, files[0], files[1], &usual) == ERR_INPUT &&
                  strstr(fail_text(), bad[i][1]),
              "row %d: %s", i, fail_text());
        comparison_free(&c);
    }
    CHECK(comparison_files(&c, "/no/such/file", files[1], &usual) == ERR_INPUT &&
              strstr(fail_text(), "cannot be read"),
          "%s", fail_text());
    comparison_free(&c);
}

// A case that overlaps itself better is faster back to back, and slower apart; what has but one
// time is compared by that one.
static void put_kinds(FILE *f, enum side side)
{
    bool now = side == SIDE_NEW;
    put_environment(f, now ? "q" : "r", side);
    PUT(.run = now ? "q" : "r", .name = "both", .ms = now ? 4 : 2, .half = 0.001,
        .back = now ? 0.5 : 1, .back_half = 0.002, .overtakes = now);
    PUT(.run = now ? "q" : "r", .name = "one", .ms = now ? 3 : 1, .half = 0.001);
}

static void test_kinds(void)
{
    struct comparison c;
    FILE *f;
    for (int side = 0; side < SIDES; side++) {
        f = file_open(files[side], "w");
        put_kinds(f, (enum side)side);
        fclose(f);
    }
    for (int kind = 0; kind < TIMING_KINDS; kind++) {
        struct compare_rule rule = usual;
        bool back = kind == TIMING_BACK_TO_BACK;
        rule.kind = (enum timing_kind)kind;
        CHECK(!comparison_files(&c, files[0], files[1], &rule), "%s", fail_text());
        const struct compared *both = case_of(&c, "both"), *one = case_of(&c, "one");
        CHECK(fabs(both->ms[0] - (back ? 1 : 2)) < 1e-9 &&
                  fabs(both->ms[1] - (back ? 0.5 : 4)) < 1e-9,
              "kind %d: %g and %g ms", kind, both->ms[0], both->ms[1]);
        // Records have 1 / ms as the rate of the time apart.
        CHECK(fabs(both->gflops[1] - (back ? 2 : 0.25)) < 1e-9, "kind %d: %g GFLOPS", kind,
              both->gflops[1]);
        double half = both->seen[0]->error * 1.959964;
        CHECK(fabs(half - (back ? 0.002 : 0.001)) < 1e-5, "kind %d: +- %g", kind, half);
        CHECK(fabs(one->ms[1] - 3) < 1e-9, "kind %d: %g ms", kind, one->ms[1]);
        CHECK(c.sum.overtaking == 1, "kind %d: %lld cases overtake", kind,
              (long long)c.sum.overtaking);
        comparison_free(&c);
    }
    // A history goes by it as well.
    struct compare_rule rule = usual;
    const char *paths[] = {files[0], files[1]};
    rule.kind = TIMING_BACK_TO_BACK;
    rule.consecutive = 1;
    CHECK(!comparison_history(&c, paths, 2, &rule), "%s", fail_text());
    const struct compared *both = case_of(&c, "both");
    CHECK(fabs(both->ms[0] - 1) < 1e-9 && fabs(both->ms[1] - 0.5) < 1e-9, "%g and %g ms",
          both->ms[0], both->ms[1]);
    CHECK(c.sum.overtaking == 1, "%lld cases overtake", (long long)c.sum.overtaking);
    comparison_free(&c);
}

// Every allocation that can fail is looked at.
static void test_memory(void)
{
    struct comparison c;
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        put_environment(f, "r", 1);
        PUT(.name = "a", .ms = 1 + side, .half = 0.01);
        PUT(.name = "b", .ms = 1, .half = 0.01, .library = "1");
        PUT(.name = "c", .status = "oom", .reason = "too large");
        fclose(f);
    }
    FILE *sink = file_open("/dev/null", "w");
    int err = ERR_MEMORY;
    int64_t n = 1, written = 0;
    for (; err == ERR_MEMORY; n++) {
        mem_fail_at(n);
        err = comparison_files(&c, files[0], files[1], &usual);
        for (const struct verdict_format *f = verdict_formats; f->name && !err; f++)
            err = f->write(sink, &c), written++;
        mem_fail_at(0);
        comparison_free(&c);
    }
    CHECK(!err && n > 100 && written > 6, "error %d at the %lldth allocation", err, (long long)n);
    fclose(sink);
}

int main(void)
{
    files_make();
    RUN_ALL(test_reading, test_kinds, test_memory);
    files_remove();
    return TEST_END();
}
