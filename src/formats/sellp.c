#include "formats/sellp.h"

#include <assert.h>

#include "formats/csr.h"

// Defaults of MAGMA's tester.
enum { SLICE, PAD };
static const struct param params[] = {
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
    if (!err) err = device_alloc(d, S->stored, sizeof *S->idx, (void **)&S->idx);
    if (!err) err = device_alloc(d, S->stored, type_bytes(S->type), &S->val);
    if (err) return err;
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t s = 0; s < S->slices; s++) fill_slice(A, S, s);
    return OK;
}

// Returns the place of entry 0 of row i. The entries of a row are `slice` places apart.
static int64_t row_start(const struct sellp *A, int64_t i)
{
    return A->ptr[i / A->slice] + i % A->slice;
}

static int64_t row_width(const struct sellp *A, int64_t i)
{
    return (A->ptr[i / A->slice + 1] - A->ptr[i / A->slice]) / A->slice;
}

static int64_t row_length(const struct sellp *A, int64_t i)
{
    int64_t start = row_start(A, i), width = row_width(A, i), length = 0;
    while (length < width && A->idx[start + length * A->slice] >= 0) length++;
    return length;
}

static int to_csr(const struct sparse *X, struct csr *out)
{
    const struct sellp *A = sellp_of(X);
    struct csr C;
    if (csr_alloc(&C, A->m, A->n, A->nnz)) return ERR_MEMORY;
    C.ptr[0] = 0;
    for (int64_t i = 0; i < A->m; i++) C.ptr[i + 1] = C.ptr[i] + row_length(A, i);
    assert(C.ptr[C.m] == C.nnz);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < A->m; i++) {
        int64_t q = row_start(A, i);
        for (int64_t p = C.ptr[i]; p < C.ptr[i + 1]; p++, q += A->slice) {
            C.idx[p] = A->idx[q];
            C.val[p] = type_load(A->type, A->val, q);
        }
    }
    *out = C;
    return OK;
}

static const char *check_slices(const struct sellp *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0 || A->stored < 0) return "negative size";
    if (A->slice < 1 || A->pad < 1) return "slice or pad below 1";
    if (A->slices != ((int64_t)A->m + A->slice - 1) / A->slice) return "slices do not cover m";
    if (!A->ptr || !A->idx || !A->val) return "missing array";
    if (A->ptr[0] != 0) return "ptr[0] is not 0";
    if (A->ptr[A->slices] != A->stored) return "ptr[slices] is not stored";
    for (int64_t s = 0; s < A->slices; s++) {
        int64_t entries = A->ptr[s + 1] - A->ptr[s];
        if (entries < 0 || A->ptr[s + 1] > A->stored) return "ptr descends";
        if (entries % A->slice) return "a slice is not whole columns";
        if (entries / A->slice % A->pad) return "a width is no multiple of pad";
    }
    return NULL;
}

// Checks row i. Rows from m on, in the last slice, must be padding.
static const char *check_row(const struct sellp *A, int64_t i, int64_t length)
{
    int64_t q = row_start(A, i), width = row_width(A, i);
    if (i >= A->m && length) return "entries below the last row";
    for (int64_t j = 0; j < width; j++, q += A->slice) {
        int32_t col = A->idx[q];
        if (j < length) {
            if (col >= A->n) return "column outside the matrix";
            if (j && A->idx[q - A->slice] >= col) return "columns not ascending";
        } else {
            if (col >= 0) return "entry after padding";
            if (col != -1) return "padding column is not -1";
            if (!(type_load(A->type, A->val, q) == 0)) return "padding value is not 0";
        }
    }
    return NULL;
}

static const char *check(const struct sparse *X)
{
    const struct sellp *A = sellp_of(X);
    const char *broken = check_slices(A);
    int64_t nnz = 0;
    for (int64_t s = 0; s < A->slices && !broken; s++) {
        int64_t first = s * A->slice, longest = 0;
        for (int64_t i = first; i < first + A->slice && !broken; i++) {
            int64_t length = row_length(A, i);
            broken = check_row(A, i, length);
            longest = max64(longest, length);
            nnz += length;
        }
        if (!broken && row_width(A, first) - longest >= A->pad)
            broken = "a slice is wider than its longest row needs";
    }
    if (!broken && nnz != A->nnz) broken = "nnz is not the number of entries";
    return broken;
}

static void describe(const struct sparse *X, struct figures *f)
{
    const struct sellp *A = sellp_of(X);
    figures_number(f, "padding", A->nnz ? (double)A->stored / (double)A->nnz : 1);
}

const struct format format_sellp = {
    .name = "sellp",
    .about = "sliced ELLPACK with padded rows",
    .size = sizeof(struct sellp),
    .params = params,
    .from = &format_csr,
    .arrays = arrays,
    .make = make,
    .check = check,
    .to_csr = to_csr,
    .describe = describe,
};
