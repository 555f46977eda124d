// Files of records read to be compared: which lines count, what is refused, and memory that is
// lacking.
#include "compared.h"
#include "run/report.h"

// The last record of a case and a process counts; a line that is none is left out and told.
static void test_reading(void)
{
    struct comparison c;
    FILE *f = file_open(files[0], "w");
    put_environment(f, "r", 1);
    put(f, (struct line){.run = "r", .name = "a", .ms = 7, .half = 0.001});
    fprintf(f, "{\"schema\":\"spbench/1\",\"kind\":\"res\n");
    put(f, (struct line){.run = "r", .name = "a", .ms = 2, .half = 0.001});
    fprintf(f, "\n{\"half\":");
    fclose(f);
    f = file_open(files[1], "w");
    put(f, (struct line){.run = "q", .name = "a", .ms = 2, .half = 0.001});
    fclose(f);
    CHECK(!comparison_files(&c, files[0], files[1], &usual), "%s", fail_text());
    const struct compared *a = case_of(&c, "a");
    CHECK(c.count == 1 && a->count[0] == 1 && fabs(a->ms[0] - 2) < 1e-9, "%g ms", a->ms[0]);
    CHECK(c.read[0].bad_lines == 2 && strstr(c.read[0].bad_text, ":3: no record"), "%lld: %s",
          (long long)c.read[0].bad_lines, c.read[0].bad_text);
    comparison_free(&c);
    // What is no file of records.
    static const char *const bad[][2] = {{"", "has no results"},
                                         {"%%MatrixMarket matrix\n", "is no file of records"},
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

// Every allocation that can fail is looked at.
static void test_memory(void)
{
    struct comparison c;
    for (int side = 0; side < SIDES; side++) {
        FILE *f = file_open(files[side], "w");
        put_environment(f, "r", 1);
        put(f, (struct line){.run = "r", .name = "a", .ms = 1 + side, .half = 0.01});
        put(f, (struct line){.run = "r", .name = "b", .ms = 1, .half = 0.01, .library = "1"});
        put(f, (struct line){.run = "r", .name = "c", .status = "oom", .reason = "too large"});
        fclose(f);
    }
    FILE *sink = file_open("/dev/null", "w");
    int err = ERR_MEMORY;
    int64_t n = 1, written = 0;
    for (; err == ERR_MEMORY; n++) {
        mem_fail_at(n);
        err = comparison_files(&c, files[0], files[1], &usual);
        for (const struct report_format *f = report_formats; f->name && !err; f++)
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
    test_reading();
    test_memory();
    files_remove();
    return TEST_END();
}
