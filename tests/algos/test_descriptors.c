// Every algorithm of the list as its descriptor has it, the options that come of it, and the
// mistakes in a kernel that must not pass: they end the program.
#include <math.h>

#include "dies.h"
#include "formats/sellp.h"
#include "formats/tile16.h"
#include "measure/tiled_model.h"
#include "names.h"
#include "own.h"

#define IDEA_MAX 60 // characters, for a line of `spbench list`

static void test_options(const struct algo_entry *e)
{
    const struct algo_option *p;
    int count = 0;
    double opt[ALGO_OPTIONS_MAX];
    algo_defaults(e->algo, opt);
    for (; (p = algo_option_at(e->algo, count)); count++) {
        CHECK(is_name(p->name) && is_line(p->about), "%s: option %s: %s", e->name, p->name,
              p->about);
        CHECK(p->min < p->max && p->value >= p->min && p->value <= p->max,
              "%s: %s is %g, from %g to %g", e->name, p->name, p->value, p->min, p->max);
        CHECK(!p->whole || (p->value == floor(p->value) && p->min == floor(p->min) &&
                            p->max == floor(p->max)),
              "%s: %s is no whole number", e->name, p->name);
        CHECK(algo_option_find(e->algo, p->name) == count && opt[count] == p->value,
              "%s: %s is there twice", e->name, p->name);
    }
    CHECK(count <= ALGO_OPTIONS_MAX && algo_option_find(e->algo, "no-such-option") < 0, "%d",
          count);
}

// Formats without holes, and none twice.
static int format_list(const struct algo_entry *e, const struct format *const list[FORMATS_MAX])
{
    int count = 0;
    while (count < FORMATS_MAX && list[count]) count++;
    for (int f = 0; f < FORMATS_MAX; f++) {
        CHECK(!list[f] == (f >= count), "%s: a hole in its formats", e->name);
        for (int g = 0; g < f; g++) CHECK(!list[f] || list[f] != list[g], "%s: twice", e->name);
    }
    return count;
}

// The operation of an algorithm on the smallest matrix that is of any use.
static struct problem problem_of(const struct op *op, struct source *source)
{
    struct problem p = {.op = op, .source = source, .prec = F64};
    axes_start(op, 0, p.axis);
    CHECK(!problem_make(&p), "%s", fail_text());
    return p;
}

static void test_operands(const struct algo_entry *e)
{
    static int64_t ptr[] = {0, 1};
    static int32_t idx[] = {0};
    static double val[] = {1};
    const struct algo *a = e->algo;
    struct csr A = {.m = 1, .n = 1, .nnz = 1, .ptr = ptr, .idx = idx, .val = val};
    struct source source;
    source_init(&source, &A);
    struct problem p = problem_of(e->op, &source);
    bool dense = p.in[0].val || e->op->result == RESULT_DENSE;
    CHECK(format_list(e, a->A) > 0, "%s takes A in no format", e->name);
    CHECK((format_list(e, a->S) > 0) == (p.S != NULL), "%s: formats of the second factor", e->name);
    CHECK((a->layouts != 0) == dense && !(a->layouts & ~BOTH_LAYOUTS), "%s: layouts %x", e->name,
          a->layouts);
    CHECK(!a->columns || e->op == op_find("spmm"), "%s has %d columns", e->name, a->columns);
    CHECK(a->precs && !(a->precs & ~EVERY_PREC), "%s: precisions %x", e->name, a->precs);
    problem_free(&p);
    source_free(&source);
}

static void test_relations(const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    int variants = 0;
    while (e->op->variants[variants]) variants++;
    CHECK(a->variant >= 0 && a->variant < variants, "%s: variant %d", e->name, a->variant);
    CHECK(!a->vendor || is_line(a->vendor), "%s: vendor", e->name);
    CHECK(!a->vendor || a->library || algo_not_built(e), "%s: no library", e->name);
    CHECK(a->vendor ? a->call && is_line(a->call) : !a->call, "%s: its call", e->name);
    CHECK(!a->library || algo_missing(e) || is_line(a->library()), "%s: %s", e->name, a->library());
    CHECK(!a->partial || is_line(a->partial), "%s: %s", e->name, a->partial);
    CHECK(!a->reference || (!a->vendor && !a->partial && !a->variant), "%s is no reference",
          e->name);
    const struct algo_entry *of = a->tuned_of ? algo_find(e->op, a->tuned_of, e->device) : NULL;
    CHECK(!a->tuned_of || (of && of != e), "%s: a tuned form of %s", e->name, a->tuned_of);
    for (int i = 0; i < COUNT(a->picks); i++) {
        const struct algo_entry *picked =
            a->picks[i] ? algo_find(e->op, a->picks[i], e->device) : NULL;
        CHECK(!a->picks[i] || (picked && picked != e), "%s picks %s", e->name, a->picks[i]);
        CHECK(!i || !a->picks[i] || a->picks[i - 1], "%s: a hole in its picks", e->name);
    }
}

