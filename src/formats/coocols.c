#include "formats/coocols.h"

#include <string.h>

#include "formats/csr.h"

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct coocols *A = (struct coocols *)X;
    list[0] = (struct array){(void **)&A->row, A->nnz, sizeof *A->row};
    list[1] = (struct array){(void **)&A->col, A->nnz, sizeof *A->col};
    list[2] = (struct array){(void **)&A->place, A->nnz, sizeof *A->place};
    list[3] = (struct array){&A->val, A->nnz, type_bytes(A->type)};
    return 4;
}

// Sorts the entries by counting. `next`: scratch memory for n + 1 places, zero.
static void fill(const struct csr_dev *A, struct coocols *X, int64_t *next)
{
    const int64_t *ptr = A->ptr;
    for (int64_t p = 0; p < A->nnz; p++) next[A->idx[p] + 1]++;
    for (int64_t j = 0; j < A->n; j++) next[j + 1] += next[j];
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            int64_t q = next[A->idx[p]]++;
            X->row[q] = i;
            X->col[q] = A->idx[p];
            X->place[q] = (int32_t)p;
            type_store(X->type, X->val, q, type_load(A->type, A->val, p));
        }
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    (void)opt;
    const struct csr_dev *A = csr_of(from);
    struct coocols *X = (struct coocols *)out;
    if (A->nnz > INT32_MAX) return fail(ERR_UNSUPPORTED, "coocols: 2^31 nonzeros or more");
    int err = device_alloc(d, A->nnz, sizeof *X->row, (void **)&X->row);
    if (!err) err = device_alloc(d, A->nnz, sizeof *X->col, (void **)&X->col);
    if (!err) err = device_alloc(d, A->nnz, sizeof *X->place, (void **)&X->place);
    if (!err) err = device_alloc(d, A->nnz, type_bytes(X->type), &X->val);
    if (err) return err;
    int64_t *next = mem_zero_alloc((int64_t)A->n + 1, sizeof *next);
    if (!next) return ERR_MEMORY;
    fill(A, X, next);
    mem_free(next);
    return OK;
}

static const char *check(const struct sparse *X)
{
    const struct coocols *A = coocols_of(X);
    if (A->m < 0 || A->n < 0 || A->nnz < 0) return "negative size";
    if (!A->row || !A->col || !A->place || !A->val) return "missing array";
    for (int64_t p = 0; p < A->nnz; p++) {
        if (A->row[p] < 0 || A->row[p] >= A->m) return "row outside the matrix";
        if (A->col[p] < 0 || A->col[p] >= A->n) return "column outside the matrix";
        if (A->place[p] < 0 || A->place[p] >= A->nnz) return "place outside the matrix";
        if (!p || A->col[p - 1] < A->col[p]) continue;
        if (A->col[p - 1] > A->col[p]) return "columns descend";
        if (A->row[p - 1] >= A->row[p]) return "rows not ascending";
        if (A->place[p - 1] >= A->place[p]) return "places not ascending";
    }
    return NULL;
}

static int to_csr(const struct sparse *X, struct csr *out)
{
    const struct coocols *A = coocols_of(X);
    if (csr_alloc(out, A->m, A->n, A->nnz)) return ERR_MEMORY;
    memset(out->ptr, 0, ((size_t)A->m + 1) * sizeof *out->ptr);
    for (int64_t p = 0; p < A->nnz; p++) {
        out->ptr[A->row[p] + 1]++;
        out->idx[A->place[p]] = A->col[p];
        out->val[A->place[p]] = type_load(A->type, A->val, p);
    }
    for (int32_t i = 0; i < A->m; i++) out->ptr[i + 1] += out->ptr[i];
    return OK;
}

const struct format format_coocols = {
    .name = "coocols",
    .about = "row and column of each entry, sorted by columns",
    .size = sizeof(struct coocols),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .check = check,
    .to_csr = to_csr,
};
