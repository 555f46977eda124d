// Chunks of `esc`: rows of C whose products are made together, and the buffers of a chunk.
#ifndef SPGEMM_ESC_CHUNKS_H
#define SPGEMM_ESC_CHUNKS_H

#include "kernels.cuh"
#include "device/cub.cuh"

#define ROOM_MOST  (1 << 30) // most products of a chunk, which are counted in 32 bits
#define ROOM_LEAST (1 << 16) // least products of a chunk when memory is short

struct state {
    int64_t budget; // bytes of the sort buffers
    int64_t *count; // a number in pinned memory
};

// Rows of C that a chunk computed.
struct part {
    void *array[2]; // columns, values
    int64_t nnz;
};

// State of a run.
struct work {
    struct factors f;
    int col_bits;
    int64_t products, room; // products of C; most products of a chunk
    int64_t *first;
    void *key[2], *val[2];   // size room; keys have 64 bits, or 32 bits if all fit
    int32_t *limits, *heads; // by share of a block
    int64_t *base;
    void *carry;
    struct csr_dev R;
    struct part *parts; // size part_count
    int64_t part_count;
};

static unsigned blocks_of(int64_t threads) { return (unsigned)ceil_div(threads, BLOCK); }

// Copies a number from the device to *to.
static int read_count(struct task *t, const int64_t *from, int64_t *to)
{
    const struct state *s = (const struct state *)t->state;
    int err = wait_for(t->dev, "esc", from, s->count, sizeof *to);
    if (!err) *to = *s->count;
    return err;
}

static int scan_products(struct task *t, struct work *w)
{
    struct device *d = t->dev;
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    int32_t *length = NULL;
    const int64_t nnz = A->nnz;
    int err = device_alloc(d, nnz + 1, sizeof *w->first, (void **)&w->first);
    if (!err) err = device_alloc(d, nnz, sizeof *length, (void **)&length);
    if (!err && nnz)
        LAUNCH(count_products, blocks_of(nnz), BLOCK, 0, d->stream, (int32_t)nnz, A->idx,
               (const int32_t *)S->ptr, length);
    if (!err) err = launch_check("esc");
    if (!err) err = cub_exclusive_sum(d, length, nnz, w->first);
    device_free(d, length);
    if (!err) err = read_count(t, w->first + nnz, &w->products);
    w->f = {A->m,   (int32_t)nnz, (const int32_t *)A->ptr, A->idx, (const int32_t *)S->ptr,
            S->idx, w->first};
    return err;
}

static void free_buffers(struct device *d, struct work *w)
{
    void **const all[] = {&w->key[0],          &w->key[1],         &w->val[0],        &w->val[1],
                          (void **)&w->limits, (void **)&w->heads, (void **)&w->base, &w->carry};
    for (void **p : all) {
        device_free(d, *p);
        *p = NULL;
    }
}

static int alloc_buffers(struct task *t, struct work *w, size_t key_bytes)
{
    struct device *d = t->dev;
    const size_t width = in_bytes(t);
    const int64_t shares = ceil_div(w->room, SHARE);
    int err = OK;
    for (int i = 0; i < 2; i++) {
        if (!err) err = device_alloc(d, w->room, key_bytes, &w->key[i]);
        if (!err) err = device_alloc(d, w->room, width, &w->val[i]);
    }
    if (!err) err = device_alloc(d, 2 * (shares + 1), sizeof(int32_t), (void **)&w->limits);
    if (!err) err = device_alloc(d, shares, sizeof(int32_t), (void **)&w->heads);
    if (!err) err = device_alloc(d, shares + 1, sizeof(int64_t), (void **)&w->base);
    if (!err) err = device_alloc(d, shares, width, &w->carry);
    if (err) free_buffers(d, w);
    return err;
}

// Cuts the rows into chunks of up to `room` products; *chunks is on the host.
static int make_chunks(struct task *t, struct work *w, struct chunk **chunks, int64_t *count)
{
    const int64_t most = 2 * (w->products / w->room) + 2; // two neighbours pass `room` together
    struct chunk *dev_chunks = NULL;
    int64_t *dev_count = NULL;
    int err = device_alloc(t->dev, most, sizeof **chunks, (void **)&dev_chunks);
    if (!err) err = device_alloc(t->dev, 1, sizeof *dev_count, (void **)&dev_count);
    if (!err) LAUNCH(cut, 1, 1, 0, t->dev->stream, w->f, w->room, dev_chunks, dev_count);
    if (!err) err = launch_check("esc");
    if (!err) err = read_count(t, dev_count, count);
    if (!err && !(*chunks = (struct chunk *)mem_alloc(*count, sizeof **chunks))) err = ERR_MEMORY;
    if (!err) err = device_download(t->dev, *chunks, dev_chunks, *count * (int64_t)sizeof **chunks);
    device_free(t->dev, dev_chunks);
    device_free(t->dev, dev_count);
    return err;
}

// Chooses the products of a chunk, allocates its buffers and makes the chunks. Chunks are halved
// while memory is short.
static int plan(struct task *t, struct work *w, struct chunk **chunks, int64_t *count)
{
    const struct state *s = (const struct state *)t->state;
    const size_t key_bytes = cub_key_bits(w->f.m) + w->col_bits <= 32 ? 4 : 8;
    const int64_t product_bytes = 2 * (int64_t)(key_bytes + in_bytes(t));
    w->room = max64(1, min64(min64(w->products, ROOM_MOST), s->budget / product_bytes));
    int err;
    while ((err = alloc_buffers(t, w, key_bytes)) == ERR_MEMORY && w->room > ROOM_LEAST) {
        fail_drop();
        w->room /= 2;
    }
    if (!err) err = make_chunks(t, w, chunks, count);
    if (err) return err;

    // A long row needs room for all its columns and as many new products.
    int64_t longest = 0;
    for (int64_t c = 0; c < *count; c++)
        longest = max64(longest, (*chunks)[c].end - (*chunks)[c].begin);
    const int64_t need = min64(min64(longest, 2 * (int64_t)t->S[0]->n), ROOM_MOST);
    if (need <= w->room) return OK;
    free_buffers(t->dev, w);
    w->room = need;
    return alloc_buffers(t, w, key_bytes);
}

#endif
