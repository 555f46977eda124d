// SpGEMM by expansion, sorting and compression (ESC), C = A * S.
// Nathan Bell, Steven Dalton, Luke Olson: Exposing Fine-Grained Parallelism in Algebraic Multigrid
// Methods, SIAM J. Sci. Comput. 34(4), 2012; the CUSP baseline of Nagasaka et al.
//
// Format: CSR. All products are written out with their row and column as one key (expand), sorted
// by it (CUB's radix sort, over as many bits as the keys have), and neighbours of equal key are
// added up (compress). The sort is stable and all sums have a fixed order: the same chunks give the
// same bits.
//
// The products are made in chunks of whole rows that fill a budget of memory. Each chunk leaves its
// part of C in arrays of exact size, and at the end, with the sort buffers gone, the parts move
// into C, all columns before all values, so that the peak is C and one of its arrays more. The
// alternatives need more: a bound for nnz(C) that is known beforehand is the number of products,
// and to count first means to sort everything twice. A row that has more products than a chunk
// holds goes through the buffers by pieces: what it has summed so far stays in front, the next
// products follow, and all that is sorted and compressed again.
#include "kernels.cuh"

#include "device/cub.cuh"

#define ROOM_MOST    (1 << 30) // products of a chunk are counted in 32 bits
#define ROOM_LEAST   (1 << 16) // where memory is short, chunks are halved down to this
#define BUDGET_SHARE 4         // a chunk takes at most this part of the memory that is free

struct state {
    int64_t budget; // bytes of the sort buffers
    int64_t *count; // one, in pinned memory
};

struct part {       // of C
    void *array[2]; // columns, values
    int64_t nnz;
};

// One product under way.
struct work {
    struct factors f;
    int col_bits;
    int64_t products, room; // in all; in a chunk
    int64_t *first;
    void *key[2], *val[2];   // room products of 64-bit keys, or of 32-bit ones where all fit
    int32_t *limits, *heads; // by tile
    int64_t *base;
    void *carry;
    struct csr_dev R;
    struct part *parts; // size part_count
    int64_t part_count;
};

static unsigned blocks_of(int64_t threads) { return (unsigned)ceil_div(threads, BLOCK); }

static int bits_of(int64_t count)
{
    int bits = 0;
    while (bits < 62 && (int64_t)1 << bits < count) bits++;
    return bits;
}

// A number that the device has just computed.
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
    int32_t *length = NULL;
    const int64_t nnz = t->A.nnz;
    int err = device_alloc(d, nnz + 1, sizeof *w->first, (void **)&w->first);
    if (!err) err = device_alloc(d, nnz, sizeof *length, (void **)&length);
    if (!err && nnz)
        LAUNCH(count_products, blocks_of(nnz), BLOCK, 0, d->stream, (int32_t)nnz, t->A.idx,
               (const int32_t *)t->S.ptr, length);
    if (!err) err = launch_check("esc");
    if (!err) err = cub_exclusive_sum(d, length, nnz, w->first);
    device_free(d, length);
    if (!err) err = read_count(t, w->first + nnz, &w->products);
    w->f = {t->A.m,   (int32_t)nnz, (const int32_t *)t->A.ptr, t->A.idx, (const int32_t *)t->S.ptr,
            t->S.idx, w->first};
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
    const size_t width = prec_bytes(t->in->prec);
    const int64_t tiles = ceil_div(w->room, TILE);
    int err = OK;
    for (int i = 0; i < 2; i++) {
        if (!err) err = device_alloc(d, w->room, key_bytes, &w->key[i]);
        if (!err) err = device_alloc(d, w->room, width, &w->val[i]);
    }
    if (!err) err = device_alloc(d, 2 * (tiles + 1), sizeof(int32_t), (void **)&w->limits);
    if (!err) err = device_alloc(d, tiles, sizeof(int32_t), (void **)&w->heads);
    if (!err) err = device_alloc(d, tiles + 1, sizeof(int64_t), (void **)&w->base);
    if (!err) err = device_alloc(d, tiles, width, &w->carry);
    if (err) free_buffers(d, w);
    return err;
}

