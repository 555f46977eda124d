// Fuzz target of the Matrix Market reader: any bytes, as text, gzip or tar, end in a matrix that
// keeps its invariants or in one line of explanation. How to run it: README.md.
#include <stdlib.h>
#include <string.h>

#include "data/mtx.h"
#include "data/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds) abort();
}

// In windows of a few lines, where it comes in windows.
static void try_file(const char *data, int64_t bytes)
{
    struct coo C;
    struct csr A;
    struct mtx_info info;
    int64_t duplicates;
    text_window(64);
    int err = mtx_parse("input", data, (size_t)bytes, 1, &C, &info);
    text_window(0);
    if (err) {
        // One line, with a place in it, and nothing left behind.
        require(strncmp(fail_text(), "input", 5) == 0 || strstr(fail_text(), "out of host memory"));
        require(!strchr(fail_text(), '\n'));
        require(!C.row && !C.col && !C.val);
        return;
    }
    require(info.stored <= info.bytes && C.nnz == info.stored);
    // Row pointers for a billion empty rows are legal, but slow here.
    if (C.m <= 1 << 16) {
        double mirror = mtx_mirror(info.symmetry);
        require(csr_from_coo_mirrored(&C, mirror, &A, &duplicates) == OK);
        require(!csr_check(&A) && A.nnz + duplicates >= C.nnz);
        require(A.nnz + duplicates <= (mirror == 0 ? 1 : 2) * C.nnz);
        csr_free(&A);
    }
    coo_free(&C);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    // A copy of the exact size, so that the sanitizer sees a read past its end.
    char *copy = malloc(size ? size : 1);
    require(copy != NULL);
    if (size) memcpy(copy, data, size);
    try_file(copy, (int64_t)size);
    free(copy);
    return 0;
}
