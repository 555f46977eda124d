// Plug-ins: shared libraries with algorithms, by include/spbench_plugin.h.
//
// Only worker processes load a plug-in. A process of its own describes the plug-in. The parent and
// its workers add the algorithms of the description to the list of algorithms. A worker loads the
// plug-in before its first case of the plug-in, and measures nothing else from then on.
//
//   plugin_load.c      a file: its hash, dlopen(), the libraries that come with it
//   plugin_copy.c      a description as structs of this header
//   plugin_check.c     every field of a description
//   plugin_add.c       struct algo of a description, with functions that call the plug-in's
//   plugin_describe.c  a description as JSON, and back
#ifndef PLUGIN_H
#define PLUGIN_H

#include "algos/algo.h"
#include "spbench_plugin.h"

#define PLUGINS_MAX 16 // files of -plugin

// A description of a plug-in: its files, and the struct that it exports.
struct plugin {
    struct algo_plugin facts; // first: algo->plugin is a struct plugin
    const struct spbench_plugin *exported;
};

// Loads a file. Sets *json to its description, which the caller frees.
int plugin_load_new(const char *file, char **json);
// Returns ERR_USAGE if the file of the plug-in has changed since its description.
int plugin_look(const struct algo_plugin *facts);
// Loads a plug-in that is described. Its algorithms can run from then on. ERR_USAGE: its file has
// changed.
int plugin_load(const struct algo_plugin *facts);

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
// Adds the algorithms of a checked plug-in to the list, which keeps `p`. Sets p->facts.text.
int plugin_add(struct plugin *p);

// Returns the description as a line of JSON, which the caller frees; NULL: ERR_MEMORY.
char *plugin_describe(const struct plugin *p);
// Checks and adds the algorithms of a description. Sets *facts, with which plugin_load() loads.
int plugin_learn(const char *json, const struct algo_plugin **facts);

#endif
