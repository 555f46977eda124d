// Plug-ins: shared libraries with algorithms, by include/spbench_plugin.h.
//
// Only worker processes load a plug-in. The parent gets a description of its algorithms from a
// worker, and adds entries without functions to the list of algorithms.
//
//   plugin_load.c      a file: its hash, dlopen()
//   plugin_copy.c      a description as structs of this header
//   plugin_check.c     every field of a description
//   plugin_add.c       struct algo of a description, with functions that call the plug-in's
//   plugin_describe.c  a description as JSON, and back
#ifndef PLUGIN_H
#define PLUGIN_H

#include "algos/algo.h"
#include "spbench_plugin.h"

#define PLUGINS_MAX 16 // files of -plugin

// A description of a plug-in: its file, and the struct that the file exports.
struct plugin {
    const char *file;   // as on the command line
    const char *sha256; // hexadecimal
    const struct spbench_plugin *exported;
};

// Loads a file and adds its algorithms. `sha256`: hash that the file must have; NULL: any. Sets
// *json to the description, which the caller frees; NULL: not needed.
int plugin_load(const char *file, const char *sha256, char **json);

// Returns ERR_USAGE unless the text can be the name of an algorithm.
int plugin_check_name(const char *name);
// Replaces p->exported by a copy in structs of this header. Fields that an older header lacks are
// zero. ERR_USAGE: a struct is smaller than in version 1. Lists whose size plugin_check() refuses
// are not copied. The copy stays allocated.
int plugin_copy(struct plugin *p);
// Copies a struct of a plug-in, which begins with its size, into a struct of `bytes` bytes. Returns
// false if the size is less than `least`.
bool plugin_copy_struct(void *to, size_t bytes, const void *from, size_t least);
// Returns the operation of an algorithm; NULL: unknown.
const struct op *plugin_op(const struct spbench_algorithm *a);
// Sets the device of an algorithm. Returns false if the device is unknown.
bool plugin_device(const struct spbench_algorithm *a, enum device_kind *kind);
// Returns ERR_USAGE with the first field that is wrong.
int plugin_check(const struct plugin *p);
// Adds the algorithms of a checked plug-in to the list, which keeps all texts of the description.
// Without `functions` the algorithms cannot run in this process.
int plugin_add(const struct plugin *p, bool functions);

// Returns the description as a line of JSON, which the caller frees; NULL: ERR_MEMORY.
char *plugin_describe(const struct plugin *p);
// Checks and adds the algorithms of a description, without functions. Sets `sha256` to the hash of
// the file.
int plugin_learn(const char *json, const char **sha256);

#endif
