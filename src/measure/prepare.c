#include "measure/prepare.h"

#include <stdio.h>
#include <string.h>

double setup_convert_ms(const struct setup *s)
{
    double ms = 0;
    for (int i = 0; i < s->count; i++) ms += s->formats[i].cost.convert_ms;
    return ms;
}

double setup_warm_ms(const struct setup *s)
{
    double ms = 0;
    for (int i = 0; i < s->count; i++) ms += s->formats[i].cost.warm_ms;
    return ms;
}

double setup_upload_ms(const struct setup *s)
{
    double ms = s->dense_ms;
    for (int i = 0; i < s->count; i++) ms += s->formats[i].cost.upload_ms;
    return ms;
}

double setup_prep_ms(const struct setup *s) { return s->analyse_ms + setup_convert_ms(s); }

void operands_init(struct operands *o, struct device *dev)
{
    *o = (struct operands){.dev = dev, .store.dev = dev};
}

static void dense_free(struct operands *o)
{
    for (int i = 0; i < DENSE_MAX; i++) {
        device_free(o->dev, o->in[i].val);
        o->in[i] = (struct dense_dev){0};
    }
    device_free(o->dev, o->C.val);
    o->C = (struct dense_dev){0};
    device_free(o->dev, o->val);
    o->val = NULL;
}

void operands_use(struct operands *o, const struct problem *p)
{
    if (!o->dev) return;
    dense_free(o);
    o->p = p;
    store_keep(&o->store, p);
}

void operands_free(struct operands *o)
{
    if (!o->dev) return;
    dense_free(o);
    store_free(&o->store);
    *o = (struct operands){0};
}

bool operands_drop_others(struct operands *o)
{
    bool any = o->in[0].val || o->C.val || o->val;
    dense_free(o);
    return store_drop_unused(&o->store) || any;
}

int64_t operands_other_bytes(const struct operands *o) { return store_unused_bytes(&o->store); }

static struct format_use *use_find(struct setup *setup, const char *of, const struct format *format)
{
    for (int i = 0; i < setup->count; i++)
        if (setup->formats[i].format == format && !strcmp(setup->formats[i].of, of))
            return &setup->formats[i];
    return NULL;
}

static const char *operand_name(const struct operands *o, const struct csr *of)
{
    return of == o->p->source->A ? "A" : of == o->store.transposed ? OF_TRANSPOSE : "S";
}

static void use(struct setup *setup, const struct operands *o, struct stored *s)
{
    if (!s->used)
        setup->formats[setup->count++] =
            (struct format_use){.of = operand_name(o, s->of),
                                .format = s->format,
                                .bytes = sparse_bytes(s->X),
                                .csr_bytes = op_csr_bytes(s->of, s->type),
                                .cost = s->cost[0]};
    s->used = true;
}

// Adds the costs of the sources of a format to the format, unless the case uses the source itself.
static void charge_sources(struct setup *setup, const struct operands *o, const struct stored *s)
{
    const struct csr *of = s->of;
    const struct format *source = s->format;
    struct format_cost *cost = &use_find(setup, operand_name(o, of), source)->cost;
    for (int i = 1; stored_source(s, &of, &source); i++) {
        if (i > SOURCES_MAX) bug("%s has more than %d sources", s->format->name, SOURCES_MAX);
        if (use_find(setup, operand_name(o, of), source)) break;
        cost->convert_ms += s->cost[i].convert_ms;
        cost->warm_ms += s->cost[i].warm_ms;
        cost->upload_ms += s->cost[i].upload_ms;
    }
}

// Gets the formats of one sparse operand from the store.
static int share_formats(struct task *t, struct operands *o, struct setup *setup,
                         const struct csr *A, const struct format *const wanted[FORMATS_MAX],
                         const struct sparse *given[FORMATS_MAX])
{
    for (int f = 0; f < FORMATS_MAX && wanted[f]; f++) {
        struct stored *s;
        int err = store_need(&o->store, t, A, wanted[f], &s);
        if (err) return err;
        use(setup, o, s);
        given[f] = s->X;
    }
    return OK;
}

