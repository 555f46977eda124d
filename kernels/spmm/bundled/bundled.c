// SpMM by rows and bundles of rows, C = A * B. Own work.
//
// Format: CSR, and bundles that find.h makes from CSR. Any k. A bundle is two or three neighbouring
// rows with mostly the same columns. Meshes with several unknowns per node have such rows, and
// pages of a site that link to the same pages. A vector of B is loaded once for all rows of a
// bundle. The rows also give the arithmetic units independent sums. Columns that only one row has
// follow separately, so that a row never multiplies a value of B without a nonzero. Rows outside of
// bundles are computed as in rowsplit.c.
//
// Column-major B and C (columns.inl): with one or two columns, elements of B are gathered and
// vectors run along the rows of A. With more columns, a slab of B is copied to row-major. A panel
// of rows is then multiplied as with row-major B, and transposed into C.
//
// The order of a sum: the common columns first, then the row's own. The result does not depend on
// the number of threads. EPYC, two threads, row-major: 0.63 to 0.90 of the time of rowsplit on
// fem:12, bcsstk16, bcsstk17 and raefsky6.
#include "cpu.h"
#include "spmm/bundled/find.h"
#include "spmm/cpu/ahead.h"
#include "spmm/cpu/product.h"
#include "spmm/cpu/shares.h"
#include "spmm/cpu/stream.h"

// The start of a share.
struct cut {
    int64_t row, bundle;
};

enum method {
    METHOD_ROWS,   // row-major B and C
    METHOD_GATHER, // column-major, few columns: elements of B are gathered
    METHOD_SLABS,  // column-major: slabs of B are copied to row-major
};

struct state {
    enum method method;
    int64_t cols; // columns that are computed at a time
    struct bundles found;
    struct cut *cut; // size shares.total + 1
    struct shares shares;
    int64_t prefetch; // prefetch distance in nonzeros, 0: none
    bool stream;      // streaming stores of C
    // METHOD_SLABS
    int64_t slab_ld; // elements between rows of `slab` and of `panels`
    void *slab;      // `cols` columns of B, row-major, size rows of B x slab_ld
    void *panels;    // a panel of C per thread, row-major, size threads x BUNDLE_BLOCK x slab_ld
};

enum {
    LINE_BYTES = 64,        // bytes of a cache line
    COPY_BYTES = 2 << 20,   // bytes of a slab, at most: see slab_columns()
    COPY_LINES = 4,         // cache lines of a row of a slab, at most
    COPY_SMALL = 256 << 10, // bytes of a slab that may have longer rows
    COPY_ROWS = 256,        // rows of B that a thread copies at a time
    GATHER_COLS = 2,        // most columns of METHOD_GATHER. Three take as long as a slab
};

// Returns the columns that are computed in place of `cols` columns: the next power of two up to a
// cache line, then whole cache lines. The elements past `cols` are not used.
static int64_t padded_columns(int64_t cols, int64_t width)
{
    const int64_t line = LINE_BYTES / width;
    int64_t padded = 1;
    if (cols > line) return (cols + line - 1) / line * line;
    while (padded < cols) padded *= 2;
    return padded;
}

#define BODY "spmm/bundled/bundled.inl"
#include "each_kind.inl"

// Returns the first row of a share at or after `row`, and its first bundle. A bundle that began
// before `row` belongs to the share before.
static struct cut cut_at(const struct bundles *found, int64_t row)
{
    int64_t low = 0, high = found->count;
    while (low < high) {
        const int64_t b = low + (high - low) / 2;
        if (found->list[b].row < row) {
            low = b + 1;
        } else {
            high = b;
        }
    }
    if (low) row = max64(row, found->list[low - 1].row + found->list[low - 1].rows);
    return (struct cut){row, low};
}

static int make_cuts(struct task *t, struct state *s)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t share = share_steps(t), steps = A->m + A->nnz;
    const int64_t shares = (steps + share - 1) / share;
    int err = shares_make(t, shares, s->cols, &s->shares);
    if (!err) err = device_alloc(t->dev, shares + 1, sizeof *s->cut, (void **)&s->cut);
    for (int64_t x = 0; x <= shares && !err; x++)
        s->cut[x] = cut_at(&s->found, row_at(A->ptr, A->m, x * share));
    return err;
}

static enum method method_of(const struct task *t)
{
    if (t->C.layout == LAYOUT_ROW) return METHOD_ROWS;
    return t->C.cols <= GATHER_COLS ? METHOD_GATHER : METHOD_SLABS;
}

