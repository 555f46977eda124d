#include "measure/store.h"

#include <string.h>

#include "formats/csc.h"
#include "measure/timing.h"

void store_drop(struct store *s, int i)
{
    sparse_free(s->dev, s->list[i].X);
    s->list[i] = s->list[--s->count];
}

void store_free(struct store *s)
{
    while (s->count) store_drop(s, s->count - 1);
    mem_free(s->list);
    *s = (struct store){0};
}

void store_keep(struct store *s, const struct problem *p)
{
    s->given = p->source->A;
    s->transposed = p->stored == s->given ? NULL : p->stored;
    for (int i = s->count - 1; i >= 0; i--) {
        const struct stored *x = &s->list[i];
        if (x->type != prec_in(p->prec) || (x->of != p->stored && x->of != p->S)) store_drop(s, i);
    }
}

bool store_drop_unused(struct store *s)
{
    bool any = false;
    for (int i = s->count - 1; i >= 0; i--) {
        if (s->list[i].used) continue;
        store_drop(s, i);
        any = true;
    }
    return any;
}

int64_t store_unused_bytes(const struct store *s)
{
    int64_t bytes = 0;
    for (int i = 0; i < s->count; i++)
        if (!s->list[i].used) bytes += sparse_bytes(s->list[i].X);
    return bytes;
}

bool stored_source(const struct stored *x, const struct csr **of, const struct format **format)
{
    const bool turns = !(*format)->from && *of == x->of && x->transpose_of; // A^T in csr
    if (turns)
        *of = x->transpose_of;
    else
        *format = (*format)->from;
    return *format != NULL;
}

static struct stored *find(const struct store *s, const struct stored *wanted)
{
    for (int i = 0; i < s->count; i++) {
        struct stored *x = &s->list[i];
        if (x->of == wanted->of && x->format == wanted->format && x->type == wanted->type &&
            !memcmp(x->opt, wanted->opt, sizeof x->opt))
            return x;
    }
    return NULL;
}

int store_convert(const struct task *t, struct device *d, const struct sparse *csr,
                  const struct format *format, struct sparse **out)
{
    struct sparse *from = NULL;
    double opt[ALGO_OPTIONS_MAX];
    *out = NULL;
    int err = format->from == csr->format ? OK : store_convert(t, d, csr, format->from, &from);
    task_format_options(t, format, opt);
    if (!err) err = sparse_make(d, format, from ? from : csr, opt, out);
    sparse_free(d, from);
    return err;
}

// Places the CSR of a matrix on the host, transposed if its transpose is given. Rounding to the
// precision adds to *upload_ms.
static int place_on_host(struct device *host, const struct stored *x, double *upload_ms,
                         struct sparse **csr)
{
    double start = clock_ms();
    const struct csr *given = x->transpose_of ? x->transpose_of : x->of;
    int err = csr_place(host, given, x->type, csr);
    *upload_ms += clock_ms() - start;
    if (err || !x->transpose_of) return err;
    struct sparse *from = *csr;
    err = csc_transpose(host, from, csr);
    sparse_free(host, from);
    return err;
}

// Converts once, on the device from `from`, or on the host if `from` is NULL. Adds to the times.
static int make_once(const struct task *t, struct stored *x, const struct sparse *from,
                     double *convert_ms, double *upload_ms)
{
    struct device *d = t->dev;
    double start = clock_ms();
    if (!x->format->from && x->format != &format_csr)
        bug("%s is made from nothing", x->format->name);
    if (!x->format->from && !from) {
        int err = csr_place(d, x->of, x->type, &x->X);
        *upload_ms += clock_ms() - start;
        return err;
    }
    if (from) {
        int err = x->format->from ? sparse_make(d, x->format, from, x->opt, &x->X)
                                  : csc_transpose(d, from, &x->X);
        if (!err) err = device_sync(d);
        *convert_ms += clock_ms() - start;
        if (err) sparse_free(d, x->X);
        return err;
    }
    struct device host = device_host();
    host.units = d->units; // the format is for this device
    struct sparse *csr = NULL, *made = NULL;
    double place_ms = 0;
    int err = place_on_host(&host, x, &place_ms, &csr);
    if (!err) err = store_convert(t, &host, csr, x->format, &made);
    sparse_free(&host, csr);
    *convert_ms += clock_ms() - start - place_ms;
    start = clock_ms();
    if (!err) err = sparse_copy(&host, made, d, &x->X);
    *upload_ms += place_ms + clock_ms() - start;
    sparse_free(&host, made);
    mem_free(host.blocks);
    return err;
}

static int add(struct store *s, const struct stored *x)
{
    if (s->count == s->room) {
        int room = s->room ? 2 * s->room : 8;
        struct stored *p = mem_resize(s->list, s->room, room, sizeof *p);
        if (!p) return ERR_MEMORY;
        s->list = p;
        s->room = room;
    }
    s->list[s->count++] = *x;
    return OK;
}

// Returns true if the algorithm asks for a format of an operand.
static bool asks_for(const struct algo *a, const struct format *format)
{
    for (int i = 0; i < FORMATS_MAX; i++)
        if (a->A[i] == format || a->S[i] == format) return true;
    return false;
}

// Converts again, without costs of a first use. A conversion under QUICK_MS is repeated, since a
// disturbance can be longer than the conversion; the median counts.
#define QUICK_MS 50.0
static int make_again(const struct store *s, const struct task *t, struct stored *x,
                      const struct sparse *from)
{
    double ms[STORE_AGAIN_MAX], upload_ms = 0;
    int count = 0, err;
    do {
        sparse_free(s->dev, x->X);
        ms[count] = 0;
        err = make_once(t, x, from, &ms[count], &upload_ms);
    } while (!err && ++count < s->again && ms[count - 1] < QUICK_MS);
    if (!err) x->cost[0].warm_ms = timing_median(ms, count);
    return err;
}

// A format is converted twice: the first conversion pays for modules and buffers of the device. A
// source that no task asked for is freed at once, so that memory holds at most two more formats
// than tasks ask for.
int store_need(struct store *s, const struct task *t, const struct csr *A,
               const struct format *format, struct stored **out)
{
    struct stored x = {.of = A, .format = format, .type = prec_in(t->prec)}, *from = NULL;
    const struct sparse *source = NULL;
    const struct csr *of = A;
    const struct format *source_format = format;
    int err, before = s->count;
    x.transpose_of = A == s->transposed ? s->given : NULL;
    task_format_options(t, format, x.opt);
    *out = find(s, &x);
    if (*out) return OK;
    if (stored_source(&x, &of, &source_format) &&
        format_maker_of(format->from ? format : &format_csc, s->dev->kind)) {
        err = store_need(s, t, of, source_format, &from);
        if (err) return err;
        memcpy(&x.cost[1], from->cost, SOURCES_MAX * sizeof *x.cost);
        source = from->X;
    }
    err = make_once(t, &x, source, &x.cost[0].convert_ms, &x.cost[0].upload_ms);
    if (!err) err = make_again(s, t, &x, source);
    if (s->count > before && (of != A || !asks_for(t->algo, source_format)))
        store_drop(s, s->count - 1);
    if (err) return err;
    err = sparse_digest(s->dev, x.X, &x.bits);
    if (!err) err = add(s, &x);
    if (err) sparse_free(s->dev, x.X);
    *out = err ? NULL : &s->list[s->count - 1];
    return err;
}
