#include "formats/coo.h"

#include "formats/csr.h"

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct coo_dev *A = (struct coo_dev *)X;
    list[0] = (struct array){(void **)&A->row, A->nnz, sizeof *A->row};
    list[1] = (struct array){(void **)&A->col, A->nnz, sizeof *A->col};
    list[2] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    return 3;
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct coo_dev *X = (struct coo_dev *)out;
    size_t width = type_bytes(A->type);
    int err = device_place(d, A->idx, A->nnz, sizeof *X->col, (void **)&X->col);
    if (!err) err = device_place(d, A->val, A->nnz, width, &X->val);
    if (!err) err = device_alloc(d, A->nnz, sizeof *X->row, (void **)&X->row);
    if (err) return err;
    const int64_t *ptr = A->ptr;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) X->row[p] = i;
    return OK;
}

const struct format format_coo = {
    .name = "coo",
    .about = "row and column of each entry, sorted by rows",
    .size = sizeof(struct coo_dev),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
};
