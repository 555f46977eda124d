// A cache of parsed matrices in the user's cache folder. Reading an entry takes a fraction of the
// time of parsing the text.
//
// The key of an entry:
//   a hash of the file's bytes, compressed as on the disk
//   a checksum of the reader's sources
//   the file's name without folders and extensions, which selects the matrix of an archive
//   for a file without values, the seed of the drawn values
// Path and time of the file are not in the key. Entries are written atomically. Damaged or
// truncated entries, and entries of a machine of another byte order, are ignored. If an entry
// cannot be written, nothing is cached, without a message.
#ifndef CACHE_H
#define CACHE_H

#include "base/hash.h"
#include "data/mtx.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cache_rules {
    const char *folder; // NULL: `matrices` in the user's cache folder
    int64_t most_bytes; // size of all entries; see also cache_evict()
    int64_t least_text; // bytes of text from which on a matrix is cached
    double least_ms;    // time of reading from which on a matrix is cached
    uint64_t reader;    // checksum of the reader's sources; 0: unknown, so no cache
};
// The rules of every command.
extern const struct cache_rules cache_standard;

// Sets the rules, which must stay valid. NULL, the state at the start: no cache.
void cache_use(const struct cache_rules *rules);

struct cache_key {
    struct hash file; // hash of the file's bytes
    int64_t bytes;    // size of the file
    struct hash name; // hash of the name without folders and extensions
    uint64_t seed;
    bool there; // the file can be cached: no pipe, and the cache is on
};
// Returns the key of a file, which is read for its hash.
struct cache_key cache_key(const char *path, uint64_t seed);
// Reads the entry of `key`. Returns false, with an empty A, if there is none.
bool cache_read(const struct cache_key *key, struct csr *A, struct mtx_info *info);
// Writes an entry for the file at `path`, unless the file has changed since `key` was made. Evicts
// old entries if needed.
void cache_keep(const struct cache_key *key, const char *path, const struct csr *A,
                const struct mtx_info *info);

// Evicts the least recently used entries of `folder` until an entry of `bytes` fits. Entries may
// take `limit`, and a tenth of the disk space that is free or taken by entries. Removes temporary
// files of killed processes. Returns false if the entry cannot fit, or the folder does not exist.
bool cache_evict(const char *folder, int64_t bytes, int64_t limit);
#define CACHE_SUFFIX ".csr" // ending of the names of entries

#ifdef __cplusplus
}
#endif
#endif
