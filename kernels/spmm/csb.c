// SpMM on compressed sparse blocks (CSB), C = A * B, row-major.
// Aydin Buluc, Jeremy T. Fineman, Matteo Frigo, John R. Gilbert, Charles E. Leiserson: Parallel
// Sparse Matrix-Vector and Matrix-Transpose-Vector Multiplication Using Compressed Sparse Blocks,
// SPAA 2009. Several vectors: H. Metin Aktulga, Aydin Buluc, Samuel Williams, Chao Yang: Optimizing
// Sparse Matrix-Multiple Vectors Multiplication for Nuclear Configuration Interaction Calculations,
// IPDPS 2014. A baseline of Hong et al., PPoPP 2019.
//
// SPAA 2009                                 here
// CSB_SpMV: block rows in parallel          multiply()
// CSB_SpMV: chunks of a block row           plan_chunks()
// CSB_BlockRowV: halves, a temporary        block_row()
// CSB_BlockRowV: blocks one after another   chunk()
// CSB_BlockV: quadrants of a block          block()
//
// Format: csb, see formats/csb.h. Any k. A task computes a block row. Block rows with many
// nonzeros are cut into chunks, some neighbouring blocks each. A chunk of one block is cut into
// quadrants, of which two at a time have no rows in common. All chunks of a block row but the first
// have temporaries, which prepare() allocates. The order of additions is the same in every run.
#include "cpu.h"
#include "formats/csb.h"

#define SLACKNESS 8 // least block rows per thread (the authors' code)

struct state {
    int64_t *first; // first chunk of each block row, size block_rows + 1
    int64_t *start; // first block of each chunk, size first[block_rows] + 1
    void *sums;     // temporaries, beta * k values each
    int64_t most;   // most nonzeros that one task computes, if a chunk or a block has several tasks
};

// Returns the first nonzero of [p, end) whose place has this bit. The nonzeros with the bit are the
// last ones.
static int64_t first_with(const struct csb *A, int64_t p, int64_t end, uint32_t bit)
{
    while (p < end) {
        int64_t middle = p + (end - p) / 2;
        if (A->place[middle] & bit) {
            end = middle;
        } else {
            p = middle + 1;
        }
    }
    return p;
}

#define BODY "spmm/csb.inl"
#include "each_kind.inl"

static int64_t blocks_nnz(const struct csb *A, int64_t first, int64_t end)
{
    return A->ptr[end] - A->ptr[first];
}

// Returns the end of the chunk that begins with block x: the chunk has the most blocks with at most
// `most` nonzeros, or a single block with more. `end`: end of the block row.
static int64_t chunk_end(const struct csb *A, int64_t x, int64_t end, int64_t most)
{
    int64_t next = x + 1;
    while (next < end && blocks_nnz(A, x, next + 1) <= most) next++;
    return next;
}

// Sets the chunks of all block rows. A block row with at most `light` nonzeros is one chunk.
// `start` NULL: counts the chunks.
static int64_t plan_chunks(const struct csb *A, const struct state *s, double light, int64_t *start)
{
    int64_t chunks = 0;
    for (int64_t b = 0; b < A->block_rows; b++) {
        const int64_t end = (b + 1) * A->block_cols;
        int64_t x = b * A->block_cols;
        const bool whole = (double)blocks_nnz(A, x, end) <= light;
        s->first[b] = chunks;
        do {
            if (start) start[chunks] = x;
            chunks++;
            x = whole ? end : chunk_end(A, x, end, s->most);
        } while (x < end);
    }
    s->first[A->block_rows] = chunks;
    if (start) start[chunks] = (int64_t)A->block_rows * A->block_cols;
    return chunks;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    const struct csb *A = csb_of(t->A[0]);
    const double mean = (double)A->nnz / (double)max64(1, A->block_rows);
    const double least = task_option(t, "breakeven") * A->beta;
    const double light = fmax(task_option(t, "balance") * mean, least);
    int64_t chunks, values;
    s->most = (int64_t)fmax(ceil(mean), least);
    int err =
        device_alloc(t->dev, (int64_t)A->block_rows + 1, sizeof *s->first, (void **)&s->first);
    if (err) return err;
    chunks = plan_chunks(A, s, light, NULL);
    err = device_alloc(t->dev, chunks + 1, sizeof *s->start, (void **)&s->start);
    if (err) return err;
    plan_chunks(A, s, light, s->start);
    if (size_mul(chunks - A->block_rows, A->beta, &values) || size_mul(values, t->C.cols, &values))
        return ERR_MEMORY;
    return device_alloc(t->dev, values, in_bytes(t), &s->sums);
}

static int run(struct task *t)
{
    BY_KIND(t, multiply, t);
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (!s) return;
    device_free(t->dev, s->first);
    device_free(t->dev, s->start);
    device_free(t->dev, s->sums);
    task_free_state(t);
}

// Chooses the size of blocks: the largest power of two for which there are enough block rows, and
// the rows of B and C of a block fit in a thread's cache.
static void choose(struct task *t, const struct problem *p)
{
    const int64_t row_bytes = p->cols * (int64_t)type_bytes(prec_in(p->prec));
    const int64_t cache = t->dev->cache_least_bytes / max64(1, t->dev->units);
    int64_t beta = CSB_BETA_MAX;
    while (beta > 1 && ((p->rows + beta - 1) / beta < SLACKNESS * (int64_t)t->dev->units ||
                        2 * beta * row_bytes > cache))
        beta /= 2;
    task_choose(t, "beta", (double)beta);
}

static const struct algo_option options[] = {
    {"beta", 0, 0, CSB_BETA_MAX, true, "rows and columns of a block; 0: by threads and cache size"},
    {"balance", 2, 0, 1024, false, "cut block rows with over this times the mean nonzeros"},
    {"breakeven", 4, 0, 1024, true, "cut only block rows with over this times beta nonzeros"},
    {0},
};

const struct algo spmm_csb_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csb},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Buluc, Fineman, Frigo, Gilbert, Leiserson: Parallel Sparse Matrix-Vector and "
            "Matrix-Transpose-Vector Multiplication Using Compressed Sparse Blocks, SPAA 2009; "
            "Aktulga, Buluc, Williams, Yang: Optimizing Sparse Matrix-Multiple Vectors "
            "Multiplication for Nuclear Configuration Interaction Calculations, IPDPS 2014",
    .differs =
        "OpenMP tasks replace Cilk. Temporaries are allocated before the runs. A chunk has at most "
        "the nonzeros of the mean block row. So all temporaries take at most twice the memory of "
        "C. Blocks grow until there are no more blocks than rows and nonzeros.",
    .choose = choose,
    ALGO_FUNCTIONS(prepare, run, teardown),
};
