#include "measure/fresh.h"

#include <string.h>

#include "base/secret.h"
#include "device/signs.h"
#include "measure/output.h"

struct fresh fresh_start(struct task *t, struct operands *o, struct reference *anew)
{
    return (struct fresh){.t = t, .o = o, .anew = anew, .line = -1};
}

// Returns a random nonzero. A zero that the matrix stores is rarely taken.
#define NONZERO_TRIES 16
#define LINE_TRIES    16
static int64_t random_place(const struct csr *A)
{
    int64_t place = 0;
    for (int i = 0; i < NONZERO_TRIES && (!i || A->val[place] == 0); i++)
        place = (int64_t)(secret() % (uint64_t)A->nnz);
    return place;
}

// Returns the row of nonzero number `place`.
static int64_t row_of(const struct csr *A, int64_t place)
{
    int64_t low = 0, high = A->m; // ptr[low] <= place < ptr[high]
    while (high - low > 1) {
        const int64_t mid = low + (high - low) / 2;
        if (A->ptr[mid] <= place)
            low = mid;
        else
            high = mid;
    }
    return low;
}

#define ANEW_ROWS 8
int fresh_problem(const struct problem *p, struct problem *anew)
{
    *anew = *p;
    memset(anew->in, 0, sizeof anew->in);
    int err = problem_make(anew);
    if (err) return err;
    anew->seed = secret(); // also of the rows that a check samples
    for (int which = 0; which < DENSE_MAX && anew->in[which].val && p->A->nnz; which++)
        for (int x = 0; x < ANEW_ROWS; x++) {
            const int64_t place = random_place(p->A);
            const bool by_row = p->op->signs == SIGNS_OF_ROW && !which;
            const int64_t row = by_row ? row_of(p->A, place) : p->A->idx[place];
            dense_draw_row(anew, which, row, anew->seed);
        }
    return OK;
}

// Returns row or column number `line` of a dense matrix.
static struct device_view line_of(const struct dense_dev *D, enum prec type, bool row, int64_t line)
{
    const int width = (int)type_bytes(type);
    const int64_t count = row ? D->cols : D->rows;
    char *val = D->val;
    if (row == (D->layout == LAYOUT_ROW))
        return (struct device_view){
            val + line * D->ld * width, 1, count, count, width, REAL_OF(type)};
    return (struct device_view){val + line * width, count, 1, D->ld, width, REAL_OF(type)};
}

// Returns the line of the result that has the sign of this line of the input.
static struct device_view result_line(const struct fresh *f, int64_t line)
{
    const struct task *t = f->t;
    const enum prec type = prec_out(t->prec);
    const int width = (int)type_bytes(type);
    if (t->C.val) return line_of(&t->C, type, false, line);
    const int64_t first = f->o->p->A->ptr[line], count = f->o->p->A->ptr[line + 1] - first;
    return (struct device_view){
        (char *)t->val + first * width, 1, count, count, width, REAL_OF(type)};
}

static int negate_input(const struct fresh *f, int64_t line)
{
    const struct problem *p = f->o->p;
    const bool row = p->op->signs == SIGNS_OF_ROW;
    if (line < 0) return OK;
    struct device_view v = line_of(&f->t->in[0], prec_in(p->prec), row, line);
    return device_negate(f->t->dev, &v);
}

// Returns a random line on which the result depends: a column, or the row of a nonzero. -1: none.
static int64_t random_line(const struct problem *p)
{
    const struct csr *A = p->A;
    if (!A->nnz || !p->cols) return -1;
    if (p->op->signs == SIGNS_OF_COLUMN) return (int64_t)(secret() % (uint64_t)p->cols);
    return row_of(A, random_place(A));
}

static int negate_times(const struct fresh *f, int64_t line, int times)
{
    int err = OK;
    for (int i = 0; i < times && !err; i++) err = negate_input(f, line);
    return err;
}

// Gives the negated line its own sign, and negates another line. Without `really` leaves the signs.
// Either way two lines are written, four times in all, so that caches and times are the same.
static int change_line(struct fresh *f, bool really)
{
    const int64_t lines = f->o->p->op->signs == SIGNS_OF_ROW ? f->o->p->rows : f->o->p->cols;
    int64_t other = random_line(f->o->p), old = f->line >= 0 ? f->line : other;
    for (int i = 0; i < LINE_TRIES && other == old && lines > 1; i++) other = random_line(f->o->p);
    const bool moves = other != old || f->line < 0; // else there is one line
    int err = negate_times(f, old, really && f->line >= 0 ? 1 : 2);
    if (!err && moves) err = negate_times(f, other, really ? 3 : 2);
    if (really) f->line = moves ? other : -1;
    return err;
}

