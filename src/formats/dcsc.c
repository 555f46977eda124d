#include "formats/dcsc.h"

#include <omp.h>

#include "base/sort.h"
#include "formats/csr.h"

// Default: 64 rows of C with 128 columns in f32 take 32 kB, an L1 of a CPU. With 32 columns, one
// per lane, the rows take 8 kB of shared memory.
enum { PANEL };
static const struct algo_option options[] = {
    [PANEL] = {"panel", 64, 1, 4096, true, "rows of a panel"},
    {0},
};

void dcsc_shape(struct dcsc *X, const double *opt)
{
    X->panel = (int32_t)opt[PANEL];
    X->panels = ((int64_t)X->m + X->panel - 1) / X->panel;
}

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct dcsc *D = (struct dcsc *)X;
    list[0] = (struct array){(void **)&D->ptr, D->panels + 1, sizeof *D->ptr};
    list[1] = (struct array){(void **)&D->start, D->segments + 1, sizeof *D->start};
    list[2] = (struct array){(void **)&D->col, D->segments, sizeof *D->col};
    list[3] = (struct array){(void **)&D->row, D->nnz, sizeof *D->row};
    list[4] = (struct array){&D->val, D->nnz, type_bytes(D->type)};
    return 5;
}

// Return the first row of panel s, and the row after its last.
static int64_t first_row(const struct dcsc *D, int64_t s) { return s * D->panel; }
static int64_t end_row(const struct dcsc *D, int64_t s) { return min64((s + 1) * D->panel, D->m); }

// Returns the most entries of a panel.
static int64_t most_entries(const struct csr_dev *A, const struct dcsc *D)
{
    const int64_t *ptr = A->ptr;
    int64_t most = 0;
    for (int64_t s = 0; s < D->panels; s++)
        most = max64(most, ptr[end_row(D, s)] - ptr[first_row(D, s)]);
    return most;
}

// Sorts the entries of panel s by columns. Writes rows and values to D and columns to `col`, in the
// panel's range of CSR. Returns the number of segments. `key`: scratch memory, twice the entries.
static int64_t sort_panel(const struct csr_dev *A, struct dcsc *D, int64_t s, uint64_t *key,
                          int32_t *col)
{
    const int64_t *ptr = A->ptr, begin = ptr[first_row(D, s)];
    const int64_t count = ptr[end_row(D, s)] - begin;
    int64_t segments = 0;
    for (int64_t i = first_row(D, s); i < end_row(D, s); i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            key[p - begin] = (uint64_t)A->idx[p] << 32 | (uint64_t)(p - begin);
            col[p] = (int32_t)i; // the row, until the loop below stores columns
        }
    sort_keys(key, key + count, count, 32);
    for (int64_t q = 0; q < count; q++) {
        const int64_t p = begin + (uint32_t)key[q];
        D->row[begin + q] = col[p];
        type_store(D->type, D->val, begin + q, type_load(A->type, A->val, p));
    }
    for (int64_t q = 0; q < count; q++) {
        col[begin + q] = (int32_t)(key[q] >> 32);
        segments += !q || col[begin + q - 1] != col[begin + q];
    }
    return segments;
}

// Writes the segments of panel s, by the columns of its entries.
static void list_segments(const struct csr_dev *A, struct dcsc *D, int64_t s, const int32_t *col)
{
    const int64_t *ptr = A->ptr, begin = ptr[first_row(D, s)], end = ptr[end_row(D, s)];
    int64_t x = D->ptr[s];
    for (int64_t q = begin; q < end; q++) {
        if (q > begin && col[q - 1] == col[q]) continue;
        D->start[x] = q;
        D->col[x++] = col[q];
    }
}

// Makes all arrays but ptr. `keys`: scratch memory, `size` elements per thread. `col`: scratch
// memory, size nnz.
static int make_segments(struct device *d, const struct csr_dev *A, struct dcsc *D, uint64_t *keys,
                         int64_t size, int32_t *col)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < D->panels; s++)
        D->ptr[s + 1] = sort_panel(A, D, s, keys + omp_get_thread_num() * size, col);
    D->ptr[0] = 0;
    for (int64_t s = 0; s < D->panels; s++) D->ptr[s + 1] += D->ptr[s];
    D->segments = D->ptr[D->panels];
    int err = device_alloc(d, D->segments + 1, sizeof *D->start, (void **)&D->start);
    if (!err) err = device_alloc(d, D->segments, sizeof *D->col, (void **)&D->col);
    if (err) return err;
    D->start[D->segments] = D->nnz;
#pragma omp parallel for schedule(dynamic)
    for (int64_t s = 0; s < D->panels; s++) list_segments(A, D, s, col);
    return OK;
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct dcsc *D = (struct dcsc *)out;
    uint64_t *keys = NULL;
    int32_t *col = NULL;
    dcsc_shape(D, opt);
    const int64_t size = 2 * most_entries(A, D);
    if (size / 2 > UINT32_MAX)
        return fail(ERR_UNSUPPORTED, "dcsc: a panel of %d rows has over 2^32 nonzeros", D->panel);
    int err = device_alloc(d, D->panels + 1, sizeof *D->ptr, (void **)&D->ptr);
    if (!err) err = device_alloc(d, D->nnz, sizeof *D->row, (void **)&D->row);
    if (!err) err = device_alloc(d, D->nnz, type_bytes(D->type), &D->val);
    if (!err) err = device_alloc(d, omp_get_max_threads() * size, sizeof *keys, (void **)&keys);
    if (!err) err = device_alloc(d, D->nnz, sizeof *col, (void **)&col);
    if (!err) err = make_segments(d, A, D, keys, size, col);
    device_free(d, keys);
    device_free(d, col);
    return err;
}

static void describe(const struct sparse *X, struct algo_stats *f)
{
    const struct dcsc *D = dcsc_of(X);
    algo_stats_number(f, "segment_length", D->segments ? (double)D->nnz / (double)D->segments : 0);
}

const struct format format_dcsc = {
    .name = "dcsc",
    .about = "the nonzero columns of each panel of rows",
    .size = sizeof(struct dcsc),
    .options = options,
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .describe = describe,
};
