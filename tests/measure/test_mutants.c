// Wrong algorithms of every kind, and none of them may end as ok; see mutants/mutants.def.
//
// test_mutants [NAME]: all of them, or one. Each that survives is named with its case.
#define _GNU_SOURCE // cpu_set_t
#include "data/gen.h"
#include "mutants/leave.h"
#include "mutants/live.h"
#include "mutants/spoil.h"
#include "plans.h"

#define MUTANT(symbol, text, of_kinds, of_precs, of_traits, ...)                                   \
    {.name = #symbol,                                                                              \
     .about = text,                                                                                \
     .kinds = of_kinds,                                                                            \
     .precs = of_precs,                                                                            \
     .traits = of_traits,                                                                          \
     __VA_ARGS__},
static const struct mutant mutants[] = {
#include "mutants/mutants.def"
};
#undef MUTANT

// What a sampled check does not see, and why. Everything else it must see; and these it must not,
// or the line is too many.
struct expected {
    const char *mutant, *op, *matrix;
    unsigned precs;
    const char *why;
};
static const struct expected unseen_by_sample[] = {
    {NULL, NULL, NULL, 0, NULL},
};

// Each mutant has some matrix in which it shows. SpGEMM's sums have the signs of the matrix, and
// where many are alike rounding may do more than it can where they are drawn: its long sums are
// shorter.
static const struct trial {
    const char *spec;
    int64_t k;
    unsigned kinds; // of results that it is for
    bool in_time;   // mutants that show in time are tried here
} trials[] = {
    {"uniform:4000:6", 8, ALL, true},               // short rows
    {"sparse2d:70000:70000:160000", 4, ALL, false}, // many rows, some of them empty
    {"skew:6000:4:1500", 8, ALL, false},            // two rows are long
    {"aspect:2:400000", 4, DENSE, false},           // 200,000 products in a sum
    {"uniform:40:5", 20000, PATTERN, false},        // 20,000
    {"aspect:40:80000", 0, SPARSE, false},          // 2,000
};

// The right algorithms, in the precision of the case.
static const struct {
    const char *op, *alg;
    unsigned precs;
} right_ones[] = {{"spmm", "rowsplit", BY_TYPE_PRECS},
                  {"sddmm", "balanced", BOTH_PRECS},
                  {"sddmm", "reference", F16S | BF16S},
                  {"spgemm", "hash", BOTH_PRECS}};

static struct test_devices places;
static struct live lives[COUNT(mutants)];
static const char *only; // the one that is asked for, NULL: all
static bool shown[COUNT(mutants)][3]
                 [PRECS]; // by kind of result and precision: it altered something
static bool used[COUNT(unseen_by_sample)];

// One set of operands, and how results are checked.
struct setting {
    const struct trial *trial;
    const struct matrix *matrix;
    const struct algo_entry *right;
    enum prec prec;
    enum check_mode mode;
};

static void set_axes(struct plan_request *r, const struct setting *s)
{
    for (int a = 0; r->op->axes[a]; a++) {
        // A * A^T is for the matrices that A * A is not.
        bool turned = !strcmp(r->op->axes[a]->name, "mul") && s->matrix->A.m != s->matrix->A.n;
        r->axes[a].count = 1;
        r->axes[a].value[0] = r->op->axes[a]->words ? turned : s->trial->k;
    }
}

#define CASES_MAX (COUNT(mutants) + 2)
struct outcomes {
    int count;
    enum status status[CASES_MAX];
    char reason[CASES_MAX][FAIL_TEXT_MAX];
};

static int take(const struct result *r, void *arg)
{
    struct outcomes *o = arg;
    o->status[o->count] = r->status;
    snprintf(o->reason[o->count++], sizeof o->reason[0], "%s", r->reason);
    return OK;
}

static void run_cases(const struct setting *s, const struct algo_entry **list, int count, int reps,
                      struct outcomes *o)
{
    static struct choice_entry entries[CASES_MAX];
    struct plan_request r = {.op = s->right->op,
                             .entries = entries,
                             .entry_count = count,
                             .precs = &s->prec,
                             .prec_count = 1};
    struct plan plan = {.rule = {.reps = reps, .limit_ms = 500}, .check = s->mode, .seed = 3};
    for (int c = 0; c < count; c++) {
        entries[c].entry = list[c];
        device_id(DEVICE_CPU, 0, entries[c].device);
    }
    set_axes(&r, s);
    o->count = 0;
    int err = plan_make(&plan, &r);
    if (!err) err = bench_matrix(&plan, &places.all, s->matrix, take, o);
    leave_end();
    CHECK(!err && o->count == count, "error %d, %d results of %d: %s", err, o->count, count,
          fail_text());
    CHECK(!places.cpu.used_bytes, "%lld bytes left", (long long)places.cpu.used_bytes);
    for (; o->count < count; o->count++) o->status[o->count] = STATUS_FAILED;
    plan_free(&plan);
}

