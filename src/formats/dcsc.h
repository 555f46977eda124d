// DCSC by row panels: doubly compressed sparse columns (Hong, Sukumaran-Rajam, Nisa, Singh,
// Sadayappan: Adaptive Sparse Tiling for Sparse Matrix Multiplication, PPoPP 2019, figure 2 (d)).
//
// Rows are cut into panels of `panel` rows. A segment is what a panel has of a column, where it has
// something; those of a panel are in the order of their columns, and the entries of a segment in
// that of their rows. The panels' segments lie one after the other.
#ifndef DCSC_H
#define DCSC_H

#include "formats/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dcsc {
    SPARSE_HEAD;
    int32_t panel;    // rows of a panel
    int64_t panels;   // ceil(m / panel)
    int64_t segments; // = ptr[panels]
    int64_t *ptr;     // first segment of each panel, size panels + 1
    int64_t *start;   // first entry of each segment, size segments + 1
    int32_t *col;     // of each segment, ascending in a panel, size segments
    int32_t *row;     // of each entry, ascending in a segment, size nnz
    void *val;        // size nnz
};
extern const struct format format_dcsc;

static inline const struct dcsc *dcsc_of(const struct sparse *X) { return (const struct dcsc *)X; }

// Sets the shape by the format's parameters, as every maker does first.
void dcsc_shape(struct dcsc *X, const double *opt);

#ifdef __cplusplus
}
#endif
#endif