// What `spbench info -model` takes for granted of an algorithm is what it does unless it is told.
static void test_model(const struct algo_entry *e)
{
    double opt[ALGO_OPTIONS_MAX];
    if (e->algo->model == MODEL_NONE) return;
    CHECK(e->op == op_find("spmm"), "%s: a model of another operation", e->name);
    CHECK(!(e->algo->layouts & ROW_MAJOR), "%s: its model is column-major", e->name);
    algo_defaults(e->algo, opt);
    struct cutting cut = cutting_of(e->algo, opt);
    CHECK(cut.rows == cutting_standard.rows && cut.stage == cutting_standard.stage &&
              cut.factor == cutting_standard.factor,
          "%s: %lld rows, %lld columns, factor %lld", e->name, (long long)cut.rows,
          (long long)cut.stage, (long long)cut.factor);
}

static void test_entry(const struct algo_entry *e)
{
    const struct algo *a = e->algo;
    CHECK(is_name(e->name) && e->op && op_find(e->op->name) == e->op, "%s", e->name);
    CHECK(algo_find(e->op, e->name, e->device) == e, "%s is there twice", e->name);
    CHECK(!algo_missing(e) || is_line(algo_missing(e)), "%s: %s", e->name, algo_missing(e));
    CHECK(is_line(algo_idea(e)) && strlen(algo_idea(e)) <= IDEA_MAX, "%s: %s", e->name,
          algo_idea(e));
    CHECK(a->cite && a->cite[0], "%s: where does it come from?", e->name);
    CHECK(!a->differs || a->differs[0], "%s differs in nothing", e->name);
    // The emulator has no library of a vendor.
    CHECK(a->run || !device_list[e->device].ops || a->vendor, "%s does not run", e->name);
    CHECK((!a->finish && !a->release) || e->op->result == RESULT_SPARSE, "%s: no sparse result",
          e->name);
    CHECK(!a->prepare || a->teardown, "%s: who frees what prepare() makes?", e->name);
    test_options(e);
    test_operands(e);
    test_relations(e);
    test_model(e);
}

static void test_references(void)
{
    for (int x = 0; x < op_count; x++) {
        int found = 0;
        for (int e = 0; e < algo_count; e++)
            found +=
                algos[e].op == ops[x] && algos[e].device == DEVICE_CPU && algos[e].algo->reference;
        CHECK(found == 1, "%s has %d references on the CPU", ops[x]->name, found);
    }
}

// An algorithm's own options come first, then those of its formats, each name once.
static const struct algo_option some[] = {
    {"pad", 3, 1, 9, true, "in place of the format's"}, {"grain", 2, 0, 4, false, "its own"}, {0}};
static const struct algo mixed = {
    .A = {&format_tile16, &format_sellp}, .S = {&format_sellp}, .options = some};
static const struct algo_entry mixed_entry = {"mixed", &own_op, DEVICE_CPU, &mixed};

static void test_order(void)
{
    static const char *const names[] = {"pad", "grain", "slice"};
    double opt[ALGO_OPTIONS_MAX] = {0};
    for (int i = 0; i < COUNT(names); i++) {
        const struct algo_option *p = algo_option_at(&mixed, i);
        CHECK(p && !strcmp(p->name, names[i]) && algo_option_find(&mixed, names[i]) == i,
              "option %d is not %s", i, names[i]);
    }
    CHECK(!algo_option_at(&mixed, COUNT(names)), "one option too many");
    CHECK(algo_option_at(&mixed, 0) == &some[0], "the format's option hides the algorithm's own");
    algo_defaults(&mixed, opt);
    CHECK(opt[0] == 3 && opt[1] == 2 && opt[2] == 8, "%g, %g, %g", opt[0], opt[1], opt[2]);
    struct task t = {.entry = &mixed_entry, .algo = &mixed, .opt = {5, 6, 7}};
    CHECK(task_option(&t, "grain") == 6 && task_option(&t, "slice") == 7, "options of a task");
}

