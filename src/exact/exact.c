#include "exact/exact.h"

#include <stdio.h>
#include <string.h>

#include "exact/inputs.h"

bool exact_can_run(const struct device *dev, const struct algo_entry *e, const struct problem *p)
{
    return !algo_missing(e) && e->op == p->op && e->device == dev->kind &&
           (e->algo->precs & BIT(p->prec)) && !(p->op->refuse && p->op->refuse(p, e->algo));
}

// Inputs, their shape, and the functions that take their cases.
struct table {
    const struct exact_rule *rule;
    const struct shape *shape;
    const struct csr *A;
    struct inputs in;
    char apart[64]; // text of the distances between lines; "": none
    int64_t skip;   // number of cases that are still left out
};

static int test_case(struct table *x, const struct algo_entry *e, const double *opt,
                     const char *note)
{
    const struct exact_rule *rule = x->rule;
    struct exact_case c = {e, x->in.o.dev, x->shape->name, x->A, x->in.p.prec, x->in.p.axis, note};
    char why[FAIL_TEXT_MAX];
    if (x->skip) return x->skip--, OK;
    int err = rule->begin ? rule->begin(rule->arg, &c) : OK;
    if (err) return err;
    struct case_outcome out = case_run(&x->in, e, opt, CHECK_FULL);
    if (out.err == ERR_INTERRUPTED) return out.err;
    enum exact_result result = outcome_judge(&out, e, x->in.p.prec, why);
    return rule->take(rule->arg, &c, result, why);
}

// Tries each option at its limits, at 0 if the lower limit is negative and, if `between`, at powers
// of two. If there are more than three options, `turn` selects at most three of them.
static int test_options(struct table *x, const struct algo_entry *e, bool between, int turn)
{
    const struct algo_option *p;
    double opt[ALGO_OPTIONS_MAX] = {0};
    int options = 0, err = OK;
    while (algo_option_at(e->algo, options)) options++;
    for (int i = 0, parts = (options + 2) / 3; !err && (p = algo_option_at(e->algo, i)); i++) {
        if ((i + turn) % parts) continue;
        double values[16] = {p->min, p->max};
        int count = 2;
        if (p->min < 0) values[count++] = 0;
        for (double v = 1; between && v < p->max && count < 14; v *= 2)
            if (v > p->min) values[count++] = v;
        for (int v = 0; v < count && !err; v++) {
            char note[128];
            algo_defaults(e->algo, opt);
            opt[i] = values[v];
            snprintf(note, sizeof note, ", %s=%g%s", p->name, values[v], x->apart);
            err = test_case(x, e, opt, note);
        }
    }
    return err;
}

// Options tried besides the defaults: none, at their limits, or also at values between them.
enum extra { NOTHING, LIMITS, BETWEEN };

// Elements between the lines of the dense operands, and of a dense result. They differ, so that a
// kernel that takes the wrong distance fails. Vectors of 4 are aligned in all matrices, in none, or
// in all but one. Vectors of 2 are also aligned if all distances are even.
static const int distances[][DENSE_MAX + 1] = {
    {0, 0, 0}, {1, 2, 3}, {0, 0, 0}, {4, 8, 12}, {4, 1, 8},
    {0, 0, 0}, {1, 4, 8}, {8, 4, 1}, {2, 6, 4},
};

// Tests all algorithms on the inputs of these values. `turn`: index of distances[].
static int test_inputs(struct table *x, struct device *dev, const struct op *op, enum prec prec,
                       const int64_t *axis, enum extra extra, int turn)
{
    const int *pad = distances[turn % COUNT(distances)];
    double opt[ALGO_OPTIONS_MAX] = {0};
    int err = inputs_make(&x->in, dev, op, x->A, prec, axis, true, 0);
    if (err) return err;
    x->apart[0] = 0;
    if (pad[0])
        snprintf(x->apart, sizeof x->apart, ", lines %d, %d, %d apart", pad[0], pad[1], pad[2]);
    if (pad[0]) err = inputs_apart(&x->in, pad);
    for (const struct algo_entry *e = algos; e < algos + algo_count && !err; e++) {
        if (!x->rule->wants(x->rule->arg, e) || !exact_can_run(dev, e, &x->in.p)) continue;
        algo_defaults(e->algo, opt);
        err = test_case(x, e, opt, x->apart);
        if (!err && extra != NOTHING) err = test_options(x, e, extra == BETWEEN, turn);
    }
    inputs_free(&x->in);
    return err;
}

