// The formats of sparse matrices. A format is a file of this folder and a line in formats.def. The
// file lists the arrays and makes them from CSR. format.c copies, counts and frees any format by
// its list of arrays.
//
// To add a format: a struct that begins with SPARSE_HEAD, the functions arrays() and make() as in
// sellp.c, the descriptor, the line in formats.def, and a reader in tests/lib/formats.h.
#ifndef FORMAT_H
#define FORMAT_H

#include "base/algo_stats.h"
#include "base/algo_option.h"
#include "data/matrix.h"
#include "device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct format;

// A sparse matrix in the memory of a device, in any format: the common fields of all formats.
// Values are of a type: float, double, or 16 bits.
struct sparse {
    const struct format *format;
    enum prec type;
    int32_t m, n;
    int64_t nnz;
};

// The first line of a format's struct: declares the common fields, and all of them as `head`.
#define SPARSE_HEAD                                                                                \
    union {                                                                                        \
        struct sparse head;                                                                        \
        struct {                                                                                   \
            const struct format *format;                                                           \
            enum prec type;                                                                        \
            int32_t m, n;                                                                          \
            int64_t nnz;                                                                           \
        };                                                                                         \
    }

// An array of a format.
struct array {
    void **data;   // address of the pointer in the struct
    int64_t count; // elements
    size_t size;   // bytes of an element
};
#define ARRAYS_MAX 12

// Makes a format's arrays by device_alloc(), from the matrix `from` in the same memory. `opt`:
// values of the format's options. The common fields of `out` are set. A maker sets each size
// before it allocates an array of that size: after an error the caller frees the arrays.
typedef int (*format_maker)(struct device *d, const struct sparse *from, const double *opt,
                            struct sparse *out);

struct format {
    const char *name;           // as in `spbench list formats`
    const char *about;          // line of the help, without a full stop
    size_t size;                // bytes of the format's struct
    const struct algo_option *options; // options, which every algorithm with this format has
    const struct format *from;  // source of make(); NULL only for csr, see csr_place()
    // Lists the arrays and returns their number. The count of an array is 0 while its size is
    // unknown.
    int (*arrays)(const struct sparse *X, struct array list[ARRAYS_MAX]);
    // Maker for the CPU. A device without its own maker gets a copy from the host.
    format_maker make;
    // Adds stats for records. NULL: none.
    void (*describe)(const struct sparse *X, struct algo_stats *f);
};

// All formats, in the order of formats.def.
extern const struct format *const formats[];
extern const int format_count;
// Returns the maker of a format for this kind of device. NULL: made on the host and copied.
format_maker format_maker_of(const struct format *format, enum device_kind kind);
// Returns true if a build with this kind of device has a maker. False for csr.
bool format_is_made_on(const struct format *format, enum device_kind kind);

// Returns a zeroed struct of this format, with the format set. NULL: ERR_MEMORY.
struct sparse *sparse_new(const struct format *format);
// Makes a matrix in `format` from a matrix in format->from, on a device that has a maker. Does not
// wait for the device.
int sparse_make(struct device *d, const struct format *format, const struct sparse *from,
                const double *opt, struct sparse **out);
// Allocates each array of X that has no memory.
int sparse_alloc(struct device *d, struct sparse *X);
// Copies X from the device d to the device `to`. Either is the host.
int sparse_copy(struct device *d, const struct sparse *X, struct device *to, struct sparse **out);
// Copies all arrays of `from` to those of X, on the device d. Both have the same format, and were
// made from matrices of the same structure.
int sparse_overwrite(struct device *d, const struct sparse *from, struct sparse *X);
// Frees the arrays of X, but not the struct.
void sparse_release(struct device *d, struct sparse *X);
// Frees X, which may be NULL.
void sparse_free(struct device *d, struct sparse *X);
// Sets *bits to a digest of all arrays; see device_digest(). Waits.
int sparse_digest(struct device *d, const struct sparse *X, uint64_t *bits);
// Returns the bytes of all arrays.
int64_t sparse_bytes(const struct sparse *X);

#ifdef __cplusplus
}
#endif
#endif
