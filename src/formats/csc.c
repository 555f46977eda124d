#include "formats/csc.h"

#include <omp.h>

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct csc_dev *C = (struct csc_dev *)X;
    list[0] = (struct array){&C->ptr, (int64_t)C->n + 1, (size_t)C->ptr_bytes};
    list[1] = (struct array){(void **)&C->idx, C->nnz, sizeof *C->idx};
    list[2] = (struct array){&C->val, C->nnz, type_bytes(C->type)};
    return 3;
}

// Returns X as A^T in csr, with the same arrays.
static struct csr_dev as_transposed(const struct csc_dev *X)
{
    return (struct csr_dev){.format = &format_csr,
                            .type = X->type,
                            .m = X->n,
                            .n = X->m,
                            .nnz = X->nnz,
                            .ptr_bytes = X->ptr_bytes,
                            .ptr = X->ptr,
                            .idx = X->idx,
                            .val = X->val};
}

int csc_alloc(struct device *d, struct csc_dev *X)
{
    const int64_t room = (X->nnz + 3) / 4 * 4;
    int err = device_alloc(d, (int64_t)X->n + 1, (size_t)X->ptr_bytes, &X->ptr);
    if (!err) err = device_alloc(d, room, sizeof *X->idx, (void **)&X->idx);
    return err ? err : device_alloc(d, room, type_bytes(X->type), &X->val);
}

// Rows of A are cut into parts of about the same number of nonzeros, one for each thread. Each part
// has a counter for each column. Counters of all parts together are at most this many for each
// nonzero and column, which bounds the memory for matrices with short columns.
#define COUNTERS_MOST 2

static int parts_of(const struct csr_dev *A)
{
    const int64_t most = COUNTERS_MOST * (A->nnz + A->n) / max64(A->n, 1);
    return (int)max64(1, min64(omp_get_max_threads(), most));
}

// Returns the first row whose start is at least the share of the nonzeros before the part.
static int32_t first_row(const struct csr_dev *A, int part, int parts)
{
    const int64_t *ptr = A->ptr;
    int32_t low = 0, high = A->m;
    if (part == parts) return A->m;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (ptr[middle] < A->nnz / parts * part)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Counts the nonzeros of each column in each part. count: size n for each part, zero.
static void count_columns(const struct csr_dev *A, int parts, int64_t *count)
{
    const int64_t *ptr = A->ptr;
#pragma omp parallel for schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        int64_t *mine = count + (int64_t)part * A->n;
        const int64_t end = ptr[first_row(A, part + 1, parts)];
        for (int64_t p = ptr[first_row(A, part, parts)]; p < end; p++) mine[A->idx[p]]++;
    }
}

// Sets the column starts. Replaces each count by the place of the first nonzero of its part.
static void find_places(const struct csr_dev *A, int parts, int64_t *count, int64_t *start)
{
    const int64_t n = A->n;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < n; j++) {
        start[j + 1] = 0;
        for (int part = 0; part < parts; part++) start[j + 1] += count[part * n + j];
    }
    start[0] = 0;
    for (int64_t j = 0; j < n; j++) start[j + 1] += start[j];
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < n; j++) {
        int64_t place = start[j];
        for (int part = 0; part < parts; part++) {
            const int64_t own = count[part * n + j];
            count[part * n + j] = place;
            place += own;
        }
    }
}

#define FILL(T, A, X, first, last, place)                                                          \
    for (int32_t i = (first); i < (last); i++)                                                     \
        for (int64_t p = ((const int64_t *)(A)->ptr)[i]; p < ((const int64_t *)(A)->ptr)[i + 1];   \
             p++) {                                                                                \
            const int64_t q = (place)[(A)->idx[p]]++;                                              \
            (X)->idx[q] = i;                                                                       \
            ((T *)(X)->val)[q] = ((const T *)(A)->val)[p];                                         \
        }

static void place_entries(const struct csr_dev *A, int parts, int64_t *places, struct csc_dev *X)
{
#pragma omp parallel for schedule(static, 1)
    for (int part = 0; part < parts; part++) {
        const int32_t first = first_row(A, part, parts), last = first_row(A, part + 1, parts);
        int64_t *place = places + (int64_t)part * A->n;
        switch (type_bytes(A->type)) {
        case 1: FILL(uint8_t, A, X, first, last, place); break;
        case 2: FILL(uint16_t, A, X, first, last, place); break;
        case 4: FILL(uint32_t, A, X, first, last, place); break;
        case 8: FILL(uint64_t, A, X, first, last, place); break;
        }
    }
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct csc_dev *X = (struct csc_dev *)out;
    const int parts = parts_of(A);
    X->ptr_bytes = A->ptr_bytes;
    int err = csc_alloc(d, X);
    int64_t *count = err ? NULL : mem_zero_alloc((int64_t)parts * A->n, sizeof *count);
    if (!err && !count) err = ERR_MEMORY;
    if (!err) {
        count_columns(A, parts, count);
        find_places(A, parts, count, X->ptr);
        place_entries(A, parts, count, X);
    }
    mem_free(count);
    return err;
}

int csc_transpose(struct device *d, const struct sparse *A, struct sparse **out)
{
    struct sparse *X;
    int err = sparse_make(d, &format_csc, A, NULL, &X);
    if (!err) *(struct csr_dev *)X = as_transposed(csc_of(X));
    *out = X;
    return err;
}

const struct format format_csc = {
    .name = "csc",
    .about = "compressed sparse columns: A^T in csr",
    .size = sizeof(struct csc_dev),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
};
_Static_assert(sizeof(struct csc_dev) == sizeof(struct csr_dev), "csc_transpose() exchanges them");
