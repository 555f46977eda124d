// A plug-in with right algorithms of each operation, for the CPU: plain loops.
#include "spbench_plugin.h"

#include <stdlib.h>
#include <string.h>

static double load(const void *x, int64_t i, int64_t precision)
{
    return precision == SPBENCH_F32 ? ((const float *)x)[i] : ((const double *)x)[i];
}

static void store(void *x, int64_t i, int64_t precision, double value)
{
    if (precision == SPBENCH_F32)
        ((float *)x)[i] = (float)value;
    else
        ((double *)x)[i] = value;
}

static int64_t place(const struct spbench_dense *D, int64_t i, int64_t j)
{
    return D->layout == SPBENCH_ROW_MAJOR ? i * D->ld + j : j * D->ld + i;
}

static int spmm(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const int64_t *ptr = A->ptr;
    (void)stream;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t j = 0; j < t->C->cols; j++) {
            double sum = 0;
            for (int64_t p = ptr[i]; p < ptr[i + 1]; p++)
                sum += load(A->val, p, t->precision) *
                       load(t->B->val, place(t->B, A->idx[p], j), t->precision);
            store(t->C->val, place(t->C, i, j), t->precision, sum);
        }
    return SPBENCH_OK;
}

static int sddmm(struct spbench_task *t, void *stream)
{
    const struct spbench_csr *A = t->A;
    const int64_t *ptr = A->ptr;
    (void)stream;
    for (int64_t i = 0; i < A->m; i++)
        for (int64_t p = ptr[i]; p < ptr[i + 1]; p++) {
            double sum = 0;
            for (int64_t l = 0; l < t->B->cols; l++)
                sum += load(t->B->val, place(t->B, i, l), t->precision) *
                       load(t->Y->val, place(t->Y, A->idx[p], l), t->precision);
            store(t->C_val, p, t->precision, sum * load(A->val, p, t->precision));
        }
    return SPBENCH_OK;
}

// State of the product: a row of sums, and marks of its columns.
struct row {
    double *sum;
    int64_t *seen;
};

static int prepare(struct spbench_task *t)
{
    struct row *w = malloc(sizeof *w);
    if (!w) return SPBENCH_NO_MEMORY;
    w->sum = malloc((size_t)(t->S->n + 1) * sizeof *w->sum);
    w->seen = malloc((size_t)(t->S->n + 1) * sizeof *w->seen);
    t->state = w;
    t->host->number(t, "columns", (double)t->S->n);
    return w->sum && w->seen ? SPBENCH_OK : SPBENCH_NO_MEMORY;
}

static void teardown(struct spbench_task *t)
{
    struct row *w = t->state;
    if (!w) return;
    free(w->sum);
    free(w->seen);
    free(w);
}

// Adds up row i of A * S. Returns the number of its columns.
static int64_t add_row(const struct spbench_task *t, int64_t i)
{
    const struct row *w = t->state;
    const int64_t *a = t->A->ptr, *s = t->S->ptr;
    int64_t count = 0;
    for (int64_t p = a[i]; p < a[i + 1]; p++)
        for (int64_t q = s[t->A->idx[p]]; q < s[t->A->idx[p] + 1]; q++) {
            int32_t j = t->S->idx[q];
            if (w->seen[j] != i) w->sum[j] = 0, w->seen[j] = i, count++;
            w->sum[j] += load(t->A->val, p, t->precision) * load(t->S->val, q, t->precision);
        }
    return count;
}

static int spgemm(struct spbench_task *t, void *stream)
{
    struct spbench_csr *R = t->R;
    const struct row *w = t->state;
    const int64_t width = t->precision == SPBENCH_F32 ? 4 : 8;
    (void)stream;
    char phase[] = "count"; // spbench copies the name
    t->host->phase(t, phase);
    phase[0] = 'm';
    R->ptr_bytes = 8;
    if (t->host->alloc(t, (R->m + 1) * 8, &R->ptr)) return SPBENCH_NO_MEMORY;
    int64_t *ptr = R->ptr;
    memset(w->seen, 0xff, (size_t)t->S->n * sizeof *w->seen);
    ptr[0] = 0;
    for (int64_t i = 0; i < R->m; i++) ptr[i + 1] = ptr[i] + add_row(t, i);
    R->nnz = ptr[R->m];
    t->host->phase(t, "compute");
    void *idx;
    if (t->host->alloc(t, R->nnz * 4, &idx)) return SPBENCH_NO_MEMORY;
    R->idx = idx;
    if (t->host->alloc(t, R->nnz * width, &R->val)) return SPBENCH_NO_MEMORY;
    memset(w->seen, 0xff, (size_t)t->S->n * sizeof *w->seen);
    for (int64_t i = 0, at = 0; i < R->m; i++) {
        add_row(t, i);
        for (int64_t j = 0; j < R->n; j++)
            if (w->seen[j] == i) {
                R->idx[at] = (int32_t)j;
                store(R->val, at++, t->precision, w->sum[j]);
            }
    }
    return SPBENCH_OK;
}

static const struct spbench_option options[] = {
    {sizeof *options, "blocks", 4, 1, 64, 1, "rows at a time"},
};
#define MINE                                                                                       \
    .size = sizeof(struct spbench_algorithm), .name = "mine", .cite = "Own work",                  \
    .device = SPBENCH_ON_CPU, .precisions = SPBENCH_F32 | SPBENCH_F64, .formats = SPBENCH_CSR
static const struct spbench_algorithm mine_spmm = {MINE,
                                                   .about = "plain loops",
                                                   .operation = SPBENCH_SPMM,
                                                   .run = spmm,
                                                   .layouts = SPBENCH_ROW_MAJOR | SPBENCH_COL_MAJOR,
                                                   .options = options,
                                                   .option_count = 1};
static const struct spbench_algorithm mine_sddmm = {MINE, .about = "plain loops",
                                                    .operation = SPBENCH_SDDMM, .run = sddmm};
static const struct spbench_algorithm mine_spgemm = {MINE,
                                                     .about = "a dense row of sums",
                                                     .operation = SPBENCH_SPGEMM,
                                                     .prepare = prepare,
                                                     .run = spgemm,
                                                     .teardown = teardown};
static const struct spbench_algorithm *const list[] = {&mine_spmm, &mine_sddmm, &mine_spgemm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "1.0", list, 3};
