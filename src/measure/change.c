#include "measure/change.h"

#include "base/secret.h"
#include "device/signs.h"
#include "measure/output.h"

struct change change_start(struct task *t, struct operands *o)
{
    return (struct change){.t = t, .o = o};
}

static uint64_t new_key(void) { return secret() | 1; }

// Gives the dense operands the signs of `key`.
static int sign_dense(struct change *c, uint64_t key)
{
    struct task *t = c->t;
    int err = OK;
    for (int i = 0; i < DENSE_MAX && t->in[i].val && !err; i++) {
        const struct device_signs_dense s = {dense_view(&t->in[i], prec_in(t->prec)),
                                             t->in[i].layout == LAYOUT_COL,
                                             dense_key(c->dense_key, i), dense_key(key, i)};
        if (s.view.lines && s.view.length) err = t->dev->ops->sign_dense(t->dev, &s);
    }
    c->dense_key = key;
    return err;
}

static int sign_csr(struct device *d, const struct csr_dev *A, uint64_t before, uint64_t now)
{
    const struct device_signs_sparse s = {
        before, now, A->m, A->nnz, A->ptr, A->ptr_bytes, A->idx, A->val, (int)type_bytes(A->type)};
    return A->nnz ? d->ops->sign_sparse(d, &s) : OK;
}

// Returns ERR_UNSUPPORTED if the device does not make a format itself.
static int refuse_foreign(const struct device *d, const struct format *from,
                          const struct format *format)
{
    for (const struct format *f = format; f != from; f = f->from)
        if (!format_maker_of(f, d->kind))
            return fail(ERR_UNSUPPORTED, "not checked: %s does not make the format %s itself",
                        d->id, f->name);
    return OK;
}

// Overwrites X with a conversion of `csr`, which has the structure that X was made from.
static int renew(const struct task *t, const struct sparse *csr, struct sparse *X)
{
    struct sparse *made = NULL;
    int err = refuse_foreign(t->dev, csr->format, X->format);
    if (!err) err = store_convert(t, t->dev, csr, X->format, &made);
    if (!err) err = sparse_overwrite(t->dev, made, X);
    sparse_free(t->dev, made);
    return err;
}

// Gives a stored format the signs of `key`, and the values of `p` unless that is NULL.
static int sign_stored(const struct change *c, const struct stored *s, const struct problem *p,
                       uint64_t key)
{
    struct device *d = c->t->dev;
    const bool plain = s->format == &format_csr;
    struct sparse *csr;
    if (plain && !p) return sign_csr(d, csr_of(s->X), c->sparse_key, key);
    const struct csr *of = !p ? s->of : s->of == c->o->p->S ? p->S : p->stored;
    int err = csr_place(d, of, s->type, &csr);
    if (!err) err = sign_csr(d, csr_of(csr), 0, key);
    if (!err) err = plain ? sparse_overwrite(d, csr, s->X) : renew(c->t, csr, s->X);
    sparse_free(d, csr);
    return err;
}

// Gives the sparse operands the signs of `key`, and the values of `p` unless that is NULL. If
// memory lacks for the first of them, all stay.
static int sign_sparse(struct change *c, const struct problem *p, uint64_t key)
{
    const struct store *store = &c->o->store;
    struct task *t = c->t;
    const int64_t peak = t->dev->peak_bytes; // this memory is not the algorithm's
    int err = OK, done = 0;
    for (int i = 0; i < store->count && !err; i++)
        if (store->list[i].used && !(err = sign_stored(c, &store->list[i], p, key))) done++;
    for (int i = 0; i < t->made_count && !err; i++)
        err = renew(t->made[i].task, t->made[i].of, t->made[i].X);
    t->dev->peak_bytes = peak;
    if (!err || done) c->sparse_key = key;
    c->lost |= err && (done || err != ERR_MEMORY);
    return unchecked(err);
}

int change_operands(struct change *c, bool really)
{
    const bool dense = c->t->in[0].val;
    int err = OK;
    if (!c->o->p->op->keyed) return OK;
    if (dense)
        err = sign_dense(c, really ? new_key() : c->dense_key);
    else
        err = sign_sparse(c, NULL, really ? new_key() : c->sparse_key);
    c->lost |= err != OK;
    return err == ERR_UNSUPPORTED ? fail(ERR_UNCHECKED, "%s", fail_text()) : err;
}

bool change_reaches_sparse(const struct change *c)
{
    const struct store *store = &c->o->store;
    const struct device *d = c->t->dev;
    int err = OK;
    if (c->t->algo->keeps_values) return false;
    for (int i = 0; i < store->count && !err; i++)
        if (store->list[i].used) err = refuse_foreign(d, &format_csr, store->list[i].format);
    for (int i = 0; i < c->t->made_count && !err; i++)
        err = refuse_foreign(d, c->t->made[i].of->format, c->t->made[i].X->format);
    if (err) fail_drop();
    return !err;
}

int change_all(struct change *c)
{
    const bool dense = c->t->in[0].val;
    int err = change_operands(c, true);
    if (err || !dense || !c->o->p->op->keyed) return err;
    if (!change_reaches_sparse(c)) return OK;
    err = sign_sparse(c, NULL, new_key());
    return err == ERR_UNCHECKED && !c->lost ? fail_drop() : err;
}

int change_values(struct change *c, const struct problem *p)
{
    c->replaced = true;
    int err = operands_upload(c->o, p);
    c->dense_key = 0;
    if (!err) err = sign_sparse(c, p, 0);
    if (!err) c->replaced = p != c->o->p;
    return unchecked(err);
}

struct problem change_problem(const struct change *c)
{
    struct problem p = *c->o->p;
    p.dense_key = c->dense_key;
    p.sparse_key = c->sparse_key;
    return p;
}

int change_end(struct change *c)
{
    c->o->lost |= c->lost;
    if (c->lost) return OK;
    int err = c->replaced ? change_values(c, c->o->p) : OK;
    if (!err && c->dense_key) err = sign_dense(c, 0);
    if (!err && c->sparse_key) err = sign_sparse(c, NULL, 0);
    c->o->lost |= err != OK;
    return err;
}
