// SpGEMM with a method for each size of row, C = A * S.
// Weifeng Liu, Brian Vinter: An Efficient GPU General Sparse Matrix-Matrix Multiplication for
// Irregular Data, IPDPS 2014; A Framework for General Sparse Matrix-Matrix Multiplication on GPUs
// and Heterogeneous Processors, JPDC 85, 2015. A baseline of Nagasaka et al. and of Niu et al.
//
// Format: CSR. Rows of any length. Deterministic: the sums have a fixed order. The paper's B is S
// here, and C~ is its intermediate matrix. Numbers in brackets are the stages of its framework.
//
// paper                                  here
// (1) upper bounds of the rows           binning.cuh: count_products(), a thread a row
// (2) 38 bins, on the host               binning.cuh: bin_of(), make_bins()
// (2) memory for C~                      binning.cuh: bin_rows()
// (3) rows of 1 product                  heap.cuh: copy_one(), a thread a row
// (3) heap method, 2 to 32 products      heap.cuh: heap_rows(), a thread a row, 32 rows a block
// (3) bitonic ESC, 33 to 512 products    bitonic.cuh: bitonic_rows(), a block a row
// (3) merge method, over 512 products    merge.cuh: merge_rows(), a block a row
//     insertion into a sorted list       add_products() and merge_shared(), by merge path
//     lists over 2304 entries            merge_long_rows() and merge_global()
// (3) progressive allocation             queue.cuh: run_merge(), grow_array()
// (4) row starts, memory for C, copy     gather.cuh: allocate(), gather_rows(), gather_long_rows()
//
// A warp of heap_rows() has the slots of its 32 rows interleaved by lane in shared memory. A warp
// of bitonic_rows() and of the merge kernels is a part of the block that has the row: the block
// takes the rows of S one after another.
//
// Limits: the host waits for the products of all rows, and after each launch of the merge method.
// A row of S that is shorter than the block leaves threads idle. A list in global memory moves for
// each row of S that has new columns. C~ keeps all earlier places of a long row, so its size grows
// with the square of the length of the row.
#include "bitonic.cuh"
#include "gather.cuh"
#include "heap.cuh"
#include "queue.cuh"

template <typename T> static int multiply(struct task *t, struct work *w)
{
    int err = bin_rows(t, w);
    if (!err) err = run_heap<T>(t, w);
    if (!err) err = run_bitonic<T>(t, w);
    if (!err) err = run_merge<T>(t, w);
    if (!err) err = gather<T>(t, w);
    task_number(t, "long_rows", w->first[BINS] - w->first[BIN_MERGE]);
    task_number(t, "merge_launches", w->launches);
    task_number(t, "intermediate_entries", (double)w->size);
    task_number(t, "grown_by_host", w->by_host);
    return err;
}

extern "C" int spgemm_bhsparse_cuda_run(struct task *t)
{
    struct work w = {};
    int err = BY_PREC(t, multiply, t, &w);
    void *const all[] = {w.queue, w.val, w.idx, w.length, w.rows, w.at};
    for (void *p : all) device_free(t->dev, p);
    mem_free(w.waiting);
    return err;
}

extern "C" int spgemm_bhsparse_cuda_prepare(struct task *t)
{
    struct state *s = (struct state *)mem_zero_alloc(1, sizeof *s);
    const int64_t m = t->A[0]->m;
    t->state = s;
    if (!s) return ERR_MEMORY;
    const size_t bytes = sizeof *s->nnz + sizeof *s->at + sizeof *s->rows + sizeof *s->products;
    CUDA_TRY(cudaMallocHost((void **)&s->nnz, (size_t)(m + 1) * bytes));
    s->at = s->nnz + 1;
    s->rows = (int32_t *)(s->at + m);
    s->products = s->rows + m;
    return OK;
}

extern "C" void spgemm_bhsparse_cuda_teardown(struct task *t)
{
    struct state *s = (struct state *)t->state;
    if (s) cudaFreeHost(s->nnz);
    task_free_state(t);
}