// Cuts the rows into chunks that fit; *chunks is on the host.
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

// Decides how many products a chunk has, allocates its buffers, and cuts. Where memory is shorter
// than it was in prepare(), chunks are halved.
static int plan(struct task *t, struct work *w, struct chunk **chunks, int64_t *count)
{
    const struct state *s = (const struct state *)t->state;
    const size_t key_bytes = bits_of(w->f.m) + w->col_bits <= 32 ? 4 : 8;
    const int64_t product_bytes = 2 * (int64_t)(key_bytes + prec_bytes(t->in->prec));
    w->room = max64(1, min64(min64(w->products, ROOM_MOST), s->budget / product_bytes));
    int err;
    while ((err = alloc_buffers(t, w, key_bytes)) == ERR_MEMORY && w->room > ROOM_LEAST)
        w->room /= 2;
    if (!err) err = make_chunks(t, w, chunks, count);
    if (err) return err;

    // A long row needs room for all its columns and as many new products.
    int64_t longest = 0;
    for (int64_t c = 0; c < *count; c++)
        longest = max64(longest, (*chunks)[c].end - (*chunks)[c].begin);
    const int64_t need = min64(min64(longest, 2 * (int64_t)t->S.n), ROOM_MOST);
    if (need <= w->room) return OK;
    free_buffers(t->dev, w);
    w->room = need;
    return alloc_buffers(t, w, key_bytes);
}

// Expands products [begin, begin + count) behind the first `offset`, sorts all of them, and counts
// the different keys.
template <typename T, typename K>
static int expand_and_sort(struct task *t, struct work *w, int64_t begin, int32_t count,
                           int32_t row0, int row_bits, int32_t offset, int64_t *nnz)
{
    struct device *d = t->dev;
    K *key[2] = {(K *)w->key[0], (K *)w->key[1]};
    T *val[2] = {(T *)w->val[0], (T *)w->val[1]};
    const int32_t tiles = (int32_t)ceil_div(count, TILE), all = offset + count;
    const int32_t all_tiles = (int32_t)ceil_div(all, TILE);
    int err = task_phase(t, "expand");
    if (err) return err;
    LAUNCH(find_limits, blocks_of(tiles + 1), BLOCK, 0, d->stream, w->f, begin, count, tiles,
           w->limits);
    auto kernel = expand<T, K>;
    LAUNCH(kernel, (unsigned)tiles, BLOCK, 0, d->stream, w->f, (const T *)t->A.val,
           (const T *)t->S.val, begin, count, row0, w->col_bits, w->limits, key[0] + offset,
           val[0] + offset);
    err = launch_check("esc: expand");
    if (!err) err = task_phase(t, "sort");
    if (!err) err = cub_sort_pairs(d, key, val, all, 0, row_bits + w->col_bits);
    if (err) return err;
    for (int i = 0; i < 2; i++) w->key[i] = key[i], w->val[i] = val[i];
    err = task_phase(t, "compress");
    if (err) return err;
    auto kernel_heads = count_heads<K>;
    LAUNCH(kernel_heads, (unsigned)all_tiles, BLOCK, 0, d->stream, all, key[0], w->heads);
    err = launch_check("esc: count");
    if (!err) err = cub_exclusive_sum(d, w->heads, all_tiles, w->base);
    return err ? err : read_count(t, w->base + all_tiles, nnz);
}

template <typename T, typename K>
static int start_compress(struct task *t, struct work *w, int32_t count, int32_t row0,
                          struct target<T> out)
{
    const int32_t tiles = (int32_t)ceil_div(count, TILE);
    auto kernel = compress<T, K>;
    LAUNCH(kernel, (unsigned)tiles, BLOCK, 0, t->dev->stream, count, (const K *)w->key[0],
           (const T *)w->val[0], w->base, row0, w->col_bits, out);
    auto kernel_carries = add_carries<T>;
    LAUNCH(kernel_carries, blocks_of((int64_t)tiles * WARP), BLOCK, 0, t->dev->stream, tiles,
           w->base, out);
    return launch_check("esc: compress");
}

