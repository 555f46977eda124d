// SpGEMM by expansion, sorting and compression (ESC), C = A * S.
// Nathan Bell, Steven Dalton, Luke Olson: Exposing Fine-Grained Parallelism in Algebraic Multigrid
// Methods, SIAM J. Sci. Comput. 34(4), 2012; the CUSP baseline of Nagasaka et al.
//
// Format: CSR. Three steps:
//   expand    writes all products, each with row and column as one key
//   sort      by key: CUB's radix sort over as many bits as the keys have
//   compress  adds up neighbours of equal key
// The sort is stable and all sums have a fixed order: the same chunks give the same bits.
//
// Files, in reading order:
// kernels.cuh     the kernels of the steps; each block has an equal share of the products
// device/cub.cuh  the sort
// chunks.cuh      the chunks
// this file       runs the steps for each chunk, or long row, and gathers C
//
// The products are made in chunks of whole rows that fill a budget of memory. Each chunk writes its
// rows of C to arrays of exact size. After the last chunk the sort buffers are freed and the arrays
// are copied to C, first all columns, then all values. So the peak is C and one of its arrays more.
// The alternatives need more: the number of products is the only bound for nnz(C) that is known
// beforehand, and counting first means sorting twice. A row with more products than a chunk holds
// is made in several passes. Each pass sorts and compresses the sums so far and the next products.
//
// Limits: the sort. H200, fem:28, f64: its four passes take 13.8 of 19 ms.
#include "chunks.cuh"
#include "spgemm/result.h"

// A chunk takes at most 1 / BUDGET_SHARE of the free memory.
#define BUDGET_SHARE 4

// Expands products [begin, begin + count) behind the first `offset`, sorts all of them, and counts
// the different keys.
template <typename T, typename K>
static int expand_and_sort(struct task *t, struct work *w, int64_t begin, int32_t count,
                           int32_t row0, int row_bits, int32_t offset, int64_t *nnz)
{
    struct device *d = t->dev;
    K *key[2] = {(K *)w->key[0], (K *)w->key[1]};
    T *val[2] = {(T *)w->val[0], (T *)w->val[1]};
    const int32_t shares = (int32_t)ceil_div(count, SHARE), all = offset + count;
    const int32_t all_shares = (int32_t)ceil_div(all, SHARE);
    int err = task_phase(t, "expand");
    if (err) return err;
    LAUNCH(find_limits, blocks_of(shares + 1), BLOCK, 0, d->stream, w->f, begin, count, shares,
           w->limits);
    auto kernel = expand<T, K>;
    LAUNCH(kernel, (unsigned)shares, BLOCK, 0, d->stream, w->f, (const T *)csr_of(t->A[0])->val,
           (const T *)csr_of(t->S[0])->val, begin, count, row0, w->col_bits, w->limits,
           key[0] + offset, val[0] + offset);
    err = launch_check("esc: expand");
    if (!err) err = task_phase(t, "sort");
    if (!err) err = cub_sort_pairs(d, key, val, all, 0, row_bits + w->col_bits);
    if (err) return err;
    for (int i = 0; i < 2; i++) w->key[i] = key[i], w->val[i] = val[i];
    err = task_phase(t, "compress");
    if (err) return err;
    auto kernel_heads = count_heads<K>;
    LAUNCH(kernel_heads, (unsigned)all_shares, BLOCK, 0, d->stream, all, key[0], w->heads);
    err = launch_check("esc: count");
    if (!err) err = cub_exclusive_sum(d, w->heads, all_shares, w->base);
    return err ? err : read_count(t, w->base + all_shares, nnz);
}

template <typename T, typename K>
static int start_compress(struct task *t, struct work *w, int32_t count, int32_t row0,
                          struct target<T> out)
{
    const int32_t shares = (int32_t)ceil_div(count, SHARE);
    auto kernel = compress<T, K>;
    LAUNCH(kernel, (unsigned)shares, BLOCK, 0, t->dev->stream, count, (const K *)w->key[0],
           (const T *)w->val[0], w->base, row0, w->col_bits, out);
    auto kernel_carries = add_carries<T>;
    LAUNCH(kernel_carries, blocks_of((int64_t)shares * WARP), BLOCK, 0, t->dev->stream, shares,
           w->base, out);
    return launch_check("esc: compress");
}

// Compresses the products in the buffers to a new part of C.
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

// Computes a row with more products than the buffers hold. Its keys are columns. The sums so far go
// to the other buffer.
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
    const int row_bits = cub_key_bits(c->rows);
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

// Concatenates array `a` of all parts, and frees the parts' arrays.
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
    w->col_bits = cub_key_bits(t->S[0]->n);
    err = result_begin(t, w->products > INT32_MAX ? 8 : 4, &w->R);
    if (!err && w->products) err = plan(t, w, chunks, &count);
    if (err) return err;
    w->parts = (struct part *)mem_zero_alloc(count, sizeof *w->parts);
    if (!w->parts) return ERR_MEMORY;
    for (int64_t c = 0; c < count && !err; c++) err = BY_PREC(t, do_chunk, t, w, &(*chunks)[c]);
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
    if (!err) err = gather(d, w, 1, in_bytes(t), &w->R.val);
    return err;
}

extern "C" int spgemm_esc_cuda_run(struct task *t)
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
    if (w.R.format) t->R = w.R; // the caller frees C, also after an error
    return err;
}

// Sets *budget to option `memory`, limited to a part of the free memory. Memory that CUDA's pool
// keeps is given back first, so that it counts as free.
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

extern "C" int spgemm_esc_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    t->state = s;
    if (!s) return ERR_MEMORY;
    CUDA_TRY(cudaMallocHost((void **)&s->count, sizeof *s->count));
    return choose_budget(t, &s->budget);
}

extern "C" void spgemm_esc_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (!s) return;
    cudaFreeHost(s->count);
    mem_free(s);
    t->state = NULL;
}
