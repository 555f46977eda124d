// A sparse product C = A * S, as device_ops.check_product compares it on the device that made C.
#ifndef PRODUCT_H
#define PRODUCT_H

#include "base/rounding.h"
#include "data/matrix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

// A product on a device. The arrays of A and S are copies of the host's.
struct product {
    struct csr A, S;
    enum prec in, out;        // types: values of A and S are rounded to `in`; values of C
    const int32_t *idx;       // columns of C
    const void *val;          // values of C, of the type `out`
    enum prec sum;            // type of sums
    double unit;              // unit roundoff of the type of sums
    struct roundoff roundoff; // rounding of the algorithm that made C
};

// Neighbouring entries of a row of C, PRODUCT_SEGMENT at most. A segment stands for a range of
// columns. The range begins at its first column, or at 0 in the row's first segment. The range ends
// before the first column of the next segment, or with the last column of C.
#define PRODUCT_SEGMENT 256
struct product_segment {
    int64_t begin; // index of the first entry in idx and val
    int32_t row;
    int32_t count;    // entries, 0 in an empty row
    bool first, last; // segment of the row
};

// Faults of a segment. The other fields of its part are then not valid.
enum {
    PRODUCT_DISORDER = 1, // columns do not ascend, or are no columns
    PRODUCT_OTHERS = 2,   // columns are not those of the products
};

struct product_part {
    struct bucket bucket; // sums over the segment's entries
    double worst;         // the largest error_ratio() of an entry
    int32_t terms;        // the most products of an entry
    int32_t faults;
};

#ifdef __cplusplus
}
#endif
#endif
