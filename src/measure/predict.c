#include "measure/predict.h"

#include <math.h>

#include "measure/access.h"

#define BI    4.0
#define BIS   2.0
#define DELTA 8.0

const char *const prediction_names[PREDICT_KINDS] = {"algorithmic", "all_miss", "cold_miss"};

const struct cutting cutting_standard = {.rows = 256, .stage = 512, .factor = 16};

static int64_t option(const struct algo *a, const double *opt, const char *name)
{
    int i = algo_param_find(a, name);
    if (i < 0) bug("an algorithm of this model has no option '%s'", name);
    return (int64_t)opt[i];
}

struct cutting cutting_of(const struct algo *a, const double *opt)
{
    if (a->model != MODEL_TILED) return cutting_standard;
    return (struct cutting){option(a, opt, "rows"), option(a, opt, "stage"),
                            option(a, opt, "factor")};
}

static double bytes_of_madd(const struct prediction *x, double BT, double gamma)
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

void predict_intensity(struct prediction *x, enum prec prec)
{
    const double gamma[PREDICT_KINDS] = {1, x->C, x->C / x->L};
    for (int i = 0; i < PREDICT_KINDS; i++)
        x->intensity[i] = 2 / bytes_of_madd(x, (double)prec_bytes(prec), gamma[i]);
}

void predict_gflops(struct prediction *x, enum prec prec, const struct roof *roof)
{
    double most = roof->fma_gflops[prec] > 0 ? roof->fma_gflops[prec] : INFINITY;
    for (int i = 0; i < PREDICT_KINDS; i++)
        x->gflops[i] =
            roof->memory_gb_s > 0 ? fmin(x->intensity[i] * roof->memory_gb_s, most) : NAN;
}

static double told_or(const struct figures *told, const char *name, double otherwise)
{
    const struct figure *f = told ? figures_find(told, name) : NULL;
    return f && !f->text[0] ? f->number : otherwise;
}

static void from_access(const struct access *a, enum prec prec, const struct figures *told,
                        struct prediction *x)
{
    double nnz = (double)a->nnz, loads = (double)a->loads;
    double segments = told_or(told, "segments", (double)a->rows);
    x->mu = nnz / (double)a->rows;
    x->rho = told_or(told, "rho", nnz / loads);
    x->Z = told_or(told, "Z", (double)a->stored / nnz);
    x->C = (double)a->lines * ACCESS_LINE / (loads * (double)prec_bytes(prec));
    x->L = nnz / x->rho / (double)a->columns;
    x->delta = DELTA;
    if (segments > (double)a->rows) x->equation = 6, x->mu_segment = nnz / segments;
}

int predict(struct source *s, enum prec prec, int64_t k, enum model_kind kind,
            const struct cutting *cut, const struct figures *told, struct prediction *out)
{
    struct access a;
    *out = (struct prediction){.mu_segment = NAN};
    if (kind == MODEL_NONE || !s->A->nnz) return OK;
    bool tiled = kind == MODEL_TILED;
    int err =
        tiled ? access_of_stages(s, prec, cut->rows, cut->stage, &a) : access_of_rows(s, prec, &a);
    if (err) return err;
    int64_t passes = (k + cut->factor - 1) / cut->factor;
    out->equation = tiled ? 3 : 2;
    out->R = tiled ? (double)k / (double)passes : 1;
    from_access(&a, prec, tiled ? told : NULL, out);
    predict_intensity(out, prec);
    for (int i = 0; i < PREDICT_KINDS; i++) out->gflops[i] = NAN;
    return OK;
}
