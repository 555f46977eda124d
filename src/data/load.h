// Loads a matrix by its spec on the command line: a file, "-" for stdin, or "gen:...".
#ifndef LOAD_H
#define LOAD_H

#include "data/matrix.h"
#include "data/facts.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stat;

#define CONTENT_LETTERS 32

// Writes the hash of the sizes, the pattern and, if `values`, the values into `text`, in hex, and
// returns `text`. Files with the same matrix have the same hash, whatever their names and their
// compression. Machines of one byte order agree.
const char *content_text(const struct csr *A, bool values, char text[CONTENT_LETTERS + 1]);

// Size and time of a file. If both are equal, the file has not changed.
struct file_mark {
    int64_t bytes;      // 0: not a regular file
    int64_t changed_ns; // time of the last write, since 1970
};
struct file_mark file_mark_of(const struct stat *facts);

struct matrix {
    // "cant" for dir/cant.mtx.gz, "fem:28" for gen:fem:28, "stdin" for "-". Always UTF-8: names are
    // equal if they are equal in records.
    char *name;
    char *path; // the spec; "gen:fem:28" and "-" for the other two
    struct csr A;
    const char *field, *symmetry;      // words of the banner; "real", "general" if generated
    bool values_drawn;                 // pattern file: values are random numbers of the seed
    bool real_part;                    // complex file: values are the real parts
    int64_t stored;                    // entries in the file; nnz if generated
    int64_t duplicates;                // entries that were added to another
    struct matrix_facts facts;         // set by facts_rows(); the other facts are unknown
    char content[CONTENT_LETTERS + 1]; // hash, without drawn values; "" if generated
    struct file_mark file;             // before the file was read
    bool cached;                       // taken from the cache of parsed matrices
    double load_ms, load_mb_s;         // time; 10^6 bytes of text a second; 0 if generated
    int64_t file_bytes;                // bytes of text, after decompression; 0 if generated
};

// Sets only the name and the path of M. ERR_USAGE: the name is empty, as for "", "gen:", "folder/".
int matrix_name(const char *spec, struct matrix *M);
// Checks a spec without loading the matrix. ERR_USAGE: no generator takes the spec. ERR_INPUT: the
// file is missing or not readable, or its first lines are not those of a matrix. Of a pipe only the
// existence is checked.
int matrix_look(const char *spec);
// Loads a matrix. On failure M is empty. `seed`: for generated matrices, and for the values of
// pattern files.
int matrix_load(const char *spec, uint64_t seed, struct matrix *M);
void matrix_free(struct matrix *M);

#ifdef __cplusplus
}
#endif
#endif
