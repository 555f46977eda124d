// SpGEMM, C = A * S, row by row, each product computed once: our own.
//
// Format: CSR. Other kernels pass over the products twice, to count the nonzeros of C and to
// compute them, because C must be allocated in between. This kernel computes rows into buffers, and
// copies them to C once all lengths are known. A copy costs time per nonzero of C, a second pass
// per product. The buffers take as much memory as C. They take more if rows much longer than a
// block of the buffers have many products at the same columns.
//
// Phases:
//   analyse   counts the products of each row; threads take shares of equal work
//   multiply  computes a row at a time, by the cheapest method of the table below
//   allocate  allocates C
//   place     copies the buffers to C
//
// Methods, all of which add up a row's products in the same order:
//   scaled   one nonzero of A: a row of S times the nonzero
//   ranked   few products: the position of a product is the number of smaller columns, by vectors
//   word     columns within the 64 bits of a word: one bit marks a used column
//   window   columns close together: a dense window, one byte marks a used column
//   listed   columns far apart: a dense array for all columns of S, and a list of the used columns
//   bundled  up to four rows of the same columns in A: a window with four sums for each column
// No method sorts by comparisons: mispredicted branches cost more than the rest of a short row.
// EPYC, two threads, f32, 27 matrices: onepass takes 0.34 of MKL's time, the two passes of
// gustavson 0.77.
//
// Files: extents.h stores the rows of C until C is allocated, buffers.h has the buffers of a
// thread, rows.inl the methods.
#include "cpu.h"
#include "spgemm/result.h"
#include "spgemm/onepass/buffers.h"
#include "spgemm/onepass/extents.h"

#include <omp.h>

// Shares of each thread. Other threads take the shares that a slow thread has not begun.
#define SHARES 16
// Work, in products and rows, up to which one thread computes all rows.
#define ALONE 16384
// Rows whose work is summed up together.
#define CHUNK 256

static const char *const method_stats[METHODS] = {
    [SCALED] = "scaled_rows", [RANKED] = "ranked_rows", [WORD] = "word_rows",
    [WINDOW] = "window_rows", [LISTED] = "listed_rows", [BUNDLED] = "bundled_rows",
};

// Number of shares of a thread that are taken. Each counter has a cache line of its own.
struct queue {
    int64_t taken;
    char rest[56];
};

struct scratch {
    int threads;
    struct queue *queue; // size threads
    int64_t shares;
    int64_t *products;     // products of each row, size m
    int64_t chunks;        // number of chunks of CHUNK rows
    int64_t *work;         // products and rows before each chunk, size chunks + 1
    int64_t most;          // products of the row with most
    int64_t rows[METHODS]; // rows computed by each method
    struct extents extents;
    struct thread_buffers buffers;
};

#define BODY "spgemm/onepass/rows.inl"
#include "each_kind.inl"

// Returns the number of threads for `work`. Waking threads takes as long as ALONE units of work.
static int threads_for(int64_t work) { return work < ALONE ? 1 : omp_get_max_threads(); }

// Counts the products of the rows of a chunk. Returns the work of the chunk.
static int64_t count_chunk(const struct csr_dev *A, const struct csr_dev *S, int64_t chunk,
                           struct scratch *w, int64_t *most)
{
    const int64_t *A_ptr = A->ptr, *S_ptr = S->ptr;
    const int64_t end = min64((chunk + 1) * CHUNK, A->m);
    int64_t sum = 0;
    for (int64_t i = chunk * CHUNK; i < end; i++) {
        int64_t products = 0;
        for (int64_t p = A_ptr[i]; p < A_ptr[i + 1]; p++)
            products += S_ptr[A->idx[p] + 1] - S_ptr[A->idx[p]];
        w->products[i] = products;
        *most = max64(*most, products);
        sum += products + 1;
    }
    return sum;
}

static int analyse(struct task *t, struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int64_t chunks = ((int64_t)A->m + CHUNK - 1) / CHUNK;
    int err = device_alloc(t->dev, A->m, sizeof *w->products, (void **)&w->products);
    if (!err) err = device_alloc(t->dev, chunks + 1, sizeof *w->work, (void **)&w->work);
    if (err) return err;
    const int threads = threads_for(A->m + A->nnz);
    int64_t most = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(max : most)
    for (int64_t c = 0; c < chunks; c++) w->work[c + 1] = count_chunk(A, S, c, w, &most);
    w->work[0] = 0;
    for (int64_t c = 0; c < chunks; c++) w->work[c + 1] += w->work[c];
    w->chunks = chunks;
    w->most = most;
    w->threads = threads_for(w->work[chunks]);
    w->shares = (int64_t)w->threads * SHARES;
    return OK;
}

