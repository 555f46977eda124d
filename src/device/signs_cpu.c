#include "device/signs.h"

#define THREADS_FROM 16384 // elements; for fewer, starting threads takes longer

int sign_dense_cpu(struct device *d, const struct device_signs_dense *s)
{
    (void)d;
    const struct device_view *v = &s->view;
    const int64_t blocks = (v->length + SIGN_BLOCK - 1) / SIGN_BLOCK;
#pragma omp parallel for schedule(static) if (v->lines * v->length > THREADS_FROM)
    for (int64_t x = 0; x < v->lines * blocks; x++) sign_block_change(s, x / blocks, x % blocks);
    return OK;
}

int sign_sparse_cpu(struct device *d, const struct device_signs_sparse *s)
{
    (void)d;
#pragma omp parallel for schedule(dynamic, 256) if (s->nnz > THREADS_FROM)
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t q = sign_start(s, i); q < sign_start(s, i + 1); q++)
            sign_value_change(s, i, q);
    return OK;
}
