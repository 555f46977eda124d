// The sparse matrices in the memory of one device, in the formats that algorithms ask for. Each is
// converted once for all tasks of a matrix.
#ifndef STORE_H
#define STORE_H

#include "algos/algo.h"

// Cost of one matrix in one format.
struct format_cost {
    double convert_ms; // first conversion from CSR to the format, or to A^T
    double warm_ms;    // the same again; median of several
    double upload_ms;  // rounding to the precision, and copies to the device
};

#define SOURCES_MAX 4 // longest chain of formats that a format is made from

struct stored {
    const struct csr *of;
    const struct csr
        *transpose_of; // `of` is made from this matrix by transposing; NULL: `of` was read
    const struct format *format;
    enum prec type;
    double opt[ALGO_OPTIONS_MAX]; // values of the format's options
    struct sparse *X;
    struct format_cost cost[1 + SOURCES_MAX]; // own, of its source, of the source's source, ...
    uint64_t bits;                            // checksum after the conversion
    bool used;                                // the last prepared task uses it; set by the caller
};

struct store {
    struct device *dev;
    struct stored *list; // size count
    int count, room;
    const struct csr *given;      // the matrix that was read
    const struct csr *transposed; // its transpose, which is made from it; NULL: not an operand
    int again; // further conversions of a format that takes under 50 ms; 0: one, as for others
};
#define STORE_AGAIN_MAX 3
void store_free(struct store *s);

// Sets *out to the matrix A in a format, with the task's values of the format's options.
// Converts A unless the store has that matrix.
int store_need(struct store *s, const struct task *t, const struct csr *A,
               const struct format *format, struct stored **out);
// Replaces *of and *format by those from which the store made the matrix. Returns false if the
// matrix was read.
bool stored_source(const struct stored *x, const struct csr **of, const struct format **format);
// Makes `format` from `csr` in the memory of the device d, with the formats in between. The device
// has a maker of each.
int store_convert(const struct task *t, struct device *d, const struct sparse *csr,
                  const struct format *format, struct sparse **out);
// Takes the problem of the next tasks. Frees matrices that are not of the problem, or of another
// precision.
void store_keep(struct store *s, const struct problem *p);
// Frees matrices that are not used. Returns false if there were none.
bool store_drop_unused(struct store *s);
// Frees matrix number i of the list.
void store_drop(struct store *s, int i);
int64_t store_unused_bytes(const struct store *s);

#endif
