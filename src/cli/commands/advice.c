#include "cli/commands/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "base/words.h"
#include "bench/race.h"
#include "report/cell.h"
#include "report/doubt.h"
#include "records/record_parts.h"

static bool is_timed(const struct advised *x) { return !isnan(x->rank.ms); }

// Returns the algorithm that ran: the picked one, if the algorithm chooses.
static const char *kernel_of(const struct advised *x)
{
    return x->rank.picked ? x->rank.picked : x->rank.alg;
}

// Returns the name of a case for records; NULL: no case.
static const char *written(const struct advised *x) { return x ? x->name : NULL; }

static double total_ms(const struct advised *x, int64_t runs)
{
    return x->rank.prep_ms + (double)runs * x->rank.ms;
}

// Sets *best to x if x has a time and is faster than *best, or if *best is NULL.
static void keep_faster(const struct advised **best, const struct advised *x)
{
    if (is_timed(x) && (!*best || x->rank.ms < (*best)->rank.ms)) *best = x;
}

// Returns the case that x picked, unless the pick is slower by more than RACE_MARGIN. Else returns
// x. The preparation of x includes the choice, that of the pick does not.
static const struct advised *named_case(const struct advice *a, const struct advised *x)
{
    for (const struct advised *y = a->list; y < a->list + a->count && x->rank.picked; y++)
        if (is_timed(y) && !strcmp(y->rank.alg, x->rank.picked) &&
            !memcmp(y->c.axis, x->c.axis, sizeof x->c.axis) &&
            rank_is_near(&x->rank, &y->rank, RACE_MARGIN))
            return y;
    return x;
}

// Returns the vendor's first case in the order of the list of algorithms: the default call. Returns
// NULL if the default call has no time.
static const struct advised *standard_of(const struct advice *a, const char *vendor)
{
    const struct advised *first = NULL;
    for (const struct advised *x = a->list; x < a->list + a->count; x++) {
        if (!x->rank.vendor || x->rank.dense || strcmp(x->rank.vendor, vendor) || !is_timed(x))
            continue;
        if (!first || x->c.entry < first->c.entry) first = x;
    }
    // The default call is unknown if an earlier algorithm of the vendor has no time.
    for (const struct algo_entry *e = algos; first && e < first->c.entry; e++)
        if (e->op == a->op && e->device == first->c.entry->device && e->algo->vendor &&
            !e->algo->dense && !e->algo->partial && !strcmp(e->algo->vendor, vendor) &&
            algo_takes_columns(e, a->axis))
            return NULL;
    return first;
}

void advice_make(struct advice *a)
{
    a->call = a->standard = a->own = a->dense = a->chosen = NULL;
    for (int i = 0; i < a->count; i++) {
        struct advised *x = &a->list[i];
        snprintf(x->name, sizeof x->name, "%s", x->rank.alg);
        op_add_ways(a->op, x->c.axis, x->name, sizeof x->name);
        x->rank.name = x->name;
        a->ranks[i] = &x->rank;
    }
    a->rank = rank_make(a->ranks, a->count);
    for (const struct advised *c = a->list; c < a->list + a->count; c++) {
        const struct advised *x = is_timed(c) ? named_case(a, c) : c;
        if (x->rank.dense)
            keep_faster(&a->dense, x);
        else
            keep_faster(x->rank.vendor ? &a->call : &a->own, x);
        if (a->runs && is_timed(x) && !isnan(x->rank.prep_ms) && !x->rank.dense &&
            (!a->chosen || total_ms(x, a->runs) < total_ms(a->chosen, a->runs)))
            a->chosen = x;
    }
    if (a->call) a->standard = standard_of(a, a->call->rank.vendor);
}

// Returns the faster of the call and the own algorithm; NULL: neither has a time.
static const struct advised *best_of(const struct advice *a)
{
    if (!a->call || !a->own) return a->call ? a->call : a->own;
    return a->own->rank.ms < a->call->rank.ms ? a->own : a->call;
}

// Returns `text`, set to the call of a library or to the name of an algorithm of the program.
static const char *name_of(const struct advised *x, char text[256])
{
    text[0] = 0;
    if (!x->rank.vendor)
        words_print(text, 256, "%s of spbench%s%s", x->rank.alg,
                    x->rank.picked ? ", which ran " : "", x->rank.picked ? x->rank.picked : "");
    else
        words_print(text, 256, "%s (%s)", x->rank.call ? x->rank.call : x->rank.alg,
                    x->library ? x->library : x->rank.vendor);
    op_add_ways(x->c.entry->op, x->c.axis, text, 256);
    return text;
}