static const char *in_words(const struct setting *s, char text[128])
{
    snprintf(text, 128, "%s %s %s %s", s->right->op->name, prec_name(s->prec), s->trial->spec,
             s->mode == CHECK_FULL ? "full" : "sample");
    return text;
}

// Why this check need not see it; NULL: it has to.
static const char *excuse(const struct setting *s, const struct mutant *m)
{
    const char *why = NULL;
    for (int e = 0; e < COUNT(unseen_by_sample); e++) {
        const struct expected *x = &unseen_by_sample[e];
        if (s->mode != CHECK_SAMPLE || !x->mutant || strcmp(x->mutant, m->name)) continue;
        if (strcmp(x->op, s->right->op->name) || strcmp(x->matrix, s->trial->spec)) continue;
        if (!(x->precs & BIT(s->prec))) continue;
        used[e] = true;
        why = x->why;
    }
    return why;
}

static void judge(const struct setting *s, const struct live *x, enum status status,
                  const char *reason)
{
    char words[128];
    const struct mutant *m = x->mutant;
    in_words(s, words);
    shown[m - mutants][s->right->op->result][s->prec] |= x->altered;
    CHECK(x->altered || status == STATUS_OK, "%s: %s has altered nothing and is %s: %s", words,
          m->name, status_name(status), reason);
    CHECK(status == STATUS_OK || reason[0], "%s: %s is %s and nobody says why", words, m->name,
          status_name(status));
    if (!x->altered) return;
    bool survives = status == STATUS_OK;
    const char *why = excuse(s, m);
    if (why)
        CHECK(survives, "%s: %s is seen (%s), and should not be: %s", words, m->name, reason, why);
    else
        CHECK(!survives, "%s: %s survives: %s", words, m->name, m->about);
}

static void right_case(const struct setting *s, enum status status, const char *reason,
                       const char *where)
{
    char words[128];
    CHECK(status == STATUS_OK, "%s: the right algorithm %s is %s: %s", in_words(s, words), where,
          status_name(status), reason);
}

static bool is_tried(const struct setting *s, const struct mutant *m)
{
    if (only && strcmp(only, m->name)) return false;
    if (m->traits & IN_TIME && !s->trial->in_time) return false;
    return (m->kinds & BIT(s->right->op->result)) && (m->precs & BIT(s->prec));
}

static struct outcomes outcomes;

// Those that harm nobody: the list of them that show in so many samples.
static int list_mutants(const struct setting *s, unsigned rare, const struct algo_entry **list)
{
    int count = 0;
    for (int i = 0; i < COUNT(mutants); i++) {
        const struct mutant *m = &mutants[i];
        if (!is_tried(s, m) || m->traits & (HARMS | TIMED) || (m->traits & RARE) != rare) continue;
        live_start(&lives[i], m, s->right);
        list[count++] = &lives[i].entry;
    }
    return count;
}

static void judge_list(const struct setting *s, const struct algo_entry **list, int first, int end)
{
    for (int c = first; c < end; c++)
        judge(s, (const struct live *)list[c], outcomes.status[c], outcomes.reason[c]);
}

// One after another, between two right algorithms.
static void try_common(const struct setting *s)
{
    const struct algo_entry *list[CASES_MAX] = {s->right};
    int last = 1 + list_mutants(s, 0, list + 1);
    if (last == 1) return;
    list[last] = s->right;
    run_cases(s, list, last + 1, 10, &outcomes);
    right_case(s, outcomes.status[0], outcomes.reason[0], "ahead of all");
    judge_list(s, list, 1, last);
    right_case(s, outcomes.status[last], outcomes.reason[last], "behind all");
}

// A fault of every 20th run is missed by the samples that are looked at with probability 0.002.
#define RARE_SAMPLES 400
static void try_rare(const struct setting *s)
{
    const struct algo_entry *list[CASES_MAX];
    int count = list_mutants(s, RARE, list);
    if (!count) return;
    run_cases(s, list, count, RARE_SAMPLES, &outcomes);
    judge_list(s, list, 0, count);
}

