// The formats of sparse matrices. A format is one file here and one line in formats.def; it says
// how its arrays are made from those of CSR, what they are, and whether they are in order.
// Everything else - making it on the host for a device that cannot, copying, counting, freeing - is
// done once, in format.c, from the list of its arrays.
//
// To add one: a struct that begins with SPARSE_HEAD, arrays(), make_...(), check() and to_csr() as
// in sellp.c, its descriptor, and its line in formats.def.
#ifndef FORMAT_H
#define FORMAT_H

#include "base/figures.h"
#include "base/param.h"
#include "data/matrix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct format;

// A sparse matrix in the memory of a device, in any format: what every format's struct begins with.
// Values are float or double by `prec`.
struct sparse {
    const struct format *format;
    enum prec prec;
    int32_t m, n;
    int64_t nnz;
};

// The first line of a format's struct: the fields by their own names, and all of them as `head`.
#define SPARSE_HEAD                                                                                \
    union {                                                                                        \
        struct sparse head;                                                                        \
        struct {                                                                                   \
            const struct format *format;                                                           \
            enum prec prec;                                                                        \
            int32_t m, n;                                                                          \
            int64_t nnz;                                                                           \
        };                                                                                         \
    }

// One array of a format: where its pointer is, and what it holds.
struct array {
    void **data;
    int64_t count;
    size_t size; // of an element
};
#define ARRAYS_MAX 12

// Makes a format's arrays with device_alloc() from a matrix in the format `from` that lies in the
// same memory; `opt` has the values of the format's parameters. Head fields and sizes of the result
// are set first, so that after an error what there is can be freed.
typedef int (*format_maker)(struct device *d, const struct sparse *from, const double *opt,
                            struct sparse *out);

struct format {
    const char *name;           // as in `spbench list formats`
    const char *about;          // one line, no full stop
    size_t size;                // of its struct
    const struct param *params; // that choose its shape; every algorithm that asks for it has them
    const struct format *from;  // what it is made from; NULL for csr alone, see csr_place()
    // Lists its arrays; returns how many. Of sizes that are not known yet the count is 0.
    int (*arrays)(const struct sparse *X, struct array list[ARRAYS_MAX]);
    // On the CPU. Where a device has no maker of its own the format is made on the host and copied.
    format_maker make;
    // Of a matrix in host memory. NULL if every invariant holds, else what is broken.
    const char *(*check)(const struct sparse *X);
    // Of a matrix in host memory: the CSR it was made from, for tests. NULL for what is made from
    // another format than CSR and holds only a part of it.
    int (*to_csr)(const struct sparse *X, struct csr *out);
    // Figures for records. NULL: none.
    void (*describe)(const struct sparse *X, struct figures *f);
};

// The list: formats.def in the order of its lines.
extern const struct format *const formats[];
extern const int format_count;
// The maker of a format on this kind of device; NULL: it has to be made on the host and copied.
format_maker format_maker_of(const struct format *format, enum device_kind kind);

// An empty matrix of this format: its struct, zero but for the format. NULL: ERR_MEMORY.
struct sparse *sparse_new(const struct format *format);
// A format from the one that it is made from, in the memory of a device that has a maker for it.
// Does not wait for the device.
int sparse_make(struct device *d, const struct format *format, const struct sparse *from,
                const double *opt, struct sparse **out);
// A copy of X, which lies in the memory of d, for another device; one of the two is the host.
int sparse_copy(struct device *d, const struct sparse *X, struct device *to, struct sparse **out);
// Frees the arrays, which leaves the struct; or both. NULL is legal.
void sparse_release(struct device *d, struct sparse *X);
void sparse_free(struct device *d, struct sparse *X);
// A number for what all its arrays hold; see struct digest. Waits.
int sparse_digest(struct device *d, const struct sparse *X, uint64_t *bits);
// Of all arrays that it has.
int64_t sparse_bytes(const struct sparse *X);

#ifdef __cplusplus
}
#endif
#endif
