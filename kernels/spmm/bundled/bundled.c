// SpMM by rows and bundles of rows, C = A * B, row-major. Own work.
//
// Format: CSR, and bundles that find.h makes from CSR. Any k. A bundle is two or three neighbouring
// rows with mostly the same columns. Meshes with several unknowns per node have such rows, and
// pages of a site that link to the same pages. A vector of B is loaded once for all rows of a
// bundle. The rows also give the arithmetic units independent sums. Columns that only one row has
// follow separately, so that a row never multiplies a value of B without a nonzero. Rows outside of
// bundles are computed as in rowsplit.c.
//
// The order of a sum: the common columns first, then the row's own. The result does not depend on
// the number of threads. EPYC, two threads: 0.63 to 0.90 of the time of rowsplit on fem:12,
// bcsstk16, bcsstk17 and raefsky6.
#include "cpu.h"
#include "spmm/bundled/find.h"
#include "spmm/cpu_ahead.h"
#include "spmm/cpu_shares.h"
#include "spmm/cpu_stream.h"

// The start of a share.
struct cut {
    int64_t row, bundle;
};

struct state {
    struct bundles found;
    struct cut *cut; // size shares.total + 1
    struct shares shares;
    int64_t prefetch; // prefetch distance in nonzeros, 0: none
    bool stream;      // streaming stores of C
};

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
    int err = shares_make(t, shares, &s->shares);
    if (!err) err = device_alloc(t->dev, shares + 1, sizeof *s->cut, (void **)&s->cut);
    for (int64_t x = 0; x <= shares && !err; x++)
        s->cut[x] = cut_at(&s->found, row_at(A->ptr, A->m, x * share));
    return err;
}

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    const struct csr_dev *A = csr_of(t->A[0]);
    const struct bundle_rule rule = {task_option(t, "common-percent") / 100,
                                     (int64_t)task_option(t, "common-columns")};
    int err = bundles_find(t, A, rule, &s->found);
    if (!err) err = make_cuts(t, s);
    if (!err) err = cpu_ahead(t, A->idx, A->nnz, &s->prefetch);
    s->stream = cpu_stream(t);
    task_number(t, "bundles", (double)s->found.count);
    task_number(t, "loads", A->nnz ? (double)s->found.loads / (double)A->nnz : 1);
    return err;
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
    bundles_free(t, &s->found);
    device_free(t->dev, s->cut);
    device_free(t->dev, s->shares.ranges);
    task_free_state(t);
}

static const struct param options[] = {
    {"common-percent", 60, 1, 101, true,
     "percent of their nonzeros that rows of a bundle have in common columns, at least; 101: no "
     "bundles"},
    {"common-columns", 16, 1, 1 << 20, true,
     "columns that rows of a bundle have in common, at least"},
    CPU_SHARE_OPTION,
    CPU_AHEAD_OPTION,
    CPU_STREAM_OPTION,
    {0},
};

const struct algo spmm_bundled_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = "Own work",
    ALGO_FUNCTIONS(prepare, run, teardown),
};