// Runs each mutant that only times show by itself, and again if other work has hidden the effect.
#define TRIES 10
static void try_timed(const struct setting *s)
{
    for (int i = 0; i < COUNT(mutants); i++) {
        const struct algo_entry *list[] = {&lives[i].entry};
        if (!is_tried(s, &mutants[i]) || !(mutants[i].traits & TIMED)) continue;
        for (int tries = 0; tries < TRIES; tries++) {
            live_start(&lives[i], &mutants[i], s->right);
            run_cases(s, list, 1, 10, &outcomes);
            if (outcomes.status[0] != STATUS_OK) break;
        }
        judge(s, &lives[i], outcomes.status[0], outcomes.reason[0]);
    }
}

// Those that harm others, each ahead of a right algorithm. What becomes of operands has nothing to
// do with how many rows are checked.
static void try_harmful(const struct setting *s)
{
    char where[96];
    for (int i = 0; i < COUNT(mutants); i++) {
        if (!is_tried(s, &mutants[i]) || !(mutants[i].traits & HARMS)) continue;
        const struct algo_entry *list[] = {&lives[i].entry, s->right};
        live_start(&lives[i], &mutants[i], s->right);
        run_cases(s, list, 2, 10, &outcomes);
        judge(s, &lives[i], outcomes.status[0], outcomes.reason[0]);
        snprintf(where, sizeof where, "behind %s", mutants[i].name);
        right_case(s, outcomes.status[1], outcomes.reason[1], where);
    }
}

// Few rows, and operations without a short cut, are compared as a whole whatever is asked for.
static bool is_sampled(const struct setting *s)
{
    return s->matrix->A.m > SAMPLE_RANDOM && s->right->op->project;
}

static void try_trial(const struct trial *trial)
{
    struct matrix M = {.name = (char *)trial->spec, .path = (char *)trial->spec};
    int err = gen_matrix(trial->spec, 1, &M.A);
    CHECK(!err, "%s", fail_text());
    if (err) return;
    // Generated values are exact in f32; these are not.
    for (int64_t q = 0; q < M.A.nnz; q++) M.A.val[q] /= 3;
    for (int r = 0; r < COUNT(right_ones); r++) {
        const struct op *op = op_find(right_ones[r].op);
        const struct algo_entry *right = algo_find(op, right_ones[r].alg, DEVICE_CPU);
        if (!(trial->kinds & BIT(op->result))) continue;
        for (int prec = 0; prec < PRECS; prec++)
            for (int mode = CHECK_FULL; mode <= CHECK_SAMPLE; mode++) {
                const struct setting s = {trial, &M, right, (enum prec)prec, (enum check_mode)mode};
                if (!(right_ones[r].precs & BIT(prec)) || (mode == CHECK_SAMPLE && !is_sampled(&s)))
                    continue;
                try_common(&s);
                try_rare(&s);
                if (mode == CHECK_FULL) try_timed(&s);
                if (mode == CHECK_FULL) try_harmful(&s);
            }
    }
    csr_free(&M.A);
}

// A mutant that alters nothing says nothing; nor does an exception that is none.
static void test_lists(void)
{
    for (int i = 0; i < COUNT(mutants); i++)
        for (int kind = 0; kind < 3; kind++)
            for (int prec = 0; prec < PRECS; prec++)
                if ((mutants[i].kinds & BIT(kind)) && (mutants[i].precs & BIT(prec)) &&
                    !(only && strcmp(only, mutants[i].name)))
                    CHECK(shown[i][kind][prec], "%s alters nothing in any %s result in %s",
                          mutants[i].name, result_name((enum result_kind)kind),
                          prec_name((enum prec)prec));
    for (int e = 0; e < COUNT(unseen_by_sample) && !only; e++)
        CHECK(used[e] || !unseen_by_sample[e].mutant, "no case has what is expected of %s",
              unseen_by_sample[e].mutant);
}

int main(int argc, char **argv)
{
    only = argc > 1 ? argv[1] : NULL;
    if (places_open(&places)) return TEST_END();
    // What is seen is the result, not how fast it came.
    places.list[DEVICE_CPU].roof = (struct roof){0};
    for (int i = 0; i < COUNT(trials); i++) try_trial(&trials[i]);
    test_lists();
    device_close(&places.cpu);
    return TEST_END();
}
