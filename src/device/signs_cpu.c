#include "device/signs.h"

#define THREADS_FROM 16384 // elements; for fewer, starting threads takes longer

int negate_cpu(struct device *d, const struct device_view *v)
{
    (void)d;
#pragma omp parallel for schedule(static) if (v->lines * v->length > THREADS_FROM)
    for (int64_t q = 0; q < v->lines * v->length; q++) sign_change(v->p, v->width, digest_at(v, q));
    return OK;
}

int sign_cpu(struct device *d, const struct device_signs *s)
{
    (void)d;
#pragma omp parallel for schedule(dynamic, 256) if (s->nnz > THREADS_FROM)
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t q = sign_start(s, i); q < sign_start(s, i + 1); q++)
            if (sign_of(s->key, i) != sign_of(s->key, s->idx[q])) sign_change(s->val, s->width, q);
    return OK;
}
