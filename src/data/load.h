// A matrix by the name that the command line gives it: a file, stdin or a generated one.
#ifndef LOAD_H
#define LOAD_H

#include "data/content.h"
#include "data/matrix.h"
#include "data/stats.h"

#ifdef __cplusplus
extern "C" {
#endif

struct stat;

// A file on the disk, as it was at a time: where neither differs, nobody has written to it since.
struct file_mark {
    int64_t bytes;      // 0: it is none
    int64_t changed_ns; // when it was written last, since 1970
};
struct file_mark file_mark_of(const struct stat *facts);

struct matrix {
    char *name; // "cant" for dir/cant.mtx.gz, "fem:28" for gen:fem:28, "stdin" for "-"
    char *path; // as given; "gen:fem:28" and "-" for the other two
    struct csr A;
    const char *field, *symmetry; // as the banner of the file says; "real", "general" if generated
    bool values_drawn;            // the file has none (pattern): they come from the seed
    bool real_part;               // the file has complex values: these are their real parts
    int64_t stored;               // entries in the file; nnz if generated
    int64_t duplicates;           // entries that were added to another
    struct matrix_stats stats;    // from stats_rows; the rest is unknown
    char content[CONTENT_LETTERS + 1]; // content.h; drawn values are none of it; "" if generated
    struct file_mark file;             // as it was read
    bool cached;                       // it was kept from an earlier reading of the same bytes
    double load_ms, load_mb_s;         // reading it; of text, 10^6 bytes a second; 0 if generated
    int64_t file_bytes;                // of text, after decompression; 0 if generated
};

// Its name and path alone: of a matrix that cannot be loaded, `field` stays NULL. ERR_USAGE where
// nothing is left for a name: "", "gen:", "folder/".
int matrix_name(const char *spec, struct matrix *M);
// What can be said against it before it is loaded, at the cost of its first lines: ERR_USAGE, a
// spec that no generator takes; ERR_INPUT, a file that is not there, may not be read, or does not
// begin as a matrix does. Of a pipe only that it is there.
int matrix_look(const char *spec);
// On failure M is empty. The seed is for generated matrices and for the values of pattern files.
int matrix_load(const char *spec, uint64_t seed, struct matrix *M);
void matrix_free(struct matrix *M);
// "12.3 ms, 480 MB/s", "1.2 ms, from the cache". Writes into `text` and returns it.
const char *matrix_load_text(const struct matrix *M, char text[64]);

#ifdef __cplusplus
}
#endif
#endif