// Returns the first row of a share: the first row that has at least the work of the shares before
// ahead of it.
static int32_t share_start(const struct scratch *w, int32_t m, int64_t share)
{
    const int64_t total = w->work[w->chunks], each = total / w->shares, rest = total % w->shares;
    const int64_t wanted = share * each + min64(share, rest);
    int64_t low = 0, high = w->chunks; // the last chunk that begins at `wanted` or before
    while (low < high) {
        const int64_t c = high - (high - low) / 2;
        if (w->work[c] <= wanted) {
            low = c;
        } else {
            high = c - 1;
        }
    }
    int64_t i = low * CHUNK;
    for (int64_t ahead = w->work[low]; i < m && ahead < wanted; i++) ahead += w->products[i] + 1;
    return (int32_t)min64(i, m);
}

// Returns the next share for a thread, -1: none. A thread takes its own shares first. They are the
// same in each run, so that the thread's cache holds their buffers. Then the thread takes shares of
// other threads.
static int64_t next_share(struct scratch *w, int thread)
{
    for (int x = 0; x < w->threads; x++) {
        const int owner = (thread + x) % w->threads;
        int64_t taken;
#pragma omp atomic capture
        taken = w->queue[owner].taken++;
        if (taken < SHARES) return owner * SHARES + taken;
    }
    return -1;
}

static int multiply(struct task *t, struct scratch *w)
{
    const struct csr_dev *A = csr_of(t->A[0]), *S = csr_of(t->S[0]);
    const int32_t m = A->m;
    int err = result_begin(t, sizeof(int64_t), &t->R);
    if (!err)
        err = extents_begin(&w->extents, t->dev, in_bytes(t), w->threads, w->shares,
                            w->work[w->chunks] - m);
    if (!err && w->most > FEW)
        err = buffers_make(&w->buffers, t->dev, w->threads, S->n, w->most, in_bytes(t));
    if (!err) err = device_alloc(t->dev, w->threads, sizeof *w->queue, (void **)&w->queue);
    if (err) return err;
    memset(w->queue, 0, (size_t)w->threads * sizeof *w->queue);
    int64_t *length = (int64_t *)t->R.ptr + 1;
#pragma omp parallel num_threads(w->threads)
    {
        struct cursor cursor = {.thread = omp_get_thread_num()};
        struct buffers buffers = buffers_of_thread(&w->buffers, cursor.thread, w->extents.width);
        for (int64_t share; (share = next_share(w, cursor.thread)) >= 0;) {
            const int32_t first = share_start(w, m, share), end = share_start(w, m, share + 1);
            if (first < end) BY_KIND(t, rows, A, S, first, end, w, &buffers, &cursor, length);
        }
        for (int method = 0; method < METHODS; method++) {
#pragma omp atomic
            w->rows[method] += buffers.rows[method];
        }
    }
    return w->extents.err ? fail(w->extents.err, "%s", w->extents.why) : OK;
}

static void place_extent(const struct extent *extent, struct csr_dev *C, int64_t width)
{
    int64_t *ptr = C->ptr, sum = extent->count;
    for (int32_t i = extent->first; i < extent->end; i++) ptr[i + 1] = sum += ptr[i + 1];
    const int64_t count = sum - extent->count;
    memcpy(C->idx + extent->count, extent->idx, (size_t)count * sizeof *C->idx);
    memcpy((char *)C->val + extent->count * width, extent->val, (size_t)(count * width));
}

// Copies the extents to C. Each thread copies the rows that it computed, as its cache holds them.
static void place(struct task *t, const struct scratch *w)
{
    ((int64_t *)t->R.ptr)[0] = 0;
#pragma omp parallel num_threads(w->threads)
    for (int64_t x = 0; x < w->extents.count; x++)
        if (w->extents.list[x].thread % omp_get_num_threads() == omp_get_thread_num())
            place_extent(&w->extents.list[x], &t->R, (int64_t)w->extents.width);
}

static int run(struct task *t)
{
    struct scratch w = {0};
    int err = task_phase(t, "analyse");
    if (!err) err = analyse(t, &w);
    if (!err) err = task_phase(t, "multiply");
    if (!err) err = multiply(t, &w);
    if (!err) err = task_phase(t, "allocate");
    if (!err) t->R.nnz = extents_order(&w.extents);
    if (!err) err = result_alloc(t->dev, &t->R);
    if (!err) err = task_phase(t, "place");
    if (!err) place(t, &w);
    for (int method = SCALED; method < METHODS; method++)
        task_number(t, method_stats[method], (double)w.rows[method]);
    extents_free(&w.extents);
    buffers_free(&w.buffers, t->dev);
    device_free(t->dev, w.queue);
    device_free(t->dev, w.products);
    device_free(t->dev, w.work);
    return err;
}

const struct algo spgemm_onepass_cpu = {
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .S = {&format_csr},
    .arith = ARITH_PREC,
    .cite = "Own work",
    .run = run,
};
