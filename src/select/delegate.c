#include "select/delegate.h"

#include <stdio.h>
#include <string.h>

// Makes a sparse operand in a format, and before that the formats that it is made from.
static int need_format(struct task *x, const struct sparse *csr, const struct format *format,
                       const struct sparse **out)
{
    double opt[ALGO_OPTIONS_MAX];
    const struct sparse *from;
    *out = csr;
    if (format == csr->format) return OK;
    for (int i = 0; i < x->made_count; i++) {
        *out = x->made[i].X;
        if (x->made[i].of == csr && (*out)->format == format) return OK;
    }
    if (!format_maker_of(format, x->dev->kind))
        return fail(ERR_UNSUPPORTED, "%s: %s does not make the format %s itself", x->entry->name,
                    device_list[x->dev->kind].name, format->name);
    int err = need_format(x, csr, format->from, &from);
    if (err) return err;
    if (x->made_count == MADE_MAX) bug("%s: too many formats", x->entry->name);
    task_format_options(x, format, opt);
    struct made_format *made = &x->made[x->made_count];
    made->of = csr;
    made->task = x;
    err = sparse_make(x->dev, format, from, opt, &made->X);
    if (err) return err;
    x->made_count++;
    *out = made->X;
    return OK;
}

static bool asks_for(const struct task *t, const struct sparse *X)
{
    for (int f = 0; f < FORMATS_MAX; f++)
        if (t->A[f] == X || t->S[f] == X) return true;
    return false;
}

static void tell_format(struct task *t, const struct sparse *X)
{
    char name[32];
    snprintf(name, sizeof name, "%s_bytes", X->format->name);
    task_number(t, name, (double)sparse_bytes(X));
}

// Frees formats that are only intermediate steps. Records the bytes of the others.
static void keep_used(struct task *x)
{
    int kept = 0;
    for (int i = 0; i < x->made_count; i++) {
        if (asks_for(x, x->made[i].X)) {
            tell_format(x, x->made[i].X);
            x->made[kept++] = x->made[i];
        } else {
            sparse_free(x->dev, x->made[i].X);
        }
    }
    x->made_count = kept;
}

// All formats that the algorithm asks for. The peak of its memory is counted from here on, as with
// formats that were made before.
static int make_formats(struct task *x, const struct sparse *A, const struct sparse *S)
{
    int err = OK;
    for (int f = 0; f < FORMATS_MAX && !err; f++) {
        x->A[f] = x->S[f] = NULL;
        if (x->algo->A[f]) err = need_format(x, A, x->algo->A[f], &x->A[f]);
        if (x->algo->S[f] && !err) err = need_format(x, S, x->algo->S[f], &x->S[f]);
    }
    if (err || !x->made_count) return err;
    err = device_sync(x->dev);
    if (err) return err;
    keep_used(x);
    device_peak_reset(x->dev);
    if (x->A[0]->format->describe) x->A[0]->format->describe(x->A[0], &x->stats);
    return OK;
}

// Fills in the fields of a problem that choose() may use.
static void choose(struct task *x)
{
    struct problem p = {.op = x->entry->op,
                        .prec = x->prec,
                        .layout = x->in[0].layout,
                        .rows = x->C.rows,
                        .cols = x->C.cols,
                        .work = x->work};
    for (int i = 0; i < DENSE_MAX; i++)
        p.in[i] = (struct dense){.rows = x->in[i].rows, .cols = x->in[i].cols};
    if (x->algo->choose) x->algo->choose(x, &p);
}

static void drop(struct task *x)
{
    if (x->algo && x->algo->teardown) x->algo->teardown(x);
    while (x->made_count) sparse_free(x->dev, x->made[--x->made_count].X);
    x->algo = NULL;
}

static int refuse(const struct task *t, const struct algo_entry *entry, const char *name)
{
    const char *missing = entry ? algo_missing(entry) : "there is none";
    if (missing) return fail(ERR_UNSUPPORTED, "%s: %s", name, missing);
    if (!(entry->algo->precs & BIT(t->prec)))
        return fail(ERR_UNSUPPORTED, "%s does not support %s", name, prec_name(t->prec));
    return t->in[0].val ? algo_refuse_layout(entry->algo, t->in[0].layout) : OK;
}

int delegate_prepare(struct task *t, const char *name)
{
    const struct algo_entry *entry = algo_find(t->entry->op, name, t->entry->device);
    int err = refuse(t, entry, name);
    if (err) return err;
    struct task *x = t->state ? t->state : mem_zero_alloc(1, sizeof *x);
    if (!x) return ERR_MEMORY;
    t->state = x;
    *x = *t;
    x->entry = entry;
    x->algo = entry->algo;
    x->state = NULL;
    x->made_count = t->made_count = 0;
    algo_defaults(entry->algo, x->opt);
    choose(x);
    err = make_formats(x, t->A[0], t->S[0]);
    if (!err && entry->algo->prepare) err = entry->algo->prepare(x);
    if (err) {
        drop(x);
        return err;
    }
    t->stats = x->stats;
    t->order = x->order;
    memcpy(t->made, x->made, sizeof t->made);
    t->made_count = x->made_count;
    return OK;
}

// Runs a step of the other algorithm. Then moves the arrays of a sparse result, and the stats of
// the run, to t. A dense result stays in its memory.
static int forward(struct task *t, int (*step)(struct task *))
{
    struct task *x = t->state;
    if (!step) return OK;
    if (t->entry->op->result != RESULT_SPARSE) return step(x);
    x->phases = t->phases;
    x->stats = t->stats;
    x->R = t->R;
    int err = step(x);
    t->stats = x->stats;
    t->R = x->R;
    return err;
}

int delegate_run(struct task *t) { return forward(t, ((struct task *)t->state)->algo->run); }

int delegate_finish(struct task *t) { return forward(t, ((struct task *)t->state)->algo->finish); }

void delegate_release(struct task *t)
{
    struct task *x = t->state;
    if (x && x->algo && x->algo->release) x->algo->release(x);
}

void delegate_teardown(struct task *t)
{
    if (!t->state) return;
    drop(t->state);
    t->made_count = 0;
    task_free_state(t);
}
