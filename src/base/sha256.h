// SHA-256 (FIPS 180-4), which identifies the file of a plug-in in records.
#ifndef SHA256_H
#define SHA256_H

#include "base/base.h"

#define SHA256_LETTERS 64 // hexadecimal digits of a hash

struct sha256 {
    uint32_t state[8];
    uint8_t block[64]; // bytes that are not hashed yet
    uint64_t bytes;    // bytes so far
};

void sha256_start(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *data, size_t bytes);
// Writes the hash in hexadecimal digits. Another hash needs sha256_start().
void sha256_end(struct sha256 *s, char text[SHA256_LETTERS + 1]);
// Hashes the rest of an open file. Returns 0 or an errno.
int sha256_file(int fd, char text[SHA256_LETTERS + 1]);

#endif
