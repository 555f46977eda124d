// Makes the format coo on CUDA. A block finds the rows of its first and last entry by binary search
// in all row starts. Its threads search between these two rows.
#include "device/warp.cuh"
#include "formats/coo.h"
#include "formats/csr.h"

#define BLOCK       256
#define ENTRIES     4 // entries per thread
#define BLOCK_SHARE (BLOCK * ENTRIES)

// Returns the row of entry p, which is one of first to last.
static __device__ int32_t row_of(const int32_t *ptr, int32_t first, int32_t last, int32_t p)
{
    return upper_bound(ptr, first + 1, last + 1, p) - 1;
}

template <typename T>
static __global__ void list_entries(struct csr_dev A, int32_t *__restrict__ row,
                                    int32_t *__restrict__ col, T *__restrict__ val)
{
    __shared__ int32_t ends[2]; // rows of the first entry and of the last one
    const int32_t *ptr = (const int32_t *)A.ptr;
    const int64_t first = (int64_t)blockIdx.x * BLOCK_SHARE;
    const int64_t last = (first + BLOCK_SHARE < A.nnz ? first + BLOCK_SHARE : A.nnz) - 1;
    if (threadIdx.x < 2)
        ends[threadIdx.x] = row_of(ptr, 0, A.m - 1, (int32_t)(threadIdx.x ? last : first));
    __syncthreads();
    for (int64_t p = first + threadIdx.x; p <= last; p += BLOCK) {
        row[p] = row_of(ptr, ends[0], ends[1], (int32_t)p);
        col[p] = A.idx[p];
        val[p] = ((const T *)A.val)[p];
    }
}

template <typename W>
static void start(struct device *d, const struct csr_dev *A, struct coo_dev *X)
{
    auto kernel = list_entries<W>;
    LAUNCH(kernel, (unsigned)ceil_div(A->nnz, BLOCK_SHARE), BLOCK, 0, d->stream, *A, X->row, X->col,
           (W *)X->val);
}

extern "C" int coo_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                             struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct coo_dev *X = (struct coo_dev *)out;
    int err = sparse_alloc(d, out);
    if (err || !A->nnz) return err;
    BY_BYTES(type_bytes(A->type), start, d, A, X);
    return launch_check("coo");
}
