// Facts about the rows of A and the scatter of its columns, found on the device.
#ifndef GRADED_FACTS_H
#define GRADED_FACTS_H

#include "plan.h"

#define FACTS_BLOCK 1024
#define TYPICAL     256 // most nonzeros of a row of typical length; must be one of the bounds

// `longer`: rows of more nonzeros than each bound. `over`: nonzeros of rows longer than TYPICAL.
struct row_counts {
    unsigned long long longer[LENGTHS], over;
};

// Returns the number of the greatest bound that is at most x.
static __host__ __device__ __forceinline__ int length_bound(int64_t x)
{
    int i = 0;
    while (i + 1 < LENGTHS && x >= 8 << i) i++;
    return i;
}

static __global__ void __launch_bounds__(FACTS_BLOCK)
    count_rows(int32_t m, const int32_t *__restrict__ ptr, struct row_counts *__restrict__ sum)
{
    const int64_t i = (int64_t)blockIdx.x * FACTS_BLOCK + threadIdx.x;
    const int32_t length = i < m ? ptr[i + 1] - ptr[i] : 0;
    for (int b = 0; b < LENGTHS; b++) {
        const int longer = __syncthreads_count(length > (b ? 4 << b : 0));
        if (threadIdx.x == 0 && longer) atomicAdd(&sum->longer[b], (unsigned long long)longer);
    }
    if (length > TYPICAL) atomicAdd(&sum->over, (unsigned long long)length);
}

#define NEAR        2048  // nonzeros: about the work of a multiprocessor at a time
#define FAR         16384 // nonzeros of a sample: about the work of the device at a time
#define SAMPLES     32    // most samples
#define SCATTER_LOG 18    // log2 of the bits in which a sample marks its columns

#define SECTOR 8 // columns

// Counts over all samples: new columns among the first NEAR nonzeros and among all FAR, and new
// groups of SECTOR neighbouring columns among the first NEAR.
struct new_columns {
    int32_t near, far, sectors;
};

// Marks the columns of nonzeros `first` to `end` of a sample, divided by `width`. Returns the
// number of new columns of this thread. Columns share bits by a hash, so up to 3 % of distinct
// columns count as marked before.
static __device__ __forceinline__ int32_t mark_columns(uint32_t *seen, const int32_t *idx,
                                                       int first, int end, int width)
{
    int32_t found = 0;
    for (int p = first + (int)threadIdx.x; p < end; p += (int)blockDim.x) {
        const uint32_t hash = (uint32_t)(idx[p] / width) * 2654435769u >> (32 - SCATTER_LOG);
        const uint32_t bit = 1u << (hash & 31);
        found += !(atomicOr(&seen[hash / 32], bit) & bit);
    }
    return found;
}

// Counts the new columns of samples. A block has a sample; samples are `step` nonzeros apart.
static __global__ void __launch_bounds__(FACTS_BLOCK)
    find_new_columns(const int32_t *__restrict__ idx, int64_t step,
                     struct new_columns *__restrict__ all)
{
    const int WORDS = 1 << (SCATTER_LOG - 5);
    __shared__ uint32_t seen[WORDS];
    const int32_t *own = idx + (int64_t)blockIdx.x * step;
    for (int w = (int)threadIdx.x; w < WORDS; w += (int)blockDim.x) seen[w] = 0;
    __syncthreads();
    const int32_t near = mark_columns(seen, own, 0, NEAR, 1);
    __syncthreads();
    const int32_t far = near + mark_columns(seen, own, NEAR, FAR, 1);
    __syncthreads();
    for (int w = (int)threadIdx.x; w < WORDS; w += (int)blockDim.x) seen[w] = 0;
    __syncthreads();
    const int32_t sectors = warp_sum(mark_columns(seen, own, 0, NEAR, SECTOR));
    const int32_t near_sum = warp_sum(near), far_sum = warp_sum(far);
    if (lane_id()) return;
    atomicAdd(&all->near, near_sum);
    atomicAdd(&all->far, far_sum);
    atomicAdd(&all->sectors, sectors);
}

static inline int find_facts(struct task *t, struct facts *out)
{
    const struct csr_dev *A = csr_of(t->A[0]);
    const int64_t samples = min64(A->nnz / FAR, SAMPLES);
    struct device *d = t->dev;
    struct both {
        struct row_counts rows;
        struct new_columns columns;
    } *found = NULL, x = {};
    int err = device_alloc(d, 1, sizeof *found, (void **)&found);
    if (!err) err = device_fill(d, found, 0, sizeof *found);
    if (!err && A->m) {
        LAUNCH(count_rows, (unsigned)ceil_div(A->m, FACTS_BLOCK), FACTS_BLOCK, 0, d->stream, A->m,
               (const int32_t *)A->ptr, &found->rows);
        if (samples)
            LAUNCH(find_new_columns, (unsigned)samples, FACTS_BLOCK, 0, d->stream, A->idx,
                   samples > 1 ? (A->nnz - FAR) / (samples - 1) : 0, &found->columns);
        err = wait_for(d, t->entry->name, found, &x, sizeof x);
    }
    device_free(d, found);
    for (int b = 0; b < LENGTHS; b++) out->longer[b] = (int64_t)x.rows.longer[b];
    out->used = out->longer[0];
    const int64_t typical = out->used - out->longer[length_bound(TYPICAL)];
    out->typical = typical     ? (double)(A->nnz - (int64_t)x.rows.over) / (double)typical
                   : out->used ? (double)A->nnz / (double)out->used
                               : 0;
    out->near = samples ? (double)x.columns.near / (double)(samples * NEAR) : 0;
    out->far = samples ? (double)x.columns.far / (double)(samples * FAR) : 0;
    out->sectors = samples ? (double)x.columns.sectors / (double)(samples * NEAR) : 0;
    return err;
}

#endif