// Compresses what is in the buffers into a new part of C.
template <typename T, typename K>
static int make_part(struct task *t, struct work *w, int32_t count, int32_t row0, int64_t nnz)
{
    struct part *part = &w->parts[w->part_count++];
    int err = task_phase(t, "allocate");
    if (!err) err = device_alloc(t->dev, nnz, sizeof(int32_t), &part->array[0]);
    if (!err) err = device_alloc(t->dev, nnz, sizeof(T), &part->array[1]);
    if (!err) err = task_phase(t, "compress");
    if (err) return err;
    const struct row_starts starts = {w->R.ptr, w->R.ptr_bytes};
    err = start_compress<T, K>(
        t, w, count, row0,
        {(int32_t *)part->array[0], (T *)part->array[1], (T *)w->carry, starts, w->R.nnz});
    part->nnz = nnz;
    w->R.nnz += nnz;
    return err;
}

// A row that has more products than the buffers hold. Its keys are columns, and so is the result so
// far, which goes into the other buffer.
template <typename T> static int do_long_row(struct task *t, struct work *w, const struct chunk *c)
{
    int64_t nnz = 0;
    for (int64_t q = c->begin; q < c->end;) {
        const int64_t offset = nnz, take = min64(w->room - offset, c->end - q);
        if (take <= 0)
            return fail(ERR_MEMORY, "esc: row %d of C has more than %lld nonzeros", c->row,
                        (long long)w->room);
        int err =
            expand_and_sort<T, uint32_t>(t, w, q, (int32_t)take, c->row, 0, (int32_t)offset, &nnz);
        if (err) return err;
        const int32_t all = (int32_t)(offset + take);
        q += take;
        if (q == c->end) return make_part<T, uint32_t>(t, w, all, c->row, nnz);
        err = start_compress<T, uint32_t>(
            t, w, all, c->row, {(int32_t *)w->key[1], (T *)w->val[1], (T *)w->carry, {NULL, 0}, 0});
        if (err) return err;
        void *key = w->key[0], *val = w->val[0];
        w->key[0] = w->key[1], w->val[0] = w->val[1];
        w->key[1] = key, w->val[1] = val;
    }
    return OK;
}

template <typename T> static int do_chunk(struct task *t, struct work *w, const struct chunk *c)
{
    const int32_t count = (int32_t)min64(c->end - c->begin, ROOM_MOST);
    const int row_bits = bits_of(c->rows);
    int64_t nnz;
    if (c->end == c->begin) return OK;
    if (c->end - c->begin > w->room) return do_long_row<T>(t, w, c);
    if (row_bits + w->col_bits <= 32) {
        int err = expand_and_sort<T, uint32_t>(t, w, c->begin, count, c->row, row_bits, 0, &nnz);
        return err ? err : make_part<T, uint32_t>(t, w, count, c->row, nnz);
    }
    int err = expand_and_sort<T, uint64_t>(t, w, c->begin, count, c->row, row_bits, 0, &nnz);
    return err ? err : make_part<T, uint64_t>(t, w, count, c->row, nnz);
}

// Moves array `a` of all parts behind each other, and frees the parts' own.
static int gather(struct device *d, struct work *w, int a, size_t width, void **to)
{
    if (w->part_count == 1) {
        *to = w->parts[0].array[a];
        w->parts[0].array[a] = NULL;
        return OK;
    }
    int err = device_alloc(d, w->R.nnz, width, to);
    if (err) return err;
    char *at = (char *)*to;
    for (int64_t i = 0; i < w->part_count; i++) {
        struct part *part = &w->parts[i];
        const size_t bytes = (size_t)part->nnz * width;
        CUDA_TRY(cudaMemcpyAsync(at, part->array[a], bytes, cudaMemcpyDeviceToDevice,
                                 (cudaStream_t)d->stream));
        at += bytes;
        device_free(d, part->array[a]);
        part->array[a] = NULL;
    }
    return OK;
}

