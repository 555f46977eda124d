#include "select/delegate.h"

#include <stdio.h>
#include <string.h>

// Makes a sparse operand in a format, and before that the formats that it is made from.
static int need_format(struct delegate *d, const struct sparse *csr, const struct format *format,
                       const struct sparse **out)
{
    struct task *x = &d->inner;
    double opt[PARAMS_MAX];
    const struct sparse *from;
    *out = csr;
    if (format == csr->format) return OK;
    for (int i = 0; i < d->inner.made_count; i++) {
        *out = d->inner.made[i].X;
        if (d->inner.made[i].of == csr && (*out)->format == format) return OK;
    }
    if (!format_maker_of(format, x->dev->kind))
        return fail(ERR_UNSUPPORTED, "%s: %s does not make the format %s itself", x->entry->name,
                    device_list[x->dev->kind].name, format->name);
    int err = need_format(d, csr, format->from, &from);
    if (err) return err;
    if (d->inner.made_count == MADE_MAX) bug("%s: too many formats", x->entry->name);
    task_format_options(x, format, opt);
    struct made_format *made = &d->inner.made[d->inner.made_count];
    made->of = csr;
    err = sparse_make(x->dev, format, from, opt, &made->X);
    if (err) return err;
    d->inner.made_count++;
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
static void keep_used(struct delegate *d)
{
    int kept = 0;
    for (int i = 0; i < d->inner.made_count; i++) {
        if (asks_for(&d->inner, d->inner.made[i].X)) {
            tell_format(&d->inner, d->inner.made[i].X);
            d->inner.made[kept++] = d->inner.made[i];
        } else {
            sparse_free(d->inner.dev, d->inner.made[i].X);
        }
    }
    d->inner.made_count = kept;
}

// All formats that the algorithm asks for. The peak of its memory is counted from here on, as with
// formats that were made before.
static int make_formats(struct delegate *d, const struct sparse *A, const struct sparse *S)
{
    struct task *x = &d->inner;
    int err = OK;
    for (int f = 0; f < FORMATS_MAX && !err; f++) {
        x->A[f] = x->S[f] = NULL;
        if (x->algo->A[f]) err = need_format(d, A, x->algo->A[f], &x->A[f]);
        if (x->algo->S[f] && !err) err = need_format(d, S, x->algo->S[f], &x->S[f]);
    }
    if (err || !d->inner.made_count) return err;
    err = device_sync(x->dev);
    if (err) return err;
    keep_used(d);
    device_peak_reset(x->dev);
    if (x->A[0]->format->describe) x->A[0]->format->describe(x->A[0], &x->figures);
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

static void drop(struct delegate *d)
{
    struct task *x = &d->inner;
    if (x->algo && x->algo->teardown) x->algo->teardown(x);
    while (d->inner.made_count) sparse_free(x->dev, d->inner.made[--d->inner.made_count].X);
    x->algo = NULL;
}

static int refuse(const struct task *t, const struct algo_entry *entry, const char *name)
{
    const char *missing = entry ? algo_missing(entry) : "there is none";
    if (missing) return fail(ERR_UNSUPPORTED, "%s: %s", name, missing);
    if (!(entry->algo->precs & BIT(t->prec)))
        return fail(ERR_UNSUPPORTED, "%s does not do %s", name, prec_name(t->prec));
    return t->in[0].val ? algo_refuse_layout(entry->algo, t->in[0].layout) : OK;
}

int delegate_prepare(struct task *t, const char *name)
{
    const struct algo_entry *entry = algo_find(t->entry->op, name, t->entry->device);
    int err = refuse(t, entry, name);
    if (err) return err;
    struct delegate *d = t->state ? t->state : mem_zero_alloc(1, sizeof *d);
    if (!d) return ERR_MEMORY;
    t->state = d;
    d->inner = *t;
    d->inner.entry = entry;
    d->inner.algo = entry->algo;
    d->inner.state = NULL;
    d->inner.made_count = t->made_count = 0;
    algo_defaults(entry->algo, d->inner.opt);
    choose(&d->inner);
    err = make_formats(d, t->A[0], t->S[0]);
    if (!err && entry->algo->prepare) err = entry->algo->prepare(&d->inner);
    if (err) {
        drop(d);
        return err;
    }
    t->figures = d->inner.figures;
    t->order = d->inner.order;
    memcpy(t->made, d->inner.made, sizeof t->made);
    t->made_count = d->inner.made_count;
    return OK;
}

// A dense result is where it was when the task was prepared. Of a sparse one the arrays go to t, as
// do figures that a run tells.
static int forward(struct task *t, int (*step)(struct task *))
{
    struct task *x = &((struct delegate *)t->state)->inner;
    if (!step) return OK;
    if (t->entry->op->result != RESULT_SPARSE) return step(x);
    x->phases = t->phases;
    x->figures = t->figures;
    x->R = t->R;
    int err = step(x);
    t->figures = x->figures;
    t->R = x->R;
    return err;
}

int delegate_run(struct task *t)
{
    return forward(t, ((struct delegate *)t->state)->inner.algo->run);
}

int delegate_finish(struct task *t)
{
    return forward(t, ((struct delegate *)t->state)->inner.algo->finish);
}

void delegate_release(struct task *t)
{
    struct delegate *d = t->state;
    if (d && d->inner.algo && d->inner.algo->release) d->inner.algo->release(&d->inner);
}

void delegate_teardown(struct task *t)
{
    if (!t->state) return;
    drop(t->state);
    t->made_count = 0;
    task_free_state(t);
}
