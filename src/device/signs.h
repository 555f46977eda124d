// Changes of sign in the memory of a device. With D a diagonal matrix of +1 and -1, (A D)(D B) and
// A B agree in every bit, whatever the order of the sums: rounding to nearest is symmetric.
#ifndef SIGNS_H
#define SIGNS_H

#include "device/digest.h"

#ifdef __cplusplus
extern "C" {
#endif

// The values of a matrix in CSR, D A D: value (i, j) changes its sign if those of i and j differ.
struct device_signs {
    uint64_t key;       // of the signs, see sign_of()
    int64_t m, nnz;     // rows, nonzeros
    const void *ptr;    // row starts, size m + 1
    int ptr_bytes;      // size of a row start: 4 or 8
    const int32_t *idx; // columns, size nnz
    void *val;          // values, size nnz
    int width;          // bytes of a value: 1, 2, 4 or 8
};

// Returns true if element i of the diagonal matrix of this key is -1.
static HOST_DEVICE inline bool sign_of(uint64_t key, int64_t i)
{
    return mix(key ^ digest_random(i)) & 1;
}

static HOST_DEVICE inline void sign_change(void *val, int width, int64_t place)
{
    switch (width) {
    case 1: ((uint8_t *)val)[place] ^= 1 << 7; break;
    case 2: ((uint16_t *)val)[place] ^= 1 << 15; break;
    case 4: ((uint32_t *)val)[place] ^= (uint32_t)1 << 31; break;
    case 8: ((uint64_t *)val)[place] ^= (uint64_t)1 << 63; break;
    }
}

// Returns row start i, or the nearest that lies inside the arrays.
static HOST_DEVICE inline int64_t sign_start(const struct device_signs *s, int64_t i)
{
    int64_t start = s->ptr_bytes == 8 ? ((const int64_t *)s->ptr)[i] : ((const int32_t *)s->ptr)[i];
    return start < 0 ? 0 : start < s->nnz ? start : s->nnz;
}

// Functions of struct device_ops.
int negate_cpu(struct device *d, const struct device_view *v);
int sign_cpu(struct device *d, const struct device_signs *s);
int negate_cuda(struct device *d, const struct device_view *v);
int sign_cuda(struct device *d, const struct device_signs *s);

#ifdef __cplusplus
}
#endif
#endif
