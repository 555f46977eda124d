// spbench new-kernel: the first files of a plug-in.
#ifndef PLUGIN_NEW_H
#define PLUGIN_NEW_H

#include "device/device.h"

// Writes NAME.c or NAME.cu, spbench_plugin.h and a Makefile into the working directory. `module`:
// file of a compiled kernel, which NAME.c launches; NULL: none. The caller has checked the words.
// Returns ERR_USAGE if the operation and device have no template. Returns ERR_OUTPUT if the source
// exists, or a file cannot be written. An existing header or Makefile is kept. Prints the names of
// the written files.
int plugin_new(const char *op, const char *name, enum device_kind device, const char *module);

#endif