static int sign_csr(struct device *d, const struct csr_dev *A, uint64_t key)
{
    const struct device_signs s = {key,          A->m,   A->nnz, A->ptr,
                                   A->ptr_bytes, A->idx, A->val, (int)type_bytes(A->type)};
    return key && A->nnz ? d->ops->sign(d, &s) : OK;
}

// Overwrites X with a conversion of `csr`, which has the structure that X was made from.
static int renew(const struct task *t, const struct sparse *csr, struct sparse *X)
{
    struct sparse *made = NULL;
    int err = OK;
    for (const struct format *f = X->format; f != csr->format && !err; f = f->from)
        if (!format_maker_of(f, t->dev->kind))
            err = fail(ERR_UNCHECKED, "not checked: %s does not make the format %s itself",
                       t->dev->id, f->name);
    if (!err) err = store_convert(t, t->dev, csr, X->format, &made);
    if (!err) err = sparse_overwrite(t->dev, made, X);
    sparse_free(t->dev, made);
    return err;
}

// Gives a stored format the signs of `key`. A matrix in CSR has the signs of `before` so far.
static int sign_stored(const struct fresh *f, const struct stored *s, uint64_t before, uint64_t key)
{
    struct device *d = f->t->dev;
    struct sparse *csr;
    if (s->format == &format_csr) {
        int err = sign_csr(d, csr_of(s->X), before);
        return err ? err : sign_csr(d, csr_of(s->X), key);
    }
    int err = csr_place(d, s->of, s->type, &csr);
    if (!err) err = sign_csr(d, csr_of(csr), key);
    if (!err) err = renew(f->t, csr, s->X);
    sparse_free(d, csr);
    return err;
}

// Gives the sparse operands the signs of `key`.
static int sign_matrices(struct fresh *f, uint64_t before, uint64_t key)
{
    const struct store *store = &f->o->store;
    const int64_t peak = f->t->dev->peak_bytes; // this memory is not the algorithm's
    int err = OK;
    for (int i = 0; i < store->count && !err; i++)
        if (store->list[i].used) err = sign_stored(f, &store->list[i], before, key);
    for (int i = 0; i < f->t->made_count && !err; i++)
        err = renew(f->t, f->t->made[i].of, f->t->made[i].X);
    f->t->dev->peak_bytes = peak;
    return unchecked(err);
}

static int change(struct fresh *f, bool really)
{
    const uint64_t before = f->key;
    switch (f->o->p->op->signs) {
    case SIGNS_STAY: return OK;
    case SIGNS_OF_MATRIX:
        if (really) f->key = secret() | 1;
        return sign_matrices(f, before, f->key);
    default: return change_line(f, really);
    }
}

int fresh_change(struct fresh *f, bool really)
{
    int err = change(f, really);
    f->lost |= err != OK;
    return err;
}

int fresh_undo(struct fresh *f)
{
    if (f->o->p->op->signs == SIGNS_OF_MATRIX)
        return output_is_whole(f->t) ? sign_csr(f->t->dev, &f->t->R, f->key) : OK;
    if (f->line < 0) return OK;
    struct device_view v = result_line(f, f->line);
    return device_negate(f->t->dev, &v);
}

// Returns ERR_WRONG if a run has changed a dense input, which an upload would hide. The inputs have
// their own signs.
static int verify_dense(const struct fresh *f)
{
    char what[64];
    int err = operands_verify_dense(f->o, what);
    return err || !what[0] ? err : fail(ERR_WRONG, "it changed its inputs: %s", what);
}

int fresh_draw(struct fresh *f, bool on)
{
    if (!f->o->in[0].val || f->drawn == on) return OK;
    int err = on ? negate_input(f, f->line) : OK;
    f->lost |= err != OK;
    f->line = -1;
    if (!err && on) err = verify_dense(f);
    if (err) return err;
    f->drawn = on;
    err = operands_upload(f->o, on ? f->anew->p : f->o->p);
    f->lost |= err != OK;
    return err;
}

int fresh_end(struct fresh *f)
{
    f->o->lost |= f->lost;
    if (f->lost) return OK;
    int err = fresh_draw(f, false);
    if (!err) err = negate_input(f, f->line);
    if (!err && f->key) err = sign_matrices(f, f->key, 0);
    f->o->lost |= err != OK;
    f->line = -1;
    f->key = 0;
    return err;
}
