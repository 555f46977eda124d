#include "data/content.h"

#include <stdio.h>

#include "base/hash.h"

const char *content_text(const struct csr *A, bool values, char text[CONTENT_LETTERS + 1])
{
    int64_t sizes[] = {A->m, A->n, A->nnz, values};
    struct hash all = hash_bytes(sizes, sizeof sizes);
    all = hash_join(all, hash_bytes(A->ptr, ((int64_t)A->m + 1) * (int64_t)sizeof *A->ptr));
    all = hash_join(all, hash_bytes(A->idx, A->nnz * (int64_t)sizeof *A->idx));
    if (values) all = hash_join(all, hash_bytes(A->val, A->nnz * (int64_t)sizeof *A->val));
    snprintf(text, CONTENT_LETTERS + 1, "%016llx%016llx", (unsigned long long)all.a,
             (unsigned long long)all.b);
    return text;
}
