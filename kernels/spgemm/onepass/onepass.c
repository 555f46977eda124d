// SpGEMM, C = A * S, row by row, each product computed once: our own.
//
// Format: CSR. Others pass over the products twice, to count the nonzeros of C and to compute them,
// because C must be allocated in between. Here rows are computed into buffers, and copied to their
// places once the length of all is known: a copy costs by nonzeros of C, a second pass by products.
// The buffers take as much memory as C, and more where rows far longer than a block of them have
// many products at the same columns.
//
// Analyse: the products of each row; threads take shares of equal work. Multiply: a row at a time,
// in the way that is cheapest for it (a row's products are summed in the same order in all):
//   scaled   one nonzero of A: a row of S, times that
//   ranked   few products: each one's place is how many have a smaller column, by vectors
//   word     columns that are no further apart than a word has bits, which are marks of them
//   window   columns that lie close: a dense window, and a byte for each column as its mark
//   listed   columns far apart: a dense array for all of S's, and a list of those that are used
//   bundled  up to four rows of the same columns in A: a window of as many sums for each column
// No way sorts by comparing and branching: branches that a processor cannot foresee cost more than
// the rest of a short row. Allocate: C. Place: the buffers are copied to C. EPYC, two threads, f32,
// 27 matrices: onepass takes 0.34 of MKL's time, the two passes of gustavson 0.77.
//
// pieces.h has the rows of C until C is allocated, desk.h a thread's buffers, rows.inl the ways.
#include "cpu.h"
#include "spgemm/result.h"
#include "spgemm/onepass/desk.h"
#include "spgemm/onepass/pieces.h"

#include <omp.h>

// Shares of each thread: one that is held up leaves the rest to others.
#define SHARES 16
// Work, in products and rows, up to which one thread does all of it.
#define ALONE 16384
// Rows whose work is summed up together.
#define CHUNK 256

static const char *const way_figures[WAYS] = {
    [SCALED] = "scaled_rows", [RANKED] = "ranked_rows", [WORD] = "word_rows",
    [WINDOW] = "window_rows", [LISTED] = "listed_rows", [BUNDLED] = "bundled_rows",
};

// The number of shares that a thread has taken. Each counter has a cache line of its own.
struct turns {
    int64_t taken;
    char rest[56];
};

struct scratch {
    int threads;
    struct turns *turns; // size threads
    int64_t shares;
    int64_t *products;  // of each row, size m
    int64_t chunks;     // of CHUNK rows
    int64_t *work;      // ahead of each chunk, in products and rows, size chunks + 1
    int64_t most;       // products of the row that has most
    int64_t rows[WAYS]; // computed in each way
    struct pieces pieces;
    struct desks desks;
};

#define BODY "spgemm/onepass/rows.inl"
#include "each_prec.inl"

// Waking the other threads takes as long as that much work.
static int threads_for(int64_t work) { return work < ALONE ? 1 : omp_get_max_threads(); }

// The products of rows [chunk * CHUNK, end of the chunk); returns the work in them.
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

// The first row of a share: the first that so much work is ahead of.
static int32_t share_start(const struct scratch *w, int32_t m, int64_t share)
{
    const int64_t total = w->work[w->chunks], each = total / w->shares, rest = total % w->shares;
    const int64_t wanted = share * each + min64(share, rest);
    int64_t low = 0, high = w->chunks; // the last chunk that does not begin later
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

// The next share for a thread, -1: none. First its own, which are the same ones in each run, so
// that it finds in its cache what it wrote there in the last one; then those that others have left.
static int64_t next_share(struct scratch *w, int thread)
{
    for (int x = 0; x < w->threads; x++) {
        const int owner = (thread + x) % w->threads;
        int64_t taken;
#pragma omp atomic capture
        taken = w->turns[owner].taken++;
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
        err = pieces_begin(&w->pieces, t->dev, prec_bytes(t->prec), w->threads, w->shares,
                           w->work[w->chunks] - m);
    if (!err && w->most > FEW)
        err = desks_make(&w->desks, t->dev, w->threads, S->n, w->most, prec_bytes(t->prec));
    if (!err) err = device_alloc(t->dev, w->threads, sizeof *w->turns, (void **)&w->turns);
    if (err) return err;
    memset(w->turns, 0, (size_t)w->threads * sizeof *w->turns);
    int64_t *length = (int64_t *)t->R.ptr + 1;
#pragma omp parallel num_threads(w->threads)
    {
        struct pen pen = {.thread = omp_get_thread_num()};
        struct desk desk = desk_open(&w->desks, pen.thread, w->pieces.width);
        for (int64_t share; (share = next_share(w, pen.thread)) >= 0;) {
            const int32_t first = share_start(w, m, share), end = share_start(w, m, share + 1);
            if (first < end) BY_PREC(t, rows, A, S, first, end, w, &desk, &pen, length);
        }
        for (int way = 0; way < WAYS; way++) {
#pragma omp atomic
            w->rows[way] += desk.rows[way];
        }
    }
    return w->pieces.err ? fail(w->pieces.err, "%s", w->pieces.why) : OK;
}

static void place_piece(const struct piece *piece, struct csr_dev *C, int64_t width)
{
    int64_t *ptr = C->ptr, sum = piece->count;
    for (int32_t i = piece->first; i < piece->end; i++) ptr[i + 1] = sum += ptr[i + 1];
    const int64_t count = sum - piece->count;
    memcpy(C->idx + piece->count, piece->idx, (size_t)count * sizeof *C->idx);
    memcpy((char *)C->val + piece->count * width, piece->val, (size_t)(count * width));
}

// Each thread copies what it computed: it has it in its cache.
static void place(struct task *t, const struct scratch *w)
{
    ((int64_t *)t->R.ptr)[0] = 0;
#pragma omp parallel num_threads(w->threads)
    for (int64_t x = 0; x < w->pieces.count; x++)
        if (w->pieces.list[x].thread % omp_get_num_threads() == omp_get_thread_num())
            place_piece(&w->pieces.list[x], &t->R, (int64_t)w->pieces.width);
}

static int run(struct task *t)
{
    struct scratch w = {0};
    int err = task_phase(t, "analyse");
    if (!err) err = analyse(t, &w);
    if (!err) err = task_phase(t, "multiply");
    if (!err) err = multiply(t, &w);
    if (!err) err = task_phase(t, "allocate");
    if (!err) t->R.nnz = pieces_order(&w.pieces);
    if (!err) err = result_alloc(t->dev, &t->R);
    if (!err) err = task_phase(t, "place");
    if (!err) place(t, &w);
    for (int way = SCALED; way < WAYS; way++) task_number(t, way_figures[way], (double)w.rows[way]);
    pieces_free(&w.pieces);
    desks_free(&w.desks, t->dev);
    device_free(t->dev, w.turns);
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
