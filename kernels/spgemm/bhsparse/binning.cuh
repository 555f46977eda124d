// Stages 1 and 2 of `bhsparse`: products of each row of C, bins by products, and places in C~.
//
// C~ is the intermediate matrix: a place for each row of C, in the order of the bins. The host puts
// the rows into bins. Rows of a bin take the same kernel.
#ifndef SPGEMM_BHSPARSE_BINNING_H
#define SPGEMM_BHSPARSE_BINNING_H

#include "spgemm/hash_table.cuh"

// The 38 bins of the paper: 0, 1, each number of products up to 32; up to 64, 128, 256, 512; more.
#define HEAP_MOST    32
#define BITONIC_MOST 512
#define BIN_BITONIC  (HEAP_MOST + 1)
#define BIN_MERGE    (BIN_BITONIC + 4)
#define BINS         (BIN_MERGE + 1)
#define MERGE_PLACE  256 // entries of C~ for a row of the last bin at first
#define BLOCK        256

// A row of the last bin.
struct long_row {
    int64_t from, at; // first entry in C~ of the list so far, and of the list that is made
    int32_t row;
    int32_t length; // of the list
    int32_t a;      // nonzeros of the row of A that are done; -1: the row of C is complete
    uint32_t k;     // entries of the next row of S that are done
};

// State between runs: arrays in pinned memory.
struct state {
    int64_t *at;       // place in C~ of each of `rows`, size m
    int32_t *rows;     // rows of C in the order of bins, size m
    int32_t *products; // by row of C, size m
    int64_t *nnz;      // nonzeros of C
};

// State of a run. Pointers are to the device's memory unless noted.
struct work {
    int32_t *length;         // by row of C: its products, then its nonzeros, size m
    int32_t *rows;           // copy of struct state, size m
    int64_t *at;             // copy of struct state, size m
    int32_t first[BINS + 1]; // rows of bin b: rows[first[b]] to rows[first[b + 1]] exclusive
    int64_t products;        // of all rows
    int64_t size;            // entries of C~
    int32_t *idx;            // C~, size `size`
    void *val;
    struct long_row *queue;   // rows of the last bin
    struct long_row *waiting; // copy on the host
    int launches;             // launches for rows of the last bin
    int by_host;              // arrays of C~ that grew through host memory
};

// Rows of a bin, and where C~ has them.
template <typename T> struct bin {
    const int32_t *rows;
    const int64_t *at;
    int32_t count;
    int32_t *length; // of all rows of C
    int32_t *idx;    // C~
    T *val;
};

// Returns the rows of bins [b, end).
template <typename T> static bin<T> bins_of(const struct work *w, int b, int end)
{
    return {w->rows + w->first[b],
            w->at + w->first[b],
            w->first[end] - w->first[b],
            w->length,
            w->idx,
            (T *)w->val};
}

static unsigned blocks_of(int64_t threads, int block) { return (unsigned)ceil_div(threads, block); }

// Stage 1. Sets products[i] to the number of products of row i. A thread takes a row.
static __global__ __launch_bounds__(BLOCK) void count_products(factors<float> x,
                                                               int32_t *__restrict__ products)
{
    const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= x.m) return;
    int32_t sum = 0;
    for (int32_t p = x.A_ptr[i]; p < x.A_ptr[i + 1]; p++) {
        const int32_t l = x.A_idx[p];
        sum += x.S_ptr[l + 1] - x.S_ptr[l];
    }
    products[i] = sum;
}

static int bin_of(int32_t products)
{
    if (products <= HEAP_MOST) return products;
    int b = BIN_BITONIC;
    while (b < BIN_MERGE && products > 2 * HEAP_MOST << (b - BIN_BITONIC)) b++;
    return b;
}

// Stage 2, on the host. Sorts the rows by bin and sets the place of each row in C~.
static void make_bins(const struct state *s, int32_t m, struct work *w)
{
    int32_t next[BINS];
    memset(w->first, 0, sizeof w->first);
    for (int32_t i = 0; i < m; i++) {
        w->first[bin_of(s->products[i]) + 1]++;
        w->products += s->products[i];
    }
    for (int b = 0; b < BINS; b++) {
        next[b] = w->first[b];
        w->first[b + 1] += w->first[b];
    }
    for (int32_t i = 0; i < m; i++) s->rows[next[bin_of(s->products[i])]++] = i;
    for (int32_t r = 0; r < m; r++) {
        const int32_t products = s->products[s->rows[r]];
        s->at[r] = w->size;
        w->size += products <= BITONIC_MOST ? products : MERGE_PLACE;
    }
}

// Counts products, makes the bins, and allocates C~.
static int bin_rows(struct task *t, struct work *w)
{
    struct device *d = t->dev;
    const struct state *s = (const struct state *)t->state;
    const factors<float> x = factors_of<float>(t);
    int err = task_phase(t, "analyse");
    if (!err) err = device_alloc(d, x.m, sizeof *w->at, (void **)&w->at);
    if (!err) err = device_alloc(d, x.m, sizeof *w->rows, (void **)&w->rows);
    if (!err) err = device_alloc(d, x.m, sizeof *w->length, (void **)&w->length);
    if (err) return err;
    if (x.m) LAUNCH(count_products, blocks_of(x.m, BLOCK), BLOCK, 0, d->stream, x, w->length);
    err = launch_check("bhsparse: products");
    if (!err) err = device_download(d, s->products, w->length, x.m * (int64_t)sizeof *w->length);
    if (!err) err = task_phase(t, "bins");
    if (err) return err;
    make_bins(s, x.m, w);
    err = device_upload(d, w->rows, s->rows, x.m * (int64_t)sizeof *w->rows);
    if (!err) err = device_upload(d, w->at, s->at, x.m * (int64_t)sizeof *w->at);
    if (!err) err = task_phase(t, "allocate");
    if (!err) err = device_alloc(d, w->size, sizeof *w->idx, (void **)&w->idx);
    return err ? err : device_alloc(d, w->size, in_bytes(t), &w->val);
}

#endif
