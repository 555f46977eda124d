// A libmkl_rt for tests: the functions that device/mkl.h declares, as plain loops. Rows of a
// product come out backwards, so that they have to be sorted. Its memory is that of i_malloc and
// i_free.
//
// FAKE_MKL_REFUSE=NAME:STATUS makes a function return this status; NAME may be a layer's function,
// too. FAKE_MKL_PROCESSOR= is what it says of the processor. What it was told last is in fake_told.
// FAKE_MKL_OLD, a definition for the compiler, makes an older version. Its mm loads vectors and
// counts unaligned operands as zeros.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/mkl.h"
#include "fake_mkl.h"

#define MKL_DECLARE(type, name, args) type name args;
MKL_FUNCTIONS(MKL_DECLARE)

void *(*i_malloc)(size_t) = malloc;
void *(*i_calloc)(size_t, size_t) = calloc;
void *(*i_realloc)(void *, size_t) = realloc;
void (*i_free)(void *) = free;
struct fake_told fake_told;

#ifdef FAKE_MKL_OLD
#define VERSION         "2018.3"
#define IS_UNALIGNED(p) ((uintptr_t)(p) % 16)
#else
#define VERSION         "2019.7"
#define IS_UNALIGNED(p) ((void)(p), false)
#endif

struct mkl_sparse {
    int rows, cols, *start, *end, *idx;
    void *val;
    bool real64, owned; // arrays of its own
    bool optimized, vector;       // after mkl_sparse_optimize, mkl_sparse_set_mv_hint
    int operation, layout, width; // by the hint
};

enum { SUCCESS, NOT_INITIALIZED, ALLOC_FAILED, INVALID_VALUE };

