// Finds the matrix in a tar archive. An archive NAME.tar.gz of the SuiteSparse collection has the
// member NAME/NAME.mtx, and may have right-hand sides and coordinates.
#ifndef TAR_H
#define TAR_H

#include "data/stream.h"

#define TAR_BLOCK 512 // bytes of a block, the unit of an archive
#define TAR_NAME  1024

struct tar_member {
    char name[TAR_NAME]; // with folders, without control characters
    int64_t bytes;
};

// Returns true if a file that begins with this block is an archive.
bool tar_is_header(const void *block);

// Reads the stream of an archive up to the contents of the member STEM.mtx, else of the only .mtx.
// `name`: the archive, for messages.
int tar_find(struct stream *s, const char *name, const char *stem, struct tar_member *m);

#endif
