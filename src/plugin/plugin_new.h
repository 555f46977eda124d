// spbench new-kernel: the first files of a plug-in.
#ifndef PLUGIN_NEW_H
#define PLUGIN_NEW_H

#include "device/device.h"

// Writes NAME.c or NAME.cu, spbench_plugin.h and a Makefile into the working directory. `module`:
// file of a compiled kernel, which NAME.c launches; NULL: none. The caller has checked the words.
// ERR_USAGE: there is no template for them. ERR_OUTPUT: the source exists, or a file cannot be
// written. A header or Makefile that exists is left as it is. Prints the names of the written
// files.
int plugin_new(const char *op, const char *name, enum device_kind device, const char *module);

#endif
