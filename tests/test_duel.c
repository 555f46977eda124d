// Two programs by turns: how many processes each matrix gets. Both programs are scripts that make up
// records.
#include "program/duel.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

// band:9:1 is steady, band:9:2 is so as well and slower in NEW, band:9:3 wanders by 5 %.
static const char script[] =
    "#!/bin/sh\n"
    "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
    "m=${1#gen:} side=${0##*/}\n"
    "echo >>\"$0.$m\"\n"
    "n=$(wc -l <\"$0.$m\") off=0\n"
    "[ $side = new ] && off=5\n"
    "case $m in\n"
    "band:9:1) ms=$((10000 + n * 7 % 11)) ;;\n"
    "band:9:2) ms=$((10000 + n * 7 % 11 + off * 200)) ;;\n"
    "band:9:3) ms=$((10000 + (n * 7919 + off * 104729) * (n + 3 * off) % 499)) ;;\n"
    "esac\n"
    "{\n"
    "echo '{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"'$n.$m'\",\"date\":\"'$(date "
    "-u +%Y-%m-%dT%H:%M:%SZ)'\"}'\n"
    "echo '{\"schema\":\"spbench/1\",\"kind\":\"result\",\"status\":\"ok\",\"case\":\"x m cpu f32 "
    "9x9:9 '$m'\",\"op\":\"x\",\"alg\":\"m\",\"device\":\"cpu\",\"prec\":\"f32\",\"run\":\"'$n.$m'\","
    "\"matrix\":{\"name\":\"'$m'\",\"path\":\"p\"},\"time_ms\":{\"median\":'$ms',\"ci_lo\":'$ms',"
    "\"ci_hi\":'$ms',\"samples\":['$ms']},\"gflops\":1}'\n"
    "} >>\"$out\"\n";

static char folder[] = "/tmp/spbench-duel-XXXXXX";
static char programs[SIDES][64];
static const char *const names[SIDES] = {"old", "new"};

static void write_scripts(void)
{
    for (int side = 0; side < SIDES; side++) {
        snprintf(programs[side], sizeof programs[side], "%s/%s", folder, names[side]);
        FILE *f = fopen(programs[side], "w");
        CHECK(f && fputs(script, f) >= 0 && !fclose(f) && !chmod(programs[side], 0755), "%s",
              programs[side]);
    }
}

// How often both programs measured the matrix; 0 where they differ.
static int rounds_of(const char *matrix)
{
    int lines[SIDES] = {0};
    for (int side = 0; side < SIDES; side++) {
        char path[256];
        snprintf(path, sizeof path, "%s.%s", programs[side], matrix);
        FILE *f = fopen(path, "r");
        for (int c; f && (c = fgetc(f)) != EOF;) lines[side] += c == '\n';
        if (f) fclose(f);
        unlink(path);
    }
    return lines[SIDE_OLD] == lines[SIDE_NEW] ? lines[SIDE_OLD] : 0;
}

static char *matrices[] = {"gen:band:9:1", "gen:band:9:2", "gen:band:9:3"};
static const struct compare_rule rule = {.threshold = 0.03};

static struct duel measure(const struct options *o, int count)
{
    struct duel d = {.o = o,
                     .program = {programs[SIDE_OLD], programs[SIDE_NEW]},
                     .matrices = matrices,
                     .matrix_count = count};
    CHECK(!duel_run(&d, &rule), "%s", fail_text());
    return d;
}

// Each matrix is measured until its case is clear, and no longer.
static void test_decided(void)
{
    struct options o = {.quiet = true};
    struct duel d = measure(&o, 3);
    struct comparison c;
    CHECK(!comparison_files(&c, d.path[SIDE_OLD], d.path[SIDE_NEW], &rule), "%s", fail_text());
    CHECK(c.count == 3 && c.cases[0].verdict == VERDICT_SAME &&
              c.cases[1].verdict == VERDICT_SLOWER && c.cases[2].verdict == VERDICT_SAME,
          "%s, %s, %s", verdict_name(c.cases[0].verdict), verdict_name(c.cases[1].verdict),
          verdict_name(c.cases[2].verdict));
    comparison_free(&c);
    duel_close(&d);
    int steady = rounds_of("band:9:1"), slower = rounds_of("band:9:2"), wild = rounds_of("band:9:3");
    CHECK(steady == 8 && slower == 8 && wild == 12, "%d, %d and %d rounds", steady, slower, wild);
}

static void test_budget(void)
{
    struct options o = {.quiet = true, .budget_ms = 1};
    struct duel d = measure(&o, 3);
    duel_close(&d);
    for (int i = 0; i < 3; i++) {
        int rounds = rounds_of(matrices[i] + strlen("gen:"));
        CHECK(rounds == 2, "%d rounds", rounds);
    }
}

static void test_fixed(void)
{
    struct options o = {.quiet = true, .runs = 3};
    struct duel d = measure(&o, 3);
    duel_close(&d);
    for (int i = 0; i < 3; i++) {
        int rounds = rounds_of(matrices[i] + strlen("gen:"));
        CHECK(rounds == 3, "%d rounds", rounds);
    }
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL, "%s", folder);
    write_scripts();
    test_decided();
    test_budget();
    test_fixed();
    for (int side = 0; side < SIDES; side++) unlink(programs[side]);
    CHECK(!rmdir(folder), "%s is not empty", folder);
    return TEST_END();
}
