// SpGEMM, C = A * S, with hash tables: the two phases of the GPU kernel, one thread for each row.
// Yusuke Nagasaka, Akira Nukada, Satoshi Matsuoka: High-performance and Memory-saving Sparse
// General Matrix-Matrix Multiplication for NVIDIA Pascal GPU, ICPP 2017, section III.
//
// Format: CSR. Phases:
//   analyse   counts the products of each row
//   symbolic  inserts a row's products into a table of columns, sized by their count, which gives
//             the row's nonzeros
//   numeric   adds up values beside the columns, in a table sized by the row's nonzeros, and sorts
//             the entries by column
// Tables have 2^b slots, are probed linearly, and hold one row. A thread has one block of memory
// for the tables of all its rows and uses as much as a row needs. Tables of small rows so stay in
// the L1 cache. On the GPU, they are in shared memory, and rows of similar size form bins.
//
// Threads take shares of equal work, so that a long row does not delay many others.
#include "cpu.h"
#include "papers.h"
#include "base/sort.h"
#include "spgemm/cuda_options.h"
#include "spgemm/result.h"

#include <omp.h>

struct scratch {
    int threads;
    int64_t shares;   // number of shares of all rows
    int64_t *work;    // products and rows before each row, size m + 1
    int64_t products; // products of the row with most
    int64_t longest;  // nonzeros of the longest row of C
    int64_t key_room; // slots of a thread's block of columns
    int64_t sum_room; // and of its block of sums
    int32_t *keys;    // columns, -1: free, threads x key_room
    void *sums;       // their values, threads x sum_room
    uint64_t *list;   // columns and slots of the row under way, threads x 2 longest
    int64_t slots;    // option
    int64_t ahead;    // option
};

struct state {      // options
    int64_t slots;  // least slots of a table per nonzero of the row
    int64_t ahead;  // distance of the prefetch of rows of S, in nonzeros of A
    int64_t shares; // shares of each thread
};

// A table of 2^bits slots.
struct table {
    int32_t *keys;
    int bits;
};

// 32 bits are a slot for every column there can be.
static int table_bits(int64_t entries)
{
    int bits = 0;
    while (bits < 32 && ((int64_t)1 << bits) < entries) bits++;
    return bits;
}

static struct table table_open(int32_t *keys, int64_t entries)
{
    struct table h = {keys, table_bits(entries)};
    memset(keys, 0xff, sizeof *keys << h.bits);
    return h;
}

// The slot of column j, or the free one that it belongs in. The paper takes the low bits of j times
// a constant, and columns that are multiples of the table's size all meet there; the high bits of a
// product with 2^32 / golden ratio spread them, too.
CPU_INLINE uint32_t table_find(struct table h, int32_t j)
{
    uint32_t last = (uint32_t)(((uint64_t)1 << h.bits) - 1);
    uint32_t slot = (uint32_t)((uint64_t)((uint32_t)j * 2654435769u) >> (32 - h.bits));
    while (h.keys[slot] != j && h.keys[slot] >= 0) slot = (slot + 1) & last;
    return slot;
}

static int64_t row_products(const struct csr_dev *A, const struct csr_dev *S, int64_t i)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    int64_t products = 0;
    for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++)
        products += S_ptr[A->idx[p] + 1] - S_ptr[A->idx[p]];
    return products;
}

// The first row of a share.
static int32_t share_start(const struct scratch *w, int32_t m, int64_t share)
{
    int64_t total = w->work[m], each = total / w->shares, rest = total % w->shares;
    int64_t wanted = share * each + min64(share, rest);
    int32_t low = 0, high = m;
    while (low < high) {
        int32_t i = low + (high - low) / 2;
        if (w->work[i] < wanted) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return low;
}

// Prefetches for the nonzeros after p: first the start of a row of S, later the row itself.
CPU_INLINE void fetch_ahead(const struct csr_dev *A, const struct csr_dev *S, int64_t p,
                            int64_t ahead, const char *S_val, int64_t width)
{
    const int64_t *S_ptr = S->ptr;
    int64_t last = A->nnz - 1;
    if (!ahead) return;
    __builtin_prefetch(S_ptr + A->idx[min64(p + 2 * ahead, last)]);
    int64_t q = S_ptr[A->idx[min64(p + ahead, last)]];
    __builtin_prefetch(S->idx + q);
    if (width) __builtin_prefetch(S_val + q * width);
    if (width == 8) __builtin_prefetch(S_val + q * width + 64);
}

static int64_t count_row(const struct csr_dev *A, const struct csr_dev *S, int32_t i,
                         int64_t entries, int64_t ahead, int32_t *keys)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    struct table h = table_open(keys, entries);
    int64_t count = 0;
    for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++) {
        int32_t l = A->idx[p];
        fetch_ahead(A, S, p, ahead, NULL, 0);
        for (int64_t q = S_ptr[l]; q < S_ptr[l + 1]; q++) {
            int32_t j = S->idx[q];
            uint32_t slot = table_find(h, j);
            count += keys[slot] < 0;
            keys[slot] = j;
        }
    }
    return count;
}

