#include "formats/coocols.h"

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
    int err = sparse_alloc(d, out);
    if (err) return err;
    int64_t *next = mem_zero_alloc((int64_t)A->n + 1, sizeof *next);
    if (!next) return ERR_MEMORY;
    fill(A, X, next);
    mem_free(next);
    return OK;
}

const struct format format_coocols = {
    .name = "coocols",
    .about = "row and column of each entry, sorted by columns",
    .size = sizeof(struct coocols),
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
};