// Goes on to the next combination of values of axes. Returns false after the last. `at`: index of
// the value, by axis.
static bool next_axes(const struct op *op, int *at, int64_t *axis, int step)
{
    for (int a = op_axis_count(op) - 1; a >= 0; a--) {
        at[a] += op->axes[a]->words ? 1 : step;
        int done = 0;
        bool more = true;
        while (more && done <= at[a]) more = axis_try(op->axes[a], done++, &axis[a]);
        if (more) return true;
        at[a] = 0;
        axis_try(op->axes[a], 0, &axis[a]);
    }
    return false;
}

// Index of k = 33 in the values of k. Kernels cannot use vectors there.
#define ODD_K 6

// Options take most of the time of the test. At k = 33 every other shape tries options in f32, and
// the others in f64. A third of these shapes has values between the limits. At the other k, where
// kernels load vectors, a part of the shapes tries options. Products try options with the first
// value of the first axis only. `nth`: number of the shape among those with this value of k.
static enum extra extra_of(const struct op *op, const struct shape *shape, int nth, enum prec prec,
                           int place, int turn)
{
    if (op->result == RESULT_SPARSE)
        return !place && shape->options && prec == F64 ? LIMITS : NOTHING;
    if (place == ODD_K && type_bytes(prec_in(prec)) < 4) return NOTHING;
    if (place == ODD_K) return (nth + (int)prec) % 2 ? NOTHING : nth % 3 ? LIMITS : BETWEEN;
    return turn % 16 == 0 ? BETWEEN : turn % 16 == 8 ? LIMITS : NOTHING;
}

// Returns the index of the first value of an axis for a shape: of `step` values, or of all if there
// are fewer. Precisions that follow one another, and shapes, start at different values.
static int first_value(const struct axis *axis, int place, enum prec prec, int step)
{
    int64_t value;
    int count = 0;
    while (count < step && axis_try(axis, count, &value)) count++;
    return (place + (int)prec) % count;
}

// Precisions with inputs of fewer than 32 bits take turns on the shapes, by their place in the run.
static bool is_tried(enum prec prec, int place)
{
    return type_bytes(prec_in(prec)) > 2 || place % (PRECS - F16) == (int)(prec - F16);
}

// Values of an optional axis only change how algorithms get the matrix. Other values than the
// standard are tried in one of OPTIONAL_NTH turns.
#define OPTIONAL_NTH 8
static bool is_left_out(const struct op *op, const int64_t *axis, int turn)
{
    bool other = false;
    for (int a = 0; op->axes[a]; a++)
        other |= op->axes[a]->optional && axis[a] != op->axes[a]->standard;
    return other && turn % OPTIONAL_NTH;
}

static int test_shape(struct table *x, struct device *dev, const struct op *op, int number)
{
    const struct shape *shape = x->shape;
    const struct csr *A = x->A;
    const bool product = op->result == RESULT_SPARSE;
    const int axis_step = x->rule->axis_step;
    const int place = (number - x->rule->first) / x->rule->step; // in the run
    int err = OK;
    for (int prec = 0; prec < PRECS && !err; prec++) {
        int at[AXES_MAX] = {0};
        int64_t axis[AXES_MAX] = {0};
        if (x->rule->precs && !(x->rule->precs & BIT(prec))) continue;
        if (!is_tried((enum prec)prec, place)) continue;
        if (!product && op->axes[0])
            at[0] = first_value(op->axes[0], place, (enum prec)prec, axis_step);
        for (int a = 0; op->axes[a]; a++) axis_try(op->axes[a], at[a], &axis[a]);
        do {
            if (product && (A->m != A->n ? !at[0] : shape->square && at[0])) continue;
            int turn = number + 3 * at[0] + prec;
            if (is_left_out(op, axis, turn)) continue;
            enum extra extra = extra_of(op, shape, place / axis_step, (enum prec)prec, at[0], turn);
            err = test_inputs(x, dev, op, (enum prec)prec, axis, extra, turn);
        } while (!err && next_axes(op, at, axis, axis_step));
    }
    return err;
}

int exact_run(struct device *dev, const struct op *op, const struct exact_rule *rule)
{
    bool product = op->result == RESULT_SPARSE;
    const struct shape *list = product ? product_shapes : shapes;
    int count = product ? product_shape_count : shape_count, err = OK;
    int64_t skip = rule->skip;
    for (int s = rule->first; s < count && !err; s += rule->step) {
        struct csr A;
        err = shape_build(&list[s], &A);
        if (err) break;
        struct table x = {.rule = rule, .shape = &list[s], .A = &A, .skip = skip};
        err = test_shape(&x, dev, op, s);
        skip = x.skip;
        csr_free(&A);
    }
    return err;
}
