// What a model predicts of a case: by the options of its algorithm, by what that tells of itself,
// and by the ceilings of the device. Without memory to count in, the case is as it was. Also the
// cases that no rate of arithmetic bounds.
#include "data/gen.h"
#include "dies.h"
#include "plans.h"

static struct test_devices places;
static struct matrix M = {.name = (char *)"tiny", .path = (char *)"gen:tiny"};
static struct tiled_prediction got;
static enum status ended;
static double bound_ms;
static int64_t bytes;

static int keep(const struct result *r, void *arg)
{
    (void)arg;
    got = r->model;
    ended = r->status;
    bound_ms = r->bound_ms;
    bytes = r->compulsory_bytes;
    return OK;
}

// The n-th allocation of the run fails; 0: none.
static void run_failing(const struct algo *a, enum prec prec, int n)
{
    const struct algo_entry entry = {"modelled", op_find("spmm"), DEVICE_CPU, a};
    struct plan_parts x;
    parts_start(&x, entry.op);
    parts_one(&x);
    x.request.precs = &prec;
    parts_add(&x, &entry);
    x.request.axes[0].value[0] = 24; // k
    struct plan plan = parts_plan(&x);
    mem_fail_at(n);
    CHECK(!bench_matrix(&plan, &places.all, &M, keep, NULL), "%s", fail_text());
    mem_fail_at(0);
    CHECK(!places.cpu.used_bytes, "%lld bytes left", (long long)places.cpu.used_bytes);
    plan_free(&plan);
}

static void run(const struct algo *a) { run_failing(a, F32, 0); }

static struct tiled_prediction wanted(enum model_kind kind, struct cutting cut,
                                      const struct algo_stats *told)
{
    struct source s;
    struct tiled_counts_cache of;
    struct tiled_prediction x;
    source_init(&s, &M.A);
    tiled_counts_init(&of, &s);
    CHECK(!tiled_model_predict(&of, F32, 24, kind, &cut, told, &x), "%s", fail_text());
    tiled_counts_free(&of);
    source_free(&s);
    tiled_model_gflops(&x, F32, &places.list[DEVICE_CPU].roof);
    return x;
}

static void check_same(const struct tiled_prediction *want)
{
    CHECK(ended == STATUS_OK && got.equation == want->equation, "%s, equation %d",
          status_name(ended), got.equation);
    CHECK(got.rho == want->rho && got.Z == want->Z && got.R == want->R && got.C == want->C,
          "rho %g, Z %g, R %g, C %g", got.rho, got.Z, got.R, got.C);
    for (int i = 0; i < PREDICTION_KINDS; i++)
        CHECK(got.gflops[i] == want->gflops[i] && got.gflops[i] > 0 &&
                  got.intensity[i] == want->intensity[i],
              "%s: %g GFLOPS, not %g", prediction_names[i], got.gflops[i], want->gflops[i]);
    CHECK(got.whole_gflops == want->whole_gflops ||
              (isnan(got.whole_gflops) && isnan(want->whole_gflops)),
          "the whole: %g GFLOPS", got.whole_gflops);
}

static const struct algo_option cuts[] = {{"rows", 8, 1, 64, true, "of a panel"},
                                          {"stage", 4, 1, 64, true, "columns of a stage"},
                                          {"factor", 16, 1, 64, true, "columns of C at once"},
                                          {0}};

static int tell(struct task *t)
{
    task_text(t, "segment", "U mu");
    task_number(t, "U", 0.5);
    task_number(t, "rho", 1.25);
    return OK;
}

static void cut_by_nothing(void *algo)
{
    double opt[ALGO_OPTIONS_MAX] = {0};
    cutting_of(algo, opt);
}

// Leaves C as it was.
static int do_nothing(struct task *t)
{
    (void)t;
    return OK;
}

// Cases, and if the measured rate bounds their arithmetic.
static const struct {
    bool tensor, dense;
    enum prec prec;
    bool bounded;
} rates[] = {
    {false, false, F16_F32, true}, {true, false, F32, true},       {true, false, F64, true},
    {true, false, F16, false},     {true, false, BF16_F32, false}, {true, true, F32, false},
    {true, true, F64, false},
};

static void test_rates(struct algo a)
{
    struct roof *roof = &places.list[DEVICE_CPU].roof;
    const struct roof before = *roof;
    roof->fma_gflops[F32] = roof->fma_gflops[F64] = 1e-3; // arithmetic takes longer than loads
    for (int i = 0; i < COUNT(rates); i++) {
        a.tensor = rates[i].tensor;
        a.dense = rates[i].dense;
        run_failing(&a, rates[i].prec, 0);
        const double bytes_ms = bound_roofline_ms(roof, rates[i].prec, 0, bytes);
        CHECK(ended == STATUS_OK && bytes_ms > 0 && (bound_ms > bytes_ms) == rates[i].bounded,
              "row %d, %s: %s, a bound of %g ms, %g ms by bytes", i, prec_name(rates[i].prec),
              status_name(ended), bound_ms, bytes_ms);
    }
    *roof = before;
}

int main(void)
{
    if (gen_matrix("stencil:6", 1, &M.A) || places_open(&places)) return TEST_END();
    struct algo a = *algo_find(op_find("spmm"), "reference", DEVICE_CPU)->algo;
    const struct cutting cut = {32, 4, 16};
    struct algo_stats told = {0};
    run(&a);
    CHECK(ended == STATUS_OK && !got.equation, "a prediction without a model");
    test_rates(a);

    a.model = MODEL_NAIVE;
    struct tiled_prediction want = wanted(MODEL_NAIVE, cut, NULL);
    run(&a);
    check_same(&want);

    a.model = MODEL_TILED;
    CHECK(dies(cut_by_nothing, &a, "no option 'rows'"), "a cutting by no options");
    a.options = cuts;
    want = wanted(MODEL_TILED, cut, NULL);
    CHECK(want.equation == 3 && want.R == 12, "equation %d, R %g", want.equation, want.R);
    run(&a);
    check_same(&want);

    a.prepare = tell;
    a.teardown = task_free_state;
    algo_stats_text(&told, "segment", "U mu");
    algo_stats_number(&told, "U", 0.5);
    algo_stats_number(&told, "rho", 1.25);
    want = wanted(MODEL_TILED, cut, &told);
    CHECK(want.equation == 6 && want.rho == 1.25, "equation %d", want.equation);
    run(&a);
    check_same(&want);

    int without = 0;
    for (int n = 1; n < 200; n++) {
        run_failing(&a, F32, n);
        without += ended == STATUS_OK && !got.equation;
    }
    CHECK(without > 0, "no case that had no memory for its prediction");
    check_same(&want);

    a.run = do_nothing;
    run(&a);
    CHECK(ended == STATUS_WRONG && !got.equation, "%s: a prediction of what has no time",
          status_name(ended));
    csr_free(&M.A);
    device_close(&places.cpu);
    return TEST_END();
}