// Returns the columns of a slab, in whole cache lines of a row: a slab has at most COPY_BYTES, and
// at most COPY_LINES in a row unless the slabs of B and C are small. The number of threads does not
// count, because the order of sums depends on the width. Wider slabs write to more pages of C at a
// time, narrower slabs read A more often. Xeon, 2 MB of L2, time over the time with 4 lines:
//
//     k = 256, five matrices of 1,024 to 3,000 rows     1.2 with 1 line, 1.2 with 2, 1.3 with 8
//     k = 256, three matrices of 4 to 35 rows           0.5 with one slab
//     k = 64, uniform:20000:20                          0.7 with 1 line
static int64_t slab_columns(const struct task *t)
{
    const int64_t option = (int64_t)task_option(t, "slab"), n = max64(1, t->in[0].rows);
    const int64_t line = LINE_BYTES / in_bytes(t);
    const int64_t few = max64(COPY_LINES, COPY_SMALL / LINE_BYTES / max64(n, t->C.rows));
    const int64_t lines = max64(1, min64(few, COPY_BYTES / LINE_BYTES / n));
    return min64(option ? option : lines * line, t->C.cols);
}

// Allocates the buffers of METHOD_SLABS. Elements past the last column are 0.
static int make_slab(struct task *t, struct state *s)
{
    const int64_t width = in_bytes(t);
    int64_t count;
    s->cols = slab_columns(t);
    s->slab_ld = padded_columns(s->cols, width);
    int err = size_mul(t->in[0].rows, s->slab_ld, &count);
    if (!err) err = device_alloc(t->dev, count, (size_t)width, &s->slab);
    if (!err) err = device_fill(t->dev, s->slab, 0, count * width);
    if (!err) err = size_mul(omp_get_max_threads(), BUNDLE_BLOCK * s->slab_ld, &count);
    if (!err) err = device_alloc(t->dev, count, (size_t)width, &s->panels);
    task_number(t, "slab_columns", (double)s->cols);
    return err;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct bundle_rule rule = {task_option(t, "common-percent") / 100,
                                     (int64_t)task_option(t, "common-columns")};
    int err = OK;
    s->method = method_of(t);
    s->cols = t->C.cols;
    s->found.loads = A->nnz;
    if (s->method == METHOD_SLABS) err = make_slab(t, s);
    // A row of B with one element is not a vector.
    if (!err && s->method != METHOD_GATHER && s->cols > 1)
        err = bundles_find(t, A, rule, &s->found);
    if (!err) err = make_cuts(t, s);
    if (!err && s->method != METHOD_GATHER)
        err = cpu_ahead(t, A->idx, A->nnz, s->cols, &s->prefetch);
    s->stream = cpu_stream(t);
    task_number(t, "bundles", (double)s->found.count);
    task_number(t, "loads", A->nnz ? (double)s->found.loads / (double)A->nnz : 1);
    return err;
}

static int run(struct task *t)
{
    switch (((const struct state *)t->state)->method) {
    case METHOD_ROWS: BY_KIND(t, multiply, t); break;
    case METHOD_GATHER: BY_KIND(t, multiply_gathered, t); break;
    case METHOD_SLABS: BY_KIND(t, multiply_slabs, t); break;
    }
    return OK;
}

static void teardown(struct task *t)
{
    struct state *s = t->state;
    if (!s) return;
    bundles_free(t, &s->found);
    device_free(t->dev, s->cut);
    device_free(t->dev, s->slab);
    device_free(t->dev, s->panels);
    device_free(t->dev, s->shares.ranges);
    task_free_state(t);
}

static const struct algo_option options[] = {
    {"common-percent", 60, 1, 101, true,
     "percent of their nonzeros that rows of a bundle have in common columns, at least; 101: no "
     "bundles"},
    {"common-columns", 16, 1, 1 << 20, true,
     "columns that rows of a bundle have in common, at least"},
    {"slab", 0, 0, 1 << 20, true,
     "column-major: columns of B that are copied to row-major at a time; 0: by the sizes"},
    CPU_SHARE_OPTION,
    CPU_AHEAD_OPTION,
    CPU_STREAM_OPTION,
    {0},
};

const struct algo spmm_bundled_cpu = {
    .layouts = BOTH_LAYOUTS,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .keeps_values = true, // of bundles
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    ALGO_FUNCTIONS(prepare, run, teardown),
};
