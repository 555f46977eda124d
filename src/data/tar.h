// The matrix in a tar archive, which is how the SuiteSparse collection ships: NAME.tar.gz has
// NAME/NAME.mtx, and at times right-hand sides and coordinates beside it.
#ifndef TAR_H
#define TAR_H

#include "data/stream.h"

#define TAR_BLOCK 512 // an archive is made of such blocks
#define TAR_NAME  1024

struct tar_member {
    char name[TAR_NAME]; // with its folders, fit for a terminal
    int64_t bytes;
};

// Whether a file that begins with this block is an archive.
bool tar_is_header(const void *block);

// Reads the stream of an archive as far as the contents of the member STEM.mtx, else of the only
// one that is called .mtx. `name`, of the archive, is for messages.
int tar_find(struct stream *s, const char *name, const char *stem, struct tar_member *m);

#endif