static int share_sparse(struct task *t, struct operands *o, struct setup *setup)
{
    const struct problem *p = o->p;
    for (int i = 0; i < o->store.count; i++) o->store.list[i].used = false;
    int err = share_formats(t, o, setup, p->stored, t->algo->A, t->A);
    if (!err && p->S) err = share_formats(t, o, setup, p->S, t->algo->S, t->S);
    if (err) return err;
    for (int f = 0; f < FORMATS_MAX && t->A[f]; f++)
        if (t->A[f]->format->describe) t->A[f]->format->describe(t->A[f], &t->stats);
    for (int i = 0; i < o->store.count; i++)
        if (o->store.list[i].used) charge_sources(setup, o, &o->store.list[i]);
    for (int i = 0; i < setup->count; i++) setup->format_bytes += setup->formats[i].bytes;
    return OK;
}

int64_t dense_lines(const struct dense_dev *D)
{
    return D->layout == LAYOUT_ROW ? D->rows : D->cols;
}

int64_t dense_length(const struct dense_dev *D)
{
    return D->layout == LAYOUT_ROW ? D->cols : D->rows;
}

struct device_view dense_view(const struct dense_dev *D, enum prec type)
{
    return (struct device_view){D->val, dense_lines(D),        dense_length(D),
                                D->ld,  (int)type_bytes(type), REAL_OF(type)};
}

struct device_block dense_block(const struct dense_dev *D, enum prec type)
{
    return (struct device_block){.p = D->val,
                                 .bytes = dense_lines(D) * D->ld * (int64_t)type_bytes(type)};
}

static int dense_digest(const struct operands *o, int which, uint64_t *bits)
{
    struct device_view v = dense_view(&o->in[which], prec_in(o->p->prec));
    return device_digest(o->dev, &v, bits);
}

static int dense_alloc(struct operands *o, int64_t rows, int64_t cols, enum prec type,
                       struct dense_dev *D)
{
    int64_t count;
    *D = (struct dense_dev){.rows = rows, .cols = cols, .layout = o->p->layout};
    D->ld = dense_length(D) + o->pad;
    int err = size_mul(dense_lines(D), D->ld, &count);
    return err ? err : device_alloc(o->dev, count, type_bytes(type), &D->val);
}

// Columns and rows of a block of the transposition on the host, which stays in the cache. Matrices
// are row-major on the host.
#define TRANSPOSE_BLOCK 32
static void *transposed(const struct dense *D, enum prec type)
{
    int64_t rows = D->rows, cols = D->cols;
    void *to = mem_alloc(rows * cols, type_bytes(type));
    if (!to) return NULL;
#pragma omp parallel for schedule(static)
    for (int64_t i0 = 0; i0 < rows; i0 += TRANSPOSE_BLOCK)
        for (int64_t j = 0; j < cols; j++)
            for (int64_t i = i0; i < min64(i0 + TRANSPOSE_BLOCK, rows); i++)
                type_store(type, to, j * rows + i, type_load(type, D->val, i * cols + j));
    return to;
}

// Uploads a dense matrix; line by line if lines have gaps.
static int upload_lines(struct operands *o, const struct dense_dev *D, const void *from)
{
    int64_t width = (int64_t)type_bytes(prec_in(o->p->prec)), length = dense_length(D) * width;
    if (D->ld == dense_length(D))
        return device_upload(o->dev, D->val, from, dense_lines(D) * length);
    int err = OK;
    for (int64_t l = 0; l < dense_lines(D) && !err; l++)
        err = device_upload(o->dev, (char *)D->val + l * D->ld * width,
                            (const char *)from + l * length, length);
    return err;
}

static int upload_dense(struct operands *o, const struct dense *from, const struct dense_dev *D)
{
    if (D->layout == LAYOUT_ROW) return upload_lines(o, D, from->val);
    void *turned = transposed(from, prec_in(o->p->prec));
    int err = turned ? upload_lines(o, D, turned) : ERR_MEMORY;
    mem_free(turned);
    return err;
}

int operands_upload(struct operands *o, const struct problem *p)
{
    int err = OK;
    for (int i = 0; i < DENSE_MAX && p->in[i].val && !err; i++)
        err = upload_dense(o, &p->in[i], &o->in[i]);
    return err;
}

