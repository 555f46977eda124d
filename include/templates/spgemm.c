// KERNEL: SpGEMM on the CPU, R = A * S, by one thread. The first pass counts, the second writes.
//     make && spbench conform -plugin ./KERNEL.so
//     spbench -op spgemm -plugin ./KERNEL.so -alg KERNEL,hash MATRIX
#include "spbench_plugin.h"

#include <stdlib.h>
#include <string.h>

typedef float T; // for f64: double here, and SPBENCH_F64 below

static int by_column(const void *x, const void *y) { return *(int32_t *)x - *(int32_t *)y; }

// Adds up each row in sum[]. `seen` has the last row of each column, plus 1.
static void pass(const struct spbench_task *t, int write, int64_t *seen, T *sum)
{
    const int64_t *a = t->A->ptr, *s = t->S->ptr;
    int64_t *r = t->R->ptr;
    memset(seen, 0, (size_t)t->R->n * sizeof *seen);
    for (int64_t i = r[0] = 0; i < t->R->m; i++) {
        int32_t *col = write ? t->R->idx + r[i] : NULL;
        int64_t count = 0;
        for (int64_t p = a[i]; p < a[i + 1]; p++)
            for (int64_t l = t->A->idx[p], q = s[l]; q < s[l + 1]; q++) {
                const int32_t j = t->S->idx[q];
                if (seen[j] != i + 1 && ++count && write) col[count - 1] = j;
                if (seen[j] != i + 1) seen[j] = i + 1, sum[j] = 0;
                sum[j] += ((T *)t->A->val)[p] * ((T *)t->S->val)[q];
            }
        if (!write) r[i + 1] = r[i] + count;
        if (write) qsort(col, (size_t)count, sizeof *col, by_column);
        for (int64_t c = 0; c < count && write; c++) ((T *)t->R->val)[r[i] + c] = sum[col[c]];
    }
}

static int run(struct spbench_task *t, void *stream)
{
    struct spbench_csr *R = t->R;
    const struct spbench_host *host = t->host;
    (void)stream;
    int64_t *seen = malloc((size_t)(R->n + 1) * sizeof *seen);
    T *sum = malloc((size_t)(R->n + 1) * sizeof *sum);
    int err = seen && sum ? host->alloc(t, (R->m + 1) * 8, &R->ptr) : SPBENCH_NO_MEMORY;
    host->phase(t, "symbolic");
    if (!err) pass(t, 0, seen, sum), R->nnz = ((int64_t *)R->ptr)[R->m];
    if (!err) err = host->alloc(t, R->nnz * 4, (void **)&R->idx);
    if (!err) err = host->alloc(t, R->nnz * (int64_t)sizeof(T), &R->val);
    host->phase(t, "numeric");
    if (!err) pass(t, 1, seen, sum);
    free(seen);
    free(sum);
    return err;
}

static const struct spbench_algorithm algorithm = {
    .size = sizeof algorithm, .name = "KERNEL", .about = "a dense row of sums", .cite = "Own work",
    .operation = SPBENCH_SPGEMM, .device = SPBENCH_ON_CPU, .precisions = SPBENCH_F32,
    .formats = SPBENCH_CSR, .run = run};
static const struct spbench_algorithm *const list[] = {&algorithm};
const struct spbench_plugin spbench_plugin_v1 = {sizeof spbench_plugin_v1, "0.1", list, 1};