static int refusal(const char *name)
{
    const char *told = getenv("FAKE_MKL_REFUSE");
    size_t length = strlen(name);
    bool mine = told && !strncmp(told, name, length) && told[length] == ':';
    return mine ? atoi(told + length + 1) : SUCCESS;
}
#define REFUSE(name)                                                                               \
    if (refusal(#name)) return refusal(#name)

int MKL_Set_Interface_Layer(int layer)
{
    REFUSE(MKL_Set_Interface_Layer);
    return layer;
}
int MKL_Set_Threading_Layer(int layer)
{
    REFUSE(MKL_Set_Threading_Layer);
    return fake_told.layer = layer;
}
void MKL_Set_Num_Threads(int count) { fake_told.threads = count; }
void MKL_Set_Dynamic(int fewer) { fake_told.fewer = fewer; }

void MKL_Get_Version(struct mkl_version *version)
{
    static char none[] = "Intel(R) Architecture processors";
    char *told = getenv("FAKE_MKL_PROCESSOR");
    *version = (struct mkl_version){.major = 2019, .processor = told ? told : none};
}

// As the real one has it: padded with blanks, without an end.
void MKL_Get_Version_String(char *text, int size)
{
    static const char version[] =
        "Fake Math Kernel Library Version " VERSION "-Product Build 20190707";
    memset(text, ' ', (size_t)size);
    memcpy(text, version, (size_t)min64(size, sizeof version - 1));
}

static int create(mkl_matrix *A, int rows, int cols, int *start, int *end, int *idx, void *val,
                  bool real64, bool owned)
{
    *A = i_malloc(sizeof **A);
    if (!*A) return ALLOC_FAILED;
    **A = (struct mkl_sparse){.rows = rows,
                              .cols = cols,
                              .start = start,
                              .end = end,
                              .idx = idx,
                              .val = val,
                              .real64 = real64,
                              .owned = owned};
    return SUCCESS;
}

#define CREATE(letter, T, real64)                                                                  \
    int mkl_sparse_##letter##_create_csr(mkl_matrix *A, int base, int rows, int cols, int *start,  \
                                         int *end, int *idx, T *val)                               \
    {                                                                                              \
        REFUSE(mkl_sparse_##letter##_create_csr);                                                  \
        if (base || rows <= 0 || cols <= 0) return INVALID_VALUE;                                  \
        return create(A, rows, cols, start, end, idx, val, real64, false);                         \
    }
CREATE(s, float, false)
CREATE(d, double, true)

#define EXPORT(letter, T)                                                                          \
    int mkl_sparse_##letter##_export_csr(mkl_matrix A, int *base, int *rows, int *cols,            \
                                         int **start, int **end, int **idx, T **val)               \
    {                                                                                              \
        REFUSE(mkl_sparse_##letter##_export_csr);                                                  \
        *base = 0, *rows = A->rows, *cols = A->cols;                                               \
        *start = A->start, *end = A->end, *idx = A->idx, *val = A->val;                            \
        return SUCCESS;                                                                            \
    }
EXPORT(s, float)
EXPORT(d, double)

int mkl_sparse_destroy(mkl_matrix A)
{
    if (A->owned) {
        i_free(A->start);
        i_free(A->idx);
        i_free(A->val);
    }
    i_free(A);
    return SUCCESS;
}

int mkl_sparse_set_mm_hint(mkl_matrix A, int operation, struct mkl_descr descr, int layout,
                           int cols, int calls)
{
    REFUSE(mkl_sparse_set_mm_hint);
    if ((operation != MKL_NON_TRANSPOSE && operation != MKL_TRANSPOSE) || descr.type != MKL_GENERAL)
        return INVALID_VALUE;
    fake_told.operation = operation;
    fake_told.layout = layout, fake_told.cols = cols, fake_told.calls = calls;
    A->operation = operation, A->layout = layout, A->width = cols;
    return SUCCESS;
}

int mkl_sparse_set_mv_hint(mkl_matrix A, int operation, struct mkl_descr descr, int calls)
{
    REFUSE(mkl_sparse_set_mv_hint);
    int status = mkl_sparse_set_mm_hint(A, operation, descr, MKL_COL_MAJOR, 1, calls);
    A->vector = !status;
    return status;
}

int mkl_sparse_optimize(mkl_matrix A)
{
    REFUSE(mkl_sparse_optimize);
    fake_told.optimized = A;
    A->optimized = true;
    return SUCCESS;
}

#define MULTIPLY(letter, T)                                                                        \
    int mkl_sparse_##letter##_mm(int operation, T alpha, mkl_matrix A, struct mkl_descr descr,     \
                                 int layout, const T *B, int cols, int ldb, T beta, T *C, int ldc) \
    {                                                                                              \
        REFUSE(mkl_sparse_##letter##_mm);                                                          \
        bool row = layout == MKL_ROW_MAJOR;                                                        \
        const bool turned = operation == MKL_TRANSPOSE;                                            \
        const int64_t rows = turned ? A->cols : A->rows, inner = turned ? A->rows : A->cols;       \
        const T factor = IS_UNALIGNED(B) ? 0 : alpha;                                              \
        if (operation != A->operation || descr.type != MKL_GENERAL || beta != 0 ||                 \
            layout != A->layout || cols != A->width || !A->optimized ||                            \
            ldb < (row ? cols : inner) || ldc < (row ? cols : rows))                               \
            return INVALID_VALUE;                                                                  \
        for (int64_t i = 0; i < rows; i++)                                                         \
            for (int64_t j = 0; j < cols; j++) C[row ? i * ldc + j : j * ldc + i] = 0;             \
        for (int64_t r = 0; r < A->rows; r++)                                                      \
            for (int p = A->start[r]; p < A->end[r]; p++)                                          \
                for (int64_t j = 0; j < cols; j++) {                                               \
                    const int64_t i = turned ? A->idx[p] : r, l = turned ? r : A->idx[p];          \
                    C[row ? i * ldc + j : j * ldc + i] +=                                          \
                        factor * ((const T *)A->val)[p] * B[row ? l * ldb + j : j * ldb + l];      \
                }                                                                                  \
        return SUCCESS;                                                                            \
    }
MULTIPLY(s, float)
MULTIPLY(d, double)

#define MULTIPLY_VECTOR(letter, T)                                                                 \
    int mkl_sparse_##letter##_mv(int operation, T alpha, mkl_matrix A, struct mkl_descr descr,     \
                                 const T *x, T beta, T *y)                                         \
    {                                                                                              \
        REFUSE(mkl_sparse_##letter##_mv);                                                          \
        if (!A->vector) return INVALID_VALUE;                                                      \
        return mkl_sparse_##letter##_mm(operation, alpha, A, descr, MKL_COL_MAJOR, x, 1,           \
                                        A->rows + A->cols, beta, y, A->rows + A->cols);            \
    }
MULTIPLY_VECTOR(s, float)
MULTIPLY_VECTOR(d, double)

static double value(mkl_matrix A, int p)
{
    return A->real64 ? ((const double *)A->val)[p] : ((const float *)A->val)[p];
}

// Row i of A * B into C from `at` on, last column first. Returns how many.
static int product_row(mkl_matrix A, mkl_matrix B, int i, mkl_matrix C, int at, double *sum,
                       int *seen)
{
    int count = 0;
    for (int p = A->start[i]; p < A->end[i]; p++)
        for (int l = A->idx[p], q = B->start[l]; q < B->end[l]; q++) {
            int j = B->idx[q];
            if (seen[j] != i + 1) sum[j] = 0;
            seen[j] = i + 1;
            sum[j] += value(A, p) * value(B, q);
        }
    for (int j = B->cols - 1; j >= 0; j--) {
        if (seen[j] != i + 1) continue;
        C->idx[at + count] = j;
        if (C->real64)
            ((double *)C->val)[at + count] = sum[j];
        else
            ((float *)C->val)[at + count] = (float)sum[j];
        count++;
    }
    return count;
}

int mkl_sparse_spmm(int operation, mkl_matrix A, mkl_matrix B, mkl_matrix *out)
{
    REFUSE(mkl_sparse_spmm);
    if (operation != MKL_NON_TRANSPOSE || A->cols != B->rows) return INVALID_VALUE;
    size_t most = 1;
    for (int i = 0; i < A->rows; i++)
        for (int p = A->start[i]; p < A->end[i]; p++)
            most += (size_t)(B->end[A->idx[p]] - B->start[A->idx[p]]);
    int *start = i_malloc(((size_t)A->rows + 1) * sizeof *start);
    int *idx = i_malloc(most * sizeof *idx), *seen = i_calloc((size_t)B->cols, sizeof *seen);
    void *val = i_malloc(most * sizeof(double));
    double *sum = i_malloc((size_t)B->cols * sizeof *sum);
    int status = ALLOC_FAILED;
    if (start && idx && seen && val && sum)
        status = create(out, A->rows, B->cols, start, start + 1, idx, val, A->real64, true);
    if (!status) {
        start[0] = 0;
        for (int i = 0; i < A->rows; i++)
            start[i + 1] = start[i] + product_row(A, B, i, *out, start[i], sum, seen);
        // What is not needed goes back.
        (*out)->idx = i_realloc(idx, ((size_t)start[A->rows] + 1) * sizeof *idx);
        if (!(*out)->idx) {
            (*out)->idx = idx;
            mkl_sparse_destroy(*out);
            *out = NULL;
            status = ALLOC_FAILED;
        }
    } else {
        i_free(start);
        i_free(idx);
        i_free(val);
    }
    i_free(seen);
    i_free(sum);
    return status;
}

// Turns each row round.
int mkl_sparse_order(mkl_matrix A)
{
    REFUSE(mkl_sparse_order);
    size_t width = A->real64 ? sizeof(double) : sizeof(float);
    char *val = A->val, held[sizeof(double)];
    for (int i = 0; i < A->rows; i++)
        for (int p = A->start[i], q = A->end[i] - 1; p < q; p++, q--) {
            int j = A->idx[p];
            A->idx[p] = A->idx[q];
            A->idx[q] = j;
            memcpy(held, val + (size_t)p * width, width);
            memcpy(val + (size_t)p * width, val + (size_t)q * width, width);
            memcpy(val + (size_t)q * width, held, width);
        }
    return SUCCESS;
}
