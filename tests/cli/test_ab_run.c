// Two programs by turns: how many processes each matrix gets. Both programs are scripts that make
// up records.
#include "cli/commands/ab_run.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

// band:9:1 is steady. band:9:2 is steady and slower in NEW. band:9:3 wanders by 5 % with the
// algorithm m, and is steady with q.
static const char script[] =
    "#!/bin/sh\n"
    "algs=m,q\n"
    "while [ $# -gt 1 ]; do case $1 in -o) out=$2 ;; -alg) algs=$2 ;; esac; shift; done\n"
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
    "echo "
    "'{\"schema\":\"spbench/1\",\"kind\":\"environment\",\"run\":\"'$n.$m'\",\"date\":\"'$(date "
    "-u +%Y-%m-%dT%H:%M:%SZ)'\"}'\n"
    "for alg in $(echo $algs | tr , ' '); do\n"
    "[ $alg$m = qband:9:3 ] && ms=$((10000 + n * 7 % 11))\n"
    "echo '{\"schema\":\"spbench/1\",\"kind\":\"result\",\"status\":\"ok\",\"case\":\"x '$alg' cpu "
    "f32 9x9:9 "
    "'$m'\",\"op\":\"x\",\"alg\":\"'$alg'\",\"device\":\"cpu\",\"prec\":\"f32\",\"run\":\"'$n.$m'"
    "\","
    "\"matrix\":{\"name\":\"'$m'\",\"path\":\"p\"},\"check\":{\"method\":\"full\"},\"time_ms\":{"
    "\"median\":'$ms',\"ci_lo\":'$ms',"
    "\"ci_hi\":'$ms',\"samples\":['$ms']},\"gflops\":1}'\n"
    "done\n"
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

// Returns the number of times that both programs measured the matrix; 0: the numbers differ.
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

static struct ab_run measure(const struct options *o, int count)
{
    struct ab_run d = {.o = o,
                       .program = {programs[SIDE_OLD], programs[SIDE_NEW]},
                       .matrices = matrices,
                       .matrix_count = count};
    CHECK(!ab_run_measure(&d, &rule), "%s", fail_text());
    return d;
}

// Each case is measured until it is clear, and no longer.
static void test_decided(void)
{
    struct options o = {.quiet = true};
    struct ab_run d = measure(&o, 3);
    struct comparison c;
    CHECK(!comparison_files(&c, d.path[SIDE_OLD], d.path[SIDE_NEW], &rule), "%s", fail_text());
    static const enum verdict want[] = {VERDICT_SAME, VERDICT_SLOWER, VERDICT_SAME};
    CHECK(c.count == 6, "%lld cases", (long long)c.count);
    for (int i = 0; i < c.count; i++) {
        const struct compared *x = &c.cases[i];
        const struct observation *s = compared_any(x);
        bool wanders = !strcmp(s->alg, "m") && !strcmp(s->matrix, "band:9:3");
        CHECK(x->verdict == want[s->matrix[strlen(s->matrix) - 1] - '1'], "%s: %s", s->key,
              verdict_name(x->verdict));
        CHECK(x->count[SIDE_OLD] == (wanders ? 12 : 8), "%s: %d", s->key, x->count[SIDE_OLD]);
    }
    comparison_free(&c);
    ab_run_close(&d);
    int steady = rounds_of("band:9:1"), slower = rounds_of("band:9:2"),
        wild = rounds_of("band:9:3");
    CHECK(steady == 8 && slower == 8 && wild == 12, "%d, %d and %d rounds", steady, slower, wild);
}

// A spent budget leaves two rounds. -runs is the number of rounds, however clear the cases are.
static void test_rounds(void)
{
    static const struct options rows[] = {{.quiet = true, .budget_ms = 1},
                                          {.quiet = true, .runs = 3}};
    for (int row = 0; row < COUNT(rows); row++) {
        struct ab_run d = measure(&rows[row], 3);
        ab_run_close(&d);
        for (int i = 0; i < 3; i++) {
            int rounds = rounds_of(matrices[i] + strlen("gen:"));
            CHECK(rounds == (rows[row].runs ? rows[row].runs : 2), "%d rounds", rounds);
        }
    }
}

// -opt of a narrowed algorithm has only the parameters that the algorithm takes.
static void test_narrow(void)
{
    const char *passed[] = {"-k",  "3",   "-alg=merge,sellp", "--opt", "slice=8,16,shares=2",
                            "-op", "spmm"};
    char *key = (char *)"spmm sellp cpu f32 k=3 9x9:9 m",
         *merge = (char *)"spmm merge cpu f32 9x9:9 m";
    struct options o = {.passed = passed,
                        .passed_count = COUNT(passed),
                        .opts = {{"slice", 8}, {"slice", 16}, {"shares", 2}},
                        .opt_count = 3};
    struct observation seen[] = {{.key = key, .alg = (char *)"sellp", .matrix = (char *)"m"},
                                 {.key = merge, .alg = (char *)"merge", .matrix = (char *)"m"}};
    struct compared cases[] = {
        {.seen = {&seen[0], NULL}, .count = {1, 0}, .verdict = VERDICT_UNCLEAR},
        {.seen = {&seen[1], NULL}, .count = {1, 0}, .verdict = VERDICT_SAME}};
    struct comparison all = {.cases = cases, .count = 2};
    const char *argv[COUNT(passed) + NARROW_WORDS];
    static const char *const want[] = {"-k",   "3",     "-op",  "spmm",
                                       "-alg", "sellp", "-opt", "slice=8,slice=16"};
    struct narrowed n;
    CHECK(!narrow_cases(&n, &o, &all, "other"), "another matrix");
    CHECK(narrow_words(&n, &o, argv) == COUNT(passed), "all words");
    CHECK(narrow_cases(&n, &o, &all, "m"), "unclear");
    int count = narrow_words(&n, &o, argv);
    CHECK(count == COUNT(want), "%d words", count);
    for (int i = 0; i < count && count == COUNT(want); i++) CHECK_TEXT(argv[i], want[i]);
}

// Each round each side has each matrix once; pairs stand together; who begins changes.
static void test_interleave(void)
{
    for (int sides = 2; sides <= 3; sides++) {
        const struct ab_order s = {6, 5, sides};
        int seen[6][5][3] = {{{0}}}, begins[5][3] = {{0}};
        for (int64_t i = 0; i < ab_order_count(&s); i++) {
            struct ab_step t = ab_order_step(&s, i), ahead = ab_order_step(&s, i - i % sides);
            seen[t.round][t.matrix][t.side]++;
            CHECK(t.matrix == ahead.matrix && t.round == ahead.round, "turn %lld", (long long)i);
            if (i % sides == 0) begins[t.matrix][t.side]++;
        }
        for (int r = 0; r < 6; r++)
            for (int m = 0; m < 5; m++)
                for (int side = 0; side < sides; side++)
                    CHECK(seen[r][m][side] == 1, "round %d, matrix %d, side %d", r, m, side);
        for (int m = 0; m < 5; m++)
            for (int side = 0; side < sides; side++)
                CHECK(begins[m][side] == 6 / sides, "matrix %d begins %d times with %d", m,
                      begins[m][side], side);
        CHECK(ab_order_step(&s, 0).matrix != ab_order_step(&s, 5 * sides).matrix,
              "rounds begin with the same matrix");
    }
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL, "%s", folder);
    RUN_ALL(write_scripts, test_narrow, test_decided, test_rounds, test_interleave);
    for (int side = 0; side < SIDES; side++) unlink(programs[side]);
    CHECK(!rmdir(folder), "%s is not empty", folder);
    return TEST_END();
}
