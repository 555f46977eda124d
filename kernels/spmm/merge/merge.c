// SpMM by equal shares of work (merge path), C = A * B, row-major.
// Carl Yang, Aydin Buluc, John D. Owens: Design Principles for Sparse Matrix Multiplication on the
// GPU, Euro-Par 2018, section 4.2, after Merrill and Garland's merge-based SpMV (SC 2016).
//
// Format: CSR. Any k. The merge path goes through the list of row ends ptr[1 .. m] and the list of
// nonzeros 0 .. nnz - 1. The path has m + nnz steps and is cut into shares of equal length, so that
// neither long rows nor many empty rows make a share heavier. The share in which a row ends writes
// that row of C. Other shares of the row store their sum in `carry`. The carries are added
// afterwards, in the order of the shares. The result depends on the number of shares alone, which
// prepare() fixes.
//
// paper                      here
// PartitionSpmm              path_search(), a share at a time
// loop over the nonzeros     share_in(), with row() of cpu/row.inl
// FixCarryOut                the second loop of multiply()
#include "cpu.h"
#include "option_limits.h"
#include "papers.h"
#include "spmm/cpu/ahead.h"
#include "spmm/cpu/product.h"
#include "spmm/cpu/stream.h"

#include <omp.h>

struct state {
    int64_t shares;
    int64_t carry_ld; // elements from one carry to the next, in whole cache lines
    int64_t *row;     // row that share s does not finish, -1: none; size shares
    void *carry;      // partial sums of these rows, shares x carry_ld
    int64_t prefetch; // prefetch distance in nonzeros, 0: none
    bool stream;      // streaming stores of C
};

// A point of the merge path, after row + nonzero steps.
struct place {
    int64_t row, nonzero;
};

// Returns the point where the path crosses a diagonal. Row end ptr[i + 1] comes before nonzero p if
// ptr[i + 1] <= p.
static struct place path_search(const int64_t *ptr, int64_t m, int64_t nnz, int64_t diagonal)
{
    int64_t low = max64(0, diagonal - nnz), high = min64(diagonal, m);
    while (low < high) {
        int64_t i = low + (high - low) / 2;
        if (ptr[i + 1] <= diagonal - i - 1) {
            low = i + 1;
        } else {
            high = i;
        }
    }
    return (struct place){low, diagonal - low};
}

#define BODY "spmm/merge/merge.inl"
#include "each_kind.inl"

static int prepare(struct task *t)
{
    struct state *s = t->state = mem_zero_alloc(1, sizeof *s);
    if (!s) return ERR_MEMORY;
    size_t size = in_bytes(t);
    int64_t line = 64 / (int64_t)size, count;
    s->shares = omp_get_max_threads() * (int64_t)task_option(t, "shares");
    s->carry_ld = (t->C.cols + line - 1) / line * line;
    s->stream = cpu_stream(t);
    int err = size_mul(s->shares, s->carry_ld, &count);
    if (!err) err = device_alloc(t->dev, s->shares, sizeof *s->row, (void **)&s->row);
    if (!err) err = device_alloc(t->dev, count, size, &s->carry);
    if (!err) err = cpu_ahead(t, csr_of(t->A[0])->idx, t->A[0]->nnz, t->C.cols, &s->prefetch);
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
    device_free(t->dev, s->row);
    device_free(t->dev, s->carry);
    task_free_state(t);
}

static const struct algo_option options[] = {
    {"shares", 1, 1, 1024, true, "shares for each thread"},
    CPU_AHEAD_OPTION,
    CPU_STREAM_OPTION,
    {0},
};

const struct algo spmm_merge_cpu = {
    .layouts = ROW_MAJOR,
    .precs = BOTH_PRECS,
    .A = {&format_csr},
    .arith = ARITH_PREC,
    .options = options,
    .cite = YANG_2018 ", section 4.2",
    .differs = "The paper's kernel runs on GPUs and cuts the nonzeros alone into equal shares; "
               "here rows and "
               "nonzeros are cut together, along the merge path.",
    ALGO_FUNCTIONS(prepare, run, teardown),
};

// The kernels for CUDA are in merge.cu.
DECLARE_FUNCTIONS(spmm_merge_cuda);

#define OPTIONS(share, columns, partition, fixup)                                                  \
    {"share", share, 0, 4096, true, "nonzeros per warp, rounded up to 32s; 0: by the size"},       \
        {"threads", 128, 32, MERGE_WARPS * WARP, true, "threads per block, rounded down to 32s"},  \
        {"columns", columns, 0, 4, true, "columns of C per thread, 0: as many as k fills"},        \
        {"partition", partition, 0, 1, true, "rows found by: 1 a kernel of its own, 0 each warp"}, \
        {"fixup", fixup, 0, 1, true, "cut rows added up by: 1 a kernel, 0 the last warp"},         \
    {                                                                                              \
    }

static const struct algo_option cuda_options[] = {OPTIONS(32, 1, 1, 1)};
static const struct algo_option tuned_options[] = {OPTIONS(0, 0, 0, 0)};

#define DIFFERS                                                                                    \
    "Row starts are searched in global memory, not copied to shared memory first. Dummy nonzeros " \
    "past the end of a share are left out."

// Descriptors: symbol, options, source, name of the algorithm that this one is a tuned form of.
#define DESCRIPTOR(symbol, option_list, source, paper)                                             \
    const struct algo spmm_##symbol##_cuda = {                                                     \
        .layouts = ROW_MAJOR,                                                                      \
        .precs = BY_TYPE_PRECS,                                                                    \
        .A = {&format_csr},                                                                        \
        .arith = ARITH_PREC,                                                                       \
        .options = option_list,                                                                    \
        .cite = source,                                                                            \
        .differs = DIFFERS,                                                                        \
        .tuned_of = paper,                                                                         \
        FUNCTIONS_OF(spmm_merge_cuda),                                                             \
    }

DESCRIPTOR(merge, cuda_options, YANG_2018 ", section 4.2", NULL);
DESCRIPTOR(merge_tuned, tuned_options, "after Yang, Buluc, Owens, Euro-Par 2018, section 4.2",
           "merge");
