// Matrix Market files. Read: coordinate and array; real, integer, complex (its real part) and
// pattern; general, symmetric, skew-symmetric and hermitian, in any letter case; plain, gzip, or in
// a tar archive (of NAME.tar.gz, NAME.mtx, else the only .mtx), told apart by content. Written:
// coordinate real general.
//
// Beyond the specification, because such files exist: comments and blank lines anywhere, exponents
// with d or D, entries on either side of the diagonal of a symmetric file. Each line holds one
// entry. A skew-symmetric file may name its diagonal only with zeros. Every entry of an array file
// is kept, zeros too.
#ifndef MTX_H
#define MTX_H

#include "data/matrix.h"

enum mtx_field { MTX_REAL, MTX_INTEGER, MTX_COMPLEX, MTX_PATTERN };
enum mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW, MTX_HERMITIAN };

// As the banner writes it: "real", "skew-symmetric".
const char *mtx_field_name(enum mtx_field field);
const char *mtx_symmetry_name(enum mtx_symmetry symmetry);

// What csr_from_coo_mirrored() needs to expand that symmetry.
double mtx_mirror(enum mtx_symmetry symmetry);

struct mtx_info {
    enum mtx_field field;
    enum mtx_symmetry symmetry;
    bool array;         // dense: the file has no rows and columns, only values
    int64_t stored;     // entries in the file, before a symmetric kind is expanded
    int64_t duplicates; // entries that were added to another (0 from mtx_parse, which adds none)
    int64_t zeros;      // stored entries with the value 0; they are kept
    int64_t bytes;      // of text, after decompression
    double load_ms;     // open, decompress, parse and sort (0 from mtx_parse)
};

// Reads `path`, or stdin for "-". The values of a pattern file are random_value() of the seed and
// of the entry's place, so they depend neither on the order of the entries nor on the machine; a
// mirrored entry has the value of the stored one. On failure A is empty and fail_text() is one line
// "path:line: what is wrong". ERR_MEMORY: the file has more entries than there is memory for.
int mtx_read(const char *path, uint64_t seed, struct csr *A, struct mtx_info *info);

// Whether the file can be opened and begins as such a file does, its entries left unread. Not of a
// pipe, of which nothing may be read twice.
int mtx_look(const char *path);

// The same as mtx_read() for a file in memory, as the triplets that it stores, in its order: those
// of a symmetric kind are still to be mirrored. `data` needs no NUL at its end; `name` is for
// messages.
int mtx_parse(const char *name, const void *data, size_t bytes, uint64_t seed, struct coo *A,
              struct mtx_info *info);

// Writes A to `path`, or to stdout for "-", with as few digits as read back to the same values.
// Each line of `comment` (may be NULL) becomes a comment.
int mtx_write(const char *path, const struct csr *A, const char *comment);

#endif
