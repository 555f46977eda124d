#include "formats/csr.h"

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct csr_dev *A = (struct csr_dev *)X;
    list[0] = (struct array){&A->ptr, (int64_t)A->m + 1, (size_t)A->ptr_bytes};
    list[1] = (struct array){(void **)&A->idx, A->nnz, sizeof *A->idx};
    list[2] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    return 3;
}

int64_t csr_bytes(int64_t rows, int64_t nnz, int ptr_bytes, enum prec type)
{
    return (rows + 1) * ptr_bytes + nnz * (4 + (int64_t)type_bytes(type));
}

// Copies an array of A to the device, with memory up to a multiple of four elements.
static int place_entries(struct device *d, const void *from, int64_t nnz, size_t size, void **to)
{
    return device_place_in(d, from, nnz, (nnz + 3) / 4 * 4, size, to);
}

// Copies the values to the device, rounded to `type`.
static int place_values(struct device *d, const struct csr *A, enum prec type, void **to)
{
    if (type == F64) return place_entries(d, A->val, A->nnz, sizeof *A->val, to);
    void *rounded = mem_alloc(A->nnz, type_bytes(type));
    if (!rounded) return ERR_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t p = 0; p < A->nnz; p++) type_store(type, rounded, p, A->val[p]);
    int err = place_entries(d, rounded, A->nnz, type_bytes(type), to);
    mem_free(rounded);
    return err;
}

// Copies the row starts to the device.
static int place_row_starts(struct device *d, const struct csr *A, void **to)
{
    int64_t count = (int64_t)A->m + 1;
    if (d->ops->row_start_bytes == 8) return device_place(d, A->ptr, count, sizeof *A->ptr, to);
    if (A->nnz > INT32_MAX)
        return fail(ERR_UNSUPPORTED, "%lld nonzeros do not fit in 32-bit row starts",
                    (long long)A->nnz);
    int32_t *narrow = mem_alloc(count, sizeof *narrow);
    if (!narrow) return ERR_MEMORY;
    for (int64_t i = 0; i < count; i++) narrow[i] = (int32_t)A->ptr[i];
    int err = device_place(d, narrow, count, sizeof *narrow, to);
    mem_free(narrow);
    return err;
}

int csr_place(struct device *d, const struct csr *A, enum prec type, struct sparse **out)
{
    *out = NULL;
    struct csr_dev *X = (struct csr_dev *)sparse_new(&format_csr);
    if (!X) return ERR_MEMORY;
    X->type = type;
    X->m = A->m, X->n = A->n;
    X->nnz = A->nnz;
    X->ptr_bytes = d->ops->row_start_bytes;
    int err = place_row_starts(d, A, &X->ptr);
    if (!err) err = place_entries(d, A->idx, A->nnz, sizeof *A->idx, (void **)&X->idx);
    if (!err) err = place_values(d, A, type, &X->val);
    if (err)
        sparse_free(d, &X->head);
    else
        *out = &X->head;
    return err;
}

const struct format format_csr = {
    .name = "csr",
    .about = "compressed sparse rows",
    .size = sizeof(struct csr_dev),
    .arrays = arrays,
};
