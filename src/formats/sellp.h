// SELL-P: sliced ELLPACK with padded rows (Anzt, Tomov, Dongarra; the baseline of Yang et al.
// 2018).
//
// Rows are split into slices of `slice` rows. The rows of a slice are padded to the length of the
// longest, rounded up to a multiple of `pad`. A slice is stored column by column: entry j of row r
// of slice s is at ptr[s] + j * slice + r. Padding has column -1 and value 0.
#ifndef SELLP_H
#define SELLP_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sellp {
    SPARSE_HEAD;
    int32_t slice, pad;
    int64_t slices; // ceil(m / slice)
    int64_t stored; // entries with padding, = ptr[slices]
    int64_t *ptr;   // slice starts, size slices + 1
    int32_t *idx;   // columns, -1 for padding, size stored
    void *val;      // values, 0 for padding, size stored
};
extern const struct format format_sellp;

static inline const struct sellp *sellp_of(const struct sparse *X)
{
    return (const struct sellp *)X;
}

#ifdef __cplusplus
}
#endif
#endif
