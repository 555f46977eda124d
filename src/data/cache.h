// Matrices as they were read, kept in the user's cache folder: reading one back takes a fraction of
// the time that its text takes.
//
// What is kept of a file is known again by the file's bytes (a hash of them, packed as they lie on
// the disk), the reader that read them (a checksum of its source), the name without folders and
// extensions, by which the matrix of an archive is found, and, where the file has no values, the
// seed that they were drawn from: never by its path or its time. An entry is there whole or not at
// all; one that is damaged, cut short, or of a machine of another byte order is not used. Where
// there is no place, no room or no permission, nothing is kept, and nobody is told.
#ifndef CACHE_H
#define CACHE_H

#include "base/hash.h"
#include "data/mtx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cache_rules {
    const char *folder; // NULL: `matrices` in the user's cache folder
    int64_t most_bytes; // of all entries together; never more than a tenth of what is free
    int64_t least_text; // of less text than this, or what is read sooner, nothing is kept
    double least_ms;
    uint64_t reader; // its version
};
// The rules of every command. The version of the reader is that of the sources; where it is 0, as
// in a build that does not know it, there is no cache.
extern const struct cache_rules cache_standard;

// The rules from now on, which stay where they are; NULL, as at the start: there is no cache.
void cache_use(const struct cache_rules *rules);

// A file, as the cache knows it.
struct cache_key {
    struct hash file; // of its bytes
    int64_t bytes;    // how many these are
    struct hash name; // of the name's stem
    uint64_t seed;
    bool there; // else there is no cache for it: a pipe, or there is none at all
};
// Hashes the file.
struct cache_key cache_key(const char *path, uint64_t seed);
// The matrix of the file with this key, and what the reader said of it. On false A is empty.
bool cache_read(const struct cache_key *key, struct csr *A, struct mtx_info *info);
// Keeps what the reader made of the file at `path`, unless the file is no longer what it was when
// its key was taken. What was not used for longest makes room.
void cache_keep(const struct cache_key *key, const char *path, const struct csr *A,
                const struct mtx_info *info);

#ifdef __cplusplus
}
#endif
#endif