#define BODY "spgemm/hash/hash.inl"
#include "each_prec.inl"

static int analyse(struct task *t, struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    int32_t m = A->m;
    int err = device_alloc(t->dev, (int64_t)m + 1, sizeof *w->work, (void **)&w->work);
    if (err) return err;
    int64_t most = 0;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 1024) reduction(max : most)
    for (int32_t i = 0; i < m; i++) {
        int64_t products = row_products(A, S, i);
        w->work[i + 1] = products + 1;
        most = max64(most, products);
    }
    w->work[0] = 0;
    for (int32_t i = 0; i < m; i++) w->work[i + 1] += w->work[i];
    w->products = most;
    w->key_room = (int64_t)1 << table_bits(w->slots * min64(most, S->n));
    return device_alloc(t->dev, w->threads * w->key_room, sizeof *w->keys, (void **)&w->keys);
}

static int symbolic(struct task *t, struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    int err = result_begin(t, sizeof(int64_t), &t->R);
    if (err) return err;
    int64_t *count = t->R.ptr;
    int32_t m = A->m;
#pragma omp parallel for num_threads(w->threads) schedule(dynamic, 1)
    for (int64_t share = 0; share < w->shares; share++) {
        int32_t *keys = w->keys + omp_get_thread_num() * w->key_room;
        int32_t end = share_start(w, m, share + 1);
        for (int32_t i = share_start(w, m, share); i < end; i++)
            count[i + 1] = count_row(
                A, S, i, w->slots * min64(w->work[i + 1] - w->work[i] - 1, S->n), w->ahead, keys);
    }
    return OK;
}

// The tables of the numeric phase have fewer slots than those of the symbolic one, or more.
static int make_tables(struct task *t, struct scratch *w)
{
    w->sum_room = (int64_t)1 << table_bits(w->slots * w->longest);
    int err = OK;
    if (w->sum_room > w->key_room) {
        device_free(t->dev, w->keys);
        w->keys = NULL;
        w->key_room = w->sum_room;
        err = device_alloc(t->dev, w->threads * w->key_room, sizeof *w->keys, (void **)&w->keys);
    }
    if (!err) err = device_alloc(t->dev, w->threads * w->sum_room, in_bytes(t), &w->sums);
    if (!err)
        err = device_alloc(t->dev, w->threads * 2 * w->longest, sizeof *w->list, (void **)&w->list);
    return err;
}

static int run(struct task *t)
{
    const struct state *s = t->state;
    struct scratch w = {.threads = omp_get_max_threads(), .slots = s->slots, .ahead = s->ahead};
    w.shares = w.threads * s->shares;
    int err = task_phase(t, "analyse");
    if (!err) err = analyse(t, &w);
    if (!err) err = task_phase(t, "symbolic");
    if (!err) err = symbolic(t, &w);
    if (!err) err = task_phase(t, "allocate");
    if (!err) err = result_sum_rows(t->dev, &t->R, &w.longest);
    if (!err) err = task_phase(t, "numeric");
    if (!err) err = make_tables(t, &w);
    if (!err) BY_PREC(t, numeric, t, &w);
    device_free(t->dev, w.work);
    device_free(t->dev, w.keys);
    device_free(t->dev, w.sums);
    device_free(t->dev, w.list);
    return err;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    s->slots = (int64_t)task_option(t, "slots");
    s->ahead = (int64_t)task_option(t, "prefetch");
    s->shares = (int64_t)task_option(t, "shares");
    return OK;
}

static const struct algo_option options[] = {
    {"slots", 4, 1, 64, true, "slots of a table for each nonzero of the row, at least"},
    {"prefetch", 8, 0, 1024, true, "nonzeros that rows of the second factor are fetched ahead"},
    {"shares", 64, 1, 1024, true, "shares for each thread"},
    {0},
};

const struct algo spgemm_hash_cpu = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = NAGASAKA_2017,
    .differs =
        "This version runs on CPUs: a thread computes a row, there are no bins of rows, and the "
        "entries of a table "
        "are sorted by radix. Tables are probed from the high bits of a product on, not the low "
        "ones.",
    ALGO_FUNCTIONS(prepare, run, task_free_state),
};

// The kernels for CUDA are in hash.cu.
DECLARE_FUNCTIONS(spgemm_hash_cuda);

static const struct algo_option cuda_options[] = {STREAMS_OPTION, POOL_OPTION, {0}};

const struct algo spgemm_hash_cuda = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .options = cuda_options,
    .cite = NAGASAKA_2017,
    .differs =
        "Columns of rows of up to 16 nonzeros are sorted by comparing all with all, as in the "
        "paper. Longer rows are sorted by a bitmap if their range of columns is short. Other rows "
        "of more than 128 nonzeros are sorted by buckets, or bitonically if a bucket is too full. "
        "Tables in global memory are sorted as a whole, come from a pool of bounded size, and "
        "several blocks fill each.",
    FUNCTIONS_OF(spgemm_hash_cuda),
};
