// DCSC by row panels: doubly compressed sparse columns (Hong, Sukumaran-Rajam, Nisa, Singh,
// Sadayappan: Adaptive Sparse Tiling for Sparse Matrix Multiplication, PPoPP 2019, figure 2 (d)).
//
// Rows are split into panels of `panel` rows. A segment is the entries of a column in a panel, if
// there are any. Segments are stored panel by panel, in a panel by columns. The entries of a
// segment are stored by rows.
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
    int32_t *col;     // column of each segment, ascending in a panel, size segments
    int32_t *row;     // row of each entry, ascending in a segment, size nnz
    void *val;        // values, size nnz
};
extern const struct format format_dcsc;

static inline const struct dcsc *dcsc_of(const struct sparse *X) { return (const struct dcsc *)X; }

// Sets panel and panels from the options.
void dcsc_shape(struct dcsc *X, const double *opt);

#ifdef __cplusplus
}
#endif
#endif
