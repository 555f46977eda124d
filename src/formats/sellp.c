#include "formats/sellp.h"

#include "formats/csr.h"

// Defaults of MAGMA's tester.
enum { SLICE, PAD };
static const struct algo_option options[] = {
    [SLICE] = {"slice", 8, 1, 1024, true, "rows of a slice"},
    [PAD] = {"pad", 8, 1, 1024, true, "row lengths are rounded up to a multiple of this"},
    {0},
};

static int arrays(const struct sparse *X, struct array list[ARRAYS_MAX])
{
    struct sellp *A = (struct sellp *)X;
    list[0] = (struct array){(void **)&A->ptr, A->slices + 1, sizeof *A->ptr};
    list[1] = (struct array){(void **)&A->idx, A->stored, sizeof *A->idx};
    list[2] = (struct array){&A->val, A->stored, type_bytes(A->type)};
    return 3;
}

// Returns the entries of each row of slice s, with padding.
static int64_t slice_width(const struct csr_dev *A, int32_t slice, int32_t pad, int64_t s)
{
    const int64_t *ptr = A->ptr;
    int64_t longest = 0;
    for (int64_t i = s * slice; i < min64((s + 1) * slice, A->m); i++)
        longest = max64(longest, ptr[i + 1] - ptr[i]);
    return (longest + pad - 1) / pad * pad;
}

// Sets S->ptr and S->stored.
static int place_slices(const struct csr_dev *A, struct sellp *S)
{
    int64_t slices = S->slices, *ptr = S->ptr;
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < slices; s++) ptr[s + 1] = slice_width(A, S->slice, S->pad, s);
    ptr[0] = 0;
    for (int64_t s = 0; s < slices; s++) {
        int64_t entries;
        if (size_mul(ptr[s + 1], S->slice, &entries) || size_add(ptr[s], entries, &ptr[s + 1]))
            return ERR_MEMORY;
    }
    S->stored = ptr[slices];
    return OK;
}

// Fills slice s, in the order of memory.
static void fill_slice(const struct csr_dev *A, struct sellp *S, int64_t s)
{
    const int64_t *ptr = A->ptr;
    int64_t q = S->ptr[s], width = (S->ptr[s + 1] - q) / S->slice;
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = s * S->slice; i < (s + 1) * S->slice; i++, q++) {
            bool used = i < A->m && j < ptr[i + 1] - ptr[i];
            S->idx[q] = used ? A->idx[ptr[i] + j] : -1;
            type_store(S->type, S->val, q, used ? type_load(A->type, A->val, ptr[i] + j) : 0);
        }
}

static int make(struct device *d, const struct sparse *from, const double *opt, struct sparse *out)
{
    const struct csr_dev *A = csr_of(from);
    struct sellp *S = (struct sellp *)out;
    S->slice = (int32_t)opt[SLICE], S->pad = (int32_t)opt[PAD];
    S->slices = ((int64_t)A->m + S->slice - 1) / S->slice;
    int err = device_alloc(d, S->slices + 1, sizeof *S->ptr, (void **)&S->ptr);
    if (!err) err = place_slices(A, S);
    if (!err) err = sparse_alloc(d, out);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t s = 0; s < S->slices; s++) fill_slice(A, S, s);
    return OK;
}

static void describe(const struct sparse *X, struct algo_stats *f)
{
    const struct sellp *A = sellp_of(X);
    algo_stats_number(f, "padding", A->nnz ? (double)A->stored / (double)A->nnz : 1);
}

const struct format format_sellp = {
    .name = "sellp",
    .about = "sliced ELLPACK with padded rows",
    .size = sizeof(struct sellp),
    .options = options,
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .describe = describe,
};