// Uploads the dense operands of the problem and allocates its result.
static int make_dense(struct operands *o)
{
    const struct problem *p = o->p;
    double start = clock_ms();
    bool new_inputs = false;
    int err = OK;
    for (int i = 0; i < DENSE_MAX && p->in[i].val && !err; i++) {
        if (o->in[i].val) continue;
        new_inputs = true;
        err = dense_alloc(o, p->in[i].rows, p->in[i].cols, prec_in(p->prec), &o->in[i]);
        if (!err) err = upload_dense(o, &p->in[i], &o->in[i]);
    }
    if (new_inputs) o->dense_ms = clock_ms() - start;
    for (int i = 0; i < DENSE_MAX && p->in[i].val && new_inputs && !err; i++)
        err = dense_digest(o, i, &o->bits[i]);
    if (!err && p->op->result == RESULT_DENSE && !o->C.val)
        err = dense_alloc(o, p->rows, p->cols, prec_out(p->prec), &o->C);
    if (!err && p->op->result == RESULT_PATTERN && !o->val)
        err = device_alloc(o->dev, p->A->nnz, type_bytes(prec_out(p->prec)), &o->val);
    return err;
}

// Sets `what` to the name of a dense input that has changed; "": none.
static int verify_dense(struct operands *o, char what[64])
{
    uint64_t bits;
    int err = OK;
    what[0] = 0;
    for (int i = 0; i < DENSE_MAX && o->in[i].val && !err; i++) {
        err = dense_digest(o, i, &bits);
        if (!err && bits != o->bits[i]) snprintf(what, 64, "dense input %d", i + 1);
    }
    return err;
}

void operands_free_lost(struct operands *o)
{
    if (o->lost) dense_free(o);
    while (o->lost && o->store.count) store_drop(&o->store, o->store.count - 1);
    o->lost = false;
}

int operands_verify(struct operands *o, char what[64])
{
    uint64_t bits;
    operands_free_lost(o);
    int err = verify_dense(o, what);
    for (int i = o->store.count - 1; i >= 0 && !err; i--) {
        struct stored *s = &o->store.list[i];
        err = sparse_digest(o->dev, s->X, &bits);
        if (err || bits == s->bits) continue;
        snprintf(what, 64, "%s as %s", operand_name(o, s->of), s->format->name);
        store_drop(&o->store, i);
    }
    if (o->in[0].val && what[0]) dense_free(o);
    return err;
}

static int share_dense(struct task *t, struct operands *o, struct setup *setup)
{
    int err = make_dense(o);
    if (err) {
        dense_free(o);
        return err;
    }
    memcpy(t->in, o->in, sizeof t->in);
    t->C = o->C;
    t->val = o->val;
    if (t->in[0].val) setup->dense_ms = o->dense_ms;
    return OK;
}

static int refuse_unfit(const struct task *t, const struct problem *p)
{
    if (!(t->algo->precs & BIT(p->prec)))
        return fail(ERR_UNSUPPORTED, "%s is not supported by this algorithm", prec_name(p->prec));
    return p->op->refuse ? p->op->refuse(p, t->algo) : OK;
}

int task_prepare(struct task *t, struct operands *o, struct setup *setup)
{
    *setup = (struct setup){0};
    t->dev = o->dev;
    t->prec = o->p->prec;
    t->work = o->p->work;
    t->transposed = o->p->stored != o->p->A;
    t->stats = (struct algo_stats){0};
    t->made_count = 0;
    t->R = (struct csr_dev){.format = &format_csr, .type = prec_out(t->prec)};
    int err = refuse_unfit(t, o->p);
    if (!err && t->algo->choose) t->algo->choose(t, o->p);
    if (!err) err = share_sparse(t, o, setup);
    if (!err) err = share_dense(t, o, setup);
    if (err) return err;
    double start = clock_ms();
    device_peak_reset(t->dev); // the peak of conversions is not the algorithm's
    if (t->algo->prepare) err = t->algo->prepare(t);
    if (!err) err = device_sync(t->dev);
    setup->analyse_ms = clock_ms() - start;
    if (err) task_teardown(t);
    return err;
}

void task_teardown(struct task *t)
{
    if (t->dev && t->algo->teardown) t->algo->teardown(t);
    t->state = NULL;
}
