// Small matrices as text.
#ifndef PICTURES_H
#define PICTURES_H

#include "data/matrix.h"
#include "test.h"

// Rows as text, one character an element: "x.x|.x." is 2 x 3.
static inline struct csr from_picture(const char *picture)
{
    int32_t m = picture[0] != 0, n = (int32_t)strcspn(picture, "|");
    int64_t nnz = 0;
    for (const char *s = picture; *s; s++) {
        m += *s == '|';
        nnz += *s == 'x';
    }
    struct csr A;
    CHECK(!csr_alloc(&A, m, n, nnz), "%s", fail_text());
    int64_t p = 0;
    A.ptr[0] = 0;
    for (int32_t i = 0; i < m; i++) {
        for (int32_t j = 0; j < n; j++) {
            if (picture[(int64_t)i * (n + 1) + j] != 'x') continue;
            A.idx[p] = j;
            A.val[p++] = 1;
        }
        A.ptr[i + 1] = p;
    }
    return A;
}

#endif