static void print_product(FILE *out, const struct advice *a)
{
    char size[32];
    if (isnan(a->products)) return;
    fprintf(out, "  product      %.4g multiplications", a->products);
    if (!isnan(a->nnz_c)) fprintf(out, ", %.4g nonzeros of C", a->nnz_c);
    if (!isnan(a->c_bytes))
        fprintf(out, ", %s of memory for C", size_text((int64_t)a->c_bytes, size));
    fprintf(out, "\n");
}

// Returns the runs after which the preparation of x pays, compared with the default call. INFINITY:
// never. NAN: x is the default call, or needs no more preparation. Without a default call, returns
// x->rank.pays_after.
static double pays_after(const struct advised *x, const struct advised *standard)
{
    if (!standard) return x->rank.pays_after;
    const double more_ms = x->rank.prep_ms - standard->rank.prep_ms;
    if (x == standard || !(more_ms > 0)) return NAN;
    if (x->rank.ms >= standard->rank.ms) return INFINITY;
    return floor(more_ms / (standard->rank.ms - x->rank.ms)) + 1;
}

static void print_prep(FILE *out, const struct advised *x, const struct advised *standard)
{
    char prep[32], text[32];
    const double runs = pays_after(x, standard);
    fprintf(out, "%s ms of preparation", cell_prep(x->rank.prep_ms, prep));
    if (isinf(runs))
        fprintf(out, ", which never pays");
    else if (!isnan(runs))
        fprintf(out, ", which pays after %s run%s", cell_runs(runs, text), runs > 1 ? "s" : "");
}

// Prints " (3 samples; busy)": marks of the time of x.
static void print_marks(FILE *out, const struct advised *x)
{
    const bool few = x->rank.samples < TIMING_INTERVAL_SAMPLES;
    const unsigned marks = (few ? DOUBT_FEW : 0) | (x->busy ? DOUBT_BUSY : 0);
    char text[DOUBT_TEXT_MAX];
    if (marks) fprintf(out, " (%s)", doubt_text(marks, x->rank.samples, text));
}

// Prints a case: time, ratio to the default call, preparation, memory.
static void print_case(FILE *out, const struct advice *a, const char *what, const struct advised *x)
{
    const struct advised *standard = a->standard;
    char name[256], ms[32], size[32], ratio[32];
    fprintf(out, "  %-12s %s\n", what, name_of(x, name));
    fprintf(out, "  %-12s %s ms", "", cell_number(x->rank.ms, ms));
    print_marks(out, x);
    if (standard == x)
        fprintf(out, ", the default call");
    else if (standard)
        fprintf(out, ", %s x as fast as the default call",
                cell_ratio(standard->rank.ms / x->rank.ms, ratio));
    fprintf(out, "; ");
    print_prep(out, x, standard);
    fprintf(out, "; %s of memory on %s\n", size_text(x->peak_bytes, size), a->device->id);
}

static void print_chosen(FILE *out, const struct advice *a)
{
    char name[256], ms[32];
    if (!a->chosen) return;
    fprintf(out, "  %-12s %s, %s ms with preparation\n", "planned runs", name_of(a->chosen, name),
            cell_number(total_ms(a->chosen, a->runs), ms));
}

// Returns true if gather_ms is clearly above bound_ms and not above the measured time.
static bool is_gathering(const struct advised *x)
{
    return x->gather_ms > 1.05 * x->bound_ms && x->gather_ms <= x->rank.ms;
}

static void print_bound(FILE *out, const struct advice *a, const struct advised *x)
{
    char ms[32];
    if (!(x->bound_ms > 0)) return;
    fprintf(out, "  %-12s %.3g %% of the bound of %s: %s ms for compulsory bytes and operations\n",
            "bound", 100 * x->bound_ms / x->rank.ms, a->device->id, cell_number(x->bound_ms, ms));
    if (is_gathering(x))
        fprintf(out, "  %-12s %.0f %% of the bound without reuse of fetched rows, %s ms\n", "",
                100 * x->gather_ms / x->rank.ms, cell_number(x->gather_ms, ms));
}

static void print_dense(FILE *out, const struct advice *a, const struct advised *best)
{
    char ms[32], ratio[32];
    if (a->dense)
        fprintf(out, "  %-12s %s ms with A as a dense matrix, %s x as fast\n", "dense",
                cell_number(a->dense->rank.ms, ms),
                cell_ratio(best->rank.ms / a->dense->rank.ms, ratio));
}

static void print_failures(FILE *out, const struct advice *a)
{
    for (const struct advised *x = a->list; x < a->list + a->count; x++)
        if (!is_timed(x) && x->status != STATUS_UNSUPPORTED)
            fprintf(out, "  %-12s %s is %s: %s\n", "no time", x->name, status_name(x->status),
                    x->reason);
}

static void print_busy(FILE *out, const struct advice *a)
{
    int timed = 0, busy = 0;
    for (int i = 0; i < a->count; i++) {
        timed += is_timed(&a->list[i]);
        busy += is_timed(&a->list[i]) && a->list[i].busy;
    }
    if (busy)
        fprintf(
            out,
            "  %-12s other programs used the processors during %d of %d cases: repeat advise when "
            "the machine is idle\n",
            "busy", busy, timed);
}