static void read_option(void *name)
{
    struct task t = {.entry = &mixed_entry, .algo = &mixed};
    task_option(&t, name);
}

static struct algo_option many[ALGO_OPTIONS_MAX + 2]; // the last one ends the list
static char many_names[ALGO_OPTIONS_MAX + 1][16];
static struct algo crowded = {.options = many};

static void list_options(void *arg)
{
    (void)arg;
    algo_option_at(&crowded, 0);
}

// 16 options, and one more: the algorithm's own, or its format's.
static void test_too_many(void)
{
    const struct format *const plain = &format_csr, *const padded = &format_sellp;
    memset(many, 0, sizeof many);
    crowded.A[0] = plain;
    for (int i = 0; i <= ALGO_OPTIONS_MAX; i++) {
        snprintf(many_names[i], sizeof many_names[i], "p%d", i);
        many[i] = (struct algo_option){many_names[i], 0, 0, 1, true, "one of many"};
        if (i < ALGO_OPTIONS_MAX)
            CHECK(algo_option_at(&crowded, i), "%d options are too many", i + 1);
    }
    CHECK(dies(list_options, NULL, "'p16'"), "17 options pass");
    many[ALGO_OPTIONS_MAX].name = NULL;
    CHECK(algo_option_at(&crowded, ALGO_OPTIONS_MAX - 1) &&
              !algo_option_at(&crowded, ALGO_OPTIONS_MAX),
          "16 options");
    crowded.A[0] = padded;
    CHECK(dies(list_options, NULL, "'slice'"), "16 options and those of a format pass");
}

static struct device host;

// Begins this number of phases. Their names are in the same buffer.
static void begin_phases(void *arg)
{
    char name[24];
    struct phases phases = {.current = -1};
    struct task t = {.dev = &host, .phases = &phases};
    for (int i = 0; i < *(int *)arg; i++) {
        snprintf(name, sizeof name, "phase%d", i);
        if (task_phase(&t, name) || !task_phase_fits(&t, "phase0")) _exit(1);
        if (task_phase_fits(&t, "another") != (phases.count < PHASES_MAX)) _exit(1);
    }
}

static void test_phases(void)
{
    int most = PHASES_MAX, more = PHASES_MAX + 1;
    struct phases phases = {.current = -1};
    struct task t = {.dev = &host, .phases = &phases};
    host = device_host();
    begin_phases(&most);
    CHECK(dies(begin_phases, &more, "'phase8'"), "nine phases pass");
    // A phase that comes again goes on; what is between phases is of none.
    static const char *const order[] = {"count", "fill", "count", NULL, "fill", NULL};
    for (int i = 0; i < COUNT(order); i++) {
        CHECK(!task_phase(&t, order[i]), "%s", fail_text());
        const double until = clock_ms() + (i == 3 ? 5 : 1);
        while (clock_ms() < until) {}
    }
    CHECK(phases.count == 2 && phases.current == -1 && !strcmp(phases.list[1].name, "fill"),
          "%d phases", phases.count);
    for (int i = 0; i < 2; i++)
        CHECK(phases.list[i].ms >= 1.9 && phases.list[i].ms < 1000, "%s: %g ms",
              phases.list[i].name, phases.list[i].ms);
    t.phases = NULL;
    CHECK(!task_phase(&t, "unmeasured") && phases.count == 2, "a phase of nothing");
}

int main(void)
{
    for (int e = 0; e < algo_count; e++) test_entry(&algos[e]);
    RUN_ALL(test_references, test_order, test_too_many, test_phases);
    CHECK(dies(read_option, "no-such", "mixed has no option 'no-such'"), "an option of nothing");
    CHECK(!dies(read_option, "pad", ""), "an option that is there");
    CHECK(!algo_find(&own_op, "mixed", DEVICE_CPU) && !algo_find(ops[0], "", DEVICE_CPU), "found");
    return TEST_END();
}
