#include "measure/check_product.h"

#include "device/product.h"
#include "device/signs.h"

bool product_is_on_device(const struct task *t, const struct problem *p)
{
    return p->op->product && t->dev->ops->check_product && !t->algo->drops_zeros;
}

// Copies the host's matrix to the device, with the signs of `key`. Also after an error, displace()
// frees the arrays.
static int place(struct device *d, const struct csr *A, uint64_t key, struct csr *out)
{
    *out = (struct csr){.m = A->m, .n = A->n, .nnz = A->nnz};
    int err = device_place(d, A->ptr, (int64_t)A->m + 1, sizeof *A->ptr, (void **)&out->ptr);
    if (!err) err = device_place(d, A->idx, A->nnz, sizeof *A->idx, (void **)&out->idx);
    if (!err) err = device_place(d, A->val, A->nnz, sizeof *A->val, (void **)&out->val);
    if (err || !key) return err;
    const struct device_signs_sparse s = {
        0, key, A->m, A->nnz, out->ptr, sizeof *out->ptr, out->idx, out->val, sizeof *out->val};
    return d->ops->sign_sparse(d, &s);
}

static void displace(struct device *d, struct csr *A)
{
    device_free(d, A->ptr);
    device_free(d, A->idx);
    device_free(d, A->val);
}

// All segments of C, batch by batch.
struct walk {
    const struct problem *p;
    const int64_t *ptr; // row starts of C, size p->rows + 1
    int64_t row, at;    // next segment: its row, and the index of its first entry in C
    struct product_segment *segments, *d_segments; // a batch, on the host and on the device
    struct product_part *parts, *d_parts; // results of the batch, on the host and on the device
    struct product_part sum;              // sums over the segments of `row` that are done
};

static int walk_start(struct walk *w, struct device *d, int64_t batch)
{
    w->segments = mem_alloc(batch, sizeof *w->segments);
    w->parts = mem_alloc(batch, sizeof *w->parts);
    if (!w->segments || !w->parts) return ERR_MEMORY;
    int err = device_alloc(d, batch, sizeof *w->segments, (void **)&w->d_segments);
    return err ? err : device_alloc(d, batch, sizeof *w->parts, (void **)&w->d_parts);
}

static void walk_end(struct walk *w, struct device *d)
{
    mem_free(w->segments);
    mem_free(w->parts);
    device_free(d, w->d_segments);
    device_free(d, w->d_parts);
}

// Fills in the next segments, `batch` at most. Returns how many.
static int64_t walk_next(struct walk *w, int64_t batch)
{
    int64_t count = 0;
    while (count < batch && w->row < w->p->rows) {
        const int64_t end = w->ptr[w->row + 1], next = min64(w->at + PRODUCT_SEGMENT, end);
        w->segments[count++] = (struct product_segment){.begin = w->at,
                                                        .row = (int32_t)w->row,
                                                        .count = (int32_t)(next - w->at),
                                                        .first = w->at == w->ptr[w->row],
                                                        .last = next == end};
        w->at = next;
        if (next == end) w->row++;
    }
    return count;
}

static void add_row(const struct product_part *row, int64_t i, struct product_seen *out)
{
    bucket_add_all(tally_bucket(&out->tally, row->terms), &row->bucket);
    if (row->worst > out->worst) out->worst = row->worst, out->worst_row = i;
    if (row->faults & PRODUCT_DISORDER) out->broken_row = i;
    if (row->faults & PRODUCT_OTHERS && out->another_row < 0) out->another_row = i;
}

// Adds a segment to the sums of its row. The last segment ends the row. The bucket of the row
// follows from the most products of an entry.
static void add_part(struct walk *w, const struct product_part *part,
                     const struct product_segment *g, struct product_seen *out)
{
    struct product_part *sum = &w->sum;
    bucket_add_all(&sum->bucket, &part->bucket);
    sum->worst = fmax(sum->worst, part->worst);
    if (part->terms > sum->terms) sum->terms = part->terms;
    sum->faults |= part->faults;
    if (!g->last) return;
    add_row(sum, g->row, out);
    *sum = (struct product_part){0};
}

static int check_batches(struct device *d, const struct product *x, struct walk *w, int64_t batch,
                         struct product_seen *out)
{
    int64_t count;
    int err = OK;
    while (!err && (count = walk_next(w, batch))) {
        if (interrupted) return fail(ERR_INTERRUPTED, "interrupted");
        err = device_upload(d, w->d_segments, w->segments, count * (int64_t)sizeof *w->segments);
        if (!err) err = d->ops->check_product(d, x, w->d_segments, count, w->d_parts);
        if (!err) err = device_download(d, w->parts, w->d_parts, count * (int64_t)sizeof *w->parts);
        for (int64_t g = 0; g < count && !err; g++) add_part(w, &w->parts[g], &w->segments[g], out);
    }
    return err;
}

int product_check(const struct task *t, const struct problem *p, const int64_t *ptr, int64_t batch,
                  struct product_seen *out)
{
    struct device *d = t->dev;
    struct csr A = {0}, S = {0};
    struct walk w = {.p = p, .ptr = ptr};
    *out = (struct product_seen){.worst_row = -1, .broken_row = -1, .another_row = -1};
    // A row has one segment, and one more for each PRODUCT_SEGMENT entries at most.
    batch = min64(batch, p->rows + ptr[p->rows] / PRODUCT_SEGMENT);
    int err = place(d, p->A, p->sparse_key, &A);
    if (!err && p->S != p->A) err = place(d, p->S, p->sparse_key, &S);
    if (!err) err = walk_start(&w, d, batch);
    const struct product x = {.A = A,
                              .S = p->S == p->A ? A : S,
                              .in = prec_in(t->prec),
                              .out = prec_out(t->prec),
                              .sum = prec_sum(t->prec),
                              .idx = t->R.idx,
                              .val = t->R.val,
                              .unit = type_list[prec_sum(t->prec)].unit,
                              .roundoff = tolerance_roundoff(t)};
    if (!err) err = check_batches(d, &x, &w, batch, out);
    walk_end(&w, d);
    displace(d, &A);
    displace(d, &S);
    return err;
}