static int multiply(struct task *t, struct work *w, struct chunk **chunks)
{
    struct device *d = t->dev;
    int64_t count = 0;
    int err = task_phase(t, "analyse");
    if (!err) err = scan_products(t, w);
    if (err) return err;
    w->R.m = t->A.m, w->R.n = t->S.n;
    w->R.ptr_bytes = w->products > INT32_MAX ? 8 : 4;
    w->col_bits = bits_of(t->S.n);
    err = device_alloc(d, (int64_t)w->R.m + 1, (size_t)w->R.ptr_bytes, &w->R.ptr);
    if (!err && w->products) err = plan(t, w, chunks, &count);
    if (err) return err;
    w->parts = (struct part *)mem_zero_alloc(count, sizeof *w->parts);
    if (!w->parts) return ERR_MEMORY;
    for (int64_t c = 0; c < count && !err; c++)
        err = t->in->prec == F32 ? do_chunk<float>(t, w, &(*chunks)[c])
                                 : do_chunk<double>(t, w, &(*chunks)[c]);
    if (err) return err;
    const struct row_starts starts = {w->R.ptr, w->R.ptr_bytes};
    LAUNCH(start_empty_rows, blocks_of((int64_t)w->f.m + 1), BLOCK, 0, d->stream, w->f, w->R.nnz,
           starts);
    err = launch_check("esc: rows");
    if (err) return err;
    task_number(t, "chunks", (double)count);
    task_number(t, "chunk_products", (double)w->room);
    free_buffers(d, w);
    device_free(d, w->first);
    w->first = NULL;
    err = task_phase(t, "gather");
    if (!err) err = gather(d, w, 0, sizeof *w->R.idx, (void **)&w->R.idx);
    if (!err) err = gather(d, w, 1, prec_bytes(t->in->prec), &w->R.val);
    return err;
}

static int run(struct task *t)
{
    struct device *d = t->dev;
    struct work w = {};
    struct chunk *chunks = NULL;
    int err = multiply(t, &w, &chunks);
    free_buffers(d, &w);
    device_free(d, w.first);
    for (int64_t i = 0; i < w.part_count; i++) {
        device_free(d, w.parts[i].array[0]);
        device_free(d, w.parts[i].array[1]);
    }
    mem_free(w.parts);
    mem_free(chunks);
    t->R = w.R; // the caller frees it, also after an error
    return err;
}

// What the option allows, but no more than a part of what is free. What the pool keeps for later is
// free, too: it is given back first.
static int choose_budget(struct task *t, int64_t *budget)
{
    cudaMemPool_t pool;
    size_t free_bytes, total_bytes;
    int err = device_sync(t->dev);
    if (err) return err;
    CUDA_TRY(cudaDeviceGetDefaultMemPool(&pool, t->dev->index));
    CUDA_TRY(cudaMemPoolTrimTo(pool, 0));
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    const int64_t wanted = (int64_t)(task_option(t, "memory") * (1 << 20));
    *budget = min64(wanted, (int64_t)free_bytes / BUDGET_SHARE);
    return OK;
}

static int prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    CUDA_TRY(cudaMallocHost((void **)&s->count, sizeof *s->count));
    return choose_budget(t, &s->budget);
}

static void teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    cudaFreeHost(s->count);
    mem_free(s);
    t->state = NULL;
}

static const struct algo_option options[] = {
    {"memory", 4096, 0.001, 1 << 20, false,
     "MB for the products of a chunk, at most a quarter of what is free"},
    {},
};

extern const struct algo spgemm_esc_cuda = {
    .name = "esc",
    .op = OP_SPGEMM,
    .device = DEVICE_CUDA,
    .layouts = BIT(LAYOUT_ROW),
    .precs = BOTH_PRECS,
    .formats = FORMAT_CSR,
    .arith = ARITH_PREC,
    .options = options,
    .about =
        "all products written out, radix-sorted by row and column, and added up; deterministic",
    .cite = "Bell, Dalton, Olson: Exposing Fine-Grained Parallelism in Algebraic Multigrid "
            "Methods, SIAM J. Sci. Comput. 34(4), 2012",
    .prepare = prepare,
    .run = run,
    .teardown = teardown,
};
