// Makes the format csc on CUDA. A stable sort of the entries of coo by their columns keeps rows
// ascending. A column starts at the first entry whose column is not less.
#include "device/cub.cuh"
#include "device/warp.cuh"
#include "formats/coo.h"
#include "formats/csc.h"

#define BLOCK 256

// Returns the number of the thread in the grid: a thread per entry or per column.
static __device__ __forceinline__ int64_t thread_number(void)
{
    return (int64_t)blockIdx.x * BLOCK + threadIdx.x;
}

static __global__ void list_entries(int64_t nnz, int32_t *__restrict__ entry)
{
    const int64_t p = thread_number();
    if (p < nnz) entry[p] = (int32_t)p;
}

template <typename W>
static __global__ void place_entries(struct coo_dev A, const int32_t *__restrict__ entry,
                                     int32_t *__restrict__ row, W *__restrict__ val)
{
    const int64_t q = thread_number();
    if (q >= A.nnz) return;
    row[q] = A.row[entry[q]];
    val[q] = ((const W *)A.val)[entry[q]];
}

// `col`: sorted columns of the entries.
static __global__ void find_starts(int32_t n, int32_t nnz, const uint32_t *__restrict__ col,
                                   int32_t *__restrict__ ptr)
{
    const int64_t j = thread_number();
    if (j <= n) ptr[j] = lower_bound(col, 0, nnz, (uint32_t)j);
}

static unsigned blocks(int64_t threads) { return (unsigned)ceil_div(threads, BLOCK); }

template <typename W>
static void start_place(struct device *d, const struct coo_dev *A, const int32_t *entry,
                        struct csc_dev *X)
{
    auto kernel = place_entries<W>;
    LAUNCH(kernel, blocks(A->nnz), BLOCK, 0, d->stream, *A, entry, X->idx, (W *)X->val);
}

// Sorts the columns of the entries, and the number of each entry with its column.
static int sort_entries(struct device *d, const struct coo_dev *A, uint32_t *col[2],
                        int32_t *entry[2])
{
    LAUNCH(list_entries, blocks(A->nnz), BLOCK, 0, d->stream, A->nnz, entry[0]);
    int err = launch_check("csc: entries");
    return err ? err : cub_sort_pairs(d, col, entry, A->nnz, 0, cub_key_bits(A->n));
}

extern "C" int csc_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                             struct sparse *out)
{
    (void)opt;
    struct csc_dev *X = (struct csc_dev *)out;
    struct sparse *made = NULL;
    struct coo_dev *A = NULL;
    uint32_t *col[2] = {NULL, NULL};
    int32_t *entry[2] = {NULL, NULL};
    X->ptr_bytes = csr_of(from)->ptr_bytes;
    int err = csc_alloc(d, X);
    if (!err) err = sparse_make(d, &format_coo, from, NULL, &made);
    if (err) goto done;
    A = (struct coo_dev *)made;
    col[0] = (uint32_t *)A->col; // sorted in place
    A->col = NULL;
    err = device_alloc(d, A->nnz, sizeof *col[1], (void **)&col[1]);
    for (int i = 0; i < 2 && !err; i++)
        err = device_alloc(d, A->nnz, sizeof *entry[i], (void **)&entry[i]);
    if (!err && A->nnz > 0) err = sort_entries(d, A, col, entry);
    if (err) goto done;
    if (A->nnz > 0) BY_BYTES(type_bytes(A->type), start_place, d, A, entry[0], X);
    err = launch_check("csc: values");
    if (err) goto done;
    LAUNCH(find_starts, blocks((int64_t)A->n + 1), BLOCK, 0, d->stream, A->n, (int32_t)A->nnz,
           col[0], (int32_t *)X->ptr);
    err = launch_check("csc: starts");
done:
    for (int i = 0; i < 2; i++) {
        device_free(d, col[i]);
        device_free(d, entry[i]);
    }
    sparse_free(d, made);
    return err;
}