// Returns the label of the algorithm of the program, which is the fastest.
static const char *own_label(const struct advice *a)
{
    return !a->call ? "fastest" : rank_may_be_best(&a->rank, &a->call->rank) ? "as fast" : "faster";
}

// Prints ", k 64, layout row": the axes, with all values that give the same product.
static void print_axes(FILE *out, const struct op *op, const int64_t *axis)
{
    char values[AXIS_PRODUCT_TEXT];
    for (int x = 0; op->axes[x]; x++)
        if (axis_is_written(op->axes[x], axis[x]))
            fprintf(out, ", %s %s", op->axes[x]->name,
                    axis_product_text(op->axes[x], axis[x], values));
}

void advice_print(FILE *out, const struct advice *a)
{
    const struct advised *best = best_of(a);
    char name[FAIL_TEXT_MAX], ms[32];
    fprintf(out, "%s: %d x %d, %lld nonzeros; %s, %s",
            utf8_visible(a->matrix->name, name, sizeof name), a->matrix->A.m, a->matrix->A.n,
            (long long)a->matrix->A.nnz, a->op->name, prec_name(a->prec));
    print_axes(out, a->op, a->axis);
    fprintf(out, ", on %s\n", a->device->id);
    print_product(out, a);
    if (!best) fprintf(out, "  no candidate has a time\n");
    if (a->call) print_case(out, a, "call", a->call);
    if (a->own && (a->own == best || !a->call)) print_case(out, a, own_label(a), a->own);
    print_chosen(out, a);
    if (best) {
        print_bound(out, a, best);
        print_dense(out, a, best);
    }
    print_failures(out, a);
    print_busy(out, a);
    fprintf(out, "  %-12s %d cases in %s s", "measured", a->count, cell_number(a->ms / 1000, ms));
    if (a->left_out)
        fprintf(out, "; %d case%s left out because the budget is spent, see -budget: %s",
                a->left_out, a->left_out == 1 ? "" : "s", a->left_out_names);
    fprintf(out, "\n");
}

static void add_case(struct json *j, cJSON *cases, const struct advised *x,
                     const struct advised *standard)
{
    cJSON *c = json_object(j, cases, NULL);
    json_text(j, c, "alg", x->rank.alg);
    json_text(j, c, "name", x->name);
    json_text(j, c, "kernel", kernel_of(x));
    json_text(j, c, "call", x->rank.call);
    json_text(j, c, "library", x->library);
    json_text(j, c, "status", status_name(x->status));
    json_text(j, c, "reason", x->reason[0] ? x->reason : NULL);
    json_measure(j, c, "ms", x->rank.ms);
    json_measure(j, c, "ms_lo", x->rank.ci_lo);
    json_measure(j, c, "ms_hi", x->rank.ci_hi);
    json_prep(j, c, x->rank.prep_ms, pays_after(x, standard));
    json_measure(j, c, "bound_ms", x->bound_ms > 0 ? x->bound_ms : NAN);
    json_measure(j, c, "gather_ms", x->gather_ms > 0 ? x->gather_ms : NAN);
    json_number(j, c, "peak_bytes", (double)x->peak_bytes);
    json_bool(j, c, "busy", x->busy);
}

void advice_json(struct json *j, cJSON *list, const struct advice *a)
{
    cJSON *o = json_object(j, list, NULL);
    json_text(j, o, "matrix", a->matrix->name);
    json_number(j, o, "m", a->matrix->A.m);
    json_number(j, o, "n", a->matrix->A.n);
    json_number(j, o, "nnz", (double)a->matrix->A.nnz);
    json_text(j, o, "op", a->op->name);
    json_text(j, o, "prec", prec_name(a->prec));
    json_axes(j, o, a->op, a->axis, true);
    json_text(j, o, "device", a->device->id);
    json_number(j, o, "runs_planned", a->runs ? (double)a->runs : NAN);
    json_number(j, o, "products", a->products);
    json_number(j, o, "nnz_c", a->nnz_c);
    json_number(j, o, "c_bytes", a->c_bytes);
    json_number(j, o, "left_out", a->left_out);
    json_measure(j, o, "ms", a->ms);
    json_text(j, o, "best", written(best_of(a)));
    json_text(j, o, "call", written(a->call));
    json_text(j, o, "default", written(a->standard));
    json_text(j, o, "own", written(a->own));
    json_text(j, o, "dense", written(a->dense));
    json_text(j, o, "planned", written(a->chosen));
    cJSON *cases = json_array(j, o, "cases");
    for (int i = 0; i < a->count; i++) add_case(j, cases, &a->list[i], a->standard);
}
