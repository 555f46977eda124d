// A compiled CUDA kernel as a plug-in: a JSON file names a module (cubin, fatbin or PTX), a kernel
// in it, and the grid, the block and the arguments of a launch. docs/plugins.md has an example.
#ifndef CUBIN_H
#define CUBIN_H

#include "base/sha256.h"
#include "plugin/plugin.h"

// Reads the file and its module, and makes a description whose functions launch the kernel. Sets
// `sha256` to the hash of both files together. The description stays allocated.
int cubin_read(const char *file, char sha256[SHA256_LETTERS + 1],
               const struct spbench_plugin **exported);

#endif
