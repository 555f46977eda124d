// Reader and writer of Matrix Market files.
//
// The reader takes
//   formats     coordinate and array
//   fields      real, integer, complex (the real part) and pattern
//   symmetries  general, symmetric, skew-symmetric and hermitian
//   files       plain, gzip and tar, recognised by content; of an archive NAME.tar.gz the member
//               NAME.mtx, else the only .mtx
// and, beyond the specification, comments and blank lines anywhere, exponents with d or D, and
// entries on either side of the diagonal of a symmetric file. Each line holds one entry. Entries on
// the diagonal of a skew-symmetric file must be 0. Zeros of an array file are stored entries. A
// size line with over SIDE_MOST rows or columns and almost no entries is an error.
//
// The writer writes coordinate real general.
#ifndef MTX_H
#define MTX_H

#include "data/matrix.h"

enum mtx_field { MTX_REAL, MTX_INTEGER, MTX_COMPLEX, MTX_PATTERN };
enum mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW, MTX_HERMITIAN };

// Return the word of the banner: "real", "skew-symmetric".
const char *mtx_field_name(enum mtx_field field);
const char *mtx_symmetry_name(enum mtx_symmetry symmetry);

// Returns the argument `mirror` of csr_from_coo_mirrored() for a symmetry.
double mtx_mirror(enum mtx_symmetry symmetry);

struct mtx_info {
    enum mtx_field field;
    enum mtx_symmetry symmetry;
    bool array;         // dense: the file has values without rows and columns
    int64_t stored;     // entries in the file, before mirroring
    int64_t duplicates; // entries that were added to another; 0 from mtx_parse()
    int64_t zeros;      // stored entries with the value 0, which stay in the matrix
    int64_t bytes;      // bytes of text, after decompression
    double load_ms;     // time to open, decompress, parse and sort; 0 from mtx_parse()
};

// Reads `path`, or stdin for "-". Values of a pattern file are random_value() of the seed and the
// place of the entry. A mirrored entry has the same value. On failure A is empty, and fail_text()
// is "path:line: cause". ERR_MEMORY: there is too little memory for the entries.
int mtx_read(const char *path, uint64_t seed, struct csr *A, struct mtx_info *info);

// Checks the banner and the size line of a file. Not for pipes, which can be read only once.
int mtx_look(const char *path);

// Reads a file in memory into triplets, in the order of the file and without mirroring. `data`
// needs no final zero. `name` is for messages.
int mtx_parse(const char *name, const void *data, size_t bytes, uint64_t seed, struct coo *A,
              struct mtx_info *info);

// Writes A to `path`, or to stdout for "-", with the fewest digits that read back to the same
// values. Each line of `comment`, which may be NULL, becomes a comment line.
int mtx_write(const char *path, const struct csr *A, const char *comment);

#endif
