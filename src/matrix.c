#include "matrix.h"

#include <stdlib.h>
#include <string.h>

size_t prec_bytes(enum prec prec) { return prec == F32 ? sizeof(float) : sizeof(double); }

const char *prec_name(enum prec prec) { return prec == F32 ? "f32" : "f64"; }

double prec_round(enum prec prec, double x) { return prec == F32 ? (double)(float)x : x; }

double prec_unit_roundoff(enum prec prec) { return prec == F32 ? 0x1p-24 : 0x1p-53; }

void coo_free(struct coo *A)
{
    mem_free(A->row);
    mem_free(A->col);
    mem_free(A->val);
    *A = (struct coo){0};
}

int csr_alloc(struct csr *A, int32_t m, int32_t n, int64_t nnz)
{
    *A = (struct csr){.m = m, .n = n, .nnz = nnz};
    A->ptr = mem_alloc((int64_t)m + 1, sizeof *A->ptr);
    A->idx = A->ptr ? mem_alloc(nnz, sizeof *A->idx) : NULL;
    A->val = A->idx ? mem_alloc(nnz, sizeof *A->val) : NULL;
    if (A->val) return OK;
    csr_free(A);
    return ERR_MEMORY;
}

void csr_free(struct csr *A)
{
    mem_free(A->ptr);
    mem_free(A->idx);
    mem_free(A->val);
    *A = (struct csr){0};
}

const char *csr_check(const struct csr *A)
{
    if (A->m < 0 || A->n < 0 || A->nnz < 0) return "negative size";
    if (!A->ptr || !A->idx || !A->val) return "missing array";
    if (A->ptr[0] != 0) return "ptr[0] is not 0";
    if (A->ptr[A->m] != A->nnz) return "ptr[m] is not nnz";
    for (int32_t i = 0; i < A->m; i++)
        if (A->ptr[i] > A->ptr[i + 1] || A->ptr[i + 1] > A->nnz) return "ptr descends";
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            if (A->idx[p] < 0 || A->idx[p] >= A->n) return "column outside the matrix";
            if (p > A->ptr[i] && A->idx[p - 1] >= A->idx[p]) return "columns not ascending";
        }
    return NULL;
}

bool csr_equal(const struct csr *A, const struct csr *B)
{
    return A->m == B->m && A->n == B->n && A->nnz == B->nnz &&
           !memcmp(A->ptr, B->ptr, ((size_t)A->m + 1) * sizeof *A->ptr) &&
           !memcmp(A->idx, B->idx, (size_t)A->nnz * sizeof *A->idx) &&
           !memcmp(A->val, B->val, (size_t)A->nnz * sizeof *A->val);
}

int csr_transpose(const struct csr *A, struct csr *out)
{
    struct csr T;
    if (csr_alloc(&T, A->n, A->m, A->nnz)) return ERR_MEMORY;
    // ptr[j + 1] counts column j, then holds its start, then (after the scatter) its end.
    memset(T.ptr, 0, ((size_t)T.m + 1) * sizeof *T.ptr);
    for (int64_t p = 0; p < A->nnz; p++) T.ptr[A->idx[p] + 1]++;
    for (int32_t j = 0; j < T.m; j++) T.ptr[j + 1] += T.ptr[j];
    for (int32_t i = 0; i < A->m; i++)
        for (int64_t p = A->ptr[i]; p < A->ptr[i + 1]; p++) {
            int64_t q = T.ptr[A->idx[p]]++;
            T.idx[q] = i;
            T.val[q] = A->val[p];
        }
    for (int32_t j = T.m; j > 0; j--) T.ptr[j] = T.ptr[j - 1];
    T.ptr[0] = 0;
    *out = T;
    return OK;
}

// One entry of a row while it is sorted; `order` keeps the sort stable.
struct entry {
    int32_t col;
    int32_t order;
    double val;
};

static int by_column(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    return a->col != b->col ? (a->col > b->col) - (a->col < b->col)
                            : (a->order > b->order) - (a->order < b->order);
}

// Sorts one row and sums its duplicates; returns how many entries are left.
static int64_t row_tidy(int32_t *idx, double *val, int64_t count, struct entry *work)
{
    bool sorted = true;
    for (int64_t p = 1; p < count && sorted; p++) sorted = idx[p - 1] < idx[p];
    if (sorted) return count;
    for (int64_t p = 0; p < count; p++) work[p] = (struct entry){idx[p], (int32_t)p, val[p]};
    qsort(work, (size_t)count, sizeof *work, by_column);
    int64_t kept = 0;
    for (int64_t p = 0; p < count; p++) {
        if (kept && idx[kept - 1] == work[p].col) {
            val[kept - 1] += work[p].val;
            continue;
        }
        idx[kept] = work[p].col;
        val[kept++] = work[p].val;
    }
    return kept;
}

int csr_from_coo(const struct coo *A, struct csr *out, int64_t *duplicates)
{
    struct csr C = {0};
    struct entry *work = NULL;
    int err = csr_alloc(&C, A->m, A->n, A->nnz);
    if (err) goto done;

    memset(C.ptr, 0, ((size_t)C.m + 1) * sizeof *C.ptr);
    for (int64_t p = 0; p < A->nnz; p++) C.ptr[A->row[p] + 1]++;
    int64_t longest = 0;
    for (int32_t i = 0; i < C.m; i++) {
        longest = max64(longest, C.ptr[i + 1]);
        C.ptr[i + 1] += C.ptr[i];
    }
    for (int64_t p = 0; p < A->nnz; p++) {
        int64_t q = C.ptr[A->row[p]]++;
        C.idx[q] = A->col[p];
        C.val[q] = A->val[p];
    }
    for (int32_t i = C.m; i > 0; i--) C.ptr[i] = C.ptr[i - 1];
    C.ptr[0] = 0;

    work = mem_alloc(longest, sizeof *work);
    err = work ? OK : ERR_MEMORY;
    if (err) goto done;
    int64_t kept = 0;
    for (int32_t i = 0; i < C.m; i++) {
        int64_t start = C.ptr[i];
        int64_t count = row_tidy(C.idx + start, C.val + start, C.ptr[i + 1] - start, work);
        memmove(C.idx + kept, C.idx + start, (size_t)count * sizeof *C.idx);
        memmove(C.val + kept, C.val + start, (size_t)count * sizeof *C.val);
        C.ptr[i] = kept;
        kept += count;
    }
    C.ptr[C.m] = kept;
    C.nnz = kept;
    if (duplicates) *duplicates = A->nnz - kept;
    *out = C;
    C = (struct csr){0};
done:
    mem_free(work);
    csr_free(&C);
    return err;
}
