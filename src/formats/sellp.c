#include "formats/sellp.h"

#include <assert.h>

// Entries of each row of a slice, with padding.
static int64_t slice_width(const struct csr *A, int32_t slice, int32_t pad, int64_t s)
{
    int64_t longest = 0;
    for (int64_t i = s * slice; i < min64((s + 1) * slice, A->m); i++)
        longest = max64(longest, A->ptr[i + 1] - A->ptr[i]);
    return (longest + pad - 1) / pad * pad;
}

// Sets ptr and stored.
static int place_slices(const struct csr *A, struct sellp *S)
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

// Writes slice s in the order of memory.
static void fill_slice(const struct csr *A, struct sellp *S, int64_t s)
{
    const int64_t *ptr = A->ptr;
    int64_t q = S->ptr[s], width = (S->ptr[s + 1] - q) / S->slice;
    for (int64_t j = 0; j < width; j++)
        for (int64_t i = s * S->slice; i < (s + 1) * S->slice; i++, q++) {
            bool used = i < A->m && j < ptr[i + 1] - ptr[i];
            S->idx[q] = used ? A->idx[ptr[i] + j] : -1;
            S->val[q] = used ? A->val[ptr[i] + j] : 0;
        }
}

int sellp_from_csr(const struct csr *A, int32_t slice, int32_t pad, struct sellp *out)
{
    if (slice < 1 || pad < 1)
        return fail(ERR_USAGE, "SELL-P: slice %d and pad %d must be at least 1", slice, pad);
    struct sellp S = {.m = A->m, .n = A->n, .slice = slice, .pad = pad, .nnz = A->nnz};
    S.slices = ((int64_t)A->m + slice - 1) / slice;
    int err = ERR_MEMORY;
    S.ptr = mem_alloc(S.slices + 1, sizeof *S.ptr);
    if (!S.ptr || place_slices(A, &S)) goto done;
    S.idx = mem_alloc(S.stored, sizeof *S.idx);
    S.val = S.idx ? mem_alloc(S.stored, sizeof *S.val) : NULL;
    if (!S.val) goto done;

#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t s = 0; s < S.slices; s++) fill_slice(A, &S, s);
    *out = S;
    S = (struct sellp){0};
    err = OK;
done:
    sellp_free(&S);
    return err;
}

// Where entry 0 of row i is; the next one is `slice` further.
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

int sellp_to_csr(const struct sellp *A, struct csr *out)
{
    assert(!sellp_check(A));
    struct csr C;
    if (csr_alloc(&C, A->m, A->n, A->nnz)) return ERR_MEMORY;
    C.ptr[0] = 0;
    for (int64_t i = 0; i < A->m; i++) C.ptr[i + 1] = C.ptr[i] + row_length(A, i);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < A->m; i++) {
        int64_t q = row_start(A, i);
        for (int64_t p = C.ptr[i]; p < C.ptr[i + 1]; p++, q += A->slice) {
            C.idx[p] = A->idx[q];
            C.val[p] = A->val[q];
        }
    }
    *out = C;
    return OK;
}

void sellp_free(struct sellp *A)
{
    mem_free(A->ptr);
    mem_free(A->idx);
    mem_free(A->val);
    *A = (struct sellp){0};
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

// One row, also of those after m that fill the last slice; they are all padding.
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
            if (!(A->val[q] == 0)) return "padding value is not 0";
        }
    }
    return NULL;
}

const char *sellp_check(const struct sellp *A)
{
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
