// spbench info -model: prints the models' predictions for a matrix. Nothing runs.
#include "cli/commands/request.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    enum model_kind kind;
} models[] = {{"naive", MODEL_NAIVE}, {"tiled", MODEL_TILED}};

// Returns `tiled` of a device. -opt sets its options.
static const struct algo *tiled_of_device(enum device_kind kind)
{
    const struct algo_entry *e = algo_find(op_find("spmm"), "tiled", kind);
    if (!e) bug("no algorithm `tiled` for a device that is open");
    return e->algo;
}

// Sets an option of the cutting by name, within the limits of `tiled` on this device.
static int set_cutting(struct model_view *v, const struct algo *tiled, const struct given_option *s)
{
    struct cutting *cut = &v->cut;
    const struct {
        const char *name;
        int64_t *value;
    } parts[] = {{"rows", &cut->rows}, {"stage", &cut->stage}, {"factor", &cut->factor}};
    for (int i = 0; i < COUNT(parts); i++) {
        if (strcmp(parts[i].name, s->name)) continue;
        for (const struct given_option *before = v->o->opts; before < s; before++)
            if (!strcmp(before->name, s->name))
                return fail(ERR_USAGE, "-opt %s: the models take one value", s->name);
        int err = bench_setup_check_opt(s, algo_option_at(tiled, algo_option_find(tiled, s->name)),
                                        "tiled");
        if (err) return err;
        *parts[i].value = (int64_t)s->value;
        cut->rows = whole_warps(cut->rows);
        if (cut->factor & (cut->factor - 1))
            return fail(ERR_USAGE, "-opt factor=%lld: factor of tiled is a power of two",
                        (long long)cut->factor);
        return OK;
    }
    return fail(ERR_USAGE, "-opt %s: the models' options are rows, stage and factor", s->name);
}

int cli_model_open(struct model_view *v, const struct options *o)
{
    *v = (struct model_view){.o = o, .cut = cutting_standard};
    if (!o->model && o->model_word)
        return fail(ERR_USAGE, "-%s: info takes this option only with -model", o->model_word);
    if (!o->model) return OK;
    int err = bench_setup_make_device(&v->c, o);
    const struct algo *tiled = err ? NULL : tiled_of_device(v->c.primary);
    for (int i = 0; i < o->opt_count && !err; i++) err = set_cutting(v, tiled, &o->opts[i]);
    if (err) return err;
    const struct bench_device *bd = bench_device_find(&v->c.devices, v->c.device);
    if (!bound_kept(bd->dev, &v->roof)) v->roof = (struct roof){0};
    return OK;
}

void cli_model_close(struct model_view *v) { bench_setup_free(&v->c); }

static void print_head(const struct model_view *v)
{
    const struct cutting *cut = &v->cut;
    printf("  models       rows=%lld stage=%lld factor=%lld; ", (long long)cut->rows,
           (long long)cut->stage, (long long)cut->factor);
    if (v->roof.memory_gb_s > 0)
        printf("GFLOPS at %.4g GB/s of %s\n", v->roof.memory_gb_s, v->c.device);
    else
        printf("no GFLOPS until 'spbench roof' has measured %s\n", v->c.device);
    printf("    %-5s  %-8s  %6s %7s %7s %7s %7s %7s  %10s %8s %9s  %6s %8s %9s\n", "model", "prec",
           "k", "mu", "rho", "Z", "C", "L", "FLOPs/byte", "all miss", "cold miss", "GFLOPS",
           "all miss", "cold miss");
}

static void print_prediction(const char *model, enum prec prec, const char *k,
                             const struct tiled_prediction *x)
{
    const int wide[] = {6, 8, 9};
    printf("    %-5s  %-8s  %6s %7.4g %7.4g %7.4g %7.4g %7.4g  %10.3g %8.3g %9.3g ", model,
           prec_name(prec), k, x->mu, x->rho, x->Z, x->C, x->L,
           x->intensity[PREDICTION_ALGORITHMIC], x->intensity[PREDICTION_ALL_MISS],
           x->intensity[PREDICTION_COLD_MISS]);
    for (int i = 0; i < PREDICTION_KINDS; i++)
        if (isnan(x->gflops[i]))
            printf(" %*s", wide[i], "-");
        else
            printf(" %*.4g", wide[i], x->gflops[i]);
    printf("\n");
}

static int print_model(const struct model_view *v, struct tiled_counts_cache *of, int model,
                       enum prec prec, int64_t k)
{
    struct tiled_prediction x;
    char columns[24] = "any"; // only R depends on k
    int err = tiled_model_predict(of, prec, k, models[model].kind, &v->cut, NULL, &x);
    if (err) return err;
    tiled_model_gflops(&x, prec, &v->roof);
    if (models[model].kind == MODEL_TILED) snprintf(columns, sizeof columns, "%lld", (long long)k);
    print_prediction(models[model].name, prec, columns, &x);
    return OK;
}

int cli_model_print(const struct model_view *v, const struct matrix *M)
{
    const struct axis_values *ks = &v->o->axes[axis_place(&axis_k)];
    struct source s;
    struct tiled_counts_cache of;
    int err = OK;
    if (!v->o->model) return OK;
    if (!M->A.nnz) {
        printf("  models       none for a matrix without nonzeros\n");
        return OK;
    }
    source_init(&s, &M->A);
    tiled_counts_init(&of, &s);
    print_head(v);
    for (int m = 0; m < COUNT(models); m++)
        for (int p = 0; p < v->o->prec_count; p++)
            for (int k = 0; k < (models[m].kind == MODEL_NAIVE ? 1 : ks->count) && !err; k++)
                err = print_model(v, &of, m, v->o->precs[p], ks->value[k]);
    tiled_counts_free(&of);
    source_free(&s);
    return err;
}
