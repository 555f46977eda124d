// Changes of sign in the memory of a device, from the signs of one key to those of another key.
// Equal keys write the same memory and leave the values as they are.
#ifndef SIGNS_H
#define SIGNS_H

#include "base/signs.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A dense matrix.
struct device_signs_dense {
    struct device_view view;
    bool by_column; // lines of the view are columns
    uint64_t before, now;
};

// The values of a matrix in CSR.
struct device_signs_sparse {
    uint64_t before, now;
    int64_t m, nnz;     // rows, nonzeros
    const void *ptr;    // row starts, size m + 1
    int ptr_bytes;      // size of a row start: 4 or 8
    const int32_t *idx; // columns, size nnz
    void *val;          // values, size nnz
    int width;          // bytes of a value: 1, 2, 4 or 8
};

// Changes the sign of element number `place` if `really`; always writes the element.
static HOST_DEVICE inline void sign_change(void *val, int width, int64_t place, bool really)
{
    switch (width) {
    case 1: ((uint8_t *)val)[place] ^= (uint8_t)(really << 7); break;
    case 2: ((uint16_t *)val)[place] ^= (uint16_t)(really << 15); break;
    case 4: ((uint32_t *)val)[place] ^= (uint32_t)really << 31; break;
    case 8: ((uint64_t *)val)[place] ^= (uint64_t)really << 63; break;
    }
}

// Changes the elements of a block of SIGN_BLOCK elements of a line.
static HOST_DEVICE inline void sign_block_change(const struct device_signs_dense *s, int64_t line,
                                                 int64_t block)
{
    const struct device_view *v = &s->view;
    const int64_t first = block * SIGN_BLOCK, end = min64(first + SIGN_BLOCK, v->length);
    const uint64_t both = sign_block(s->before, line, block) ^ sign_block(s->now, line, block);
    for (int64_t e = first; e < end; e++) {
        const bool other = s->by_column
                               ? sign_of_dense(s->before, e, line) != sign_of_dense(s->now, e, line)
                               : both >> (e - first) & 1;
        sign_change(v->p, v->width, line * v->step + e, other);
    }
}

// Returns row start i, or the nearest that lies inside the arrays.
static HOST_DEVICE inline int64_t sign_start(const struct device_signs_sparse *s, int64_t i)
{
    int64_t start = s->ptr_bytes == 8 ? ((const int64_t *)s->ptr)[i] : ((const int32_t *)s->ptr)[i];
    return start < 0 ? 0 : start < s->nnz ? start : s->nnz;
}

// Changes value q of row i.
static HOST_DEVICE inline void sign_value_change(const struct device_signs_sparse *s, int64_t i,
                                                 int64_t q)
{
    const int64_t j = s->idx[q];
    sign_change(s->val, s->width, q,
                sign_of_sparse(s->before, i, j) != sign_of_sparse(s->now, i, j));
}

// Functions of struct device_ops.
int sign_dense_cpu(struct device *d, const struct device_signs_dense *s);
int sign_sparse_cpu(struct device *d, const struct device_signs_sparse *s);
int sign_dense_cuda(struct device *d, const struct device_signs_dense *s);
int sign_sparse_cuda(struct device *d, const struct device_signs_sparse *s);

#ifdef __cplusplus
}
#endif
#endif
