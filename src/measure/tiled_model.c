#include "measure/tiled_model.h"

#include <math.h>
#include <string.h>

#include "device/roof.h"

#define BI    4.0
#define BIS   2.0
#define DELTA 8.0

const char *const prediction_names[PREDICTION_KINDS] = {"algorithmic", "all_miss", "cold_miss"};

const struct cutting cutting_standard = {.rows = 256, .stage = 512, .factor = 16};

int64_t whole_warps(int64_t rows) { return (rows + TILED_WARP - 1) / TILED_WARP * TILED_WARP; }

static int64_t option(const struct algo *a, const double *opt, const char *name)
{
    int i = algo_option_find(a, name);
    if (i < 0) bug("an algorithm of this model has no option '%s'", name);
    return (int64_t)opt[i];
}

struct cutting cutting_of(const struct algo *a, const double *opt)
{
    if (a->model != MODEL_TILED) return cutting_standard;
    return (struct cutting){whole_warps(option(a, opt, "rows")), option(a, opt, "stage"),
                            option(a, opt, "factor")};
}

static double bytes_of_madd(const struct tiled_prediction *x, double BT, double gamma)
{
    double read_B = BT * gamma / x->rho;
    switch (x->equation) {
    case 2: return BT + BI + read_B + (BT + x->delta) / x->mu;
    case 3:
        return (BT + BIS) * x->Z / x->R + read_B + BI / (x->rho * x->mu) +
               x->delta / (x->R * x->mu);
    default:
        return (BT + BIS) * x->Z / x->R + read_B + BI / (x->rho * x->mu_segment) +
               (BI + x->delta) / (x->R * x->mu_segment) + BT / x->mu;
    }
}

void tiled_model_intensity(struct tiled_prediction *x, enum prec prec)
{
    const double gamma[PREDICTION_KINDS] = {1, x->C, x->C / x->L};
    for (int i = 0; i < PREDICTION_KINDS; i++)
        x->intensity[i] = 2 / bytes_of_madd(x, (double)type_bytes(prec_in(prec)), gamma[i]);
}

#define LAUNCH_MS 0.003
#define SECTOR    32.0

static double whole_gflops(const struct moved *v, const struct roof *roof)
{
    double memory = roof->memory_gb_s, gather = roof_gather_gb_s(roof, TILED_LINE, v->block);
    bool stays = v->A + v->block <= (double)roof->cache_seen_bytes;
    double cache = roof->cache_gb_s > 0 ? roof->cache_gb_s : memory;
    if (!(memory > 0) || !(gather > 0)) return NAN;
    double ms = 1e-6 * (v->gathered / gather + v->A / memory +
                        v->A * (v->passes - 1) / (stays ? cache : memory) + v->streamed / memory +
                        v->scattered / cache) +
                v->kernels * LAUNCH_MS;
    return v->flops / ms * 1e-6;
}

void tiled_model_gflops(struct tiled_prediction *x, enum prec prec, const struct roof *roof)
{
    double most =
        roof->fma_gflops[prec_sum(prec)] > 0 ? roof->fma_gflops[prec_sum(prec)] : INFINITY;
    for (int i = 0; i < PREDICTION_KINDS; i++)
        x->gflops[i] =
            roof->memory_gb_s > 0 ? fmin(x->intensity[i] * roof->memory_gb_s, most) : NAN;
    double whole = whole_gflops(&x->moved, roof);
    x->whole_gflops = isnan(whole) ? NAN : fmin(whole, most);
}

static double told_or(const struct algo_stats *told, const char *name, double otherwise)
{
    const struct algo_stat *f = told ? algo_stats_find(told, name) : NULL;
    return f && !f->text[0] ? f->number : otherwise;
}

// Returns the length of the longest segment by the stats of the algorithm; 0: rows are not cut.
static int64_t longest_of(const struct algo_stats *told, double mu)
{
    const struct algo_stat *f = told ? algo_stats_find(told, "segment") : NULL;
    if (f && !strcmp(f->text, "mu")) return (int64_t)ceil(mu);
    if (f && !strcmp(f->text, "U mu")) return (int64_t)ceil(told_or(told, "U", 1) * mu);
    return 0;
}

static void from_access(const struct tiled_counts *a, enum prec prec, const struct algo_stats *told,
                        struct tiled_prediction *x)
{
    double nnz = (double)a->nnz, loads = (double)a->loads;
    x->rho = told_or(told, "rho", nnz / loads);
    x->Z = told_or(told, "Z", (double)a->stored / nnz);
    x->C =
        (double)a->lines[prec_in(prec)] * TILED_LINE / (loads * (double)type_bytes(prec_in(prec)));
    x->L = nnz / x->rho / (double)a->columns;
    x->delta = DELTA;
    if (a->segments > a->rows) x->equation = 6, x->mu_segment = nnz / (double)a->segments;
}

static int predict_naive(struct tiled_counts_cache *of, enum prec prec, struct tiled_prediction *x)
{
    struct tiled_counts a;
    int err = tiled_counts_of_rows(of, &a);
    if (err) return err;
    x->equation = 2;
    x->R = 1;
    from_access(&a, prec, NULL, x);
    return OK;
}

static int predict_tiled(struct tiled_counts_cache *of, enum prec prec, int64_t k,
                         const struct cutting *cut, const struct algo_stats *told,
                         struct tiled_prediction *x)
{
    struct tiled_counts a;
    int64_t passes = (k + cut->factor - 1) / cut->factor;
    int err = tiled_counts_of_stages(of, cut->rows, cut->stage, longest_of(told, x->mu), &a);
    if (err) return err;
    x->equation = 3;
    x->R = (double)k / (double)passes;
    from_access(&a, prec, told, x);
    return OK;
}

// Sets x->moved, the bytes that the whole run moves, from the other fields.
static void set_moved(const struct csr *A, enum prec prec, int64_t k, const struct algo_stats *told,
                      struct tiled_prediction *x)
{
    const bool tiled = x->equation != 2;
    const double BT = (double)type_bytes(prec_in(prec)), nnz = (double)A->nnz, loads = nnz / x->rho;
    const double segments = x->equation == 6 ? nnz / x->mu_segment : A->m;
    const double columns = (double)k;
    x->moved = (struct moved){
        .flops = 2 * nnz * columns,
        .gathered = x->C * BT * loads * columns,
        .block = A->n * x->R * BT,
        .A =
            (BT + (tiled ? BIS : BI)) * x->Z * nnz + (tiled ? BI * loads : 0) + x->delta * segments,
        .passes = columns / x->R,
        .streamed = (A->m + 2 * (segments - A->m)) * columns * BT,
        .scattered = tiled && told_or(told, "reordered", 0) > 0 ? segments * columns * SECTOR : 0,
        .kernels = segments > A->m ? 2 : 1,
    };
}

int tiled_model_predict(struct tiled_counts_cache *of, enum prec prec, int64_t k,
                        enum model_kind kind, const struct cutting *cut,
                        const struct algo_stats *told, struct tiled_prediction *out)
{
    const struct csr *A = of->source->A;
    *out = (struct tiled_prediction){
        .mu_segment = NAN, .gflops = {NAN, NAN, NAN}, .whole_gflops = NAN};
    if (kind == MODEL_NONE || !A->nnz) return OK;
    out->mu = (double)A->nnz / A->m;
    int err = kind == MODEL_NAIVE ? predict_naive(of, prec, out)
                                  : predict_tiled(of, prec, k, cut, told, out);
    if (err) return err;
    tiled_model_intensity(out, prec);
    set_moved(A, prec, k, told, out);
    return OK;
}
