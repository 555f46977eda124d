// Makes the format dcsc on CUDA. The entries are sorted by panel and column with a stable sort,
// which keeps rows ascending. A segment begins at each key that differs from the key before.
#include "device/cub.cuh"
#include "device/warp.cuh"
#include "formats/csr.h"
#include "formats/dcsc.h"

#define BLOCK 256

// Returns the number of the thread in the grid: a thread per entry or per panel.
static __device__ __forceinline__ int64_t thread_number(void)
{
    return (int64_t)blockIdx.x * BLOCK + threadIdx.x;
}

static __device__ __forceinline__ int32_t row_of(const struct csr_dev A, int32_t p)
{
    return upper_bound((const int32_t *)A.ptr, 0, A.m + 1, p) - 1;
}

// Computes the keys panel << bits | column.
static __global__ void list_keys(struct csr_dev A, int32_t panel, int bits,
                                 uint64_t *__restrict__ key, int32_t *__restrict__ entry)
{
    const int64_t p = thread_number();
    if (p >= A.nnz) return;
    const int32_t i = row_of(A, (int32_t)p);
    key[p] = (uint64_t)(i / panel) << bits | (uint32_t)A.idx[p];
    entry[p] = (int32_t)p;
}

static __device__ __forceinline__ bool is_first(const uint64_t *key, int64_t q)
{
    return q == 0 || key[q - 1] != key[q];
}

template <typename T>
static __global__ void place_entries(struct csr_dev A, const uint64_t *__restrict__ key,
                                     const int32_t *__restrict__ entry, int32_t *__restrict__ first,
                                     int32_t *__restrict__ row, T *__restrict__ val)
{
    const int64_t q = thread_number();
    if (q >= A.nnz) return;
    first[q] = is_first(key, q);
    row[q] = row_of(A, entry[q]);
    val[q] = ((const T *)A.val)[entry[q]];
}

// Writes the segments. before[q]: number of segments that begin before entry q.
static __global__ void list_segments(int64_t nnz, int bits, const uint64_t *__restrict__ key,
                                     const int64_t *__restrict__ before,
                                     int64_t *__restrict__ start, int32_t *__restrict__ col)
{
    const int64_t q = thread_number();
    if (q > nnz) return;
    if (q == nnz) {
        start[before[q]] = nnz;
    } else if (is_first(key, q)) {
        start[before[q]] = q;
        col[before[q]] = (int32_t)(key[q] & (((uint64_t)1 << bits) - 1));
    }
}

static __global__ void list_panels(struct csr_dev A, int32_t panel, int64_t panels,
                                   const int64_t *__restrict__ before, int64_t *__restrict__ ptr)
{
    const int64_t s = thread_number();
    if (s > panels) return;
    const int64_t i = s * panel < A.m ? s * panel : A.m;
    ptr[s] = before[((const int32_t *)A.ptr)[i]];
}

static unsigned blocks(int64_t threads) { return (unsigned)ceil_div(threads, BLOCK); }

// Scratch arrays of size nnz; `before` has size nnz + 1.
struct scratch {
    uint64_t *keys[2];
    int32_t *entries[2], *first;
    int64_t *before;
};

static int allocate(struct device *d, const struct csr_dev *A, struct scratch *w)
{
    int err = OK;
    for (int i = 0; i < 2 && !err; i++) {
        err = device_alloc(d, A->nnz, sizeof *w->keys[i], (void **)&w->keys[i]);
        if (!err) err = device_alloc(d, A->nnz, sizeof *w->entries[i], (void **)&w->entries[i]);
    }
    if (!err) err = device_alloc(d, A->nnz, sizeof *w->first, (void **)&w->first);
    return err ? err : device_alloc(d, A->nnz + 1, sizeof *w->before, (void **)&w->before);
}

template <typename T>
static int sort_entries(struct device *d, const struct csr_dev *A, struct dcsc *D,
                        struct scratch *w)
{
    auto place = place_entries<T>;
    const int bits = cub_key_bits(A->n);
    LAUNCH(list_keys, blocks(A->nnz), BLOCK, 0, d->stream, *A, D->panel, bits, w->keys[0],
           w->entries[0]);
    int err = launch_check("dcsc: keys");
    if (!err)
        err = cub_sort_pairs(d, w->keys, w->entries, A->nnz, 0, bits + cub_key_bits(D->panels));
    if (err) return err;
    LAUNCH(place, blocks(A->nnz), BLOCK, 0, d->stream, *A, w->keys[0], w->entries[0], w->first,
           D->row, (T *)D->val);
    return launch_check("dcsc: entries");
}

static int find_segments(struct device *d, const struct csr_dev *A, struct dcsc *D,
                         struct scratch *w)
{
    int err = cub_exclusive_sum(d, w->first, A->nnz, w->before);
    if (!err) err = device_download(d, &D->segments, w->before + A->nnz, sizeof D->segments);
    if (!err) err = device_alloc(d, D->segments + 1, sizeof *D->start, (void **)&D->start);
    if (!err) err = device_alloc(d, D->segments, sizeof *D->col, (void **)&D->col);
    if (err) return err;
    LAUNCH(list_segments, blocks(A->nnz + 1), BLOCK, 0, d->stream, A->nnz, cub_key_bits(A->n),
           w->keys[0], w->before, D->start, D->col);
    err = launch_check("dcsc: segments");
    if (err) return err;
    LAUNCH(list_panels, blocks(D->panels + 1), BLOCK, 0, d->stream, *A, D->panel, D->panels,
           w->before, D->ptr);
    return launch_check("dcsc: panels");
}

extern "C" int dcsc_make_cuda(struct device *d, const struct sparse *from, const double *opt,
                              struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct dcsc *D = (struct dcsc *)out;
    struct scratch w = {};
    dcsc_shape(D, opt);
    int err = device_alloc(d, D->panels + 1, sizeof *D->ptr, (void **)&D->ptr);
    if (!err) err = device_alloc(d, A->nnz, sizeof *D->row, (void **)&D->row);
    if (!err) err = device_alloc(d, A->nnz, type_bytes(A->type), &D->val);
    if (!err) err = allocate(d, A, &w);
    if (!err && A->nnz > 0)
        err = prec_is_f32(A->type) ? sort_entries<float>(d, A, D, &w)
                                   : sort_entries<double>(d, A, D, &w);
    if (!err) err = find_segments(d, A, D, &w);
    for (int i = 0; i < 2; i++) {
        device_free(d, w.keys[i]);
        device_free(d, w.entries[i]);
    }
    device_free(d, w.first);
    device_free(d, w.before);
    return err;
}
